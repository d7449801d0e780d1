"""Cells: the problems of one task and size, as text in tokens and as graphs in arrays.

The text costs time in plain Python, so where there is much to draw, processes share the work.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from algoscope import tasks
from algoscope.tasks import Batch, text
from algoscope.tasks.sampling import trace_problems
from algoscope.tasks.text import Example
from algoscope.transnar.tokenizer import PAD, tokenizer

_WORTH_PROCESSES = 20_000
"""Problems from which on it pays to start processes."""
TRAINING, TEST, PROBE = range(3)
"""What problems are drawn for; each purpose has its own."""


class Cell(NamedTuple):
    task: str
    size: int
    tokens: np.ndarray
    """Prompt and answer: int16 [sample, token], padded to the longest."""
    prompt_lengths: np.ndarray
    """int32 [sample]"""
    lengths: np.ndarray
    """Of prompt and answer: int32 [sample]."""
    inputs: dict[str, np.ndarray]
    hints: dict[str, np.ndarray]
    """Their first step alone, which is all that a reasoner is given: [sample, 1, …]."""
    outputs: dict[str, np.ndarray]
    steps: np.ndarray
    """Of the algorithm: int64 [sample]."""

    @property
    def nodes(self) -> int:
        return self.inputs["pos"].shape[1]

    @property
    def samples(self) -> int:
        return len(self.lengths)

    @property
    def batch(self) -> Batch:
        return Batch(tasks.get(self.task), self.inputs, self.hints, self.outputs, self.steps)

    def examples(self) -> list[Example]:
        """The texts of the cell."""
        decode = tokenizer().decode
        return [
            Example(self.task, self.nodes, False, decode(row[:start]), decode(row[start:end]))
            for row, start, end in zip(self.tokens, self.prompt_lengths, self.lengths, strict=True)
        ]


class Order(NamedTuple):
    """What to draw."""

    task: str
    size: int
    count: int
    seed: int
    purpose: int = TRAINING
    decimals: int = 3
    reread: bool = False
    """Whether the cell is then made anew from its prompts alone."""


def draw(order: Order) -> Cell:
    words = [order.seed, tasks.seed_word(order.task), order.size, order.purpose]
    seed = int(np.random.SeedSequence(words).generate_state(1)[0])
    batch = tasks.sample(
        order.task, order.size, order.count, seed, truncate_decimals=order.decimals
    )
    cell = cell_of(batch, order.size)
    return reread(cell) if order.reread else cell


def reread(cell: Cell) -> Cell:
    """The cell made anew from its prompts alone."""
    problems = [text.parse(example.prompt) for example in cell.examples()]
    registers = [problem.registers for problem in problems]
    return cell_of(trace_problems(problems[0].task, problems[0].nodes, registers), cell.size)


def cell_of(batch: Batch, size: int) -> Cell:
    encode = tokenizer().encode
    texts = [text.write(batch, sample) for sample in range(len(batch))]
    prompts, answers = [encode(t.prompt) for t in texts], [encode(t.answer) for t in texts]
    prompt_lengths = np.array([len(p) for p in prompts], np.int32)
    lengths = prompt_lengths + np.array([len(a) for a in answers], np.int32)
    tokens = np.full((len(batch), lengths.max()), PAD, np.int16)
    for row, prompt, answer in zip(tokens, prompts, answers, strict=True):
        row[: len(prompt) + len(answer)] = prompt + answer
    return Cell(
        batch.task.name,
        size,
        tokens,
        prompt_lengths,
        lengths,
        # Copies, since a tracer reuses its memory.
        {name: array.copy() for name, array in batch.inputs.items()},
        {name: array[:, :1].copy() for name, array in batch.hints.items()},
        {name: array.copy() for name, array in batch.outputs.items()},
        batch.lengths.copy(),
    )


def draw_all(orders: Sequence[Order]) -> list[Cell]:
    """The cells, in the order of the orders. A process draws all of a task, since each has to
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
        found = {
            order: cell
            for of_task, cells in zip(by_task.values(), drawn, strict=True)
            for order, cell in zip(of_task, cells, strict=True)
        }
    return [found[order] for order in orders]


def _draw_each(orders: Sequence[Order]) -> list[Cell]:
    return [draw(order) for order in orders]


def first(cell: Cell, count: int) -> Cell:
    """The first problems of a cell."""

    def cut(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: array[:count] for name, array in arrays.items()}

    return cell._replace(
        tokens=cell.tokens[:count],
        prompt_lengths=cell.prompt_lengths[:count],
        lengths=cell.lengths[:count],
        inputs=cut(cell.inputs),
        hints=cut(cell.hints),
        outputs=cut(cell.outputs),
        steps=cell.steps[:count],
    )
