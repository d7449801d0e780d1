"""The sections of a chapter of the report, in their order: `SECTIONS`.

A new one is a function from a chapter and a drawing board to HTML, and a line in `SECTIONS`.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from algoscope import programs, tasks
from algoscope.markup import element, escape
from algoscope.report import html, provenance, verdicts
from algoscope.report.chapter import Chapter, Source
from algoscope.report.figures import (
    accuracy,
    attention,
    distances,
    evidence,
    landscape,
    style,
    traces,
    training,
    weights,
)
from algoscope.report.figures.style import Drawn
from algoscope.report.html import Section


class Board:
    """Draws the figures of a chapter for the page, and keeps them to be saved."""

    def __init__(self, chapter: Chapter) -> None:
        self.chapter = chapter
        self.drawn: list[Drawn] = []

    def show(self, draw: Callable[..., Drawn], *data: object, end: str = "") -> str:
        """The figure of the data twice: for wide pages, which is also saved, and for a
        telephone."""
        full, narrow = draw(*data, width=style.FULL), draw(*data, width=style.NARROW)
        full = full._replace(name=f"{self.chapter.start}{full.name}{end}")
        self.drawn.append(full)
        telephone = style.inline(narrow._replace(name=full.name), "narrow")
        return html.figure(style.inline(full) + telephone, full.caption)

    def show_run(self, source: Source, draw: Callable[..., Drawn], *data: object) -> str:
        """A figure of one run, under the run's name where there are several."""
        if not self.chapter.several:
            return self.show(draw, *data)
        heading = element("h3", escape(source.run.name))
        return heading + self.show(draw, *data, end=f"-{self.chapter.sources.index(source) + 1}")

    def show_wide(self, figures: Sequence[Drawn]) -> str:
        """Figures that have one form, and are scrolled on a telephone."""
        named = [f._replace(name=f"{self.chapter.start}{f.name}") for f in figures]
        self.drawn.extend(named)
        return "".join(html.figure(style.inline(f, "roomy"), f.caption) for f in named)


class _Part(NamedTuple):
    anchor: str
    title: str
    """In the bar at the top of the page."""
    heading: str
    body: Callable[[Chapter, Board], str]
    """HTML; empty where there is nothing to show."""


def sections(chapter: Chapter, board: Board) -> list[Section]:
    made = [(part, part.body(chapter, board)) for part in SECTIONS]
    return [
        Section(
            f"{chapter.start}{part.anchor}",
            part.title,
            (element("h2", part.heading) if part.heading else "") + body,
        )
        for part, body in made
        if body
    ]


def _verdict(chapter: Chapter, board: Board) -> str:
    judgements, control = chapter.judgements, chapter.control
    count = len(judgements)
    who = "Does this network" if count == 1 else f"Do these {count} networks"
    question = f"{who} run {chapter.task}, or a shortcut?"
    figure = board.show(evidence.draw, judgements, control) if control else ""
    return "".join(
        [
            element(
                "p", escape(question), class_="question", title=tasks.get(chapter.task).summary
            ),
            element("h1", escape(verdicts.headline(chapter.task, judgements)) + "."),
            element("p", verdicts.lead(judgements, control), class_="lead"),
            verdicts.cards(judgements, control),
            figure,
            "<h2>Every network</h2>",
            verdicts.seeds_table(chapter.subjects, control),
            element(
                "details",
                element("summary", "The reasons of each verdict, and what words and numbers mean"),
                verdicts.reasons(judgements),
                verdicts.meanings(),
                '<p class="small">How the thresholds were fixed, and how often the verdict errs on '
                "compiled programs of known truth, is in docs/explanation/verdict.md.</p>",
            ),
        ]
    )


def _accuracy(chapter: Chapter, board: Board) -> str:
    if chapter.control is None:
        return ""
    return board.show(accuracy.draw, chapter.judgements, chapter.control)


def _attention(chapter: Chapter, board: Board) -> str:
    judgements = chapter.judgements
    scores = {name: j.evidence.accuracy["large"] for name, j in judgements.items()}
    return board.show(attention.draw, chapter.shown, scores, chapter.words)


def _explorer(chapter: Chapter, board: Board) -> str:
    del board
    data = explorer_data_id(chapter)
    return (
        "<p>Two subjects on the same problem. Arrows point to the node that reads, a ring is what "
        "it reads of itself, the stronger the more; below, the same as a matrix (row reads column) "
        "and every variable against the reference trace. Filled nodes have their mask set; what is "
        "wrong has a cross and a dashed outline. Choose a node to see its own reading. Keys, once "
        "the box is chosen: <kbd>←</kbd> <kbd>→</kbd> step, <kbd>space</kbd> plays.</p>"
        + element("div", class_="explorer", data_from=data, role="group", aria_label="explorer")
        + "<noscript><p>The explorer needs JavaScript.</p></noscript>"
    )


def explorer_data_id(chapter: Chapter) -> str:
    """Of the element that holds the explorer's data."""
    return f"{chapter.start}explored"


def _trace(chapter: Chapter, board: Board) -> str:
    if not any(judgement.evidence.external for judgement in chapter.judgements.values()):
        return ""
    return board.show(traces.draw, chapter.judgements, chapter.control)


def _distances(chapter: Chapter, board: Board) -> str:
    return "".join(
        board.show_run(s, distances.draw, s.findings.distances)
        for s in chapter.sources
        if s.findings.distances is not None
    )


def _program(chapter: Chapter, board: Board) -> str:
    program = chapter.first.program
    if program is None:
        return ""
    verification = program.verification
    certificate = verification.certificate
    certified = {
        "hidden units per node": program.width,
        "parameters": f"{program.parameters:,}",
        "checked on": f"{verification.samples} problems of {verification.nodes} nodes",
        "traces exact at every step": verdicts.percent(verification.network.exact_traces),
        "answers exact": verdicts.percent(verification.network.exact_outputs),
        "problems too close for float32": verification.below_margin,
        "sharpness of attention": f"{certificate.sharpness:.3g}",
        "a choice has to be ahead by": f"{certificate.margin:.2g}",
        "nodes at even positions": f"up to {certificate.largest_uniform_size:,}",
        "nodes at random positions": f"up to {certificate.largest_random_size:,}",
    }
    references = sorted(p.name for p in programs.of_task(chapter.task, programs.Role.REFERENCE))
    others = ", ".join(name for name in references if name != program.name)
    also = f" Other exact programs of the class: {others}." if others else ""
    return (
        f"<p><code>{escape(program.name)}</code> is the exact program whose attention is nearest "
        f"to most of the networks.{escape(also)} This is its source, all of it; the compiler turns "
        "it into the weights below, which run through the same code as trained ones.</p>"
        + element("pre", escape(textwrap.dedent(program.text).strip()), tabindex="0")
        + "<h3>Certificate</h3>"
        + html.facts(certified)
        + "<h3>Weights</h3>"
        + board.show_wide(weights.draw(program.name))
    )


def _landscape(chapter: Chapter, board: Board) -> str:
    return "".join(
        board.show_run(s, landscape.draw, s.findings.landscapes)
        for s in chapter.sources
        if s.findings.landscapes
    )


def _provenance(chapter: Chapter, board: Board) -> str:
    return "".join(
        board.show_run(s, training.draw, s.run, chapter.task)
        + provenance.section(s.run, s.findings)
        for s in chapter.sources
    )


SECTIONS = (
    _Part("verdict", "Verdict", "", _verdict),
    _Part("accuracy", "Accuracy", "Right answers, and what is behind them", _accuracy),
    _Part("attention", "Attention", "What they read, step by step", _attention),
    _Part("explore", "Explorer", "Look for yourself", _explorer),
    _Part("trace", "Trace", "Where they leave the trace", _trace),
    _Part("distances", "Distances", "Do the seeds find the same thing?", _distances),
    _Part("program", "Program", "The compiled program", _program),
    _Part("landscape", "Landscape", "The loss around the weights", _landscape),
    _Part("made", "Made by", "How this was made", _provenance),
)
