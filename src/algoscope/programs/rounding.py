"""What rounding can do to a compiled program: a bound for all problems, and one for each.

`certify` bounds it by the largest values that a program declares. `Ledger` follows an exact run and
carries, beside the value of every hidden unit, how far the network's value can be from it at most
(running error analysis): a sum is exact where its terms lie on a common grid that float32 can hold,
and else off by one rounding a term; a softmax adds what the second best can take. A sample is
*certain* where no decision of the network, and nothing that it shows, can differ from that run.
"""

import bisect
import dataclasses
from typing import NamedTuple

import numpy as np

from algoscope.programs.interpreter import Moment, follow
from algoscope.programs.language import EDGE, NOT, OTHER, OWN, POSITION, Atom, GraphProgram, Linear
from algoscope.programs.lowering import (
    Head,
    HiddenUnit,
    Lowered,
    ShownForms,
    ShownPointer,
    Weighted,
    lower,
)
from algoscope.programs.parser import at_resolution
from algoscope.programs.precision import FLOAT32, Precision
from algoscope.tasks import Batch, Kind, Stage

_SLOPE = 0.01
_TOLERANCE = 1e-5
_HINT_SHARPNESS = 2.0**10


class Certificate(NamedTuple):
    """Under which conditions the compiled network is exact; computed, not measured."""

    sharpness: float
    margin: float
    """The best score has to be ahead of the second by this, whatever the values are within their
    bounds, for the second to have no weight that float32 sees. Scores that use `N` tell positions
    apart as below."""
    position_gap: float
    """How near two positions may be."""
    largest_uniform_size: int
    """The number of nodes up to which even positions are that far apart."""
    largest_random_size: int
    """The number of nodes up to which 99 % of random positions are."""


def certify(
    program: GraphProgram, lowered: Lowered, sharpness: float, precision: Precision
) -> Certificate:
    silent = -np.log(precision.rounding) / sharpness
    margins, gaps = [silent], []
    coarse = lower(at_resolution(program, 1.0))
    for round_, coarse_round in zip(lowered.rounds, coarse.rounds, strict=True):
        for head, same_head in zip(round_.heads, coarse_round.heads, strict=True):
            if head.score != same_head.score:
                gaps.append(1 / program.resolution)
                continue
            sizes = [abs(w) * lowered.bounds.of(form) * _terms(form) for form, w in head.score]
            sizes += [abs(w) * _SLOPE * lowered.bounds.of(form) for form, w in head.conditions]
            margins.append(silent + 2 * precision.rounding * sum(sizes))
            slope = sum(w * form.terms.get(Atom(OTHER, POSITION), 0.0) for form, w in head.score)
            gaps += [margins[-1] / abs(slope)] if slope else []
        if round_.units != coarse_round.units:
            gaps.append(1 / program.resolution)
    for shown in lowered.shown:
        if isinstance(shown, ShownPointer):
            sizes = [abs(w) * _terms(form) for form, w in shown.units]
            gaps.append(2 * precision.rounding * sum(sizes))
    gap = max([precision.rounding, *gaps])
    return Certificate(sharpness, float(max(margins)), gap, int(1 / gap), _largest_random_size(gap))


def _terms(form: Linear) -> int:
    return len(form.terms) + bool(form.constant)


def _largest_random_size(gap: float) -> int:
    """n uniform draws are all at least g apart with the probability (1 - (n - 1) g)^n."""

    def too_close(nodes: int) -> float:
        return 1 - (1 - min(1.0, (nodes - 1) * gap)) ** nodes

    return bisect.bisect_right(range(1, 2**20), 0.01, key=too_close)


def certain(program: GraphProgram, batch: Batch, sharpness: float) -> np.ndarray:
    """On which samples float32 cannot differ from the exact run: bool [batch]."""
    program = at_resolution(program, FLOAT32.resolution)
    batch = in_float32(batch)
    ledger = Ledger(lower(program), batch, sharpness)
    run = follow(program, batch, ledger)
    return ledger.certain & ~run.broken


def in_float32(batch: Batch) -> Batch:
    """The batch with the inputs that a network in float32 sees."""
    inputs = {name: np.asarray(v, np.float32).astype(float) for name, v in batch.inputs.items()}
    return dataclasses.replace(batch, inputs=inputs)


class _Approximate(NamedTuple):
    """A value, and how far the network's can be from it at most."""

    value: np.ndarray
    error: np.ndarray

    def at(self, chosen: np.ndarray) -> "_Approximate":
        """[batch, sender] -> [batch, receiver]"""
        return _Approximate(*(np.take_along_axis(array, chosen, 1) for array in self))


class Ledger:
    """Follows a run and keeps the errors of all hidden units."""

    def __init__(self, lowered: Lowered, batch: Batch, sharpness: float):
        self.lowered, self.sharpness = lowered, sharpness
        positions = batch.inputs["pos"]
        self.positions = positions
        self.certain = np.ones(len(positions), bool)
        zero = np.zeros_like(positions)
        self.units = [_Approximate(zero, zero) for _ in lowered.rounds[-1].units]
        self.names = lowered.rounds[-1].units
        scalars = (f.name for f in batch.task.at(Stage.INPUT) if f.kind is Kind.SCALAR)
        self.rounded = {f"input.{name}" for name in scalars} - {POSITION}
        self.hint_errors: dict[str, np.ndarray] = {}

    def after_round(self, number: int, moment: Moment, state: dict[str, np.ndarray]) -> None:
        round_ = self.lowered.rounds[number]
        self.moment = moment
        leaks = {head.name: self._leak(head) for head in round_.heads}
        units = [self._unit(unit.form, leaks) for unit in round_.units]
        self._compare(round_.units, units, state)
        self.units, self.names = units, round_.units

    def _compare(
        self, names: tuple[HiddenUnit, ...], units: list[_Approximate], state: dict[str, np.ndarray]
    ) -> None:
        """A sample whose units are not what the program says is not certain."""
        totals: dict[str, np.ndarray] = {}
        for (variable, coefficient, _), unit in zip(names, units, strict=True):
            totals[variable] = totals.get(variable, 0.0) + coefficient * unit.value
        for variable, total in totals.items():
            apart = np.abs(total - state[variable]) > 0.3
            self.certain &= ~(self.moment.running & apart.any(1))

    def _products(self, atom: Atom, factor: float) -> list[_Approximate]:
        """An atom of a node, as the network multiplies it: input channels and hidden units."""
        if "." in atom.name:
            value = self.moment.own[Atom(OWN, atom.name)]
            error = np.zeros_like(value)
            name = atom.name.removeprefix(NOT)
            if name in self.rounded:
                error = _of_input(value)
            elif name in self.hint_errors:
                error = self.hint_errors[name]
            return [_times(_Approximate(value, error), factor)]
        return [
            _times(unit, factor * coefficient)
            for (variable, coefficient, _), unit in zip(self.names, self.units, strict=True)
            if variable == atom.name
        ]

    def _of_nodes(self, form: Linear, where: str, constant: float = 0.0) -> _Approximate | None:
        """The part of a form that is read at one place."""
        products = self._all_products(form, where, constant)
        return _sum(products) if products else None

    def _all_products(self, form: Linear, where: str, constant: float) -> list[_Approximate]:
        products = [
            p for a, c in form.terms.items() if a.where == where for p in self._products(a, c)
        ]
        if constant:
            full = np.full_like(self.positions, constant)
            products.append(_Approximate(full, np.zeros_like(full)))
        return products

    def _leak(self, head: Head) -> "_Leak":
        """What others than the chosen can weigh in the head's softmax."""
        logit = _pair_sum([_times(_leaky(self._pair(f)), weight) for f, weight in head.units])
        shape = self.moment.allowed.shape
        value, error = (np.broadcast_to(array, shape) for array in logit)
        chosen = self.moment.chosen[head.name][..., None]
        best, off = (np.take_along_axis(array, chosen, 2) for array in (value, error))
        behind = self.sharpness * (best - value - off - error)
        weights = np.where(behind < FLOAT32.silence, np.exp(-np.maximum(behind, 0.0)), 0.0)
        weights = np.where(self.moment.allowed, weights, 0.0)
        np.put_along_axis(weights, chosen, 0.0, 2)
        rows = np.nonzero(weights.any(-1))
        return _Leak(chosen[..., 0], rows, weights[rows])

    def _pair(self, form: Linear) -> _Approximate:
        """A form of receiver and sender: [batch, receiver or 1, sender or 1]"""
        sender = self._of_nodes(form, OTHER)
        receiver = self._of_nodes(form, OWN, form.constant)
        parts = []
        if sender is not None:
            parts.append(_Approximate(*(array[:, None] for array in sender)))
        if receiver is not None:
            parts.append(_Approximate(*(array[..., None] for array in receiver)))
        parts += [
            e for a, c in form.terms.items() if a.where == EDGE for e in self._edge(a.name, c)
        ]
        if all(_is_whole(part) for part in parts):
            total = sum(part.value for part in parts)
            return _Approximate(np.asarray(total), np.zeros(()))
        return _pair_sum(parts)

    def _edge(self, name: str, factor: float) -> list[_Approximate]:
        """Edge features stay in factors, so that 1 - x is two numbers: [batch, receiver, sender]"""
        plain = name.removeprefix(NOT)
        value = self.moment.edges[plain]
        error = _of_input(value) if plain in self.rounded else np.zeros_like(value)
        if plain == name:
            return [_times(_Approximate(value, error), factor)]
        constant = _Approximate(np.full_like(value, factor), np.zeros_like(value))
        return [constant, _times(_Approximate(value, error), -factor)]

    def _unit(self, form: Linear, leaks: dict[str, "_Leak"]) -> _Approximate:
        # A compiler may start the product of state and skip weights from what the heads bring, so
        # that all of these are added in any order.
        parts = self._all_products(form, OWN, form.constant)
        for name, leak in leaks.items():
            of_nodes = self._of_nodes(form, name)
            of_edges = [
                edge
                for atom, c in form.terms.items()
                if atom.where == f"{name}.{EDGE}"
                for edge in self._edge(atom.name, c)
            ]
            parts += _arrived(of_nodes, of_edges, leak)
        value, error = _sum(parts)
        unit = np.maximum(value, 0.0)
        high, low = np.maximum(value + error, 0.0), np.maximum(value - error, 0.0)
        return _Approximate(unit, np.maximum(high - unit, unit - low))

    def after_step(self, shown: dict[str, np.ndarray], running: np.ndarray) -> None:
        for item in self.lowered.shown:
            kept = self._keeps(item, shown[item.feature.name])
            self.certain &= kept | ~running

    def _keeps(self, item: ShownPointer | ShownForms, exact: np.ndarray) -> np.ndarray:
        """Whether the network shows what the exact run shows: bool [batch]."""
        if isinstance(item, ShownPointer):
            logit = _sum([self._pointer_unit(unit) for unit in item.units])
            return _all(_is_ahead(logit, exact.astype(int)))
        forms = [self._shown_form(form) for form in item.forms]
        value, error = forms[0]
        match item.feature.kind:
            case Kind.SCALAR:
                self._feed_back(item, error)
                return _all(error < _TOLERANCE)
            case Kind.MASK:
                self._feed_back(item, np.exp(-_HINT_SHARPNESS * np.maximum(0.0, 0.5 - error)))
                return _all(error < 0.5)
            case Kind.MASK_ONE:
                ahead = _is_ahead(
                    _Approximate(value[:, None], error[:, None]), exact.argmax(-1)[:, None]
                )
                second = np.sort(value, -1)[:, -2:].copy()
                gap = second[:, -1] - second[:, 0] - 2 * error.max(-1)
                soft = np.exp(-_HINT_SHARPNESS * np.maximum(gap, 0.0))
                self._feed_back(item, np.broadcast_to(soft[:, None], value.shape))
                return _all(ahead)
        stacked = _Approximate(
            np.stack([form.value for form in forms], -1), np.stack([f.error for f in forms], -1)
        )
        return _all(_is_ahead(stacked, exact.argmax(-1)))

    def _feed_back(self, item: ShownForms, error: np.ndarray) -> None:
        silent = np.exp(-FLOAT32.silence)
        error = np.where(error <= silent, 0.0, error)
        self.hint_errors[f"hint.{item.feature.name}"] = error

    def _shown_form(self, form: Linear) -> _Approximate:
        part = self._of_nodes(form, OWN, form.constant)
        zero = np.zeros_like(self.positions)
        return _Approximate(zero, zero) if part is None else part

    def _pointer_unit(self, unit: Weighted) -> _Approximate:
        value, error = self._shown_form(unit.form)
        largest = np.maximum(value[..., None], self.positions[:, None])
        reached = value[..., None] + error[..., None] >= self.positions[:, None]
        return _times(_Approximate(largest, np.where(reached, error[..., None], 0.0)), unit.weight)


def _of_input(value: np.ndarray) -> np.ndarray:
    """What rounding an input to float32 may have changed; whole numbers stay as they are."""
    return np.where(value == np.round(value), 0.0, FLOAT32.rounding * np.abs(value))


def _times(of: _Approximate, factor: float) -> _Approximate:
    """A product by a power of two is exact."""
    error = np.abs(factor) * of.error
    if np.frexp(factor)[0] not in (0.5, -0.5):
        error = error + FLOAT32.rounding * np.abs(factor * of.value)
    return _Approximate(of.value * factor, error)


def _sum(parts: list[_Approximate]) -> _Approximate:
    """The sum in any order: exact on a common grid, else off by a rounding for each addition."""
    total, error = parts[0]
    if len(parts) == 1:
        return parts[0]
    if all(_is_whole(part) for part in parts):
        return _Approximate(np.asarray(sum(part.value for part in parts)), np.zeros_like(total))
    positive, negative = np.maximum(total, 0.0), np.maximum(-total, 0.0)
    grid, count = _grid(total), (total != 0).astype(int)
    for value, own_error in parts[1:]:
        total, error = total + value, error + own_error
        positive = positive + np.maximum(value, 0.0)
        negative = negative + np.maximum(-value, 0.0)
        grid, count = np.minimum(grid, _grid(value)), count + (value != 0)
    partial = np.maximum(positive, negative)  # No sum of some of the terms is larger than this.
    partial = np.where(count <= 2, np.abs(total), partial)
    exact = (error == 0) & (partial <= grid / FLOAT32.rounding)
    roundings = FLOAT32.rounding * np.maximum(count - 1, 0) * (partial + error)
    return _Approximate(total, error + np.where(exact, 0.0, roundings))


def _pair_sum(parts: list[_Approximate]) -> _Approximate:
    """The same for pairs of nodes, without the search for grids."""
    if len(parts) == 1:
        return parts[0]
    total, error = (np.asarray(sum(arrays)) for arrays in zip(*parts, strict=True))
    size = np.abs(total) if len(parts) == 2 else sum(np.abs(part.value) for part in parts)
    roundings = FLOAT32.rounding * (len(parts) - 1) * (size + error)
    return _Approximate(total, error + roundings)


def _is_whole(of: _Approximate) -> bool:
    """Sums of whole numbers are exact."""
    return not of.error.any() and np.array_equal(of.value, np.round(of.value))


def _grid(value: np.ndarray) -> np.ndarray:
    """The largest power of two that the value is a multiple of; infinite for 0."""
    mantissa, exponent = np.frexp(value)
    whole = (mantissa * 2.0**53).astype(np.int64)
    return np.where(value == 0, np.inf, np.ldexp((whole & -whole).astype(float), exponent - 53))


def _leaky(of: _Approximate) -> _Approximate:
    slope = np.where(of.value < -of.error, _SLOPE, 1.0)
    value = np.where(of.value < 0, _SLOPE * of.value, of.value)
    rounding = np.where(of.value < 0, FLOAT32.rounding * np.abs(value), 0.0)
    return _Approximate(value, slope * of.error + rounding)


class _Leak(NamedTuple):
    """Whom the nodes selected, and who else may weigh in."""

    chosen: np.ndarray
    """[batch, receiver]"""
    rows: tuple[np.ndarray, ...]
    """The samples and receivers for which others may."""
    weights: np.ndarray
    """[row, sender], 0 for the chosen"""


def _arrived(
    of_nodes: _Approximate | None, of_edges: list[_Approximate], leak: _Leak
) -> list[_Approximate]:
    """What a head brings: of nodes [batch, sender], of edges [batch, receiver, sender]. Where
    others than the chosen have weights, the sum of all is off by the largest difference, or by the
    weights times the differences, whichever is less."""
    chosen, rows, weights = leak
    parts = [] if of_nodes is None else [of_nodes.at(chosen)]
    for edge in of_edges:
        at_chosen = (np.take_along_axis(array, chosen[..., None], 2)[..., 0] for array in edge)
        parts.append(_Approximate(*at_chosen))
    if not parts or not len(rows[0]):
        return parts
    candidates = [] if of_nodes is None else [_Approximate(*(a[rows[0]] for a in of_nodes))]
    candidates += [_Approximate(*(array[rows] for array in edge)) for edge in of_edges]
    total = np.asarray(sum(part.value[rows] for part in parts))
    difference = np.abs(sum(c.value for c in candidates) - total[:, None])
    difference = difference + sum(c.error for c in candidates)
    plausible = np.where(weights > 0, difference, 0.0)
    moved = np.minimum(plausible.max(-1), (weights * plausible).sum(-1))
    sizes = sum(np.abs(c.value) for c in candidates)
    size = np.where(weights > 0, sizes, 0.0).max(-1) + sum(np.abs(p.value[rows]) for p in parts)
    error = parts[0].error.copy()
    error[rows] += moved + 2 * FLOAT32.rounding * size
    return [_Approximate(parts[0].value, error), *parts[1:]]


def _is_ahead(logit: _Approximate, winner: np.ndarray) -> np.ndarray:
    """Whether the winner's logit is the largest for sure. logit [..., n], winner [...]"""
    winner = winner[..., None]
    best, off = (np.take_along_axis(array, winner, -1) for array in logit)
    behind = best - logit.value > off + logit.error
    np.put_along_axis(behind, winner, True, -1)
    return _all(behind)


def _all(truths: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    return np.asarray(truths.all(-1))
