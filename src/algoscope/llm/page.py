"""The page of a study: one HTML file without outside resources, figures as SVG."""

import io
import itertools

import numpy as np
from matplotlib.figure import Figure

from algoscope.llm.hypotheses import CANDIDATES, trace
from algoscope.llm.observe import Observation
from algoscope.llm.representation import trajectories
from algoscope.llm.results import tables
from algoscope.llm.study import Study
from algoscope.markup import escape
from algoscope.report import html
from algoscope.report.html import Section


def page(study: Study) -> str:
    shown = _telling(study)
    last = "Attention of the last token by layer, per mention, mean of heads"
    steps = "Layers against steps: how much more they attend to a step than to its mirror image"
    figures = [
        ("attention", last, _heat_map(shown)),
        ("steps", steps, _by_layer(study)),
        ("distance", "Attention and distance from the start, by layer", _naive(study)),
        ("paths", "Trajectories of node states, PCA", _paths(shown, "pca")),
        ("neighbours", "Trajectories of node states, t-SNE", _paths(shown, "tsne")),
    ]
    verdict = f"{study.subject}: {study.verdict}"
    found = [
        f"<h1>{escape(verdict)}</h1>",
        f"<p>{study.items} navigation items, seed {study.seed}. Recorded attention differs from "
        f"eager attention by at most {study.check['attention']:.1e}.</p>",
        *(html.table(table) for table in reversed(tables(study))),
    ]
    sections = [
        Section("verdict", "Verdict", "".join(found)),
        Section("item", "Item", f"<h2>One item</h2><pre>{escape(shown.item.prompt)}</pre>"),
        *(
            Section(anchor, anchor.capitalize(), html.figure(figure, escape(title)))
            for anchor, title, figure in figures
        ),
    ]
    return html.page(verdict, sections)


def _telling(study: Study) -> Observation:
    """The deepest reachable item that is answered right, or else the deepest reachable one."""
    reachable = [o for o in study.observations if o.item.reachable]
    return max(reachable, key=lambda o: (o.right, o.item.depth))


def _svg(figure: Figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    drawn = file.getvalue()[file.getvalue().index("<svg") :]
    return drawn.replace("<svg", '<svg class="plain"', 1)


def _heat_map(observation: Observation) -> str:
    item = observation.item
    steps = trace(CANDIDATES[0], item)
    when = np.where(steps.any(0), steps.argmax(0) + 1.0, np.inf)
    when[item.source] = 0
    order = np.argsort(when, kind="stable")
    values = observation.per_mention("last").mean(1)[:, order]
    figure = Figure((9, 0.22 * len(values) + 2))
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis")
    names = [
        item.names[n] + (" (goal)" if n == item.goal else " (start)" if n == item.source else "")
        for n in order
    ]
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right")
    axes.set_xlabel("nodes by distance from the start, out of reach last")
    axes.set_ylabel("layer")
    figure.colorbar(image)
    return _svg(figure)


def _by_layer(study: Study) -> str:
    best = list({s.match.hypothesis: s.match for s in reversed(study.standings)}.values())[::-1]
    figure = Figure((11, 0.16 * len(best[0].by_layer) + 2))
    axes = figure.subplots(1, len(best), squeeze=False, sharey=True)[0]
    image = None
    for axis, match in zip(axes, best, strict=True):
        image = axis.imshow(match.by_layer, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1)
        axis.set_title(match.hypothesis, fontsize=8)
        axis.set_xlabel("step")
        for step, (layer, _) in enumerate(match.alignment):
            axis.plot(step, layer, "k.", markersize=4)
    axes[0].set_ylabel("layer")
    if image is not None:
        figure.colorbar(image, ax=list(axes))
    return _svg(figure)


def _naive(study: Study) -> str:
    figure = Figure((7, 3))
    axes = figure.subplots()
    for layers, label in (
        (study.attention, "subject"),
        (study.control_attention, "random weights"),
    ):
        rho = np.array([layer.naive_rho for layer in layers])
        axes.plot(rho[:, 0], label=label)
        axes.fill_between(np.arange(len(rho)), rho[:, 1], rho[:, 2], alpha=0.2)
    axes.axhline(0, color="grey", linewidth=0.5)
    axes.set_xlabel("layer")
    axes.set_ylabel("Spearman's ρ")
    axes.legend(frameon=False)
    return _svg(figure)


def _paths(observation: Observation, method: str) -> str:
    placed = trajectories(observation, method)
    item = observation.item
    figure = Figure((7, 5))
    axes = figure.subplots()
    styles = itertools.cycle(["-", "--", ":"])
    for node in range(placed.shape[1]):
        last = node == item.nodes
        name = "last token" if last else item.names[node]
        style = "k-" if last else next(styles)
        axes.plot(*placed[:, node].T, style, marker=".", linewidth=0.8, label=name)
        axes.annotate(str(len(placed) - 1), placed[-1, node], fontsize=6)
    axes.legend(fontsize=6, ncols=2, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return _svg(figure)
