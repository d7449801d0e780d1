"""Table 16: compiled networks, trained further in as many orders of the data as there are seeds.

As they are compiled, loss and gradient are exactly 0 and nothing moves. *Soft* ones compute the
same with pointers that are 2^24 times less sharp, so that a loss is left; in *wide* ones the units
that the program does not use have the random weights of an ordinary start.
"""

from typing import TYPE_CHECKING

from algoscope.experiments.experiment import Claim, Result
from algoscope.experiments.mind_the_gap import paper
from algoscope.experiments.mind_the_gap.presets import Arm
from algoscope.experiments.mind_the_gap.soft import Start
from algoscope.table import Table

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.results import Ensembles
    from algoscope.experiments.mind_the_gap.solutions import Solutions

_SHARP, _SOFT, _MASKS, _WIDTH = 2.0**30, 2.0**6, 2.0**10, 128
_POINT, _RARE = 0.01, 0.1
_STARTS = {
    "compiled": (64, {"pointers": _SHARP, "rest": 0.0}),
    "soft": (128, {"pointers": _SOFT, "rest": 0.0}),
    "soft-wide": (128, {"pointers": _SOFT, "rest": 1.0}),
}
ARMS = [
    Arm(task, name, seeds=seeds, start=Start(task, _WIDTH, masks=_MASKS, **options))
    for task in ("bfs", "bellman_ford")
    for name, (seeds, options) in _STARTS.items()
]


def result(ensembles: "Ensembles") -> Result:
    """As far as the ensembles are there."""
    rows, claims = [], []
    for arm in ARMS:
        if arm.name not in ensembles:
            claims.append(_claim(arm.name, None))
            continue
        solutions = ensembles[arm.name]
        start = solutions.measured[0]["start"]
        for view in solutions.views:
            scores = 100 * view.test
            ours = paper.Accuracy(*map(float, (scores.mean(), scores.std(), scores.max())))
            before = [f"{start[name]:.4g}" for name in ("exact_traces", "loss", "gradient")]
            row = [arm.name, view.weights, f"{100 * start['test']:.2f}", *before]
            rows.append([*row, str(paper.TRAINED_ON[arm.task]), str(ours), str(len(scores))])
        claims.append(_claim(arm.name, solutions.views[-1]))
    columns = [
        *("start", "weights", "score at the start", "exact traces", "loss", "gradient"),
        *("paper, trained on", "ours, trained on", "N"),
    ]
    return Result([Table("Table 16: compiled networks, trained further", columns, rows)], claims)


def _claim(name: str, last: "Solutions | None") -> Claim:
    from algoscope import statistics

    text = f"{name}: trained on, more than a tenth of data orders lose a point (last weights)"
    if last is None:
        return Claim(text, None, "not run: N = 0")
    fallen = last.test < last.measured[0]["start"]["test"] - _POINT
    share = statistics.proportion(fallen.tolist())
    holds = True if share.low > _RARE else False if share.high < _RARE else None
    return Claim(text, holds, f"{share.beside(_RARE)}, N = {len(fallen)}")
