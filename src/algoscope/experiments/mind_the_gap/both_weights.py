"""What 128 judged seeds say about the weights that are kept: results/words.

`benchmarks/words.py` trains as the paper does and judges the weights that were best on validation
and the last ones in one program. It keeps scores on problems of its own (seed 4), the share of
moves that are right (external) and of decisive rows that are read rightly (internal).
"""

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope.experiments.experiment import Claim, Result
from algoscope.experiments.mind_the_gap.claims import ENOUGH, varied
from algoscope.files import read_json_lines
from algoscope.measures.across import Correlation, correlation
from algoscope.statistics import bootstrap
from algoscope.table import Table

_RECIPE = "usual"
_FAITHFUL = {"external": "moves_large", "internal": "reads_small"}
"""Numbers of `thresholds.CRITERIA`."""
Lines = Sequence[dict[str, Any]]
"""Of one task and one set of weights, by seed."""


def summary(folder: pathlib.Path) -> Result | None:
    """Tables and claims of the judged seeds in a folder; None if it holds none."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in _read(path)]
    tasks = dict.fromkeys(line["task"] for line in lines)
    both = {task: {name: _of(lines, task, name) for name in ("best", "last")} for task in tasks}
    both = {task: found for task, found in both.items() if all(found.values())}
    if not both:
        return None
    return Result(
        [_means(both), _correlations(both)], [c for t in both for c in _claims(t, both[t])]
    )


def _read(path: pathlib.Path) -> list[dict[str, Any]]:
    lines = read_json_lines(path, dict[str, Any])
    return [line for line in lines if line.get("recipe") == _RECIPE and "weights" in line]


def _of(lines: Lines, task: str, weights: str) -> Lines:
    found = [line for line in lines if (line["task"], line["weights"]) == (task, weights)]
    return sorted(found, key=lambda line: line["seed"])


def _means(both: dict[str, dict[str, Lines]]) -> Table:
    rows = []
    for task, by_weights in both.items():
        for name, lines in by_weights.items():
            steps = [line["step"] for line in lines]
            scores = [_scores(lines, size) for size in lines[0]["scores"]]
            tested = [_tested(lines, number) for number in _FAITHFUL.values()]
            numbers = [f"{v.mean():.4f} ± {v.std():.4f}" for v in (*scores, *tested)]
            where = f"{min(steps):,} to {max(steps):,}" if name == "best" else f"{max(steps):,}"
            rows.append([task, name, where, *numbers, str(len(lines))])
    sizes = [f"score, n = {size}" for size in next(iter(both.values()))["best"][0]["scores"]]
    columns = ["task", "weights", "step", *sizes, "moves right, n = 64", "reads right, n = 16", "N"]
    return Table("Best on validation and last weights of the same seeds, judged", columns, rows)


def _scores(lines: Lines, size: str) -> np.ndarray:
    return np.array([line["scores"][size] for line in lines], float)


def _tested(lines: Lines, number: str) -> np.ndarray:
    return np.array([line["tested"][number] for line in lines], float)


def _correlations(both: dict[str, dict[str, Lines]]) -> Table:
    rows = []
    for task, by_weights in both.items():
        for name, lines in by_weights.items():
            for kind, number in _FAITHFUL.items():
                found = _related(lines, number)
                text = [found, "", "", ""] if isinstance(found, str) else _shown(found)
                rows.append([task, name, f"{kind}: {number}", *text])
    columns = ["task", "weights", "score at n = 64 against", "Pearson", "Spearman", "p", "N"]
    return Table("As table 1, with either weights", columns, rows)


def _related(lines: Lines, number: str) -> Correlation | str:
    try:
        return correlation(_scores(lines, "64"), _tested(lines, number))
    except ValueError as reason:
        return str(reason).partition(",")[0]


def _shown(found: Correlation) -> list[str]:
    return [
        f"{found.pearson:+.3f} [{found.pearson_low:+.2f}, {found.pearson_high:+.2f}]",
        f"{found.spearman:+.3f} [{found.spearman_low:+.2f}, {found.spearman_high:+.2f}]",
        f"{found.pearson_p:.3f}, {found.spearman_p:.3f}",
        str(found.count),
    ]


def _claims(task: str, by_weights: dict[str, Lines]) -> list[Claim]:
    best, last = by_weights["best"], by_weights["last"]
    claims = []
    if [line["seed"] for line in best] == [line["seed"] for line in last]:
        for what, numbers in (
            ("score higher (n = 64)", [_scores(lines, "64") for lines in (best, last)]),
            (
                "read more rightly (n = 16)",
                [_tested(lines, "reads_small") for lines in (best, last)],
            ),
        ):
            gain = bootstrap(numbers[1] - numbers[0])
            holds = None if gain.low <= 0 <= gain.high else gain.value > 0
            evidence = f"{gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}], N = {len(best)}"
            text = f"{task}: the last weights {what} than those best on validation"
            claims.append(Claim(text, holds, evidence))
    for name, lines in by_weights.items():
        found = _related(lines, _FAITHFUL["internal"])
        text = f"{task}, {name} weights: score and what attention reads do not correlate"
        if isinstance(found, str):
            claims.append(Claim(text, None, found))
            continue
        correlate = min(found.pearson_p, found.spearman_p) < 0.05
        differ = varied(_scores(lines, "64"))
        holds = False if correlate else (True if differ >= ENOUGH else None)
        pearson, spearman, p, count = _shown(found)
        evidence = f"Pearson {pearson}, Spearman {spearman}, p = {p}; N = {count}"
        if holds is None:
            evidence += f", of which {differ} differ in score: {ENOUGH} needed"
        claims.append(Claim(text, holds, evidence))
    return claims
