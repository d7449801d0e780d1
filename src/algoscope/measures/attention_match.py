"""Internal faithfulness: how far what a subject reads is from what a reference reads.

A row is what one node reads in one step: a distribution over senders, a of the subject, b of the
reference. Rows are compared by

    l1                sum_j |a_j - b_j|                                    0 … 2
    kl_nats           sum_j b_j log(b_j / a_j), a_j at least 2^-24         0 … 16.6 for one-hot b
    js_bits           Jensen-Shannon divergence                            0 … 1
    earth_movers      mass times distance in position                      0 … 1
    agrees            is the reference's choice the subject's largest      0, 1
    agrees_any_head   the same, for any of the subject's heads             0, 1

and averaged over rows: over `all` rows of steps that are no padding, over the `unsettled` ones of
nodes that the algorithm has not finished, over the `decisive` ones (see `references`). Of the mean
L1 there are three normalisations, t the number of steps and n of nodes:

    eq24 = L1 / (t n²), Mind The Gap eq. 24, at most 2 / n
    per_row_l1 = L1 / (t n), at most 2
    total_variation = L1 / (2 t n), at most 1

Heads. A reference has as many heads as its program has selections. To each of them the subject's
*best head* is compared: the one with the least mean L1 over all valid rows. Beside that stands the
mean over the subject's heads (`mean_heads`), as one would have it without a choice.
"""

from typing import NamedTuple

import numpy as np

from algoscope.measures.references import Reference
from algoscope.recording import Recording
from algoscope.statistics import mean

_LEAST = 2.0**-24
ROW_SETS = ("all", "unsettled", "decisive")


class Rows(NamedTuple):
    """Every row compared: float [batch, step, reference head, receiver] each."""

    l1: np.ndarray
    kl_nats: np.ndarray
    js_bits: np.ndarray
    earth_movers: np.ndarray
    agrees: np.ndarray
    agrees_any_head: np.ndarray


class Gap(NamedTuple):
    """Means over a set of rows; NaN where the set is empty."""

    rows: int
    per_row_l1: float
    total_variation: float
    kl_nats: float
    js_bits: float
    earth_movers: float
    choice_agreement: float
    choice_agreement_any_head: float


class InternalGap(NamedTuple):
    reference: str
    eq24: float
    eq24_mean_heads: float
    total_variation_mean_heads: float
    by_rows: dict[str, Gap]
    """For each of `ROW_SETS`."""
    total_variation_per_step: np.ndarray
    """Over all valid rows of a step, NaN where no sample has come so far: [step]"""


def internal_gap(subject: Recording, reference: Reference, unsettled: np.ndarray) -> InternalGap:
    """The gap between a subject and one reference on the same batch."""
    check_comparable(subject, reference)
    rows = compare_rows(np.asarray(subject.attention), reference)
    sets = row_sets(reference, unsettled)
    averaged = np.asarray(subject.attention).mean(2, keepdims=True)
    averaged_rows = np.abs(averaged - np.asarray(reference.recording.attention)).sum(-1)
    valid = sets["all"]
    nodes, count = valid.shape[-1], valid.sum((0, 2, 3))
    l1, averaged_l1 = mean(rows.l1[valid]), mean(averaged_rows[valid])
    total = (rows.l1 * valid).sum((0, 2, 3))
    per_step = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return InternalGap(
        reference.name,
        l1 / nodes,
        averaged_l1 / nodes,
        averaged_l1 / 2,
        {name: _gap(rows, chosen) for name, chosen in sets.items()},
        per_step / 2,
    )


def nearest(gaps: list[InternalGap]) -> InternalGap:
    """The one of a class that is nearest over all rows: the subject's distance to the class."""
    return min(gaps, key=lambda gap: gap.eq24)


def check_comparable(subject: Recording, reference: Reference) -> None:
    got, needed = np.shape(subject.attention), np.shape(reference.recording.attention)
    if got[:2] + got[3:] != needed[:2] + needed[3:]:
        raise ValueError(
            f"attention: got {list(got)} of the subject and {list(needed)} of the reference "
            f"{reference.name}, needed the same batch, steps and nodes; record both on one batch"
        )


def row_sets(reference: Reference, unsettled: np.ndarray) -> dict[str, np.ndarray]:
    """The rows that count for each of `ROW_SETS`: bool [batch, step, head, receiver]."""
    shape = reference.decisive.shape
    valid = reference.recording.valid[:, :, None, None]
    return {
        "all": np.broadcast_to(valid, shape),
        "unsettled": np.broadcast_to(unsettled[:, :, None], shape) & valid,
        "decisive": reference.decisive,
    }


def compare_rows(attention: np.ndarray, reference: Reference) -> Rows:
    """attention [batch, step, head, receiver, sender] of the subject against a reference."""
    expected = np.asarray(reference.recording.attention)
    heads = best_heads(attention, reference)
    best = attention[:, :, heads]
    choices = reference.choices
    chosen = attention.argmax(-1)
    return Rows(
        np.abs(best - expected).sum(-1),
        _kl(expected, best),
        _js(best, expected),
        _earth_movers(best, expected),
        (chosen[:, :, heads] == choices).astype(float),
        (chosen[:, :, None] == choices[:, :, :, None]).any(3).astype(float),
    )


def best_heads(attention: np.ndarray, reference: Reference) -> list[int]:
    """For each head of the reference, the subject's head with the least mean L1."""
    valid = reference.recording.valid
    expected = np.asarray(reference.recording.attention)

    def mean_l1(head: int, reference_head: int) -> float:
        apart = np.abs(attention[:, :, head] - expected[:, :, reference_head])
        return apart.sum((-1, -2))[valid].mean()

    return [
        min(range(attention.shape[2]), key=lambda head: mean_l1(head, reference_head))
        for reference_head in range(expected.shape[2])
    ]


def _gap(rows: Rows, chosen: np.ndarray) -> Gap:
    l1, *others = (mean(measure[chosen]) for measure in rows)
    return Gap(int(chosen.sum()), l1, l1 / 2, *others)


def _kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    ratio = np.log(np.maximum(p, _LEAST)) - np.log(np.maximum(q, _LEAST))
    return np.maximum((p * ratio).sum(-1), 0.0)


def _js(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    middle = (one + other) / 2
    return np.clip((_kl(one, middle) + _kl(other, middle)) / (2 * np.log(2)), 0.0, 1.0)


def _earth_movers(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """In one dimension: the area between the cumulative distributions, nodes evenly apart."""
    return np.abs(np.cumsum(one - other, -1)).sum(-1) / one.shape[-1]
