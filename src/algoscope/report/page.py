"""The report of one or several runs: the question and the verdict first, then the evidence.

A chapter is a task with all networks that were trained for it, whatever run they are of.
"""

import functools
import pathlib
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from algoscope import programs, tasks
from algoscope.files import explained, place, write_bytes
from algoscope.markup import element, escape
from algoscope.measures.verdict import THRESHOLDS
from algoscope.report import explorer, html, provenance, verdicts
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
from algoscope.report.findings import Findings, Shown, findings
from algoscope.report.html import Section
from algoscope.runs import Run, RunError


class Source(NamedTuple):
    run: Run
    found: Findings


class _Chapter(NamedTuple):
    task: str
    sources: list[Source]
    start: str
    """Of the names of its figures and anchors; empty if there is one chapter alone."""

    @property
    def several(self) -> bool:
        return len(self.sources) > 1

    def named(self, source: Source, name: str) -> str:
        """A network's name, told apart from those of other runs."""
        return f"{source.run.name}, {name}" if self.several else name

    @property
    def judgements(self) -> dict[str, dict[str, Any]]:
        return {
            self.named(source, name): judgement
            for source in self.sources
            for name, judgement in source.found.judgements.items()
        }

    @property
    def control(self) -> dict[str, Any] | None:
        return self.sources[0].found.control

    @property
    def shown(self) -> Shown:
        """What there is to look at of all runs, which were examined on the same problems."""
        first = self.sources[0].found.shown
        recordings = {}
        for source in self.sources:
            for name, recording in source.found.shown.recordings.items():
                trained = name in source.found.judgements
                recordings[self.named(source, name) if trained else name] = recording
        return Shown(first.titles, first.batch, recordings)


def report(
    runs: Sequence[Run],
    out: pathlib.Path | None = None,
    *,
    problem_seed: int = 0,
    again: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> pathlib.Path:
    """Examines the runs as far as that is not done, and writes their page, with the figures in a
    folder beside it. Returns the path of the page: report.html in the folder of a single run."""
    if not runs:
        raise RunError("report: got no run, needed at least one")
    path = out or _usual_place(runs)
    sources = [
        (task, Source(run, findings(run, task, problem_seed=problem_seed, again=again, tell=tell)))
        for run in runs
        for task in run.tasks
    ]
    names = list(dict.fromkeys(task for task, _ in sources))
    chapters = [
        _Chapter(task, [s for own, s in sources if own == task], f"{task}-" if names[1:] else "")
        for task in names
    ]
    folder = path.parent / ("figures" if out is None and len(runs) == 1 else f"{path.stem}-figures")
    tell(f"drawing into {folder}")
    text = render(chapters, folder)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode())
    return path


def _usual_place(runs: Sequence[Run]) -> pathlib.Path:
    if len(runs) == 1:
        return runs[0].path / "report.html"
    return runs[0].path.parent / f"report-{'-'.join(run.name for run in runs)}.html"


def render(chapters: Sequence[_Chapter], folder: pathlib.Path) -> str:
    """The page; its figures go into the folder, which replaces what was there."""
    drawn: list[Drawn] = []

    def show(draw: Callable[[float], Drawn], chapter: _Chapter, end: str = "") -> str:
        """The figure twice: for wide pages, which is also saved, and for a telephone."""
        full, narrow = draw(style.FULL), draw(style.NARROW)
        own = full._replace(name=f"{chapter.start}{full.name}{end}")
        drawn.append(own)
        telephone = style.inline(narrow._replace(name=own.name), "narrow")
        return html.figure(style.inline(own) + telephone, own.caption)

    def show_all(of: Sequence[Drawn], chapter: _Chapter) -> str:
        """Figures that are as they are, and scrolled on a telephone."""
        own = [one._replace(name=f"{chapter.start}{one.name}") for one in of]
        drawn.extend(own)
        return "".join(html.figure(style.inline(one, "roomy"), one.caption) for one in own)

    sections = [s for chapter in chapters for s in _sections(chapter, show, show_all)]
    data = {f"{chapter.start}explored": _explored(chapter) for chapter in chapters}
    title = "; ".join(verdicts.headline(c.task, c.judgements) for c in chapters)
    sections.append(Section("files", "", _files(folder, drawn)))

    def fill(into: pathlib.Path) -> None:
        into.mkdir()
        for of in drawn:
            style.save(of, into)

    with explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    place(folder, fill)
    return html.page(title, sections, scripts=("page.js", "explorer.js"), data=data)


def _explored(chapter: _Chapter) -> dict[str, Any]:
    words = {name: judgement["verdict"] for name, judgement in chapter.judgements.items()}
    return explorer.data(chapter.shown, words)


def _sections(
    chapter: _Chapter, show: Callable[..., str], show_all: Callable[..., str]
) -> list[Section]:
    judgements, control = chapter.judgements, chapter.control
    at = chapter.start
    sections = [Section(f"{at}verdict", "Verdict", _verdict(chapter, show))]
    if control:
        sections.append(
            Section(
                f"{at}accuracy",
                "Accuracy",
                "<h2>Right answers, and what is behind them</h2>"
                + show(lambda width: accuracy.draw(judgements, control, width), chapter),
            )
        )
    sections.append(
        Section(
            f"{at}attention",
            "Attention",
            "<h2>What they read, step by step</h2>"
            + show(lambda width: attention.draw(chapter.shown, judgements, width), chapter),
        )
    )
    sections.append(Section(f"{at}explore", "Explorer", _explorer(f"{at}explored")))
    if any(judgement["external"] for judgement in judgements.values()):
        sections.append(
            Section(
                f"{at}trace",
                "Trace",
                "<h2>Where they leave the trace</h2>"
                + show(lambda width: traces.draw(judgements, control, width), chapter),
            )
        )
    body = "".join(
        _run_heading(chapter, s)
        + show(functools.partial(distances.draw, s.found.distances), chapter, _end(chapter, s))
        for s in chapter.sources
        if s.found.distances is not None
    )
    if body:
        title = "<h2>Do the seeds find the same thing?</h2>"
        sections.append(Section(f"{at}distances", "Distances", title + body))
    if chapter.sources[0].found.program:
        sections.append(Section(f"{at}program", "Program", _program(chapter, show_all)))
    body = "".join(
        _run_heading(chapter, s)
        + show(functools.partial(landscape.draw, s.found.hills), chapter, _end(chapter, s))
        for s in chapter.sources
        if s.found.hills
    )
    if body:
        title = "<h2>The loss around the weights</h2>"
        sections.append(Section(f"{at}landscape", "Landscape", title + body))
    body = "".join(
        _run_heading(chapter, s)
        + show(functools.partial(training.draw, s.run, chapter.task), chapter, _end(chapter, s))
        + provenance.section(s.run, s.found)
        for s in chapter.sources
    )
    sections.append(Section(f"{at}made", "Made by", f"<h2>How this was made</h2>{body}"))
    return sections


def _run_heading(chapter: _Chapter, source: Source) -> str:
    return element("h3", escape(source.run.name)) if chapter.several else ""


def _end(chapter: _Chapter, source: Source) -> str:
    """Of the names of figures that are of one run."""
    return f"-{chapter.sources.index(source) + 1}" if chapter.several else ""


def _verdict(chapter: _Chapter, show: Callable[..., str]) -> str:
    judgements, control = chapter.judgements, chapter.control
    task = tasks.get(chapter.task)
    count = "this network" if len(judgements) == 1 else f"these {len(judgements)} networks"
    question = (
        f"Does {count} run {chapter.task}, or a shortcut?"
        if len(judgements) == 1
        else f"Do {count} run {chapter.task}, or a shortcut?"
    )
    program = chapter.sources[0].found.program
    named = (f"compiled {program.name}", control) if program and control else None
    parts = [
        element("p", escape(question), class_="question", title=task.summary),
        element("h1", escape(verdicts.headline(chapter.task, judgements)) + "."),
        element("p", verdicts.lead(judgements, control), class_="lead"),
        verdicts.cards(judgements, control),
    ]
    if control:
        parts.append(show(lambda width: evidence.draw(judgements, control, width), chapter))
    parts += [
        "<h2>Every network</h2>",
        verdicts.seeds_table(judgements, named),
        element(
            "details",
            element("summary", "The reasons of each verdict, and what the words mean"),
            verdicts.reasons(judgements),
            verdicts.meanings(),
            element(
                "p",
                f"{len(THRESHOLDS)} numbers are tested, each from 0 to 1, where 1 is the "
                "algorithm. Their definitions, how the thresholds were fixed, and how often the "
                "verdict errs on compiled programs of known truth are in "
                "docs/explanation/verdict.md.",
                class_="small",
            ),
        ),
    ]
    return "".join(parts)


def _explorer(data: str) -> str:
    return (
        "<h2>Look for yourself</h2>"
        "<p>Two subjects on the same problem. Arrows point to the node that reads, a ring is what "
        "it reads of itself, the stronger the more; below, the same as a matrix (row reads column) "
        "and every variable against the reference trace. Filled nodes have their mask set; what is "
        "wrong has a cross and a dashed outline. Choose a node to see its own reading. Keys, once "
        "the box is chosen: <kbd>←</kbd> <kbd>→</kbd> step, <kbd>space</kbd> plays.</p>"
        + element("div", class_="explorer", data_from=data, role="group", aria_label="explorer")
        + "<noscript><p>The explorer needs JavaScript.</p></noscript>"
    )


def _program(chapter: _Chapter, show_all: Callable[..., str]) -> str:
    program = chapter.sources[0].found.program
    if program is None:
        return ""
    certificate, checked = program.certificate, program.verification
    text = textwrap.dedent(program.text).strip()
    certified = {
        "hidden units per node": program.width,
        "parameters": f"{program.parameters:,}",
        "checked on": f"{checked['samples']} problems of {checked['nodes']} nodes",
        "traces exact at every step": verdicts.percent(checked["exact_traces"]),
        "answers exact": verdicts.percent(checked["exact_outputs"]),
        "problems too close for float32": checked["below_margin"],
        "sharpness of attention": f"{certificate['sharpness']:.3g}",
        "a choice has to be ahead by": f"{certificate['margin']:.2g}",
        "nodes at even positions": f"up to {certificate['largest_uniform_size']:,}",
        "nodes at random positions": f"up to {certificate['largest_random_size']:,}",
    }
    others = [p for p in sorted(_references(chapter.task)) if p != program.name]
    also = f" Other exact programs of the class: {', '.join(others)}." if others else ""
    return (
        "<h2>The compiled program</h2>"
        f"<p><code>{escape(program.name)}</code> is the exact program whose attention is nearest "
        f"to most of the networks.{escape(also)} This is its source, all of it; the compiler turns "
        "it into the weights below, which run through the same code as trained ones.</p>"
        + element("pre", escape(text), tabindex="0")
        + "<h3>Certificate</h3>"
        + html.facts(certified)
        + "<h3>Weights</h3>"
        + show_all(weights.draw(program.name), chapter)
    )


def _references(task: str) -> list[str]:
    return [program.name for program in programs.of_task(task, programs.Role.REFERENCE)]


def _files(folder: pathlib.Path, drawn: Sequence[Drawn]) -> str:
    names = ", ".join(of.name for of in drawn)
    return (
        "<footer><p>Every figure is in "
        f"<code>{escape(folder.name)}/</code> beside this page, as SVG, PDF and PNG, with its "
        f"numbers as CSV: {escape(names)}.</p></footer>"
    )
