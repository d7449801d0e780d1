"""Chains of thought: which steps are written out, and which happen inside?

The nodes that a text names, in the order of their first mention, are compared with each algorithm's
trace: does an earlier visit come earlier, more often than in a random order of the same nodes? And
how many of its visits are written at all? A text that names the path alone has written none of the
search: that happened inside, or nowhere.

The verdict is about what is written:

| word       | if                                                                              |
|------------|---------------------------------------------------------------------------------|
| not judged | fewer than half of the texts name a node, or 90 % name the path alone           |
| runs X     | X's visits are written in its order, above chance with corrected p < 0.05, and  |
|            | 90 % of them are; several X if their orders are not surely different            |
| undecided  | anything else                                                                   |
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.hypotheses import CANDIDATES, Hypothesis, trace
from algoscope.llm.prompts import Item, word_mentions
from algoscope.verdict import NOT_JUDGED, RUNS, UNDECIDED, Condition, Verdict

_SIGNIFICANT = 0.05
_COVERED = 0.9
_NAMED = 0.5


class StepScore(NamedTuple):
    hypothesis: str
    order: float
    """Kendall's tau of written order and steps, ties of steps left out: from -1 to 1, 0 by chance.
    NaN if fewer than two steps are written."""
    coverage: float
    """The share of the algorithm's visits that are written, the start left out."""


class HypothesisSteps(NamedTuple):
    hypothesis: str
    order: statistics.Estimate
    p: float
    """Against random orders of the same nodes, corrected for the number of hypotheses."""
    coverage: statistics.Estimate

    @property
    def conditions(self) -> list[Condition]:
        name, order, coverage = self.hypothesis, self.order, self.coverage
        p = statistics.beside(self.p, _SIGNIFICANT, digits=2, form="g")
        return [
            Condition(
                f"visits of {name} are written in its order: {order.beside(0)}", order.low > 0
            ),
            Condition(f"{name}: corrected p = {p}", self.p < _SIGNIFICANT),
            Condition(
                f"at least 90 % of the visits of {name} are written: {coverage.beside(_COVERED)}",
                coverage.value >= _COVERED,
            ),
        ]

    @property
    def holds(self) -> bool:
        return all(condition.met for condition in self.conditions)


class StepsStudy(NamedTuple):
    hypotheses: list[HypothesisSteps]
    right: statistics.Estimate
    path_alone: statistics.Estimate
    """The share of texts that name the path and nothing else, of those with a path."""
    nodes: float
    """Nodes named in a text, on average."""
    verdict: Verdict
    """On what is written: which algorithm's visits."""
    texts: list[str]


def read_steps(text: str, item: Item) -> list[int]:
    """The nodes that a text names, as whole words, in the order of their first mention."""
    first = {mention.node: mention.start for mention in reversed(word_mentions(text, item.names))}
    return sorted(first, key=lambda node: first[node])


def score_steps(nodes: Sequence[int], item: Item, hypothesis: Hypothesis) -> StepScore:
    steps = trace(hypothesis, item)
    visit = {node: step for step, row in enumerate(steps) for node in np.flatnonzero(row).tolist()}
    visit.pop(item.source, None)
    written = [visit[node] for node in nodes if node in visit]
    return StepScore(
        hypothesis.name, _tau(np.array(written)), len(written) / len(visit) if visit else np.nan
    )


def _tau(steps: np.ndarray) -> float:
    """The balance of pairs in order and pairs out of order, of the steps as they are written."""
    signs = np.sign(steps[None, :] - steps[:, None])[np.triu_indices(len(steps), 1)]
    counted = np.abs(signs).sum()
    return float(signs.sum() / counted) if counted else np.nan


def right(text: str, item: Item) -> bool:
    """Whether a text answers the item's question."""
    if item.question == "reach":
        answers = re.findall(r"\b(yes|no)\b", text.lower())
        return bool(answers) and (answers[-1] == "yes") == item.reachable
    nodes, A = read_steps(text, item), item.adjacency()
    if not item.reachable:
        return not nodes and re.search(r"\bnone\b|\bno (way|path)\b", text.lower()) is not None
    if item.question == "next":
        first = [node for node in nodes if node != item.source][:1]
        left = mazes.distances(A.T, item.goal)
        return any(A[item.source, n] and left[n] == left[item.source] - 1 for n in first)
    path = nodes if nodes[:1] == [item.source] else [item.source, *nodes]
    return path[-1] == item.goal and all(A[a, b] for a, b in itertools.pairwise(path))


def judge(
    texts: Sequence[str],
    items: Sequence[Item],
    hypotheses: Sequence[Hypothesis] = CANDIDATES,
    permutations: int = 999,
    seed: int = 0,
) -> StepsStudy:
    """Scores texts, one an item, against every algorithm. One that is written does not rule out
    another inside, nor does an answer show one that is not written."""
    written = [read_steps(text, item) for text, item in zip(texts, items, strict=True)]
    rng = np.random.default_rng(seed)
    rows = []
    for hypothesis in (h for h in hypotheses if h.algorithm):
        scores = [score_steps(n, i, hypothesis) for n, i in zip(written, items, strict=True)]
        orders = np.array([s.order for s in scores])
        valid = np.flatnonzero(np.isfinite(orders)).tolist()
        null = [
            [
                score_steps(rng.permutation(written[i]).tolist(), items[i], hypothesis).order
                for _ in range(permutations)
            ]
            for i in valid
        ]
        p = statistics.p_value(orders[valid].mean(), np.mean(null, 0)) if null else 1.0
        coverage = statistics.bootstrap(np.array([s.coverage for s in scores]))
        rows.append(HypothesisSteps(hypothesis.name, statistics.bootstrap(orders), p, coverage))
    rows = statistics.with_corrected_p(rows)
    alone = statistics.proportion(
        [
            set(nodes) | {item.source} == set(item.path())
            for nodes, item in zip(written, items, strict=True)
            if item.reachable
        ]
    )
    return StepsStudy(
        rows,
        statistics.proportion([right(t, i) for t, i in zip(texts, items, strict=True)]),
        alone,
        float(np.mean([len(nodes) for nodes in written])),
        decide(rows, float(np.mean([len(nodes) > 0 for nodes in written])), alone),
        list(texts),
    )


def decide(
    hypotheses: Sequence[HypothesisSteps], named: float, path_alone: statistics.Estimate
) -> Verdict:
    """`named` is the share of texts that name a node."""
    conditions = [
        Condition(
            f"at least half of the texts name a node: {statistics.beside(named, _NAMED, digits=2)}",
            named >= _NAMED,
        ),
        Condition(
            f"fewer than 90 % of the texts name the path alone: {path_alone.beside(_COVERED)}",
            not path_alone.value >= _COVERED,
        ),
    ]
    if not all(condition.met for condition in conditions):
        return Verdict(NOT_JUDGED, None, conditions)
    whole = [h for h in hypotheses if h.holds]
    if not whole:
        nearest = max(hypotheses, key=lambda h: np.nan_to_num(h.order.value, nan=-np.inf))
        return Verdict(UNDECIDED, None, conditions + nearest.conditions)
    best = max(h.order.value for h in whole)
    level = [h for h in whole if h.order.high >= best]
    for hypothesis in level:
        conditions += hypothesis.conditions
    return Verdict(RUNS, " or ".join(h.hypothesis for h in level), conditions)
