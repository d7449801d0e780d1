"""What pairs of nodes compute in the last round of a step, for the interpreter: whom they select as
a third node, and what their variables are.

A score of a third node c for the pair (a, b) is a sum over nodes and edges, of which only

    F_ac + G_bc        F of the first leg, G of the third node and the second leg

tells third nodes apart; samples are looked at one by one, because n x n x n numbers are many.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope.programs.channels import Channels
from algoscope.programs.language import (
    EDGE,
    FIRST_LEG,
    GRAPH,
    OTHER,
    SECOND_LEG,
    SELF,
    VIA,
    Atom,
    Form,
    Linear,
    Pairs,
    Selection,
)

_MISSED = 2.0**20
"""What a condition that is missed costs: more than any score gains."""
_SLACK = 1e-9
Evaluated = Callable[[Form], Linear[float]]


class Thirds(NamedTuple):
    """What tells third nodes apart: F [batch, self, third] and G [batch, other, third]."""

    first: np.ndarray
    second: np.ndarray

    def of(self, sample: int) -> np.ndarray:
        """[self, other, third]"""
        return self.first[sample][:, None] + self.second[sample][None]


def thirds(form: Linear[float], nodes: dict[Atom, np.ndarray], channels: Channels) -> Thirds:
    """Of a form over third nodes and legs; what all third nodes share is left out."""
    some = next(iter(nodes.values()))
    first = second = np.zeros((*some.shape, some.shape[1]))
    for atom, c in form.terms.items():
        if atom.where == VIA:
            second = second + c * nodes[Atom(SELF, atom.name)][:, None]
        elif atom.where == FIRST_LEG:
            first = first + c * channels.edges[atom.name]
        elif atom.where == SECOND_LEG:
            second = second + c * np.swapaxes(channels.edges[atom.name], 1, 2)
    return Thirds(first, second)


def selected(
    selection: Selection, nodes: dict[Atom, np.ndarray], channels: Channels, linear: Evaluated
) -> np.ndarray:
    """The third node of each pair, the lowest of several that score the same:
    int [batch, self, other]"""
    score = linear(selection.score) - linear(selection.unmet) * _MISSED
    ranked = thirds(score, nodes, channels)
    return np.stack([ranked.of(sample).argmax(-1) for sample in range(len(ranked.first))])


def readable(
    pairs: Pairs,
    chosen: dict[str, np.ndarray],
    nodes: dict[Atom, np.ndarray],
    channels: Channels,
) -> dict[Atom, np.ndarray]:
    """What the variables of pairs are updated from: [batch, self, other], or with an axis of 1."""
    samples = np.arange(len(next(iter(nodes.values()))))[:, None, None]
    values = {}
    for atom in {atom for term in pairs.terms for atom in term.atoms}:
        if atom.where == EDGE:
            values[atom] = channels.edges[atom.name]
        elif atom.where == GRAPH:
            values[atom] = channels.graph[atom.name][:, None, None]
        else:
            held = nodes[Atom(SELF, atom.name)]
            ends = {SELF: held[:, :, None], OTHER: held[:, None]}
            values[atom] = (
                ends[atom.where] if atom.where in ends else held[samples, chosen[atom.where]]
            )
    return values


class Case(NamedTuple):
    """Of what a pair points to: [batch, self, other], or with an axis of 1."""

    value: np.ndarray
    unmet: np.ndarray


def pointed(cases: list[Case], names: np.ndarray) -> np.ndarray:
    """The node whose name [batch, n] is nearest to the case that holds: int [batch, self, other]"""
    parts = (np.where(case.unmet <= _SLACK, np.maximum(case.value, 0.0), 0.0) for case in cases)
    nodes = names.shape[1]
    total = np.broadcast_to(sum(parts), (len(names), nodes, nodes))
    nearest = (np.abs(t[..., None] - n).argmin(-1) for t, n in zip(total, names, strict=True))
    return np.stack(list(nearest))
