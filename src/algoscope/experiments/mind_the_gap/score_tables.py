"""The tables of test scores, each one value: its arms, the paper's numbers, what it claims.

    TABLE_2, TABLE_9, TABLE_12, TABLE_13, TABLE_15, TABLE_17    of the paper
    ARCHITECTURES                                               what its reviewers asked for

Tables 1, 10, 14 and 16 look at more than scores and have modules of their own.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from algoscope.experiments.mind_the_gap import paper
from algoscope.experiments.mind_the_gap.presets import BASELINES, Arm


class Row(NamedTuple):
    label: str
    arm: Arm
    published: paper.Accuracy | paper.Spread | None = None


class Compared(NamedTuple):
    """A claim: the mean of one arm is above another's by more than so many points."""

    text: str
    above: Arm
    below: Arm
    points: float = 0.0


@dataclasses.dataclass(frozen=True)
class ScoreTable:
    name: str
    shows: tuple[str, ...]
    summary: str
    rows: tuple[Row, ...]
    compared: tuple[Compared, ...]
    note: str = ""

    @property
    def arms(self) -> list[Arm]:
        arms = [row.arm for row in self.rows]
        return list(
            {a.name: a for a in [*arms, *(a for c in self.compared for a in c[1:3])]}.values()
        )


def _ablation(task: str, variant: str, sizes: tuple[int, ...] = (), **network: Any) -> Arm:
    """Table 7: learnt from 16 nodes alone, with simple decoders."""
    training = {} if variant.endswith("at-64") else {"test_size": 16}
    network = {"simple_decoders": True} | network
    return Arm(
        task, variant, sizes=sizes, training=training, recipe={"sizes": (16,)}, network=network
    )


_PLAIN_64 = _ablation("bellman_ford", "ablated-at-64", (16, 64))
_EDGES_64 = dataclasses.replace(
    _PLAIN_64,
    variant="edge-information-at-64",
    network={**_PLAIN_64.network, "edge_information": True},
)
TABLE_2 = ScoreTable(
    "table-2",
    ("table 2", "table 11"),
    "does Bellman-Ford gain by edge information in its values?",
    (
        Row("no edge information", _PLAIN_64, paper.EDGE_INFORMATION[False]),
        Row("edge information", _EDGES_64, paper.EDGE_INFORMATION[True]),
    ),
    (Compared("edge information raises Bellman-Ford's mean", _EDGES_64, _PLAIN_64),),
    "learnt from 16 nodes, tested on 64",
)

_BFS_16 = _ablation("bfs", "ablated")
_BFS_BIAS = _ablation("bfs", "attention-bias", attention_bias=16)
TABLE_12 = ScoreTable(
    "table-12",
    ("table 12",),
    "does BFS gain by a pre-attention bias?",
    (
        Row("no bias", _BFS_16, paper.PRE_ATTENTION_BIAS[False]),
        Row("pre-attention bias", _BFS_BIAS, paper.PRE_ATTENTION_BIAS[True]),
    ),
    (Compared("the bias costs BFS less than one point", _BFS_BIAS, _BFS_16, -1.0),),
    "learnt from 16 nodes, tested on 16",
)

_FORD_16 = _ablation("bellman_ford", "ablated", (16,))
_FORD_BOTH = _ablation(
    "bellman_ford", "both-modifications", (16,), attention_bias=16, edge_information=True
)
TABLE_13 = ScoreTable(
    "table-13",
    ("table 13",),
    "does Bellman-Ford gain by edge information and pre-attention bias together?",
    (
        Row("neither", _FORD_16, paper.BOTH[False]),
        Row("both", _FORD_BOTH, paper.BOTH[True]),
    ),
    (Compared("both modifications raise Bellman-Ford's mean", _FORD_BOTH, _FORD_16),),
    "learnt from 16 nodes, tested on 16",
)

_MINIMAL = {
    task: Arm(task, "minimal", seeds=1024, chunk=512, network={"width": 4})
    for task in ("bfs", "bellman_ford")
}
_MODIFIED = {
    task: Arm(
        task,
        "minimal-modified",
        seeds=1024,
        chunk=512,
        training={"test_size": 16},
        recipe={"sizes": (16,)},
        network={"width": 4, "attention_bias": 16, "edge_information": task == "bellman_ford"},
    )
    for task in _MINIMAL
}
TABLE_15 = ScoreTable(
    "table-15",
    ("table 15",),
    "does one of 1,024 networks of width 4 find the algorithm, with and without modifications?",
    tuple(
        Row(f"{task}, {arm.variant}", arm, paper.SMALLEST[task, arm.variant != "minimal"])
        for task in ("bellman_ford", "bfs")
        for arm in (_MINIMAL[task], _MODIFIED[task])
    ),
    tuple(
        Compared(
            f"modifications raise the mean of minimal networks of {t}", _MODIFIED[t], _MINIMAL[t]
        )
        for t in ("bellman_ford", "bfs")
    ),
    "as they are tested on 64 nodes, modified on 16: a bias has one size",
)

_REGULARISED = {
    (task, weight): Arm(task, f"regularised-{weight:g}", training={"regularisation": weight})
    for task in ("bfs", "bellman_ford")
    for weight in (1e-3, 1e-4)
}
_EXTENDED = Arm("bfs", "extended", seeds=32, training={"steps": 50_000, "learning_rate": 5e-5})
TABLE_9 = ScoreTable(
    "table-9",
    ("table 9",),
    "regularisation, 50,000 steps, and networks of width 4",
    (
        *(
            Row(f"{task}, regularisation {weight:g}", arm, paper.REGULARISED[task])
            for (task, weight), arm in _REGULARISED.items()
        ),
        Row("bfs, 50,000 steps", _EXTENDED, paper.EXTENDED),
        *(Row(f"{task}, width 4", _MINIMAL[task], paper.MINIMAL[task]) for task in _MINIMAL),
    ),
    (
        Compared(
            "regularisation of 1e-4 does not cost BFS two points",
            _REGULARISED["bfs", 1e-4],
            BASELINES["bfs"],
            -2.0,
        ),
        Compared(
            "regularisation of 1e-4 costs Bellman-Ford",
            BASELINES["bellman_ford"],
            _REGULARISED["bellman_ford", 1e-4],
        ),
        Compared("50,000 steps do not cost BFS two points", _EXTENDED, BASELINES["bfs"], -2.0),
        Compared("width 4 costs BFS more than ten points", BASELINES["bfs"], _MINIMAL["bfs"], 10.0),
    ),
    "the paper does not say which weight of regularisation its numbers are of",
)

_SEQUENTIAL = Arm("bfs_sequential", seeds=32, chunk=32)
_SIMPLIFIED = Arm("dfs_simplified", seeds=32, chunk=32)
TABLE_17 = ScoreTable(
    "table-17",
    ("table 17",),
    "is it the length or the form of its trace that keeps DFS from being learnt?",
    (
        Row("bfs_sequential", _SEQUENTIAL, paper.DISPARITY["bfs_sequential"]),
        Row("dfs_simplified", _SIMPLIFIED, paper.DISPARITY["dfs_simplified"]),
    ),
    (
        Compared(
            "sequential BFS is 50 points ahead of DFS: length alone is no reason",
            _SEQUENTIAL,
            BASELINES["dfs"],
            50.0,
        ),
        Compared(
            "DFS gains less than 5 points by simpler traces", BASELINES["dfs"], _SIMPLIFIED, -5.0
        ),
    ),
)

_OTHERS: Mapping[str, Mapping[str, Any]] = {
    "four-heads": {"heads": 4},
    "gat": {"processor": "gat"},
    "mpnn": {"processor": "mpnn"},
    "triplets": {"processor": "triplet_gmpnn"},
    "simple-decoders": {"simple_decoders": True},
    "width-16": {"width": 16},
    "width-64": {"width": 64},
}
_BY_FORM = {
    (task, variant): Arm(task, variant, seeds=32, chunk=32, sizes=(16, 64), network=network)
    for task in ("bfs", "bellman_ford")
    for variant, network in _OTHERS.items()
}
ARCHITECTURES = ScoreTable(
    "architectures",
    (),
    "other forms of network: heads, processors, decoders, widths; how faithful is each?",
    tuple(Row(arm.name, arm) for arm in _BY_FORM.values()),
    tuple(
        Compared(
            f"{task} does without edges in its decoders (one point)",
            _BY_FORM[task, "simple-decoders"],
            BASELINES[task],
            -1.0,
        )
        for task in ("bfs", "bellman_ford")
    ),
    "the paper's reviewers asked for these; it has no numbers of them",
)

SCORE_TABLES = (TABLE_2, TABLE_9, TABLE_12, TABLE_13, TABLE_15, TABLE_17, ARCHITECTURES)
