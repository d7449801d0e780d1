"""What is measured of every trained network, right after its training.

Of each seed

    seed, test, best_step, best_validation
    sizes.N.accuracy                    score on problems of N nodes
    sizes.N.external                    eq25, exact_steps, moves, per_step.HINT; None without traces
    sizes.N.internal.REFERENCE          eq24, per_row_l1, total_variation (all rows); the last also
                                        over unsettled and decisive rows, and per step
    sizes.N.nearest                     the reference with the least eq24
"""

from typing import Any

import numpy as np

from algoscope import networks, tasks
from algoscope.measures.attention_match import InternalGap, internal_gap, nearest
from algoscope.measures.evidence import record
from algoscope.measures.references import Reference, reference_class, unsettled
from algoscope.measures.trace_match import external_faithfulness
from algoscope.recording import Recording
from algoscope.runs import Run
from algoscope.serialise import to_json
from algoscope.tasks import Batch

_SEED = 3
"""That of the canonical test problems: 32 of 64 nodes are those."""


def problems(task: str, size: int, count: int) -> Batch:
    return tasks.sample(task, size, count, _SEED)


def measure(
    run: Run, sizes: tuple[int, ...], count: int, compared: int
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """The numbers of each seed, and the attention (mean of heads) on the first problems of the
    first size: float16 [seed, problem, step, receiver, sender]."""
    (task,) = run.tasks
    by_size = {}
    for size in sizes:
        batch = problems(task, size, count)
        by_size[size] = batch, reference_class(batch), unsettled(batch)
    results = run.results
    numbers, attention = [], []
    for index, seed in enumerate(run.seeds):
        network = run.ensemble([seed]).member(0, task)
        recordings = {size: record(network, batch) for size, (batch, _, _) in by_size.items()}
        numbers.append(
            {
                "seed": seed,
                "test": results["test"][task]["score"][index],
                **{name: results[name][index] for name in ("best_step", "best_validation")},
                "sizes": {str(size): _numbers(recordings[size], *by_size[size]) for size in sizes},
            }
        )
        means = np.asarray(recordings[sizes[0]].attention)[:compared].mean(2)
        attention.append(means.astype(np.float16))
    return to_json(numbers), np.stack(attention)


def _numbers(
    recording: Recording, batch: Batch, references: list[Reference], unsettled: np.ndarray
) -> dict[str, Any]:
    gaps = [internal_gap(recording, reference, unsettled) for reference in references]
    return {
        "accuracy": float(networks.score(recording, batch)["score"]),
        "external": _external(recording, batch) if recording.hints else None,
        "internal": {gap.reference: _internal(gap) for gap in gaps},
        "nearest": nearest(gaps).reference,
    }


def _external(recording: Recording, batch: Batch) -> dict[str, Any]:
    match = external_faithfulness(recording, batch)
    return {
        **{name: getattr(match, name) for name in ("eq25", "exact_steps", "moves")},
        "per_step": {name: hint.eq25_per_step for name, hint in match.by_hint.items()},
    }


def _internal(gap: InternalGap) -> dict[str, Any]:
    all_rows = gap.by_rows["all"]
    return {
        "eq24": gap.eq24,
        "per_row_l1": all_rows.per_row_l1,
        "total_variation": all_rows.total_variation,
        **{rows: gap.by_rows[rows].total_variation for rows in ("unsettled", "decisive")},
        "per_step": gap.total_variation_per_step,
    }
