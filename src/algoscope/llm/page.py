"""The page of a study: the verdict, its reasons and one picture first, then the evidence, subject
by subject; tables are folded."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from algoscope import markup
from algoscope.llm import figures, graphs, maze_reading
from algoscope.llm.flow import Flow
from algoscope.llm.observe import READOUTS, Observation
from algoscope.llm.results import tables
from algoscope.llm.study import Study
from algoscope.llm.verdict import leader
from algoscope.markup import element, escape
from algoscope.report import html, reading
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.html import Section
from algoscope.table import Table
from algoscope.verdict import APPROXIMATES, FAILS, RUNS, RUNS_UP_TO, SHORTCUT, UNDECIDED

_MAZE = "maze-data"
_NARROW_PANELS = 2
"""Beside each other on a telephone."""
_MEANINGS = {
    RUNS: "No question was found that it answers wrong, and states that are exchanged between "
    "prompts lead where the algorithm says, at each of its steps.",
    RUNS_UP_TO: "In the region that is named no answer is wrong, and states that are exchanged "
    "between prompts lead where the algorithm says; outside, answers are wrong.",
    APPROXIMATES: "States that are exchanged between prompts lead where the algorithm says; some "
    "answers are wrong, and no rule says which.",
    SHORTCUT: "Its answers are those of a heuristic, or of another problem, also where these are "
    "wrong.",
    FAILS: "Its answers are not better than chance for both truth values, so there is no "
    "mechanism to explain.",
    UNDECIDED: "It answers better than chance, and at least one condition for an algorithm is not "
    "met.",
}


def page(study: Study) -> str:
    example, results = _example(study), tables(study)

    def shown(*names: str, opened: bool = False) -> str:
        return "".join(_folded(results[name], opened) for name in names if name in results)

    show = Album().show
    with style.styled():
        flow = study.causal.flow if study.causal else None
        known = study.causal.knowledge if study.causal else None
        wave = show(_wavefront, flow) if flow and flow.place.size else ""
        steps = show(_steps, study)
        evidence = {
            "Answers": ("What it answers", shown("accuracy", opened=True), shown("heuristics")),
            "Steps": (
                "Do layers follow an algorithm?",
                steps if wave else "",
                shown("steps", opened=True),
            ),
            "Questions": ("Where is it right?", shown("questions", opened=True)),
            "Exchanges": (
                "What exchanged states lead to",
                shown("exchanges", "variables", opened=True),
            ),
            "Places": (
                "Which tokens know, and which inform which",
                show(graphs.known_by_layer, known) if known and known.known else "",
                show(graphs.places_graph, known) if known and known.shown else "",
            ),
            "Heads": (
                "What heads do, and which feeds which",
                show(graphs.heads_graph, study.heads) if study.heads and study.heads.used else "",
                shown("heads", "paths", opened=True),
            ),
            "Attention": (
                "Attention by layer",
                *(show(figures.attention_by_layer, example, readout) for readout in READOUTS),
                show(_naive, study),
                shown("attention", "observed"),
            ),
            "States": (
                "What node states hold",
                shown("similarity", "probes"),
                *(show(figures.trajectories, example, method) for method in ("pca", "tsne")),
            ),
            "Item": (
                "The item in the figures",
                element("pre", escape(example.item.prompt), tabindex="0", class_="text"),
            ),
        }
        sections = [Section("verdict", "Verdict", _verdict(study) + (wave or steps))]
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


def _folded(table: Table, opened: bool) -> str:
    """A table that can be folded; its title is all that is seen of it then."""
    heading = element("summary", escape(table.title))
    untitled = markup.table(table._replace(title=""), "sortable")
    content = html.scrolled(untitled, table.title)
    return element("details", heading, content, open="" if opened else None)


def _example(study: Study) -> Observation:
    """The deepest reachable item that is answered right, or else the deepest reachable one."""
    reachable = [o for o in study.observations if o.item.reachable]
    return max(reachable, key=lambda o: (o.right, o.item.depth))


def _steps(study: Study, width: float = style.FULL) -> Drawn:
    best = list({s.match.hypothesis: s.match for s in reversed(study.standings)}.values())[::-1]
    across = len(best) if width > style.NARROW else _NARROW_PANELS
    down = -(-len(best) // across)
    figure = style.sheet(width, (0.16 * len(best[0].by_layer) + 2) * down)
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    panels = grid.ravel()[: len(best)]
    for empty in grid.ravel()[len(best) :]:
        empty.set_visible(False)
    for axes, match in zip(panels, best, strict=True):
        image = axes.imshow(match.by_layer, aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1)
        axes.set_title(match.hypothesis, fontsize=8)
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        for step, (layer, _) in enumerate(match.alignment):
            axes.plot(step, layer, "k.", markersize=4)
        if axes is panels[-1]:
            figure.colorbar(image, ax=list(panels))
    for axes in panels[::across]:
        axes.set_ylabel("layer")
    return Drawn(
        "steps",
        figure,
        "Layers against steps: how much more they attend to a step than to its mirror image; dots "
        "are the best alignment",
        "heat maps, one a hypothesis: contrast of each layer and step",
    )


def _wavefront(flow: Flow, width: float = style.FULL) -> Drawn:
    """Which edges of the path the question's tokens have passed after each layer."""
    passed = flow.passed("question")
    values = np.array([passed[place] for place in sorted(passed)])
    figure = style.sheet(width, 0.3 * len(values) + 1.5)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis", vmin=0, vmax=1)
    axes.set_yticks(range(len(values)), [str(place) for place in sorted(passed)])
    axes.set_xlabel("states of the question exchanged after layer")
    axes.set_ylabel("edge that is crossed")
    figure.colorbar(image)
    return Drawn(
        "wavefront",
        figure,
        "How far the search has come: the share of the way to the other answer when an edge of the "
        "path, counted from the start, is crossed in the donor. A search from the start passes the "
        "first edge first, one from the goal the last",
        "heat map: effect of exchanging the question's states after each layer, by crossed edge",
    )


def _naive(study: Study, width: float = style.FULL) -> Drawn:
    figure = style.sheet(width, 3)
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
