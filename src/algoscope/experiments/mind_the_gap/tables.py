"""Tables 1, 10 and 14: the paper's numbers, ours, and whether what it says holds."""

import numpy as np

from algoscope.experiments.experiment import Claim
from algoscope.experiments.mind_the_gap.claims import Related, related, unrelated
from algoscope.experiments.mind_the_gap.paper import (
    BASELINES,
    CORRELATIONS,
    WITHOUT_TRACES,
    Accuracy,
)
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.measures.across import correlation
from algoscope.table import Table

_MARGINS = {"bfs": 2.0, "bellman_ford": 2.0, "dfs": 5.0}
"""Points within which a mean counts as the paper's."""
_NOT_NEEDED = 1.0
"""Points that a task may lose without its traces and still not need them."""


def accuracy_of(solutions: Solutions) -> Accuracy:
    scores = 100 * solutions.test
    return Accuracy(float(scores.mean()), float(scores.std()), float(scores.max()))


def baselines(ensembles: list[Solutions]) -> tuple[Table, list[Claim]]:
    """Table 10."""
    rows, claims = [], []
    for solutions in ensembles:
        task, ours = solutions.plan.task, accuracy_of(solutions)
        paper, margin = BASELINES[task], _MARGINS[task]
        difference = ours.mean - paper.mean
        holds = abs(difference) <= margin
        rows.append(
            [
                task,
                str(paper),
                str(ours),
                str(len(solutions.seeds)),
                f"{difference:+.2f}",
                _yes_or_no(holds),
            ]
        )
        claims.append(
            Claim(
                f"{task} has the paper's mean test score within {margin:g} points",
                holds,
                f"paper {paper}, ours {ours}, N = {len(solutions.seeds)}",
            )
        )
    return Table(
        "Table 10: test score in percent, mean ± deviation (largest) over N seeds",
        ["task", "paper", "ours", "N", "difference", "holds"],
        rows,
    ), claims


def without_traces(traced: list[Solutions], silent: list[Solutions]) -> tuple[Table, list[Claim]]:
    """Table 14, beside the same tasks with traces."""
    rows, claims = [], []
    for with_traces, without in zip(traced, silent, strict=True):
        task, ours = without.plan.task, accuracy_of(without)
        paper = WITHOUT_TRACES[task]
        gain, error = _gain(with_traces.test, without.test)
        paper_gain = paper.mean - BASELINES[task].mean
        hurt = paper_gain > _NOT_NEEDED
        holds = _exceeds(gain, error, 0.0 if hurt else -_NOT_NEEDED)
        rows.append(
            [
                task,
                str(paper),
                str(ours),
                str(len(without.seeds)),
                f"{ours.mean - paper.mean:+.2f}",
                f"{paper_gain:+.2f}",
                f"{gain:+.2f} ± {error:.2f}",
                _yes_or_no(holds),
            ]
        )
        text = (
            f"{task} has a higher mean test score without traces"
            if hurt
            else f"{task} loses at most {_NOT_NEEDED:g} point of its mean without traces"
        )
        evidence = f"paper {paper_gain:+.2f}, ours {gain:+.2f} ± {error:.2f} (standard error)"
        counts = f"N = {len(with_traces.seeds)} and {len(without.seeds)}"
        claims.append(Claim(text, holds, f"{evidence}, {counts}"))
    return Table(
        "Table 14: test score in percent without traces, over N seeds; what is gained by that",
        ["task", "paper", "ours", "N", "difference", "paper's gain", "our gain", "holds"],
        rows,
    ), claims


def correlations(solutions: Solutions) -> tuple[Table, list[Claim], list[Related]]:
    """Table 1: test score against faithfulness over seeds. The paper's numbers are of BFS alone."""
    in_paper = solutions.plan.task == "bfs"
    relations = [relation for size in solutions.plan.sizes for relation in related(solutions, size)]
    rows = []
    for relation in relations:
        paper, ours = CORRELATIONS[relation.kind], relation.correlation
        if ours is None:
            rows.append([relation.label, "", relation.reason, *[""] * 6])
            continue
        rows.append(
            [
                relation.label,
                f"{paper.pearson:+.3f} (p {paper.pearson_p:.3f})" if in_paper else "–",
                f"{ours.pearson:+.3f} [{ours.pearson_low:+.2f}, {ours.pearson_high:+.2f}]"
                f" (p {ours.pearson_p:.3f})",
                f"{ours.pearson - paper.pearson:+.3f}" if in_paper else "–",
                f"{paper.spearman:+.3f} (p {paper.spearman_p:.3f})" if in_paper else "–",
                f"{ours.spearman:+.3f} [{ours.spearman_low:+.2f}, {ours.spearman_high:+.2f}]"
                f" (p {ours.spearman_p:.3f})",
                f"{ours.spearman - paper.spearman:+.3f}" if in_paper else "–",
                str(ours.count),
                _yes_or_no(relation.unrelated),
            ]
        )
    size = solutions.plan.sizes[-1]
    return (
        Table(
            f"{'Table 1' if in_paper else 'As table 1'}: {solutions.plan.task}, test score against "
            "external (eq. 25) and internal "
            "faithfulness (eq. 24, a distance)",
            [
                *("measure", "paper's r", "our r", "difference"),
                *("paper's ρ", "our ρ", "difference", "N", "no correlation"),
            ],
            rows,
        ),
        unrelated(solutions, size),
        relations,
    )


def with_steps_held(solutions: Solutions) -> Table:
    """Whether seeds differ in score and in faithfulness just because some learnt for longer: their
    weights are those that were best on validation."""
    rows = []
    relations = [relation for size in solutions.plan.sizes for relation in related(solutions, size)]
    for relation in relations:
        left, ours = relation.steps_held, relation.correlation
        if left is None or ours is None:
            rows.append([relation.label, "", relation.reason or "cannot be held", "", ""])
            continue
        rows.append(
            [
                relation.label,
                f"{ours.pearson:+.3f} (p {ours.pearson_p:.3f})",
                f"{left.pearson:+.3f} (p {left.pearson_p:.3f})",
                f"{left.spearman:+.3f} (p {left.spearman_p:.3f})",
                str(left.count),
            ]
        )
    try:
        step_correlation = correlation(solutions.test, solutions.log_steps)
        r = f"{step_correlation.pearson:+.3f} (p {step_correlation.pearson_p:.3f})"
        rows.append(["logarithm of that step", r, "", "", str(step_correlation.count)])
    except ValueError as reason:
        rows.append(["logarithm of that step", "", str(reason).partition(";")[0], "", ""])
    return Table(
        f"{solutions.plan.task}: the same, with the step of the best weights held fixed",
        ["measure", "r", "r, step held", "ρ, step held", "N"],
        rows,
    )


def _gain(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The difference of means in points, and its standard error."""
    variance = sum(scores.var() / len(scores) for scores in (before, after))
    return float(100 * (after.mean() - before.mean())), float(100 * np.sqrt(variance))


def _exceeds(gain: float, error: float, bound: float) -> bool | None:
    """None if that is within two standard errors."""
    if abs(gain - bound) <= 2 * error:
        return None
    return gain > bound


def _yes_or_no(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "too few"}[holds]
