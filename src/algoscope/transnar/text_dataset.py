"""Text datasets: problems of one task and size, as text in tokens and as graphs in arrays.

The text costs time in plain Python, so where there is much to draw, processes share the work.
"""

import dataclasses
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.tasks import Batch, text
from algoscope.tasks.sampling import trace_problems
from algoscope.tasks.text import Example
from algoscope.transnar.tokenizer import PAD, tokenizer

_WORTH_PROCESSES = 20_000
"""Problems from which on it pays to start processes."""
TRAINING, TEST, VALIDATION = range(3)
"""What problems are drawn for; each purpose has its own."""


@dataclasses.dataclass(frozen=True, eq=False)
class TextDataset:
    size: int
    tokens: np.ndarray
    """Prompt and answer: int16 [sample, token], padded to the longest."""
    prompt_lengths: np.ndarray
    """int32 [sample]"""
    lengths: np.ndarray
    """Of prompt and answer: int32 [sample]."""
    problems: Batch
    """With the first step of its hints alone, which is all that a reasoner is given."""

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def task(self) -> str:
        return self.problems.task.name

    @property
    def nodes(self) -> int:
        return self.problems.nodes

    @property
    def answer_lengths(self) -> np.ndarray:
        return self.lengths - self.prompt_lengths

    def prompt(self, sample: int) -> list[int]:
        return self.tokens[sample, : self.prompt_lengths[sample]].tolist()

    def examples(self) -> list[Example]:
        """The texts."""
        decode = tokenizer().decode
        return [
            Example(self.task, self.nodes, False, decode(row[:start]), decode(row[start:end]))
            for row, start, end in zip(self.tokens, self.prompt_lengths, self.lengths, strict=True)
        ]

    def take(self, samples: Any) -> "TextDataset":
        """The samples of a slice, of indices or of a mask."""
        chosen = (array[samples] for array in (self.tokens, self.prompt_lengths, self.lengths))
        return TextDataset(self.size, *chosen, problems=self.problems.take(samples))


class Order(NamedTuple):
    """What to draw."""

    task: str
    size: int
    count: int
    seed: int
    purpose: int = TRAINING
    decimals: int = 3
    reread: bool = False
    """Whether the dataset is then made anew from its prompts alone."""


def draw(order: Order) -> TextDataset:
    words = [order.seed, tasks.seed_word(order.task), order.size, order.purpose]
    seed = int(np.random.SeedSequence(words).generate_state(1)[0])
    batch = tasks.sample(
        order.task, order.size, order.count, seed, truncate_decimals=order.decimals
    )
    dataset = written(batch, order.size)
    return reread(dataset) if order.reread else dataset


def reread(dataset: TextDataset) -> TextDataset:
    """The dataset made anew from its prompts alone."""
    problems = [text.parse(example.prompt) for example in dataset.examples()]
    registers = [problem.registers for problem in problems]
    traced = trace_problems(problems[0].task, problems[0].nodes, registers)
    return written(traced, dataset.size)


def written(batch: Batch, size: int) -> TextDataset:
    """The problems of a batch with their texts."""
    encode = tokenizer().encode
    texts = [text.write(batch, sample) for sample in range(len(batch))]
    prompts, answers = [encode(t.prompt) for t in texts], [encode(t.answer) for t in texts]
    prompt_lengths = np.array([len(p) for p in prompts], np.int32)
    lengths = prompt_lengths + np.array([len(a) for a in answers], np.int32)
    tokens = np.full((len(batch), lengths.max()), PAD, np.int16)
    for row, prompt, answer in zip(tokens, prompts, answers, strict=True):
        row[: len(prompt) + len(answer)] = prompt + answer
    first = {name: hint[:, :1] for name, hint in batch.hints.items()}
    # Taking all of them copies: a tracer reuses its memory.
    problems = dataclasses.replace(batch, hints=first).take(np.arange(len(batch)))
    return TextDataset(size, tokens, prompt_lengths, lengths, problems)


def draw_all(orders: Sequence[Order]) -> list[TextDataset]:
    """The datasets, in the order of the orders. A process draws all of a task, since each has to
    compile its algorithm."""
    by_task: dict[str, list[Order]] = {}
    for order in orders:
        by_task.setdefault(order.task, []).append(order)
    workers = min(os.cpu_count() or 1, len(by_task))
    if workers == 1 or sum(order.count for order in orders) < _WORTH_PROCESSES:
        return [draw(order) for order in orders]
    # Forked processes would share the threads of JAX.
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        drawn = pool.map(_draw_each, by_task.values())
        datasets = {
            order: dataset
            for same_task, parts in zip(by_task.values(), drawn, strict=True)
            for order, dataset in zip(same_task, parts, strict=True)
        }
    return [datasets[order] for order in orders]


def _draw_each(orders: Sequence[Order]) -> list[TextDataset]:
    return [draw(order) for order in orders]
