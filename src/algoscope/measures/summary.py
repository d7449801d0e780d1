"""Judgements for a terminal, as tables."""

from collections.abc import Mapping

from algoscope.measures.thresholds import CRITERIA, SOLVES, short
from algoscope.measures.verdict import Judgement
from algoscope.table import Table

_TOLD = ("accuracy small", "accuracy large", "moves large", "reads large")


def table(task: str, judgements: Mapping[str, Judgement]) -> Table:
    """A row a measure, a column a subject."""
    subjects = [_numbers(judgement) for judgement in judgements.values()]
    limits = {criterion.label: criterion.limits for criterion in CRITERIA.values()}
    return Table(
        f"{task}: {', '.join(judgement.verdict.word for judgement in judgements.values())}",
        ["", *judgements, "runs from", "shortcut below"],
        [
            [label, *(numbers[label] for numbers in subjects), *limits.get(label, ["", ""])]
            for label in subjects[0]
        ],
    )


def seeds_table(task: str, judgements: Mapping[str, Judgement]) -> Table:
    """A row a subject, for many; the numbers that the verdict stands on."""
    first = ("verdict", "nearest reference", "accuracy small", "accuracy large", "internal eq24")
    labels = [*first, *(criterion.label for criterion in CRITERIA.values()), "state of"]
    return _rows(f"{task}: {len(judgements)} subjects", labels, judgements)


def verdicts_table(title: str, judgements: Mapping[str, Judgement]) -> Table:
    """A row a subject: the word, what tells most, and the reasons."""
    return _rows(title, ["verdict", *_TOLD, "why"], judgements)


def _rows(title: str, labels: list[str], judgements: Mapping[str, Judgement]) -> Table:
    rows = []
    for name, judgement in judgements.items():
        numbers = _numbers(judgement)
        rows.append([name, *(numbers.get(label, "–") for label in labels)])
    return Table(title, ["", *labels], rows)


def _numbers(judgement: Judgement) -> dict[str, str]:
    """Everything that was measured, by label, for a table."""
    evidence = judgement.evidence
    numbers = {"verdict": judgement.verdict.word}
    if evidence.internal:
        numbers["nearest reference"] = evidence.nearest.reference
    numbers |= {
        f"accuracy {place}": short(value, SOLVES) for place, value in evidence.accuracy.items()
    }
    numbers |= {f"external eq25 {place}": short(e.eq25) for place, e in evidence.external.items()}
    if evidence.internal:
        by_rows = evidence.nearest.by_rows
        numbers["internal eq24"] = f"{evidence.nearest.eq24:.5f}"
        numbers["internal total variation"] = short(by_rows["all"].total_variation)
        numbers["the same, decisive rows"] = short(by_rows["decisive"].total_variation)
    for null, scaled in evidence.scaled.items():
        value, low, high = scaled["l1"].scaled
        numbers[f"on the scale 0 = {null}, 1 = reference"] = f"{value:.3f} [{low:.3f}, {high:.3f}]"
    for place, value, untrained in zip(
        ("small", "large"), evidence.probes, evidence.untrained_probes, strict=True
    ):
        numbers[f"probes {place}"] = f"{short(value)} (untrained {short(untrained)})"
    numbers |= {
        CRITERIA[key].label: CRITERIA[key].text(value) for key, value in evidence.tested.items()
    }
    if evidence.interchange:
        numbers["interchange"] = short(evidence.interchange.state)
    if evidence.state:
        owner = evidence.state.best if evidence.state.clear else "nobody"
        numbers["state of"] = f"{owner} {evidence.state.score}"
    return numbers | {"why": "; ".join(judgement.verdict.reasons)}
