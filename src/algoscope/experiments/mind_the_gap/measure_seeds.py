"""What is measured of every trained network, right after its training.

Of each seed

    seed, best_step, best_validation
    test                                score on the test problems
    sizes.N.accuracy                    score on problems of N nodes
    sizes.N.external                    eq25, exact_steps, moves, per_step.HINT; None without traces
    sizes.N.internal.REFERENCE          eq24, per_row_l1, total_variation, kl_nats, js_bits,
                                        earth_movers, choice_agreement (all rows); the third also
                                        over unsettled and decisive rows, and per step
    sizes.N.nearest                     the reference with the least eq24
    last.test, last.sizes               the same of the last weights; all above is of those that
                                        were best on validation
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

_OTHER_DISTANCES = ("kl_nats", "js_bits", "earth_movers", "choice_agreement")
BEST, LAST = "best", "last"
_SEED = 3
"""That of the canonical test problems: 32 of 64 nodes are those."""


def problems(task: str, size: int, count: int) -> Batch:
    return tasks.sample(task, size, count, _SEED)


def measure(
    run: Run, sizes: tuple[int, ...], count: int, compared: int, weights: tuple[str, ...]
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """The numbers of each seed, and by weights the attention (mean of heads) on the first problems
    of the first size: float16 [seed, problem, step, receiver, sender]; nothing without sizes."""
    by_size = {}
    for size in sizes:
        batch = problems(run.tasks[0], size, count)
        by_size[size] = batch, reference_class(batch), unsettled(batch)
    chosen = [_scores(run, index) for index in range(len(run.seeds))]
    attention = {}
    for name in weights:
        means = []
        for index, seed in enumerate(chosen):
            place = seed if name == BEST else seed.setdefault(name, {})
            place |= _measure_seed(run, index, name, by_size, means, compared)
        if sizes:
            attention["attention" if name == BEST else f"attention_{name}"] = np.stack(means)
    return to_json(chosen), attention


def _scores(run: Run, index: int) -> dict[str, Any]:
    numbers = {name: run.results[name][index] for name in ("best_step", "best_validation")}
    return {"seed": run.seeds[index], **numbers}


def _measure_seed(
    run: Run, index: int, weights: str, by_size: dict, means: list[np.ndarray], compared: int
) -> dict[str, Any]:
    """The numbers of a seed with one set of weights; appends its attention to the means."""
    (task,) = run.tasks
    test = run.results_of(weights)["test"][task]["score"][index]
    if not by_size:
        return {"test": test, "sizes": {}}
    network = run.ensemble([run.seeds[index]], weights).member(0, task)
    recordings = {size: record(network, batch) for size, (batch, _, _) in by_size.items()}
    first = np.asarray(next(iter(recordings.values())).attention)[:compared]
    means.append(first.mean(2).astype(np.float16))
    numbers = {str(n): _numbers(recordings[n], *problems) for n, problems in by_size.items()}
    return {"test": test, "sizes": numbers}


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
        **{name: getattr(all_rows, name) for name in _OTHER_DISTANCES},
        **{rows: gap.by_rows[rows].total_variation for rows in ("unsettled", "decisive")},
        "per_step": gap.total_variation_per_step,
    }
