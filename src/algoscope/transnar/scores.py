"""Scores from real generation, per task and size, of towers and of all that they are compared with.

Whoever answers, it is text that is scored (`tasks.text.score`): shape, parse, CLRS and exact match.
"""

import itertools
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from algoscope.configuration import TransnarConfig
from algoscope.tasks import text
from algoscope.training.model import Model
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.generation import generate
from algoscope.transnar.pool import joint_graph
from algoscope.transnar.reasoner import Thought, padded_nodes
from algoscope.transnar.text_dataset import TEST, Cell, Order
from algoscope.transnar.tokenizer import tokenizer
from algoscope.transnar.tower import Tower

_LENGTHS = (128, 512, 2048, 8192)
"""To which prompts with their answers are padded: few, since each is a program."""
_SPARE = 4
"""Tokens that an answer may have beyond the right one: with more its shape is wrong anyway."""
_AT_ONCE = {"cpu": 64}
_AT_ONCE_ELSEWHERE = 256
_TEST_SEED = 99


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


def scores_of(cells: Sequence[Cell], answers: Sequence[Sequence[str]]) -> Scores:
    """The scores of the answers to each cell's problems."""
    scores: Scores = {}
    for cell, texts in zip(cells, answers, strict=True):
        each = [text.score(e, t) for e, t in zip(cell.examples(), texts, strict=True)]
        clrs = [score.clrs for score in each]
        means = {
            name: statistics.fmean(getattr(score, name) for score in each)
            for name in ("shape", "parse", "clrs", "exact")
        }
        error = statistics.stdev(clrs) / len(clrs) ** 0.5 if len(clrs) > 1 else 0.0
        scores.setdefault(cell.task, {})[cell.size] = Score(
            **means, problems=len(each), clrs_error=error
        )
    return scores


class _Item(NamedTuple):
    cell: int
    sample: int


def tower_answers(
    tower: Tower,
    cells: Sequence[Cell],
    thoughts: Sequence[Thought] | None = None,
    *,
    seed: int = 0,
) -> list[list[str]]:
    """What a tower writes, greedily; `thoughts` are the reasoner's, for a hybrid."""
    groups: dict[tuple[int, int], list[_Item]] = {}
    rooms = [int((c.lengths - c.prompt_lengths).max()) + _SPARE for c in cells]
    for number, (cell, room) in enumerate(zip(cells, rooms, strict=True)):
        length = next(n for n in _LENGTHS if n >= cell.prompt_lengths.max() + room)
        items = groups.setdefault((length, padded_nodes(cell.nodes)), [])
        items += [_Item(number, sample) for sample in range(cell.samples)]
    at_once = _AT_ONCE.get(jax.default_backend(), _AT_ONCE_ELSEWHERE)
    answers = [[""] * cell.samples for cell in cells]
    key = jax.random.key(seed)
    decode = tokenizer().decode
    for number, ((length, nodes), items) in enumerate(sorted(groups.items())):
        for start in range(0, len(items), at_once):
            # The last batch is filled up, so that all have one shape.
            some = [items[i % len(items)] for i in range(start, start + at_once)]
            graph = None if thoughts is None else _graph(thoughts, some, nodes)
            prompts = [
                cells[i.cell].tokens[i.sample, : cells[i.cell].prompt_lengths[i.sample]].tolist()
                for i in some
            ]
            room = max(rooms[i.cell] for i in some)
            own = jax.random.fold_in(jax.random.fold_in(key, number), start)
            written = generate(tower, prompts, room, graph, key=own, length=length)
            for item, tokens in zip(some, written, strict=True):
                answers[item.cell][item.sample] = decode(tokens)
    return answers


def _graph(thoughts: Sequence[Thought], items: Sequence[_Item], nodes: int) -> Graph:
    """The states on the problems of a batch, whose cells follow one another."""
    runs: list[tuple[int, list[int]]] = []
    for item in items:
        if not runs or runs[-1][0] != item.cell:
            runs.append((item.cell, []))
        runs[-1][1].append(item.sample)
    return joint_graph([(thoughts[c], np.array(samples)) for c, samples in runs], nodes)


def reasoner_answers(cells: Sequence[Cell], thoughts: Sequence[Thought]) -> list[list[str]]:
    """NAR alone: given the graph and how many steps to take, as in CLRS-30."""
    return [reasoners.answers(c, t.outputs) for c, t in zip(cells, thoughts, strict=True)]


def pipeline_answers(reasoner: Model, reread: Sequence[Cell]) -> list[list[str]]:
    """Text -> graph -> NAR: cells are made of prompts, and nobody says when to stop: the reasoner
    takes as many steps as the longest run of the algorithm in the cell."""
    thoughts = reasoners.think(reasoner, reread, own_steps=False)
    return reasoner_answers(reread, thoughts)


def solver_answers(reread: Sequence[Cell]) -> list[list[str]]:
    """Text -> problem -> reference algorithm -> text: what cells made of prompts say."""
    return [[example.answer for example in cell.examples()] for cell in reread]


def constant_answers(cells: Sequence[Cell]) -> list[list[str]]:
    """The same answer to all problems of a cell: at each place the word that most of their answers
    have there, as many words as most answers have."""
    answers = []
    for cell in cells:
        texts = [example.answer.split(" ") for example in cell.examples()]
        length = statistics.mode(len(words) for words in texts)
        places = itertools.islice(itertools.zip_longest(*texts), length)
        common = [statistics.mode(w for w in place if w is not None) for place in places]
        answers.append([" ".join(common)] * cell.samples)
    return answers


def mean_clrs(scores: Scores, sizes: Sequence[int]) -> float:
    """The mean over tasks and these sizes."""
    return statistics.fmean(of_task[size].clrs for of_task in scores.values() for size in sizes)


def as_json(scores: Scores) -> dict[str, Any]:
    return {
        task: {str(size): dict(score._asdict()) for size, score in by_size.items()}
        for task, by_size in scores.items()
    }


def from_json(given: dict[str, Any]) -> Scores:
    return {
        task: {int(size): Score(**score) for size, score in by_size.items()}
        for task, by_size in given.items()
    }


def averaged(scores: Sequence[Scores]) -> Scores:
    """The mean over several towers, such as seeds, on the same problems."""

    def mean(task: str, size: int) -> Score:
        each = [s[task][size] for s in scores]
        means = {
            name: statistics.fmean(getattr(score, name) for score in each)
            for name in ("shape", "parse", "clrs", "exact", "clrs_error")
        }
        return Score(**means, problems=each[0].problems)

    return {task: {size: mean(task, size) for size in scores[0][task]} for task in scores[0]}
