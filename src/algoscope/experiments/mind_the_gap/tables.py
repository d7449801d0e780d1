"""Tables of scores and correlations: the paper's numbers, ours, and whether what it says holds."""

from collections.abc import Mapping, Sequence

import numpy as np

from algoscope.experiments.experiment import Claim, Result
from algoscope.experiments.mind_the_gap import paper
from algoscope.experiments.mind_the_gap.claims import all_related
from algoscope.experiments.mind_the_gap.score_tables import ScoreTable
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.measures.across import correlation
from algoscope.table import Table

_MARGINS = {"bfs": 2.0, "bellman_ford": 2.0, "dfs": 5.0}
"""Points within which a mean counts as the paper's."""
_FEWEST = 8
"""Seeds of either side below which a difference of means decides nothing."""
_NOT_NEEDED = 1.0
"""Points that a task may lose without its traces and still not need them."""

_TRACE_NUMBERS = {
    "eq25": "entries right (eq. 25)",
    "moves": "moves right",
    "exact_steps": "steps without a fault",
}
"""Of `measures.trace_match`."""


def accuracy_of(solutions: Solutions) -> paper.Accuracy:
    scores = 100 * solutions.test
    return paper.Accuracy(float(scores.mean()), float(scores.std()), float(scores.max()))


def provenance(ensembles: Mapping[str, Solutions]) -> Table:
    """Where the numbers come from."""
    rows = []
    for name, solutions in ensembles.items():
        config, chunks = solutions.plan.training, solutions.measured
        row = [name, str(len(solutions.seeds)), f"{config.steps:,}", f"{config.learning_rate:g}"]
        for part in ("training_seconds", "measuring_seconds"):
            row.append(f"{sum(chunk[part] for chunk in chunks) / 60:.1f}")
        for part in ("device", "commit"):
            row.append(", ".join(sorted({str(chunk["environment"][part]) for chunk in chunks})))
        rows.append(row)
    columns = ["ensemble", "N", "steps", "learning rate", "minutes of training", "of measuring"]
    return Table("Ensembles", [*columns, "device", "commit"], rows)


def baselines(ensembles: Sequence[Solutions]) -> Result:
    """Table 10: how well GATv2 learns BFS, Bellman-Ford and DFS."""
    rows, claims = [], []
    for solutions in _views(ensembles):
        ours, count = accuracy_of(solutions), len(solutions.seeds)
        published, margin = paper.BASELINES[solutions.plan.task], _MARGINS[solutions.plan.task]
        difference = ours.mean - published.mean
        error = 100 * _error(solutions.test)
        holds = None if abs(abs(difference) - margin) <= 2 * error else abs(difference) < margin
        row = [solutions.label, str(published), str(ours), str(count), f"{difference:+.2f}"]
        text = f"{solutions.label} has the paper's mean test score within {margin:g} points"
        rows.append([*row, _yes_or_no(holds)])
        low, high = _interval(ours.mean, error)
        evidence = f"paper {published}, ours {ours}, mean [{low:.2f}, {high:.2f}], N = {count}"
        claims.append(Claim(text, holds, evidence))
    table = Table(
        "Table 10: test score in percent, mean ± deviation (largest) over N seeds",
        ["task", "paper", "ours", "N", "difference", "holds"],
        rows,
    )
    return Result([table], claims)


def without_traces(traced: Sequence[Solutions], silent: Sequence[Solutions]) -> Result:
    """Table 14: the baselines learnt from answers alone, beside the same tasks with traces."""
    rows, claims = [], []
    for with_traces, without in _pairs(traced, silent):
        task, ours, count = without.plan.task, accuracy_of(without), len(without.seeds)
        label = with_traces.label
        published = paper.WITHOUT_TRACES[task]
        gain, error = _gain(with_traces.test, without.test)
        paper_gain = published.mean - paper.BASELINES[task].mean
        hurt = paper_gain > _NOT_NEEDED
        holds = _exceeds(gain, error, 0.0 if hurt else -_NOT_NEEDED)
        our_gain = f"{gain:+.2f} ± {error:.2f}"
        gains = [f"{ours.mean - published.mean:+.2f}", f"{paper_gain:+.2f}", our_gain]
        rows.append([label, str(published), str(ours), str(count), *gains, _yes_or_no(holds)])
        text = (
            f"{label} has a higher mean test score without traces"
            if hurt
            else f"{label} loses at most {_NOT_NEEDED:g} point of its mean without traces"
        )
        evidence = f"paper {paper_gain:+.2f}, ours {our_gain} (standard error)"
        counts = f"N = {len(with_traces.seeds)} and {count}"
        claims.append(Claim(text, holds, f"{evidence}, {counts}"))
    table = Table(
        "Table 14: test score in percent without traces, over N seeds; what is gained by that",
        ["task", "paper", "ours", "N", "difference", "paper's gain", "our gain", "holds"],
        rows,
    )
    return Result([table], claims)


def scores(shown: ScoreTable, ensembles: Mapping[str, Solutions]) -> Result:
    """A table of test scores and its claims, as far as its ensembles are there."""
    rows, claims = [], []
    for label, arm, published in shown.rows:
        if arm.name not in ensembles:
            rows.append([label, "", str(published or "–"), "not run", "0", "", "", ""])
            continue
        for solutions in ensembles[arm.name].views:
            ours = accuracy_of(solutions)
            difference = f"{ours.mean - published.mean:+.2f}" if published else "–"
            row = [label, solutions.weights, str(published or "–"), str(ours)]
            rows.append([*row, str(len(solutions.seeds)), difference, *_faithful(solutions)])
    for text, above, below, points in shown.compared:
        missing = [arm.name for arm in (above, below) if arm.name not in ensembles]
        if missing:
            claims.append(Claim(text, None, f"{' and '.join(missing)} not run: N = 0"))
            continue
        for more, less in _pairs([ensembles[above.name]], [ensembles[below.name]]):
            difference, error = _gain(less.test, more.test)
            low, high = _interval(difference, error)
            evidence = (
                f"{more.weights} weights: difference {difference:+.2f} points "
                f"[{low:+.2f}, {high:+.2f}], needed above {points:+g}; "
                f"N = {len(more.seeds)} and {len(less.seeds)}"
            )
            few = min(len(more.seeds), len(less.seeds)) < _FEWEST
            holds = None if few else _exceeds(difference, error, points)
            claims.append(Claim(text, holds, evidence))
    title = ", ".join(shown.shows).capitalize() or shown.name.capitalize()
    note = f"; {shown.note}" if shown.note else ""
    columns = ["", "weights", "paper", "ours", "N", "difference", "moves right", "from reference"]
    return Result(
        [Table(f"{title}: test score in percent, mean ± deviation (largest){note}", columns, rows)],
        claims,
    )


def _faithful(solutions: Solutions) -> list[str]:
    """Moves right and the distance to the nearest reference, at the smallest size measured."""
    if not solutions.plan.sizes:
        return ["–", "–"]
    size = solutions.plan.sizes[0]
    moves = f"{solutions.external(size, 'moves').mean():.3f}" if solutions.traced else "–"
    return [moves, f"{solutions.internal(size, 'total_variation').mean():.3f}"]


def _views(ensembles: Sequence[Solutions]) -> list[Solutions]:
    return [view for solutions in ensembles for view in solutions.views]


def _pairs(
    first: Sequence[Solutions], second: Sequence[Solutions]
) -> list[tuple[Solutions, Solutions]]:
    """Those of both with the same weights."""
    return [
        (one, other)
        for ours, theirs in zip(first, second, strict=True)
        for one in ours.views
        for other in theirs.views
        if one.weights == other.weights
    ]


def traces(ensembles: Sequence[Solutions]) -> Table:
    """How much of the trace is predicted. eq. 25 counts entries that never change too, so that a
    network which repeats itself scores high: beside it stand the entries that do change."""
    rows = []
    for solutions in _views(ensembles):
        for size in solutions.plan.sizes:
            numbers = [solutions.external(size, name) for name in _TRACE_NUMBERS]
            shares = [f"{values.mean():.3f} ± {values.std():.3f}" for values in numbers]
            rows.append([solutions.label, str(size), *shares, str(len(solutions.seeds))])
    return Table(
        "Predicted traces: mean ± deviation over N seeds",
        ["task", "n", *_TRACE_NUMBERS.values(), "N"],
        rows,
    )


def correlations(solutions: Solutions) -> Table:
    """Table 1: test score against faithfulness over seeds. The paper's numbers are of BFS alone."""
    in_paper = solutions.plan.task == "bfs"
    rows = []
    for relation in all_related(solutions):
        ours = relation.correlation
        if ours is None:
            rows.append([relation.label, "", relation.reason, *[""] * 6])
            continue
        row = [relation.label]
        published = paper.CORRELATIONS[relation.label.partition(",")[0]]
        for kind in ("pearson", "spearman"):
            r, p, low, high = (getattr(ours, kind + end) for end in ("", "_p", "_low", "_high"))
            paper_r, paper_p = published[kind]
            row += [
                _with_p(paper_r, paper_p) if in_paper else "–",
                f"{r:+.3f} [{low:+.2f}, {high:+.2f}] (p {p:.3f})",
                f"{r - paper_r:+.3f}" if in_paper else "–",
            ]
        rows.append([*row, str(ours.count), _yes_or_no(relation.unrelated)])
    return Table(
        f"{'Table 1' if in_paper else 'As table 1'}: {solutions.label}, test score against "
        "external (eq. 25) and internal faithfulness (eq. 24, a distance)",
        [
            *("measure", "paper's r", "our r", "difference"),
            *("paper's ρ", "our ρ", "difference", "N", "no correlation"),
        ],
        rows,
    )


def with_steps_held(solutions: Solutions) -> Table:
    """Whether seeds differ in score and in faithfulness just because some learnt for longer: their
    weights are those that were best on validation."""
    rows = []
    for relation in all_related(solutions):
        left, ours = relation.steps_held, relation.correlation
        if left is None or ours is None:
            rows.append([relation.label, "", relation.reason or "cannot be held", "", ""])
            continue
        pairs = (
            (ours.pearson, ours.pearson_p),
            (left.pearson, left.pearson_p),
            (left.spearman, left.spearman_p),
        )
        rows.append([relation.label, *(_with_p(r, p) for r, p in pairs), str(left.count)])
    try:
        steps = correlation(solutions.test, solutions.log_steps)
        last = [_with_p(steps.pearson, steps.pearson_p), "", "", str(steps.count)]
    except ValueError as reason:
        last = ["", str(reason).partition(";")[0], "", ""]
    return Table(
        f"{solutions.plan.task}: the same, with the step of the best weights held fixed",
        ["measure", "r", "r, step held", "ρ, step held", "N"],
        [*rows, ["logarithm of that step", *last]],
    )


def _with_p(r: float, p: float) -> str:
    return f"{r:+.3f} (p {p:.3f})"


def _gain(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """The difference of means in points, and its standard error."""
    error = np.hypot(_error(before), _error(after))
    return float(100 * (after.mean() - before.mean())), float(100 * error)


def _error(values: np.ndarray) -> float:
    """The standard error of the mean."""
    return float(values.std() / np.sqrt(len(values)))


def _interval(value: float, error: float) -> tuple[float, float]:
    return value - 2 * error, value + 2 * error


def _exceeds(gain: float, error: float, bound: float) -> bool | None:
    """None if that is within two standard errors."""
    return None if abs(gain - bound) <= 2 * error else gain > bound


def _yes_or_no(holds: bool | None) -> str:
    return {True: "yes", False: "no", None: "too few"}[holds]
