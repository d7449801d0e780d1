"""What rounding can do to a compiled program on one problem.

`Ledger` follows an exact run and carries, beside the value of every hidden unit, how far the
network's value can be from it at most; a softmax adds what the second best can take. A sample is
*certain* where no decision of the network, and nothing that it shows, can differ from that run.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from algoscope.programs.approximate import (
    Approximate,
    added,
    added_pairs,
    is_ahead,
    leaky,
    range_of,
    scaled,
)
from algoscope.programs.channels import Channel
from algoscope.programs.interpreter import Shown, show
from algoscope.programs.language import (
    EDGE,
    GRAPH,
    NOT,
    OTHER,
    POSITION,
    SELF,
    Atom,
    GraphProgram,
    Linear,
)
from algoscope.programs.leaks import Leak, arrived
from algoscope.programs.lowering import AnyEmitted, EmittedPointer, Head, lower
from algoscope.programs.machine import RoundView
from algoscope.programs.precision import FLOAT32, MASK_SHARPNESS, SCALAR_TOLERANCE
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

_HOPELESS = 2.0**256
"""An error that leaves no decision certain, whatever is added to it. Errors of many steps grow no
further, so that they stay numbers."""


def certain(
    program: GraphProgram, batch: Batch, sharpness: float, exact: Shown | None = None
) -> np.ndarray:
    """On which samples float32 cannot differ from the exact run, which may be known: bool [batch].
    Of a program that compares numbers exactly, a number and itself must not seem to differ: its run
    on the inputs as float32 has them is followed, and has to be the same as the exact one."""
    rounded, fits = in_float32(batch)
    ledger = Ledger(program, rounded, sharpness)
    run = show(program, rounded, observer=ledger)
    sure = ledger.certain & ~run.broken & fits
    if program.compares:
        exact = show(program, batch) if exact is None else exact
        sure &= _alike(run, exact, batch)
    return sure


def _alike(one: Shown, other: Shown, batch: Batch) -> np.ndarray:
    """Whether two runs show the same, to half of the tolerance of scalars: bool [batch]"""
    counts = np.arange(batch.steps) < np.maximum(np.asarray(batch.lengths) - 1, 1)[:, None]
    alike = np.ones(len(counts), bool)
    for name, values in one.account.items():
        same = np.abs(values - other.account[name]) < SCALAR_TOLERANCE / 2
        if name in batch.hints:
            same = same.reshape(*counts.shape, -1).all(-1) | ~counts
        alike &= same.reshape(len(counts), -1).all(1)
    return alike


class InFloat32(NamedTuple):
    batch: Batch
    """With the inputs that a network in float32 sees; 0 where float32 has no such number."""
    fits: np.ndarray
    """Of which samples float32 can hold all inputs: bool [batch]"""


def in_float32(batch: Batch) -> InFloat32:
    inputs, fits = {}, np.ones(len(batch), bool)
    for name, value in batch.inputs.items():
        inside = np.abs(value) <= np.finfo(np.float32).max
        inputs[name] = np.where(inside, value, 0.0).astype(np.float32).astype(float)
        fits &= inside.reshape(len(batch), -1).all(1)
    return InFloat32(dataclasses.replace(batch, inputs=inputs), fits)


class Ledger:
    """Follows a run and keeps the errors of all hidden units."""

    def __init__(self, program: GraphProgram, batch: Batch, sharpness: float):
        lowered, exact_inputs = lower(program), program.compares
        self.lowered, self.sharpness = lowered, sharpness
        self.fully_connected = program.fully_connected
        self.tolerance = SCALAR_TOLERANCE / 2 if exact_inputs else SCALAR_TOLERANCE
        self.positions = batch.inputs["pos"]
        self.certain = np.ones(len(batch), bool)
        self.number, self.last = 0, np.maximum(np.asarray(batch.lengths) - 2, 0)
        zero = np.zeros_like(self.positions)
        self.hidden = [(unit, Approximate(zero, zero)) for unit in lowered.rounds[-1].units]
        scalars = (f.name for f in batch.task.at(Stage.INPUT) if f.kind is Kind.SCALAR)
        self.rounded = {f"input.{name}" for name in scalars} - {POSITION}
        if exact_inputs:
            self.rounded = set()
        self.hint_errors: dict[str, np.ndarray] = {}
        self.multiples: dict[tuple[str, float], list[Approximate]] = {}
        """What is read of nodes, times a factor: many forms read the same."""
        self.pointers: dict[str, _Pointers] = {}
        self.pointers_read = {Channel.of(name).plain for name in lowered.edges}

    def after_round(self, number: int, view: RoundView, state: dict[str, np.ndarray]) -> None:
        round_ = self.lowered.rounds[number]
        self.view, self.multiples = view, {}
        leaks = {head.name: self._leak(head) for head in round_.heads}
        self.hidden = [(unit, self._unit(unit.form, leaks)) for unit in round_.units]
        self.multiples = {}
        self._compare(state)

    def _compare(self, state: dict[str, np.ndarray]) -> None:
        """A sample whose units are not what the program says is not certain."""
        totals: dict[str, np.ndarray] = {}
        for unit, number in self.hidden:
            part = unit.coefficient * number.value
            totals[unit.variable] = totals.get(unit.variable, 0.0) + part
        for variable, total in totals.items():
            apart = np.abs(total - state[variable]) > 0.3
            self.certain &= ~(self.view.running & apart.any(1))

    def _node_part(
        self, form: Linear[float], where: str, constant: float = 0.0
    ) -> Approximate | None:
        """The part of a form that is read at one place."""
        products = self._products(form, where, constant)
        return added(products) if products else None

    def _products(self, form: Linear[float], where: str, constant: float) -> list[Approximate]:
        """The same part as the network multiplies it: input channels, hidden units, a constant."""
        products = []
        for atom, factor in form.terms.items():
            if atom.where != where:
                continue
            if (atom.name, factor) not in self.multiples:
                self.multiples[atom.name, factor] = self._multiples(atom.name, factor)
            products += self.multiples[atom.name, factor]
        if constant:
            full = np.full_like(self.positions, constant)
            products.append(Approximate(full, np.zeros_like(full)))
        return products

    def _multiples(self, name: str, factor: float) -> list[Approximate]:
        """A factor times what is read of a node by that name: an input channel, or hidden units."""
        if "." in name:
            value, plain = self.view.nodes[Atom(SELF, name)], name.removeprefix(NOT)
            error = self.hint_errors.get(plain, np.zeros_like(value))
            if plain in self.rounded:
                error = _input_error(value)
            return [scaled(Approximate(value, error), factor)]
        units = (pair for pair in self.hidden if pair[0].variable == name)
        return [scaled(number, factor * unit.coefficient) for unit, number in units]

    def _leak(self, head: Head) -> Leak:
        """What others than the chosen can weigh in the head's softmax."""
        logit = added_pairs([scaled(leaky(self._pair(f)), weight) for f, weight in head.units])
        count, nodes, _ = self.view.allowed.shape
        everyone = self.view.chosen[head.name]
        # Where all receivers read the same, one of them stands for all.
        receivers = logit.value.shape[1] if self.fully_connected else nodes
        value, error = (np.broadcast_to(array, (count, receivers, nodes)) for array in logit)
        chosen = everyone[:, :receivers, None]
        best, off = (np.take_along_axis(array, chosen, 2) for array in (value, error))
        behind = self.sharpness * (best - value - off - error)
        heard = behind < FLOAT32.silence
        if not self.fully_connected:
            heard &= self.view.allowed
        np.put_along_axis(heard, chosen, False, 2)
        samples, places = np.nonzero(heard.any(-1))
        heard, behind = heard[samples, places], behind[samples, places]
        weights = np.where(heard, np.exp(-np.maximum(behind, 0.0)), 0.0)
        if receivers < nodes:
            places, weights = np.tile(np.arange(nodes), len(samples)), np.repeat(weights, nodes, 0)
            samples = np.repeat(samples, nodes)
        return Leak(everyone, (samples, places), weights)

    def _pair(self, form: Linear[float]) -> Approximate:
        """A form of receiver and sender: [batch, receiver or 1, sender or 1]"""
        sender = self._node_part(form, OTHER)
        receiver = self._node_part(form, SELF, form.constant)
        parts = []
        if sender is not None:
            parts.append(Approximate(*(array[:, None] for array in sender)))
        if receiver is not None:
            parts.append(Approximate(*(array[..., None] for array in receiver)))
        parts += self._edges(form, EDGE)
        for atom, factor in form.terms.items():
            if atom.where == GRAPH:
                value = self.view.graph[atom.name][:, None, None]
                error = _input_error(value) if atom.name in self.rounded else np.zeros_like(value)
                parts.append(scaled(Approximate(value, error), factor))
        if all(part.whole for part in parts):
            total = np.asarray(sum(part.value for part in parts))
            return Approximate(total, np.zeros(()), whole=True)
        return added_pairs(parts)

    def _edges(self, form: Linear[float], where: str) -> list[Approximate]:
        """Edge features stay in factors, so that 1 - x is two numbers: [batch, receiver, sender]"""
        parts = []
        for atom, factor in form.terms.items():
            if atom.where != where:
                continue
            name, channel = atom.name.removeprefix(NOT), Channel.of(atom.name)
            value = self.view.edges[name]
            error = np.zeros_like(value) + self.hint_errors.get(channel.plain, 0.0)
            if channel.plain in self.rounded:
                error = _input_error(value)
            if channel.complement:
                parts.append(Approximate(np.full_like(value, factor), np.zeros_like(value)))
                factor = -factor
            parts.append(scaled(Approximate(value, error), factor))
        return parts

    def _unit(self, form: Linear[float], leaks: dict[str, Leak]) -> Approximate:
        # A compiler may start the product of state and skip weights from what the heads bring, so
        # that all of these are added in any order.
        parts = self._products(form, SELF, form.constant)
        for name, leak in leaks.items():
            edge_parts = self._edges(form, f"{name}.{EDGE}")
            parts += arrived(self._node_part(form, name), edge_parts, leak)
        # Of a variable that is set to 0 there is nothing to add.
        nothing = Approximate(np.zeros_like(self.positions), np.zeros_like(self.positions))
        total = added(parts or [nothing])
        unit = np.maximum(total.value, 0.0)
        if total.whole:
            return Approximate(unit, total.error, whole=True, sign=1)
        low, high = (np.maximum(bound, 0.0) for bound in range_of(total, parts))
        error = np.minimum(np.maximum(high - unit, unit - low), _HOPELESS)
        return Approximate(unit, error, sign=1)

    def after_step(self, emitted: dict[str, np.ndarray], running: np.ndarray) -> None:
        for item in self.lowered.emitted:
            counts = running
            if item.feature.stage is Stage.OUTPUT:
                counts = np.equal(self.number, self.last)
                if not counts.any():
                    continue
            kept = self._keeps(item, emitted[item.feature.name])
            self.certain &= kept.reshape(len(kept), -1).all(1) | ~counts
        self.number += 1

    def _keeps(self, item: AnyEmitted, exact: np.ndarray) -> np.ndarray:
        """Whether the network shows what the exact run shows: bool [batch, …], at every place."""
        if isinstance(item, EmittedPointer):
            return self._keeps_pointer(item, exact.astype(int))
        forms = [self._emitted_form(form, item.feature.location) for form in item.forms]
        value, error = forms[0]
        match item.feature.location, item.feature.kind:
            case Location.GRAPH, Kind.SCALAR:
                return np.abs(value - exact[:, None]) + error < self.tolerance
            case location, Kind.MASK:
                sure = np.abs(value - 0.5) - error
                soft = np.exp(-MASK_SHARPNESS * np.maximum(sure, 0.0))
                self._feed_back(
                    item.feature, soft if location is Location.NODE else _over_sample(soft)
                )
                return (sure > 0) & ((value > 0.5) == (exact.reshape(value.shape) > 0.5))
            case _, Kind.SCALAR:
                self._feed_back(item.feature, error)
                return error < self.tolerance
            case _, Kind.MASK_ONE:
                second = np.sort(value, -1)[:, -2:].copy()
                gap = second[:, -1] - second[:, 0] - 2 * error.max(-1)
                soft = np.exp(-MASK_SHARPNESS * np.maximum(gap, 0.0))
                self._feed_back(item.feature, np.broadcast_to(soft[:, None], value.shape))
                logit = Approximate(value[:, None], error[:, None])
                return is_ahead(logit, exact.argmax(-1)[:, None])
        stacked = Approximate(*(np.stack(arrays, -1) for arrays in zip(*forms, strict=True)))
        return is_ahead(stacked, exact.argmax(-1).reshape(value.shape))

    def _keeps_pointer(self, item: EmittedPointer, exact: np.ndarray) -> np.ndarray:
        units = [self._emitted_form(unit.form, Location.NODE) for unit in item.units]
        names = self._emitted_form(Linear({Atom(SELF, self.lowered.idx): 1.0}, 0.0), Location.NODE)
        seen = np.stack([array for unit in units for array in unit] + [exact])
        known = self.pointers.get(item.feature.name)
        if known is None or not np.array_equal(known.names, names.value):
            nothing = np.full_like(seen, np.nan)
            known = _Pointers(nothing, names.value, exact == exact, np.zeros(exact.shape))
        # Few pointers change in a step, and all others are as sure as they were.
        rows = np.nonzero((known.seen != seen).any(0))
        logit = added(
            [
                scaled(_larger(unit, names, rows), weighted.weight)
                for unit, weighted in zip(units, item.units, strict=True)
            ]
        )
        winner = exact[rows]
        if item.first is not None:
            # The first of the line shows itself, and points to the last.
            winner = np.where(winner == rows[1], logit.value.argmax(-1), winner)
        known.ahead[rows] = is_ahead(logit, winner)
        if f"hint.{item.feature.name}" in self.pointers_read:
            best, off = (np.take_along_axis(array, winner[:, None], 1) for array in logit)
            behind = FLOAT32.sharpness * (best - logit.value - off - logit.error)
            np.put_along_axis(behind, winner[:, None], np.inf, 1)
            known.soft[rows] = np.exp(-np.maximum(behind, 0.0)).max(-1)
            self._feed_back(item.feature, _over_sample(known.soft))
        self.pointers[item.feature.name] = known._replace(seen=seen)
        if item.first is None:
            return known.ahead
        first = self._emitted_form(item.first, Location.NODE)
        shows_itself = exact == np.arange(exact.shape[-1])
        return known.ahead & is_ahead(first, shows_itself.argmax(-1))[:, None]

    def _feed_back(self, feature: Feature, error: np.ndarray) -> None:
        silent = np.exp(-FLOAT32.silence)
        error = np.where(error <= silent, 0.0, error)
        self.hint_errors[f"hint.{feature.name}"] = np.minimum(error, _HOPELESS)

    def _emitted_form(self, form: Linear[float], location: Location) -> Approximate:
        """Of nodes [batch, n], of edges [batch, n, n], of the graph [batch, 1]."""
        if location is Location.EDGE:
            shape = self.view.allowed.shape
            return Approximate(*(np.broadcast_to(array, shape) for array in self._pair(form)))
        products = self._products(form, SELF, form.constant)
        zero = np.zeros_like(self.positions)
        products = products or [Approximate(zero, zero)]
        if location is Location.GRAPH:
            products = [_largest(product) for product in products]
        return added(products)


class _Pointers(NamedTuple):
    """What is known of the pointers of a feature."""

    seen: np.ndarray
    """All that they follow from: [number, batch, n]"""
    names: np.ndarray
    """[batch, n]"""
    ahead: np.ndarray
    """Whether they are sure: bool [batch, n]"""
    soft: np.ndarray
    """The largest weight of another node, where they are read: [batch, n]"""


def _larger(unit: Approximate, names: Approximate, rows: tuple[np.ndarray, ...]) -> Approximate:
    """Of a node's unit and each node's name: [row, n]"""
    value, error = (array[rows][:, None] for array in unit)
    name, off = (array[rows[0]] for array in names)
    reached = np.where(value + error >= name - off, error, 0.0)
    passed = np.where(name + off >= value - error, off, 0.0)
    return Approximate(np.maximum(value, name), np.maximum(reached, passed))


def _largest(channel: Approximate) -> Approximate:
    """Over nodes, of numbers that are a channel's times a factor: [batch, n] -> [batch, 1]"""
    farthest = np.abs(channel.value).argmax(1)[:, None]
    value = np.take_along_axis(channel.value, farthest, 1)
    return Approximate(value, channel.error.max(1, keepdims=True))


def _over_sample(error: np.ndarray) -> np.ndarray:
    """The largest over a sample: [batch, …] -> [batch, 1, 1]"""
    return error.reshape(len(error), -1).max(1)[:, None, None]


def _input_error(value: np.ndarray) -> np.ndarray:
    """What rounding an input to float32 may have changed; whole numbers stay as they are."""
    return np.where(value == np.round(value), 0.0, FLOAT32.rounding * np.abs(value))
