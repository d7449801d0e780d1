"""The page of a study: the verdict, its reasons and one picture first, then the evidence, subject
by subject; tables are folded."""

import numpy as np

from algoscope.llm import maze_reading, mazes
from algoscope.llm.observe import Observation
from algoscope.llm.representation import trajectories
from algoscope.llm.results import tables
from algoscope.llm.study import Study
from algoscope.llm.verdict import leader
from algoscope.markup import element, escape
from algoscope.report import html, reading
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.html import Section
from algoscope.table import Table
from algoscope.verdict import FAILS, RUNS, SHORTCUT, UNDECIDED

_MAZE = "maze-data"
_MEANINGS = {
    RUNS: "It solves the task, its layers follow the algorithm's steps, and every causal test "
    "agrees.",
    SHORTCUT: "Its answers are those of a heuristic, also where the heuristic is wrong.",
    FAILS: "Its answers are not better than chance for both truth values, so there is no "
    "mechanism to explain.",
    UNDECIDED: "It answers better than chance, and at least one condition for an algorithm is not "
    "met.",
}


def page(study: Study) -> str:
    example, results = _example(study), tables(study)

    def shown(*names: str) -> str:
        return "".join(_folded(results[name]) for name in names if name in results)

    with style.styled():
        evidence = {
            "Answers": ("What it answers", shown("accuracy", "heuristics")),
            "Steps": ("Do layers follow an algorithm?", shown("steps")),
            "Causal": ("Do the aligned heads decide?", shown("causal")),
            "Attention": (
                "Attention by layer",
                _show(_attention_by_layer(example)),
                _show(_naive(study)),
                shown("attention"),
            ),
            "States": (
                "What node states hold",
                shown("similarity", "probes"),
                *(_show(_trajectories(example, method)) for method in ("pca", "tsne")),
            ),
            "Item": (
                "The item in the figures",
                element("pre", escape(example.item.prompt), tabindex="0"),
            ),
        }
        sections = [Section("verdict", "Verdict", _verdict(study) + _show(_steps(study)))]
    sections.append(Section("maze", "Maze", _maze()))
    for title, (heading, *parts) in evidence.items():
        if any(parts):
            sections.append(Section(title.lower(), title, element("h2", heading) + "".join(parts)))
    match = leader(study.standings).match
    items = [maze_reading.item_of(o, match) for o in maze_reading.shown(study.observations)]
    mark = f"what {match.hypothesis} visits in the step that this layer is aligned with"
    return html.page(
        f"{study.subject}: {study.verdict}",
        sections,
        scripts=reading.SCRIPTS,
        data={_MAZE: reading.data(items, choose=False, mark=mark)},
    )


def _maze() -> str:
    return (
        "<h2>The maze, layer by layer</h2>"
        "<p>Every layer is a step: the stronger the colour of a node, the more of its attention "
        "the token gives to the mentions of that node. Beside the part that can be reached stands "
        "its mirror image, which is mentioned as often and is as deep, but cannot be reached. "
        "Keys, once the box is chosen: <kbd>←</kbd> <kbd>→</kbd> layer, <kbd>space</kbd> plays.</p>"
        + reading.element_of(_MAZE)
    )


def _verdict(study: Study) -> str:
    reasons = [
        element("li", f"{'✓' if c.met else '✗'} {escape(c.text)}") for c in study.verdict.conditions
    ]
    return "".join(
        [
            element("h1", escape(f"{study.subject}: {study.verdict}")),
            element("p", _MEANINGS[study.verdict.word]),
            element("ul", *reasons),
            element(
                "p",
                f"{study.items} navigation items, seed {study.seed}. Recorded attention differs "
                f"from eager attention by at most {study.check['attention']:.1e}.",
            ),
        ]
    )


def _folded(table: Table) -> str:
    """A table whose title is all that is seen of it at first."""
    return element("details", element("summary", escape(table.title)), html.table(table))


def _show(drawn: Drawn) -> str:
    return html.figure(style.inline(drawn, "roomy"), drawn.caption)


def _example(study: Study) -> Observation:
    """The deepest reachable item that is answered right, or else the deepest reachable one."""
    reachable = [o for o in study.observations if o.item.reachable]
    return max(reachable, key=lambda o: (o.right, o.item.depth))


def _attention_by_layer(observation: Observation) -> Drawn:
    item = observation.item
    distance = mazes.distances(item.adjacency(), item.source)
    order = np.argsort(np.where(distance < 0, item.nodes, distance), kind="stable")
    values = observation.per_mention("last").mean(1)[:, order]
    roles = {item.goal: " (goal)", item.source: " (start)"}
    names = [item.names[node] + roles.get(int(node), "") for node in order]
    figure = style.sheet(style.FULL, 0.22 * len(values) + 2)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(order)), names, rotation=60, ha="right")
    axes.set_xlabel("nodes by distance from the start, out of reach last")
    axes.set_ylabel("layer")
    figure.colorbar(image)
    return Drawn(
        "attention",
        figure,
        "Attention of the last token by layer, per mention, mean of heads",
        "heat map: attention of the last token to each node at each layer",
    )


def _steps(study: Study) -> Drawn:
    best = list({s.match.hypothesis: s.match for s in reversed(study.standings)}.values())[::-1]
    figure = style.sheet(style.FULL, 0.16 * len(best[0].by_layer) + 2)
    panels = figure.subplots(1, len(best), squeeze=False, sharey=True)[0]
    for axes, match in zip(panels, best, strict=True):
        image = axes.imshow(match.by_layer, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1)
        axes.set_title(match.hypothesis, fontsize=8)
        axes.set_xlabel("step")
        for step, (layer, _) in enumerate(match.alignment):
            axes.plot(step, layer, "k.", markersize=4)
        if axes is panels[-1]:
            figure.colorbar(image, ax=list(panels))
    panels[0].set_ylabel("layer")
    return Drawn(
        "steps",
        figure,
        "Layers against steps: how much more they attend to a step than to its mirror image; dots "
        "are the best alignment",
        "heat maps, one a hypothesis: contrast of each layer and step",
    )


def _naive(study: Study) -> Drawn:
    figure = style.sheet(style.FULL, 3)
    axes = figure.subplots()
    for layers, label, colour in (
        (study.attention, "subject", style.TRAINED),
        (study.control_attention, "random weights", style.NULL),
    ):
        rho = np.array([layer.naive_rho for layer in layers])
        axes.plot(rho[:, 0], label=label, color=colour)
        axes.fill_between(np.arange(len(rho)), rho[:, 1], rho[:, 2], alpha=0.2, color=colour)
    axes.axhline(0, color=style.MUTED, linewidth=0.5)
    axes.set_xlabel("layer")
    axes.set_ylabel("Spearman's ρ")
    axes.legend()
    return Drawn(
        "distance",
        figure,
        "Attention and distance from the start, by layer, with 95 % intervals",
        "lines: rank correlation at each layer, of the subject and of random weights",
    )


def _trajectories(observation: Observation, method: str) -> Drawn:
    placed = trajectories(observation, method)
    names = [*observation.item.names, "last token"]
    figure = style.sheet(style.FULL, 5)
    axes = figure.subplots()
    for node, name in enumerate(names):
        dashes = "-" if name == "last token" else ("-", "--", ":")[node % 3]
        colour = style.INK if name == "last token" else None
        axes.plot(*placed[:, node].T, dashes, color=colour, marker=".", linewidth=0.8, label=name)
        axes.annotate(str(len(placed) - 1), placed[-1, node], fontsize=6)
    axes.legend(fontsize=6, ncols=2, loc="center left", bbox_to_anchor=(1, 0.5))
    title = {"pca": "PCA", "tsne": "t-SNE"}[method]
    return Drawn(
        f"trajectories-{method}",
        figure,
        f"Trajectories of node states over layers, {title}",
        "paths: two coordinates of each node's state, layer by layer",
    )
