"""The smallest problem that each network gets wrong, as a graph."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from algoscope.falsify import Counterexample
from algoscope.falsify.counterexample import Edge, edges
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.graph_layout import places
from algoscope.tasks import Batch, Kind, Stage

_AREA = 150
"""Of a node, in square points."""
_RADIUS = 7.5
"""Of a node with some room around it, in points."""
_MOST_WEIGHTS = 16
"""Of a graph with more edges, weights are not written."""


def draw(counterexamples: Mapping[str, Counterexample], width: float = style.FULL) -> Drawn:
    """A panel a network, which is named above it."""
    across = min(len(counterexamples), 4 if width > style.NARROW else 2)
    with style.styled():
        figure, panels = style.grid(len(counterexamples), width, across, 2.3)
        for axes, (name, counterexample) in zip(panels, counterexamples.items(), strict=True):
            _panel(axes, counterexample)
            axes.set_title(style.label(name, 26 if width > style.NARROW else 18), fontsize=9.5)
    return Drawn(
        "counterexamples",
        figure,
        "The smallest problem on which each network differs from the algorithm. The filled node is "
        "the source; where the network is wrong, at the first wrong step or in the answer, a node "
        "has a cross and a dashed outline. An edge without an arrow goes both ways; edges without "
        "a number have the weight 1. What algorithm and network say is in the table below.",
        "; ".join(
            f"{name}: {c.inputs}; wrong at {', '.join(map(str, c.wrong_nodes)) or 'the graph'}"
            for name, c in counterexamples.items()
        ),
        ["network", "family", "problem", "variable", "algorithm", "network says", "wrong at"],
        [
            [name, c.family, c.inputs, *row]
            for name, c in counterexamples.items()
            for row in c.comparison.rows
        ],
    )


def _panel(axes: Axes, counterexample: Counterexample) -> None:
    batch = counterexample.batch
    A = batch.inputs.get("A")
    if A is None:
        spots = np.stack([np.linspace(0, 1, batch.nodes), np.full(batch.nodes, 0.5)], -1)
        _write_numbers(axes, batch, spots)
    else:
        spots = _spots(np.asarray(A[0]))
        listed = edges(np.asarray(A[0]))
        for edge in listed:
            _draw_edge(axes, edge, spots, len(listed) <= _MOST_WEIGHTS)
    _draw_nodes(axes, batch, spots, counterexample.wrong_nodes)
    axes.set_xlim(-0.2, 1.2)
    axes.set_ylim(-0.2, 1.2)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _spots(A: np.ndarray) -> np.ndarray:
    """Places of the nodes: A [n, n] -> [n, 2]. Those without edges stand in a row below."""
    joined = (A != 0) | (A.T != 0)
    np.fill_diagonal(joined, False)
    lonely = ~joined.any(0)
    spots = np.zeros((len(A), 2))
    if not lonely.all():
        spots[~lonely] = places(A[np.ix_(~lonely, ~lonely)])
        low = 0.15 if lonely.any() else 0.0
        spots[:, 1] = low + (1 - low) * (1 - spots[:, 1])
    count = int(lonely.sum())
    spots[lonely] = np.stack([(np.arange(count) + 0.5) / max(1, count), np.full(count, -0.1)], -1)
    return spots


def _draw_nodes(axes: Axes, batch: Batch, spots: np.ndarray, wrong: list[int]) -> None:
    source = _source(batch)
    for node, (x, y) in enumerate(spots):
        is_wrong, is_source = node in wrong, node == source
        axes.scatter(
            x, y, _AREA, zorder=3,
            facecolors=style.INK if is_source else style.PAPER,
            edgecolors=style.TRAINED if is_wrong else style.INK,
            linewidths=2.0 if is_wrong else 1.0,
            linestyles="--" if is_wrong else "-",
        )  # fmt: skip
        axes.text(
            x, y, str(node), fontsize=8, ha="center", va="center_baseline", zorder=4,
            color=style.PAPER if is_source else style.INK,
        )  # fmt: skip
        if is_wrong:
            axes.annotate(
                "x", (x, y), (_RADIUS + 2, _RADIUS), textcoords="offset points", zorder=5,
                color=style.TRAINED, fontsize=10, fontweight="bold", ha="center", va="center",
            )  # fmt: skip


def _draw_edge(axes: Axes, edge: Edge, spots: np.ndarray, written: bool) -> None:
    start, end = spots[edge.sender], spots[edge.receiver]
    middle = (start + end) / 2
    if edge.sender == edge.receiver:
        above = {"xytext": (-8, 8), "textcoords": "offset points", "ha": "center", "va": "center"}
        axes.annotate("o", tuple(start), color=style.MUTED, fontsize=11, **above)
        middle = start + np.array([-0.15, 0.15])
    elif edge.both:
        axes.plot(*np.stack([start, end], -1), color=style.MUTED, linewidth=1.0, zorder=1)
    else:
        # Bent, so that an edge back with another weight is seen.
        bent = {"arrowstyle": "-|>", "color": style.MUTED, "shrinkA": _RADIUS, "shrinkB": _RADIUS}
        axes.annotate(
            "", tuple(end), tuple(start), arrowprops=bent | {"connectionstyle": "arc3,rad=0.15"}
        )
        along = end - start
        middle = middle + 0.075 * np.array([along[1], -along[0]])
    if written and edge.weight != 1:
        ground = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 0.6}
        x, y = middle
        axes.text(
            x, y, f"{edge.weight:.3g}", fontsize=7.5, ha="center", va="center", zorder=2,
            color=style.INK, bbox=ground,
        )  # fmt: skip


def _write_numbers(axes: Axes, batch: Batch, spots: np.ndarray) -> None:
    """The numbers of a problem without graph, below their nodes; a line a feature."""
    features = [
        f
        for f in batch.at(Stage.INPUT)
        if f.name in batch.task.problem and np.shape(batch.inputs[f.name][0])[:1] == (batch.nodes,)
    ]
    for line, feature in enumerate(features):
        values = np.asarray(batch.inputs[feature.name][0])
        for (x, y), value in zip(spots, values, strict=True):
            number = value.argmax() if feature.one_hot and value.ndim else value
            axes.annotate(
                f"{float(number):.3g}", (x, y), (0, -16 - 11 * line), textcoords="offset points",
                fontsize=7.5, ha="center", va="center", color=style.MUTED,
            )  # fmt: skip


def _source(batch: Batch) -> int | None:
    for feature in batch.at(Stage.INPUT):
        if feature.name == "s" and feature.kind is Kind.MASK_ONE:
            return int(np.argmax(batch.inputs["s"][0]))
    return None
