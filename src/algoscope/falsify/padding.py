"""Comparing problems of one size in batches of few shapes, so that little is compiled."""

import dataclasses
from collections.abc import Callable

import numpy as np

from algoscope.falsify.disagreement import Disagreement
from algoscope.falsify.ties import hangs_on_sorting
from algoscope.tasks import Batch

_MOST_WORK = 2**22
"""Problems with more steps times pairs of nodes are left out."""
_CHEAP = 16
"""Nodes up to which a generation of a search costs little."""


def in_parts(
    batch: Batch, compare_part: Callable[[Batch], Disagreement]
) -> tuple[Disagreement, np.ndarray]:
    """Compares problems of one size in batches of few shapes, [.., problem] each; and which of the
    problems count: those with traces that are not too long, but for disagreements where the trace
    hangs on how ties are sorted, bool [problem]."""
    lengths = np.asarray(batch.lengths)
    counted = (lengths * batch.nodes**2 <= _MOST_WORK) | (lengths <= batch.nodes)
    times = np.array([padded_time(batch.nodes, int(length)) for length in lengths])
    rows = rows_of(batch.nodes)
    whole: Disagreement | None = None
    for time in np.unique(times[counted]):
        members = np.flatnonzero(counted & (times == time))
        for start in range(0, len(members), rows):
            chosen = members[start : start + rows]
            part = compare_part(at_time(batch.take(np.resize(chosen, rows)), int(time)))
            if whole is None:
                whole = _nothing((*part.wrong.shape[:-1], len(batch)))
            for values, some in zip(whole, part, strict=True):
                values[..., chosen] = some[..., : len(chosen)]
    if whole is None:
        return _nothing((len(batch),)), counted
    disagreeing = np.flatnonzero(whole.wrong.reshape(-1, len(batch)).any(0))
    if len(disagreeing):
        counted[disagreeing] &= ~hangs_on_sorting(batch.take(disagreeing))
    return whole, counted


def _nothing(shape: tuple[int, ...]) -> Disagreement:
    """Of problems that were not tried."""
    none = np.zeros(shape, bool)
    return Disagreement(
        none, none.copy(), np.full(shape, -1), np.full(shape, np.inf), np.zeros(shape)
    )


def rows_of(n: int) -> int:
    """How many problems of n nodes run side by side."""
    return 256 if n <= 8 else 128 if n <= 16 else 64 if n <= 32 else 24 if n <= 64 else 8


def generations(n: int, count: int) -> int:
    """Into how many generations of a search so many problems of n nodes go: at least one, where
    that is cheap."""
    least = 1 if n <= _CHEAP else 0
    return max(least, count // rows_of(n))


def padded_time(n: int, length: int) -> int:
    """To how many steps a problem is padded: few different ones, so that little is compiled."""
    time = max(17, n + 1)
    for longer in (4 * n + 1, 16 * n + 1, 64 * n + 1, 256 * n + 1):
        if length <= time:
            break
        time = max(time, longer)
    return time


def at_time(batch: Batch, time: int) -> Batch:
    """Padded or cut to a length of time that no sample exceeds."""
    if batch.time <= time:
        return batch.padded(time)
    hints = {name: hint[:, :time] for name, hint in batch.hints.items()}
    return dataclasses.replace(batch, hints=hints)
