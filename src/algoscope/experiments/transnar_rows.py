"""The rows of TransNAR's table: towers and rivals, each one value.

A row says how its tower's configuration differs from the hybrid's, or how a rival answers.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from algoscope.configuration import TransnarConfig
from algoscope.experiments.transnar_tables import (
    BASE,
    HYBRID,
    ONE_ANSWER,
    PIPELINE,
    REASONER,
    SOLVER,
)
from algoscope.transnar.config import PAPER
from algoscope.transnar.mechanism import OTHER_STATES, with_other_states
from algoscope.transnar.reasoner import reason
from algoscope.transnar.scores import (
    constant_answers,
    pipeline_answers,
    reasoner_answers,
    solver_answers,
)

if TYPE_CHECKING:
    from algoscope.experiments.transnar_study import StudyContext


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of the table: a tower, in one or more seeds, or a rival that is none."""

    name: str
    """Of its runs and files."""
    title: str
    """In tables."""
    tower: Callable[[TransnarConfig], TransnarConfig] | None = None
    """The tower's configuration, from the hybrid's; None for a rival."""
    every_seed: bool = False
    """Whether there is a tower for each of the study's seeds, or for the first alone."""
    answers: "Callable[[StudyContext], list[list[str]]] | None" = None
    """The rival's answers to the test problems; None for a tower."""
    needs_reasoner: bool = False
    """Whether a rival needs the trained reasoner, or what reads it."""
    taught: bool = False
    """Whether the first hybrid is the tower's teacher."""
    without_held_out: bool = False
    """Whether the tower learns none of the study's held-out tasks."""


def _tower(**changes: Any) -> Callable[[TransnarConfig], TransnarConfig]:
    return lambda c: dataclasses.replace(c, tower=dataclasses.replace(c.tower, **changes))


def _with(**changes: Any) -> Callable[[TransnarConfig], TransnarConfig]:
    return lambda config: dataclasses.replace(config, **changes)


def _in_parts(config: TransnarConfig) -> TransnarConfig:
    """States after each step take as many times the memory as there are layers."""
    least = config.parts * config.tower.layers
    divisors = (n for n in range(least, config.samples + 1) if config.samples % n == 0)
    return dataclasses.replace(config, parts=next(divisors, config.parts))


def _other_states(context: "StudyContext") -> list[list[str]]:
    return context.hybrid_answers(with_other_states)


MAIN_ROWS = (
    Row("base", BASE, _tower(reads="nothing"), every_seed=True),
    Row("hybrid", HYBRID, _with(), every_seed=True),
    Row(
        "reasoner",
        REASONER,
        answers=lambda c: reasoner_answers(c.data.test, reason(c.reasoner.get(), c.data.test)),
        needs_reasoner=True,
    ),
    Row(
        "pipeline",
        PIPELINE,
        answers=lambda c: pipeline_answers(c.reasoner.get(), c.data.reread),
        needs_reasoner=True,
    ),
    Row("solver", SOLVER, answers=lambda c: solver_answers(c.data.reread)),
    Row("constant", ONE_ANSWER, answers=lambda c: constant_answers(c.data.test)),
)
CONTROL_ROWS = (
    Row("untrained", "hybrid, untrained reasoner", _with(reasoner_trained=False)),
    Row("other-states", f"hybrid, {OTHER_STATES}", answers=_other_states, needs_reasoner=True),
    Row(
        "base-in-order", "base, positions in order", _tower(reads="nothing", random_positions=False)
    ),
    Row("in-order", "hybrid, positions in order", _tower(random_positions=False)),
    Row(
        "distilled",
        "base, distilled from the hybrid",
        lambda c: _tower(reads="nothing")(_with(loss="teacher")(c)),
        taught=True,
    ),
    Row("base-held-out", "base, tasks held out", _tower(reads="nothing"), without_held_out=True),
    Row("held-out", "hybrid, tasks held out", _with(), without_held_out=True),
    Row("first", "hybrid, first layer reads", _tower(reading_layers="first")),
    Row("last", "hybrid, last layer reads", _tower(reading_layers="last")),
    Row("alternate", "hybrid, every second layer reads", _tower(reading_layers="alternate")),
    Row("sum", "hybrid, sum of nodes and edges", _tower(mix="sum")),
    Row("mlp", "hybrid, MLP of nodes and edges", _tower(mix="mlp")),
    Row("orthogonal", "hybrid, edges orthogonal to nodes", _tower(mix="orthogonal")),
    Row("hidden", "hybrid, hidden states alone", _with(reads_inputs=False)),
    Row(
        "hidden-untrained",
        "the same, untrained reasoner",
        _with(reads_inputs=False, reasoner_trained=False),
    ),
    Row("stepwise", "hybrid, reads step by step", lambda c: _tower(reads="stepwise")(_in_parts(c))),
    Row("live", "hybrid, its reasoner learns too", _with(trains_reasoner=("processor",))),
)
PAPER_ROWS = (
    Row(
        "base-paper",
        "base of the paper's size",
        _tower(reads="nothing", width=PAPER.width, heads=PAPER.heads),
    ),
    Row("hybrid-paper", "hybrid of the paper's size", _tower(width=PAPER.width, heads=PAPER.heads)),
)
"""Towers of about 70 M weights."""
ROWS = (*MAIN_ROWS, *CONTROL_ROWS)
