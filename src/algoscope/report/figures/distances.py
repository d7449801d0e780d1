"""How far the networks are from each other and from the algorithm, and which belong together."""

import numpy as np
import scipy.cluster.hierarchy

from algoscope.measures.across import Clusters, ward_clusters
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.findings import Distances

_MOST_WITH_NUMBERS, _MOST_WITH_NAMES = 14, 48
_HIGHEST = 6.6
"""Inches: the matrix of many is about as high as wide."""


def draw(distances: Distances, width: float = style.FULL) -> Drawn:
    between = distances.total_variation
    count = len(between)
    clusters = ward_clusters(between) if count >= 3 else None
    tree = clusters and scipy.cluster.hierarchy.dendrogram(clusters.merges, no_plot=True)
    order = [int(leaf) for leaf in tree["ivl"]] if tree else list(range(count))
    ordered = between[np.ix_(order, order)]
    names = [distances.names[index] for index in order]
    programs = set(distances.names[count - distances.references :])
    with style.styled():
        roomy = width > style.NARROW
        figure = style.sheet(width, min(_HIGHEST, 0.4 * count + 1.6) if roomy else width * 0.95)
        left, right = figure.subplots(1, 2, width_ratios=(1, 2.1 if roomy else 3))
        if tree:
            _draw_tree(left, tree, count)
            left.set_xlabel("Ward distance" if roomy else "Ward\ndistance")
        else:
            left.set_visible(False)
        # As high as the tree, so that rows stand beside their leaves.
        shades = style.shaded(ordered, style.TRAINED)
        right.imshow(shades, interpolation="none", aspect="auto")
        style.bare(right)
        if count <= _MOST_WITH_NAMES:
            right.set_yticks(range(count), names)
            right.set_xticks(range(count), names, rotation=90, va="top")
            right.tick_params(length=0, labelsize=9 if roomy else 7.5)
            for label in (*right.get_yticklabels(), *right.get_xticklabels()):
                label.set_color(style.REFERENCE if label.get_text() in programs else style.INK)
        if count <= (_MOST_WITH_NUMBERS if roomy else _MOST_WITH_NUMBERS // 2 + 1):
            for (row, column), value in np.ndenumerate(ordered):
                if row != column:
                    text = f".{round(100 * value):02d}" if value < 0.995 else "1"
                    right.text(column, row, text, ha="center", va="center", color=style.INK,
                               fontsize=8.5 if roomy else 6.5)  # fmt: skip
    return Drawn(
        "distances",
        figure,
        "Mean total variation between what any two read on the same problems: 0 the same, 1 "
        "nothing in common. Names in blue are exact programs, which differ where nothing is "
        f"decided. {_said(clusters, distances)}",
        f"A matrix of distances between {count} subjects with a tree that joins the nearest first.",
        ["one", "other", "total_variation"],
        [
            [distances.names[i], distances.names[j], f"{between[i, j]:.6g}"]
            for i in range(count)
            for j in range(i)
        ],
    )


def _draw_tree(axes, tree, count: int) -> None:
    """Leaves at the right, in the order of the matrix from top to bottom."""
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        axes.plot(heights, [(place - 5) / 10 for place in places], color=style.MUTED, linewidth=1.1)
    axes.set_ylim(count - 0.5, -0.5)
    axes.invert_xaxis()
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def _said(clusters: Clusters | None, distances: Distances) -> str:
    if clusters is None:
        return ""
    if clusters.count == 1:
        return "By silhouette there are no clusters."
    best = clusters.silhouettes[clusters.count]
    said = f"By silhouette there are {clusters.count} clusters (mean {best:.2f})."
    if not distances.references:
        return said
    trained, exact = np.split(clusters.labels, [-distances.references])
    shared = set(trained.tolist()) & set(exact.tolist())
    return f"{said} {'Some networks share' if shared else 'No network shares'} one with a program."
