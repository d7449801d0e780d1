"""Scores from real generation, per task and size, of towers and of all that they are compared with.

Whoever answers, it is text that is scored (`tasks.text.score`): shape, parse, CLRS and exact match.
"""

import itertools
import math
import operator
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from algoscope import serialise
from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.tasks import text
from algoscope.training.model import Model
from algoscope.transnar.generation import generate
from algoscope.transnar.padding import NODES, WRITTEN, padded, written_batch
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import ReasonerStates, answers, reason
from algoscope.transnar.text_dataset import TEST, Order, TextDataset
from algoscope.transnar.tokenizer import tokenizer
from algoscope.transnar.tower import Tower

_SPARE = 4
"""Tokens that an answer may have beyond the right one: with more its shape is wrong anyway."""
_TEST_SEED = 99
FIELDS = ("shape", "parse", "clrs", "exact")


class Score(NamedTuple):
    """Means over the problems of one task and size."""

    shape: float
    parse: float
    clrs: float
    exact: float
    problems: int
    clrs_error: float
    """Standard error of the mean CLRS score."""


Scores = dict[str, dict[int, Score]]
"""By task and size."""


def held_out_orders(
    config: TransnarConfig, sizes: Sequence[int], problems: int, reread: bool = False
) -> list[Order]:
    """Problems that no tower learns from."""
    return [
        Order(task, size, problems, _TEST_SEED, TEST, config.decimals, reread)
        for task in config.tasks
        for size in sizes
    ]


def scores_of(datasets: Sequence[TextDataset], answers: Sequence[Sequence[str]]) -> Scores:
    """The scores of the answers to each dataset's problems."""
    scores: Scores = {}
    for dataset, texts in zip(datasets, answers, strict=True):
        each = [text.score(e, t) for e, t in zip(dataset.examples(), texts, strict=True)]
        clrs = [score.clrs for score in each]
        error = statistics.stdev(clrs) / len(clrs) ** 0.5 if len(clrs) > 1 else 0.0
        score = Score(**means(each, FIELDS), problems=len(each), clrs_error=error)
        scores.setdefault(dataset.task, {})[dataset.size] = score
    return scores


def means(scores: Iterable[Any], fields: Sequence[str]) -> dict[str, float]:
    """Of each of these fields, the mean over scores."""
    scores = list(scores)
    return {field: statistics.fmean(getattr(s, field) for s in scores) for field in fields}


def tower_answers(
    tower: Tower,
    datasets: Sequence[TextDataset],
    states: Sequence[ReasonerStates] | None = None,
    *,
    seed: int = 0,
) -> list[list[str]]:
    """What a tower writes, greedily; `states` are the reasoner's, for a hybrid."""
    rooms = [int(dataset.answer_lengths.max()) + _SPARE for dataset in datasets]
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for number, (dataset, room) in enumerate(zip(datasets, rooms, strict=True)):
        length = padded(int(dataset.prompt_lengths.max()) + room, WRITTEN)
        prompts = groups.setdefault((length, padded(dataset.nodes, NODES)), [])
        prompts += [(number, sample) for sample in range(len(dataset))]
    key = jax.random.key(seed)
    answers = [[""] * len(dataset) for dataset in datasets]
    for number, ((length, nodes), prompts) in enumerate(sorted(groups.items())):
        size = written_batch(length)
        for start in range(0, len(prompts), size):
            # The last batch is filled up, so that all have one shape.
            batch = [prompts[i % len(prompts)] for i in range(start, start + size)]
            graph = None
            if states is not None:
                parts = itertools.groupby(batch, key=operator.itemgetter(0))
                chosen = [(states[d], np.array([sample for _, sample in p])) for d, p in parts]
                graph = graph_of(chosen, nodes)
            texts = generate(
                tower,
                [datasets[d].prompt(sample) for d, sample in batch],
                max(rooms[d] for d, _ in batch),
                graph,
                key=jax.random.fold_in(jax.random.fold_in(key, number), start),
                length=length,
            )
            for (d, sample), tokens in zip(batch, texts, strict=True):
                answers[d][sample] = tokenizer().decode(tokens)
    return answers


def reasoner_answers(
    datasets: Sequence[TextDataset], states: Sequence[ReasonerStates]
) -> list[list[str]]:
    """NAR alone: given the graph and how many steps to take, as in CLRS-30."""
    return [answers(d.problems, s.outputs) for d, s in zip(datasets, states, strict=True)]


def pipeline_answers(reasoner: Model, reread: Sequence[TextDataset]) -> list[list[str]]:
    """Text -> graph -> NAR: problems are made of prompts, and nothing says when to stop: the
    reasoner takes as many steps as the longest run of the algorithm in the dataset."""
    return reasoner_answers(reread, reason(reasoner, reread, own_steps=False))


def solver_answers(reread: Sequence[TextDataset]) -> list[list[str]]:
    """Text -> problem -> reference algorithm -> text: the answers of problems made of prompts."""
    return [[example.answer for example in dataset.examples()] for dataset in reread]


def constant_answers(datasets: Sequence[TextDataset]) -> list[list[str]]:
    """The same answer to all problems of a dataset: at each place the word that most of their
    answers have there, as many words as most answers have."""
    answers = []
    for dataset in datasets:
        texts = [example.answer.split(" ") for example in dataset.examples()]
        length = statistics.mode(len(words) for words in texts)
        places = itertools.islice(itertools.zip_longest(*texts), length)
        common = [statistics.mode(w for w in place if w is not None) for place in places]
        answers.append([" ".join(common)] * len(dataset))
    return answers


def fits_context(tower: TowerConfig, dataset: TextDataset) -> bool:
    """Whether the tower can write answers to all problems of the dataset."""
    room = int(dataset.answer_lengths.max()) + _SPARE
    return int(dataset.prompt_lengths.max()) + room <= tower.context


def mean_clrs(scores: Scores, sizes: Sequence[int]) -> float:
    """The mean over tasks and those of these sizes that a task was tested at; NaN if none was."""
    each = [by_size[n].clrs for by_size in scores.values() for n in sizes if n in by_size]
    return statistics.fmean(each) if each else math.nan


def sizes_text(sizes: Sequence[int]) -> str:
    return f"n = {', '.join(map(str, sizes))}"


def as_json(scores: Scores) -> dict[str, Any]:
    return serialise.to_json(scores)


def from_json(content: dict[str, Any]) -> Scores:
    return serialise.from_json(Scores, content)


def averaged(scores: Sequence[Scores]) -> Scores:
    """The mean over several towers, such as seeds, on the same problems."""

    def mean(task: str, size: int) -> Score:
        each = [s[task][size] for s in scores]
        return Score(**means(each, (*FIELDS, "clrs_error")), problems=each[0].problems)

    return {task: {size: mean(task, size) for size in scores[0][task]} for task in scores[0]}
