"""The pictures of the case study, of one item."""

import numpy as np

from algoscope.llm import mazes, representation
from algoscope.llm.observe import Observation
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn

READERS = {"last": "the last token", "goal": "the goal in the question"}
"""What readouts are called."""


def attention_by_layer(observation: Observation, readout: str, width: float = style.FULL) -> Drawn:
    """How much of its attention a token gives to a mention of each node, layer by layer."""
    item = observation.item
    distance = mazes.distances(item.adjacency(), item.source)
    order = np.argsort(np.where(distance < 0, item.nodes, distance), kind="stable")
    values = observation.per_mention(readout).mean(1)[:, order]
    roles = {item.goal: " (goal)", item.source: " (start)"}
    names = [item.names[node] + roles.get(int(node), "") for node in order]
    figure = style.sheet(width, 0.22 * len(values) + 2)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right", rotation_mode="anchor")
    separator = "\n" if width == style.NARROW else " "
    axes.set_xlabel(f"nodes by distance from the start,{separator}out of reach last")
    axes.set_ylabel("layer")
    figure.colorbar(image)
    return Drawn(
        f"attention-{readout}",
        figure,
        f"Attention of {READERS[readout]} by layer, per mention, mean of heads",
        f"heat map: attention of {READERS[readout]} to each node at each layer",
    )


def trajectories(observation: Observation, method: str, width: float = style.FULL) -> Drawn:
    """Where the states of nodes and of the last token go, layer by layer."""
    placed = representation.trajectories(observation, method)
    names = [*observation.item.names, "last token"]
    figure = style.sheet(width, 5 if width > style.NARROW else 4)
    axes = figure.subplots()
    for node, name in enumerate(names):
        dashes = "-" if name == "last token" else ("-", "--", ":")[node % 3]
        colour = style.INK if name == "last token" else f"C{node % 10}"
        path = placed[:, node]
        axes.plot(*path.T, dashes, color=colour, marker=".", markersize=3, linewidth=0.8)
        axes.plot(*path[-1], "o", color=colour, markersize=5)
        axes.annotate(
            name, path[-1], color=colour, fontsize=9, xytext=(4, 3), textcoords="offset points"
        )
    axes.margins(0.08)
    title = {"pca": "PCA", "tsne": "t-SNE"}[method]
    return Drawn(
        f"trajectories-{method}",
        figure,
        f"Trajectories of node states over layers, {title}: a dot a layer, the large one with the "
        "name is the last",
        "paths: two coordinates of each node's state, layer by layer",
    )
