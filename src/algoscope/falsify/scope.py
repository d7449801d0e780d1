"""The region in which a subject is exact, as rules on coordinates of a problem.

    steps <= 9        every problem on which the algorithm takes at most nine steps is right

A coordinate is a number of each problem (`COORDINATES`), a rule a threshold on it, a region the
problems that meet up to three rules. Of all regions without a disagreement the one that holds the
most problems is taken. It counts as a scope if it holds at least half of the problems that the
task's sampler draws, and at least a quarter of what lies beyond it is wrong: else disagreements are
scattered, and no rule names them.

Adding a coordinate is adding one value to `COORDINATES`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope import programs
from algoscope.programs import Role
from algoscope.programs.interpreter import least_leads
from algoscope.statistics import Estimate, proportion
from algoscope.tasks import Batch, Kind, Stage

_MOST_RULES = 3
_LEVELS = 9
"""Thresholds that are tried of each coordinate."""
_WITNESSES = 10
"""Right problems between a boundary and the nearest wrong one."""
_SAMPLED = 0.5
"""The least share of the sampler's problems that a scope holds."""
_BEYOND = 0.25
"""The least share of wrong problems outside a scope."""


def _weights(batch: Batch) -> np.ndarray | None:
    """The weights of edges, NaN where there is none: [batch, n * n]; None without weights."""
    A = batch.inputs.get("A")
    if A is None or not ((A != 0) & (A != 1)).any():
        return None
    return np.where(A != 0, A, np.nan).reshape(len(batch), -1)


def _of_weights(reduce: Callable) -> Callable[[Batch], np.ndarray | None]:
    def coordinate(batch: Batch) -> np.ndarray | None:
        weights = _weights(batch)
        if weights is None:
            return None
        without_edges = np.asarray(np.isnan(weights).all(1))
        return reduce(np.where(without_edges[:, None], 1.0, weights))

    return coordinate


def _numbers(batch: Batch) -> list[np.ndarray]:
    """The real numbers at nodes, positions apart: [batch, n] each."""
    return [
        np.asarray(batch.inputs[f.name], float)
        for f in batch.at(Stage.INPUT)
        if f.kind is Kind.SCALAR and f.name not in ("pos", "A") and batch.inputs[f.name].ndim == 2
    ]


def _difference_of_numbers(batch: Batch) -> np.ndarray | None:
    numbers = _numbers(batch)
    if not numbers or batch.nodes < 2:
        return None
    return np.min([np.diff(np.sort(values, 1), axis=1).min(1) for values in numbers], 0)


def _difference_of_positions(batch: Batch) -> np.ndarray | None:
    if batch.nodes < 2:
        return None
    return np.diff(np.sort(batch.inputs["pos"], 1), axis=1).min(1)


def _decision_margin(batch: Batch) -> np.ndarray | None:
    references = programs.of_task(batch.task, Role.REFERENCE)
    return least_leads(references[0], batch) if references else None


def _largest_number(batch: Batch) -> np.ndarray | None:
    """Of the trace and the answer."""
    scalars = [
        np.abs(np.asarray(batch.values(stage)[f.name], float)).reshape(len(batch), -1).max(1)
        for stage in (Stage.HINT, Stage.OUTPUT)
        for f in batch.at(stage)
        if f.kind is Kind.SCALAR
    ]
    return np.max(scalars, 0) if scalars else None


def _per_graph(reduce: Callable[[np.ndarray], np.ndarray]) -> Callable:
    def coordinate(batch: Batch) -> np.ndarray | None:
        A = batch.inputs.get("A")
        return None if A is None else reduce(A != 0)

    return coordinate


def _source(batch: Batch) -> np.ndarray | None:
    s = batch.inputs.get("s")
    if s is None or "A" not in batch.inputs:
        return None
    return (s * batch.inputs["pos"]).sum(-1)


COORDINATES: dict[str, Callable[[Batch], np.ndarray | None]] = {
    "steps": lambda batch: np.asarray(batch.lengths) - 1,
    "nodes": lambda batch: np.full(len(batch), batch.nodes),
    "largest degree": _per_graph(lambda edges: edges.sum(-1).max(-1)),
    "edges": _per_graph(lambda edges: edges.sum((-1, -2))),
    "position of the source": _source,
    "decision margin": _decision_margin,
    "smallest weight": _of_weights(lambda weights: np.nanmin(weights, 1)),
    "largest weight": _of_weights(lambda weights: np.nanmax(weights, 1)),
    "difference of numbers": _difference_of_numbers,
    "difference of positions": _difference_of_positions,
    "largest number": _largest_number,
}
"""A number of each problem, [batch]; None where a task has none. In order of preference."""


def coordinates(batch: Batch) -> dict[str, np.ndarray]:
    values = {name: coordinate(batch) for name, coordinate in COORDINATES.items()}
    return {name: np.asarray(v, float) for name, v in values.items() if v is not None}


class Rule(NamedTuple):
    coordinate: str
    at_most: bool
    """Whether problems up to the boundary are right, or those from it on."""
    boundary: float
    wrong_from: float | None = None
    """The nearest wrong problem on the other side."""

    def in_gap(self, value: np.ndarray) -> np.ndarray:
        """Whether values lie between the boundary and the nearest wrong problem."""
        if self.wrong_from is None:
            return np.zeros(value.shape, bool)
        least, most = sorted((self.boundary, self.wrong_from))
        return (value > least) & (value < most)

    def holds(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """bool [problem]; where a task has no such coordinate, everywhere."""
        if self.coordinate not in values:
            return np.ones(len(next(iter(values.values()))), bool)
        value = values[self.coordinate]
        return value <= self.boundary if self.at_most else value >= self.boundary

    def distance(self, values: dict[str, np.ndarray]) -> np.ndarray:
        """How far inside a problem lies: [problem]; where a task has no such coordinate, 0."""
        value = values.get(self.coordinate, np.full(self.holds(values).shape, self.boundary))
        return self.boundary - value if self.at_most else value - self.boundary

    def __str__(self) -> str:
        return f"{self.coordinate} {'≤' if self.at_most else '≥'} {self.boundary:.3g}"


class Region(NamedTuple):
    rules: list[Rule]
    inside: int
    """Problems in it that were tried, without a disagreement."""
    beyond: Estimate
    """The share of disagreements outside."""
    confirmed: int = 0
    """Fresh problems inside, none of which disagrees."""

    def holds(self, values: dict[str, np.ndarray]) -> np.ndarray:
        if not self.rules:
            return np.ones(len(next(iter(values.values()))), bool)
        return np.all([rule.holds(values) for rule in self.rules], 0)

    def without(self, rule: Rule) -> "Region":
        return self._replace(rules=[other for other in self.rules if other is not rule])

    def __str__(self) -> str:
        return " and ".join(map(str, self.rules))


def find_region(
    values: dict[str, np.ndarray], wrong: np.ndarray, sampled: np.ndarray
) -> Region | None:
    """From coordinates [problem] by name, which problems are wrong, and which are the sampler's of
    a size that networks learn; None if no region counts as a scope."""
    rules: list[Rule] = []
    inside = np.ones(len(wrong), bool)
    while (wrong & inside).any() and len(rules) < _MOST_RULES:
        last = len(rules) == _MOST_RULES - 1
        candidates = [
            rule
            for name in values
            for at_most in (True, False)
            for rule in _rules(name, at_most, values[name], wrong & inside, ~wrong & inside, last)
        ]
        if not candidates:
            return None
        # Each rule removes as many wrong problems as it can for what it costs of the right ones.
        best = max(candidates, key=lambda rule: _worth(rule.holds(values), wrong, inside))
        if _worth(best.holds(values), wrong, inside) == -math.inf:
            return None
        rules.append(best)
        inside &= best.holds(values)
    if (wrong & inside).any():
        return None
    rules = _needed(rules, values, wrong)
    inside = np.all([rule.holds(values) for rule in rules], 0)
    beyond = proportion(wrong[~inside].tolist())
    if beyond.value < _BEYOND or not (inside & sampled).sum() >= _SAMPLED * sampled.sum():
        return None
    rules = [_with_nearest_wrong(rule, rules, values, wrong) for rule in rules]
    return Region(rules, int(inside.sum()), beyond)


def _with_nearest_wrong(
    rule: Rule, rules: list[Rule], values: dict[str, np.ndarray], wrong: np.ndarray
) -> Rule:
    """The rule and the nearest wrong problem that meets all others; none, if no wrong one does."""
    meets_others = [other.holds(values) for other in rules if other is not rule]
    beyond = values[rule.coordinate][wrong & np.all([~rule.holds(values), *meets_others], 0)]
    if not len(beyond):
        return rule
    return rule._replace(wrong_from=float(beyond.min() if rule.at_most else beyond.max()))


def _rules(
    name: str, at_most: bool, value: np.ndarray, wrong: np.ndarray, right: np.ndarray, last: bool
) -> list[Rule]:
    """Thresholds that put all wrong problems outside, or a part of them. So near to a wrong problem
    that fewer than `_WITNESSES` right ones lie between, nothing is claimed."""
    signed = value if at_most else -value
    levels = np.unique(signed[wrong])
    spread = np.linspace(0, len(levels) - 1, 1 if last else _LEVELS).astype(int)
    rules = []
    for level in levels[np.unique(spread)]:
        below = np.sort(signed[right & (signed < level)])
        if len(below) > _WITNESSES:
            boundary = float(below[-_WITNESSES])
            if math.isfinite(boundary):  # Of a problem without decisions the margin is infinite.
                rules.append(Rule(name, at_most, boundary if at_most else -boundary))
    return rules


def _worth(holds: np.ndarray, wrong: np.ndarray, inside: np.ndarray) -> float:
    """The share of the wrong that goes, less that of the right that goes with it."""
    right_now, wrong_now = inside & ~wrong, inside & wrong
    gone = (wrong_now & ~holds).sum() / wrong_now.sum()
    cost = (right_now & ~holds).sum() / max(1, right_now.sum())
    return float(gone - cost) if gone > 0 else -math.inf


def _needed(rules: list[Rule], values: dict[str, np.ndarray], wrong: np.ndarray) -> list[Rule]:
    """Without rules that the others make superfluous."""
    for rule in list(rules):
        others = [other for other in rules if other is not rule]
        if others and not (wrong & np.all([other.holds(values) for other in others], 0)).any():
            rules = others
    return rules
