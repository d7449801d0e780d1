"""The survey: millions of random problems, drawn, traced and compared where the network runs.

    found = survey(network, task, 16, 1_000_000)
    found.disagreeing       # of found.count problems

The families of the falsifier are few problems of many kinds; the survey is many of one kind, random
trees with more edges, which meets rare disagreements. Only counts, some disagreeing problems and
those with the smallest margins leave the device. For the algorithms of `parallel`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from algoscope.falsify.account import Subject
from algoscope.falsify.disagreement import LARGEST_TOLERANCE, Disagreement, run_and_compare
from algoscope.falsify.families import Problem, with_uneven_positions
from algoscope.falsify.padding import at_time
from algoscope.falsify.parallel import PARALLEL, trace
from algoscope.networks import Network
from algoscope.tasks import Batch, Task

_KEPT, _MOST = 32, 1000
"""Disagreeing problems that are kept of a part, and of all; and as many with small margins."""
_PAIRS_DRAWN = {"cpu": 2**20, "gpu": 2**24}
"""Pairs of nodes that are drawn and traced at a time, by JAX's name of the device."""
_PAIRS_RUN = {"cpu": 2**15, "gpu": 2**20}
"""Those that the network runs on at a time."""


class Found(NamedTuple):
    count: int
    """Problems."""
    disagreeing: int
    wrong_answers: int
    differing: list[Problem]
    """Some of those that disagree."""
    near: list[Problem]
    """Of the others, those with the smallest margins of some parts."""

    def with_part(self, part: "Found") -> "Found":
        return Found(
            self.count + part.count,
            self.disagreeing + part.disagreeing,
            self.wrong_answers + part.wrong_answers,
            (self.differing + part.differing)[:_MOST],
            (self.near + part.near)[:_MOST],
        )


def check_survey(subject: Subject, task: Task, count: int) -> Network:
    """The network; what cannot be drawn, traced and run in one place is refused."""
    if count < 1:
        raise ValueError(f"survey: got {count} problems, needed at least 1, or 0 for no survey")
    if task.name not in PARALLEL:
        raise ValueError(
            f"survey: got the task {task.name}, needed one of {', '.join(sorted(PARALLEL))}, whose "
            "problems are drawn and traced where the network runs"
        )
    if not isinstance(subject, Network):
        raise ValueError("survey: got a function, needed a network, which runs where JAX does")
    return subject


def survey(
    subject: Subject,
    task: Task,
    n: int,
    count: int,
    tolerance: float = LARGEST_TOLERANCE,
    seed: int = 0,
    *,
    report: Callable[[int], None] = lambda count: None,
) -> Found:
    """Compares a network with the algorithm on about so many problems of n nodes, part by part, of
    each of which the number of problems is reported."""
    network = check_survey(subject, task, count)
    device = jax.default_backend()
    at_once = max(1, _PAIRS_RUN.get(device, _PAIRS_RUN["gpu"]) // n**2)
    most = max(at_once, _PAIRS_DRAWN.get(device, _PAIRS_DRAWN["gpu"]) // n**2)
    key = jax.random.key(seed)
    whole = Found(0, 0, 0, [], [])
    for part, start in enumerate(range(0, count, most)):
        rows = math.ceil(min(most, count - start) / at_once) * at_once
        batch = drawn(task, n, rows, jax.random.fold_in(key, part))
        whole = whole.with_part(_found(batch, _compared(network, batch, at_once, tolerance)))
        report(rows)
    return whole


def _compared(network: Network, batch: Batch, at_once: int, tolerance: float) -> Disagreement:
    """Those with the fewest steps first, in no more steps of time than they take."""
    n, lengths = batch.nodes, np.asarray(batch.lengths)
    results = []
    for first in range(0, len(batch), at_once):
        chosen = slice(first, first + at_once)
        time = _time(n, int(lengths[chosen].max()))
        results.append(run_and_compare(network, at_time(batch.take(chosen), time), tolerance))
    return Disagreement(*map(jnp.concatenate, zip(*results, strict=True)))


def drawn(task: Task, n: int, rows: int, key: PRNGKeyArray) -> Batch:
    """So many problems with their traces, those with the fewest steps first, on JAX's device."""
    return Batch(task, *_drawn(task.name, n, rows, key))


@functools.partial(jax.jit, static_argnames=("name", "n", "rows"))
def _drawn(name: str, n: int, rows: int, key: PRNGKeyArray) -> Any:
    algorithm = PARALLEL[name]
    for_problems, for_positions = jax.random.split(key)
    inputs = jax.vmap(lambda key: algorithm.draw(key, n))(jax.random.split(for_problems, rows))
    hints, outputs, lengths = trace(algorithm, inputs, n)
    inputs["pos"] = _positions(for_positions, rows, n)
    order = jnp.argsort(lengths, stable=True)
    return jax.tree.map(lambda values: values[order], (inputs, hints, outputs, lengths))


def _positions(key: PRNGKeyArray, rows: int, n: int) -> Array:
    """Even in every other problem, else ascending uniform draws, as in training: [rows, n]"""
    uneven = jnp.sort(jax.random.uniform(key, (rows, n)), axis=1)
    return jnp.where(jnp.arange(rows)[:, None] % 2 == 0, jnp.arange(n)[None] / n, uneven)


def _time(n: int, length: int) -> int:
    """Room for so many steps, a power of two or n: few shapes, so that little is compiled."""
    return min(max(2, n), 1 << max(1, (length - 1).bit_length()))


def _found(batch: Batch, result: Disagreement) -> Found:
    (disagreeing, wrong_answers), differing, nearest = _kept(batch, result)
    agreeing = len(batch) - int(disagreeing)
    return Found(
        len(batch),
        int(disagreeing),
        int(wrong_answers),
        differing=with_uneven_positions(differing)[: int(disagreeing)],
        near=with_uneven_positions(nearest)[:agreeing],
    )


@jax.jit
def _kept(batch: Batch, result: Disagreement) -> tuple[tuple[Array, Array], Batch, Batch]:
    """How many problems disagree, and how many answers; problems that disagree, as far as there
    are any, and those with the smallest margins of the others."""
    wrong = result.wrong
    differing = jnp.argsort(~wrong, stable=True)[:_KEPT]
    nearest = jnp.argsort(jnp.where(wrong, jnp.inf, result.margin))[:_KEPT]
    return (wrong.sum(), result.wrong_answer.sum()), batch.take(differing), batch.take(nearest)
