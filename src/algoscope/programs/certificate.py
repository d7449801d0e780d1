"""The certificate of a compiled program: how far apart scores and positions have to be for float32,
bounded by the largest values that the program declares, for all problems at once. What rounding can
do on one problem is bounded by `running_errors`.
"""

import bisect
from typing import NamedTuple

import numpy as np

from algoscope.networks.layers import LEAKY_SLOPE
from algoscope.programs.language import OTHER, Atom, Linear
from algoscope.programs.lowering import EmittedPointer, Lowered
from algoscope.programs.precision import Precision


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
    """The number of nodes up to which 99 % of random positions are; 0 if the program needs even
    ones."""

    def up_to(self, nodes: int) -> "Certificate":
        """For no more nodes than these."""
        sizes = self.largest_uniform_size, self.largest_random_size
        uniform, random = (min(size, nodes) for size in sizes)
        return self._replace(largest_uniform_size=uniform, largest_random_size=random)


def certify(lowered: Lowered, sharpness: float, precision: Precision) -> Certificate:
    silent = -np.log(precision.rounding) / sharpness
    margins, gaps = [silent], []
    for round_ in lowered.rounds:
        for head in round_.heads:
            if head.uses_n:
                gaps.append(1 / precision.resolution)
                continue
            sizes = [abs(w) * lowered.bounds.size(form) * _terms(form) for form, w in head.score]
            sizes += [
                abs(w) * LEAKY_SLOPE * lowered.bounds.size(_without(form, lowered.misses))
                for form, w in head.conditions
            ]
            margins.append(silent + 2 * precision.rounding * sum(sizes))
            idx = Atom(OTHER, lowered.idx)
            slope = sum(w * form.terms.get(idx, 0.0) for form, w in head.score)
            gaps += [margins[-1] / abs(slope)] if slope else []
        if round_.uses_n:
            gaps.append(1 / precision.resolution)
    for emitted in lowered.emitted:
        if isinstance(emitted, EmittedPointer):
            sizes = [abs(w) * _terms(form) for form, w in emitted.units]
            gaps.append(2 * precision.rounding * sum(sizes))
    gap = max([precision.rounding, *gaps])
    return Certificate(sharpness, float(max(margins)), gap, int(1 / gap), largest_random_size(gap))


def _without(form: Linear[float], names: frozenset[str]) -> Linear[float]:
    return Linear({a: c for a, c in form.terms.items() if a.name not in names}, form.constant)


def _terms(form: Linear[float]) -> int:
    return len(form.terms) + bool(form.constant)


def largest_random_size(gap: float) -> int:
    """n uniform draws are all at least g apart with the probability (1 - (n - 1) g)^n."""

    def too_close(nodes: int) -> float:
        return 1 - (1 - min(1.0, (nodes - 1) * gap)) ** nodes

    return bisect.bisect_right(range(1, 2**20), 0.01, key=too_close)
