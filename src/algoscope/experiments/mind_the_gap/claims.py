"""What the paper says about its figures, each as a claim with the numbers that decide it."""

import functools
from typing import NamedTuple

import numpy as np

from algoscope.experiments.experiment import Claim
from algoscope.experiments.mind_the_gap import paper
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.measures import across
from algoscope.measures.across import Clusters, Correlation, Partial
from algoscope.measures.references import reference_class

_SIGNIFICANT = 0.05
ENOUGH = 85
"""Seeds among which a correlation of 0.3 is found four times out of five: (1.960 + 0.842)² /
artanh(0.3)² + 3. Of fewer, not to have found one says little."""
_BEGINNING = 2
"""Steps that the paper calls the beginning of the computation."""


class Related(NamedTuple):
    """Test score against one kind of faithfulness."""

    label: str
    """Begins with its kind, external or internal."""
    correlation: Correlation | None
    reason: str
    """Why there is none."""
    varied: int
    """Seeds that do not have the score that most have: where all are at the ceiling, nothing can
    go with it."""
    steps_held: Partial | None
    """The same with the logarithm of the step held fixed at which the weights were best on
    validation; None if it cannot be."""

    @property
    def unrelated(self) -> bool | None:
        """None if there are too few seeds to say."""
        c = self.correlation
        if c and min(c.pearson_p, c.spearman_p) < _SIGNIFICANT:
            return False
        return True if c and self.varied >= ENOUGH else None


@functools.cache
def related(solutions: Solutions, size: int) -> list[Related]:
    """External, internal to the nearest reference, and internal to each reference of the class."""
    measures = {"external": solutions.external(size)}
    measures["internal, nearest reference"] = solutions.internal(size, "eq24")
    for name in solutions.references(size):
        measures[f"internal, {name}"] = solutions.internal(size, "eq24", name)
    return [_related(f"{label}, n = {size}", solutions, v) for label, v in measures.items()]


def all_related(solutions: Solutions) -> list[Related]:
    """At all sizes."""
    return [relation for size in solutions.plan.sizes for relation in related(solutions, size)]


def _related(label: str, solutions: Solutions, values: np.ndarray) -> Related:
    try:
        plain = across.correlation(solutions.test, values)
    except ValueError as reason:
        return Related(label, None, str(reason).partition(";")[0], 0, None)
    try:
        partial = across.partial_correlation(solutions.test, values, solutions.log_steps)
    except ValueError:
        partial = None
    return Related(label, plain, "", varied(solutions.test), partial)


def varied(scores: np.ndarray) -> int:
    """How many do not have the commonest score; all, if each has its own."""
    counts = np.unique(scores, return_counts=True)[1]
    return len(scores) - int(counts.max()) * (counts.max() > 1)


def unrelated(solutions: Solutions) -> list[Claim]:
    """Accuracy does not correlate with external, nor with internal faithfulness."""
    claims = []
    for relation in related(solutions, solutions.plan.sizes[-1])[:2]:
        c = relation.correlation
        evidence = relation.reason
        if c is not None:
            evidence = (
                f"Pearson {c.pearson:+.3f}, p = {c.pearson_p:.3f}; Spearman {c.spearman:+.3f}, "
                f"p = {c.spearman_p:.3f}; N = {c.count}"
            )
            if relation.unrelated is None:
                evidence += f", of which {relation.varied} differ in score: {ENOUGH} needed"
        text = f"{solutions.label}: test score does not correlate with faithfulness"
        claims.append(Claim(f"{text} ({relation.label})", relation.unrelated, evidence))
    return claims


def closer_at_first(solutions: Solutions, size: int) -> Claim:
    """Figure 2: attention is closer to the reference in the first two steps than after them."""
    first, later = _split([solutions.internal(size, "per_step")], _BEGINNING)
    return Claim(
        f"{solutions.label}: attention is closer to the algorithm's in the first "
        f"{_BEGINNING} steps (n = {size})",
        _is_less(first, later),
        f"total variation {_mean(first):.3f}, later {_mean(later):.3f}; "
        f"closer at first in {(first < later).sum()} of N = {len(first)} seeds",
    )


def traces_degrade(solutions: Solutions, size: int) -> Claim:
    """Figures 4 and 11: predicted traces get worse over time."""
    first, later = _split(list(solutions.trace_per_step(size).values()), 1)
    return Claim(
        f"{solutions.label}: predicted traces are worse after the first step (n = {size})",
        _is_less(later, first),
        f"eq. 25 at step 1 {_mean(first):.3f}, later {_mean(later):.3f}; "
        f"worse later in {(later < first).sum()} of N = {len(first)} seeds; "
        f"moves right {solutions.external(size, 'moves').mean():.3f}, steps without a fault "
        f"{solutions.external(size, 'exact_steps').mean():.3f}",
    )


def _split(curves: list[np.ndarray], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The means of curves, [seed, step] each, up to a step and after it: [seed], NaN where no
    problem has come so far."""
    first = np.concatenate([curve[:, :steps] for curve in curves], 1)
    later = np.concatenate([curve[:, steps:] for curve in curves], 1)
    return _mean(first, 1), _mean(later, 1)


def _mean(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Of the finite values."""
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.where(finite, values, 0).sum(axis) / finite.sum(axis)


def _is_less(smaller: np.ndarray, larger: np.ndarray) -> bool | None:
    """In the mean and in most seeds; None if there is nothing to compare."""
    finite = np.isfinite(smaller) & np.isfinite(larger)
    if not finite.any():
        return None
    difference = (larger - smaller)[finite]
    return bool(difference.mean() > 0 and (difference > 0).mean() > 0.5)


class Between(NamedTuple):
    """Solutions compared with each other and with the references, on the problems kept."""

    names: list[str]
    """Of the solutions, then of the references."""
    references: int
    """So many of the names, the last ones."""
    total_variation: np.ndarray
    """[name, name]"""
    clusters: Clusters | None
    """Of the solutions alone; None of fewer than three."""
    solutions: float
    """The mean between two solutions."""
    closest: float
    """The least from a solution to a reference."""
    exact: float
    """The mean between two references; NaN if there is but one."""


@functools.cache
def between(solutions: Solutions) -> Between:
    references = reference_class(solutions.batch)
    distances = across.pairwise_total_variation(
        [*solutions.recordings(), *(reference.recording for reference in references)]
    )
    names = [f"seed {seed['seed']}" for seed in solutions.seeds]
    count = len(names)
    trained, exact = distances[:count, :count], distances[count:, count:]
    return Between(
        [*names, *(reference.name for reference in references)],
        len(references),
        distances,
        across.ward_clusters(trained) if count >= 3 else None,
        _mean_pair(trained),
        float(distances[:count, count:].min()),
        _mean_pair(exact),
    )


def _mean_pair(distances: np.ndarray) -> float:
    pairs = distances[np.triu_indices(len(distances), 1)]
    return float(pairs.mean()) if pairs.size else float("nan")


def far_from_compiled(solutions: Solutions) -> list[Claim]:
    """Section 4.5 and figure 5."""
    compared, nodes, task = between(solutions), solutions.plan.sizes[0], solutions.plan.task
    in_paper = task == "bfs"
    evidence = [
        f"between solutions {_three(compared.solutions, nodes)}",
        f"closest to a reference {_three(compared.closest, nodes)}",
    ]
    if np.isfinite(compared.exact):
        evidence.append(f"between references {_three(compared.exact, nodes)}")
    if in_paper:
        evidence.append(f"paper {paper.BETWEEN_SOLUTIONS} and {paper.CLOSEST_TO_COMPILED}")
    text = (
        f"{solutions.label}: every solution is farther from each reference than solutions are from "
        f"each other in the mean (n = {nodes})"
    )
    claims = [Claim(text, compared.closest > compared.solutions, "; ".join(evidence))]
    clusters = compared.clusters
    if clusters is not None:
        best = max(clusters.silhouettes.values())
        text = (
            f"{solutions.label}: solutions fall into several clusters (Ward, number by silhouette)"
        )
        number = f"{clusters.count}, best mean silhouette {best:.2f}"
        paper_number = f"; paper {paper.CLUSTERS}" if in_paper else ""
        claims.append(Claim(text, clusters.count > 1, number + paper_number))
    return claims


def figure_claims(solutions: Solutions) -> list[Claim]:
    """All claims about a task's figures; about figure 5 where solutions can be compared."""
    claims = unrelated(solutions)
    claims += far_from_compiled(solutions) if solutions.comparable else []
    for size in solutions.plan.sizes:
        claims += [closer_at_first(solutions, size), traces_degrade(solutions, size)]
    return claims


def _three(total_variation: float, nodes: int) -> str:
    """The same distance in its three normalisations."""
    row = 2 * total_variation
    return f"eq24 {row / nodes:.4f}, per_row_l1 {row:.3f}, total_variation {total_variation:.3f}"
