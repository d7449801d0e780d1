"""What a softmax brings beside what was chosen, and by how much that is off."""

from typing import NamedTuple

import numpy as np

from algoscope.programs.approximate import Approximate
from algoscope.programs.precision import FLOAT32


class Leak(NamedTuple):
    """Whom the nodes selected, and who else may weigh in."""

    chosen: np.ndarray
    """[batch, receiver]"""
    rows: tuple[np.ndarray, ...]
    """The samples and receivers for which others may."""
    weights: np.ndarray
    """[row, sender], 0 for the chosen"""


def arrived(
    node_part: Approximate | None, edge_parts: list[Approximate], leak: Leak
) -> list[Approximate]:
    """What a head brings: of nodes [batch, sender], of edges [batch, receiver, sender]. Where
    others than the chosen have weights, the sum of all is off by the largest difference, or by the
    weights times the differences, whichever is less."""
    chosen, rows, weights = leak
    parts = [] if node_part is None else [node_part.at(chosen)]
    for edge in edge_parts:
        at_chosen = (np.take_along_axis(array, chosen[..., None], 2)[..., 0] for array in edge)
        parts.append(Approximate(*at_chosen))
    if not parts or not len(rows[0]):
        return parts
    candidates = [] if node_part is None else [Approximate(*(a[rows[0]] for a in node_part))]
    candidates += [Approximate(*(array[rows] for array in edge)) for edge in edge_parts]
    total = np.asarray(sum(part.value[rows] for part in parts))
    difference = np.abs(sum(c.value for c in candidates) - total[:, None])
    difference = difference + sum(c.error for c in candidates)
    plausible = np.where(weights > 0, difference, 0.0)
    moved = np.minimum(plausible.max(-1), (weights * plausible).sum(-1))
    sizes = sum(np.abs(c.value) for c in candidates)
    size = np.where(weights > 0, sizes, 0.0).max(-1) + sum(np.abs(p.value[rows]) for p in parts)
    error = parts[0].error.copy()
    error[rows] += moved + 2 * FLOAT32.rounding * size
    sign = parts[0].sign if len(parts) == 1 else 0
    return [Approximate(parts[0].value, error, sign=sign), *parts[1:]]
