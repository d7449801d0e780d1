"""A judgement for the reader: as a table, and as JSON."""

import math
from collections.abc import Mapping
from typing import Any

from algoscope.measures.examination import LARGE, SMALL
from algoscope.measures.trace_match import External
from algoscope.measures.verdict import THRESHOLDS, Judgement
from algoscope.table import Table

_PLACES = {"small": str(SMALL), "large": str(LARGE), "deep": "deep", "sparse": "sparse"}


def table(task: str, judgements: Mapping[str, Judgement]) -> Table:
    """A row a measure, a column a subject."""
    columns = [_rows(judgement) for judgement in judgements.values()]
    return Table(
        f"{task}: {', '.join(judgement.word for judgement in judgements.values())}",
        ["", *judgements, "runs from", "shortcut below"],
        [
            [label, *(column[label] for column in columns), *_thresholds(label)]
            for label in columns[0]
        ],
    )


def seeds_table(task: str, judgements: Mapping[str, Judgement]) -> Table:
    """A row a subject, for many; the numbers that the verdict stands on."""
    labels = ["verdict", "nearest reference", "accuracy 16", "accuracy 64", "internal eq24"]
    rows = [_rows(judgement) for judgement in judgements.values()]
    return Table(
        f"{task}: {len(rows)} subjects",
        ["", *labels, *THRESHOLDS],
        [
            [name, *(row[label] for label in (*labels, *THRESHOLDS))]
            for name, row in zip(judgements, rows, strict=True)
        ],
    )


def as_json(judgement: Judgement) -> dict[str, Any]:
    evidence = judgement.evidence
    return without_nan(
        {
            "verdict": judgement.word,
            "reference": judgement.reference,
            "reasons": judgement.reasons,
            "tested": judgement.tested,
            "accuracy": evidence.accuracy,
            "external": _external(evidence.external),
            "internal": {
                gap.reference: {
                    "eq24": gap.eq24,
                    "eq24_mean_heads": gap.eq24_mean_heads,
                    "total_variation_mean_heads": gap.total_variation_mean_heads,
                    "total_variation_per_step": gap.total_variation_per_step.tolist(),
                    **{rows: of._asdict() for rows, of in gap.by_rows.items()},
                }
                for gap in evidence.internal
            },
            "scaled_over_decisive_rows": {
                null: {name: s._asdict() for name, s in of.items()}
                for null, of in evidence.scaled.items()
            },
            "reads_scaled": evidence.reads,
            "probes": evidence.probes._asdict(),
            "untrained_probes": evidence.untrained_probes._asdict(),
            "counterfactual": evidence.response and evidence.response._asdict(),
            "flips": evidence.flips and evidence.flips._asdict(),
            "interchange": evidence.interchange and evidence.interchange._asdict(),
        }
    )


def unjudged(
    reason: str, accuracy: Mapping[str, float], external: Mapping[str, External]
) -> dict[str, Any]:
    """In the form of `as_json`, of a subject that there is no verdict for."""
    return without_nan(
        {
            "verdict": None,
            "reference": None,
            "reasons": [reason],
            "tested": {},
            "accuracy": dict(accuracy),
            "external": _external(external),
            "internal": {},
        }
    )


def _external(external: Mapping[str, External]) -> dict[str, Any]:
    return {
        place: {
            "eq25": e.eq25,
            "exact_steps": e.exact_steps,
            "moves": e.moves,
            "by_hint": {
                name: {**f._asdict(), "eq25_per_step": f.eq25_per_step.tolist()}
                for name, f in e.by_hint.items()
            },
        }
        for place, e in external.items()
    }


def _rows(judgement: Judgement) -> dict[str, str]:
    evidence, gap = judgement.evidence, judgement.evidence.nearest
    rows = {"verdict": judgement.word, "nearest reference": judgement.reference}
    rows |= {f"accuracy {_PLACES[p]}": _short(a) for p, a in evidence.accuracy.items()}
    rows |= {f"external eq25 {_PLACES[p]}": _short(e.eq25) for p, e in evidence.external.items()}
    rows["internal eq24"] = f"{gap.eq24:.5f}"
    rows["internal total variation"] = _short(gap.by_rows["all"].total_variation)
    rows["the same, decisive rows"] = _short(gap.by_rows["decisive"].total_variation)
    for null, of in evidence.scaled.items():
        l1 = of["l1"]
        rows[f"on the scale 0 = {null}, 1 = reference"] = (
            f"{l1.scaled:.3f} [{l1.low:.3f}, {l1.high:.3f}]"
        )
    for name, own, untrained in zip(
        ("probes 16", "probes 64"), evidence.probes, evidence.untrained_probes, strict=True
    ):
        rows[name] = f"{_short(own)} (untrained {_short(untrained)})"
    rows |= {name: _short(value) for name, value in judgement.tested.items()}
    return rows


def _thresholds(label: str) -> list[str]:
    if label not in THRESHOLDS:
        return ["", ""]
    return [f"{value:g}" for value in THRESHOLDS[label]]


def _short(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def without_nan(value: Any) -> Any:
    """JSON has no NaN: null stands for what does not apply."""
    if isinstance(value, dict):
        return {key: without_nan(of) for key, of in value.items()}
    if isinstance(value, list):
        return [without_nan(of) for of in value]
    return None if isinstance(value, float) and math.isnan(value) else value
