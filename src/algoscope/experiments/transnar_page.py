"""The page of a study of TransNAR: verdict, scores, what each row has learnt, what is read.

STUDY/report.html       the page
STUDY/figures/          each figure as SVG, PDF and PNG, with its numbers as CSV
"""

import pathlib
from collections.abc import Callable
from typing import Any

from algoscope import progress
from algoscope.experiments import transnar_figures as figures
from algoscope.experiments import transnar_tables as tables
from algoscope.experiments.experiment import understood
from algoscope.experiments.transnar_scores import result_of
from algoscope.files import make_room, place, read_json, write_bytes
from algoscope.markup import element, escape
from algoscope.report import html
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.html import Section
from algoscope.table import Table

RESULTS = "results.json"


def is_study(path: pathlib.Path) -> bool:
    """Whether a folder holds what a study wrote."""
    return (path / RESULTS).is_file() and not (path / "run.json").exists()


def report(
    folder: pathlib.Path,
    out: pathlib.Path | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> pathlib.Path:
    """Writes the page of what a study has come to so far; returns its path."""
    results = read_json(folder / RESULTS, dict)
    path = out or folder / "report.html"
    beside = folder / "figures" if out is None else path.with_name(f"{path.stem}-figures")
    make_room(path)
    report(f"drawing into {beside}")
    with progress.job("drawing"), understood(folder / RESULTS):
        album = Album()
        text = page(results, folder.name, album)

        def fill(into: pathlib.Path) -> None:
            into.mkdir()
            for drawn in album.drawn:
                style.save(drawn, into)

        place(beside, fill)
        write_bytes(path, text.encode())
    return path


def page(results: dict[str, Any], name: str, album: Album) -> str:
    verdict = tables.verdict_of(results)
    headline = f"The hybrid: {verdict}"
    sections = [
        Section("verdict", "Verdict", _verdict(results, headline)),
        Section("scores", "Scores", _scores(results, album)),
        Section("learnt", "Learnt", _learnt(results)),
    ]
    if results["mechanism"]:
        sections.append(Section("reading", "Reading", _reading(results)))
    sections.append(Section("made", "Made by", _made(results)))
    return html.page(f"{name}: {headline}", sections)


def _verdict(results: dict[str, Any], headline: str) -> str:
    claims = result_of(results).claims
    state = "complete" if results["complete"] else "not complete: what is missing is not shown"
    return (
        element("p", "Does a Transformer that reads a reasoner answer with what that computed?",
                class_="question")
        + element("h1", escape(headline) + ".")
        + element("p", escape(f"The study is {state}."), class_="lead")
        + html.table(tables.verdict_of(results).table, sortable=False)
        + element("ul", *(element("li", escape(str(claim))) for claim in claims))
    )  # fmt: skip


def _scores(results: dict[str, Any], album: Album) -> str:
    by_task = "".join(
        album.show(
            lambda data, width, field=field: figures.by_algorithm(data, field, width), results
        )
        for field in figures.NAMES
    )
    return (
        "<h2>Scores by row and size</h2>"
        + html.table(tables.table(results))
        + album.show(figures.by_size, results)
        + "<h2>By class and by algorithm</h2>"
        + html.table(tables.class_table(results))
        + by_task
        + _folded(tables.task_table(results))
        + "".join(map(_folded, tables.answer_tables(results)))
    )


def _learnt(results: dict[str, Any]) -> str:
    parts = ["<h2>What towers have learnt</h2>"]
    if tables.learnt_tasks(results):
        parts.append(html.table(tables.learnt_table(results)))
    if results.get("held_out"):
        parts.append(html.table(tables.held_out_table(results)))
    if any(results["curves"].values()):
        parts.append(_folded(tables.curve_table(results)))
    if results.get("canonical"):
        parts += ["<h2>The reasoner</h2>", html.table(tables.canonical_table(results))]
    return "".join(parts)


def _reading(results: dict[str, Any]) -> str:
    mechanism = results["mechanism"]
    gates = ", ".join(f"{gate:.2f}" for gate in mechanism["gates"])
    parts = [
        "<h2>What the hybrid reads</h2>",
        element(
            "p",
            f"Gates are open, layer by layer, by {gates}. What each token of one answer reads is "
            "on the page of <code>algoscope transnar ask PROMPT --model STUDY/hybrid-0 --html "
            "answer.html</code>.",
        ),
        html.table(tables.ablation_table(results)),
    ]
    if "exchange" in mechanism:
        parts.append(html.table(tables.exchange_table(results)))
    return "".join(parts)


def _made(results: dict[str, Any]) -> str:
    tower, environment = results["config"]["tower"], results["environment"]
    return "<h2>Made by</h2>" + html.facts(
        {
            "command": "algoscope reproduce transnar-scores",
            "tasks": len(tower["tasks"]),
            "steps": f"{tower['steps']:,} of {tower['batch']} problems",
            "learning rate": f"{tower['learning_rate']:g}",
            "problems learnt from": f"{tower['samples']:,} of each task and size",
            "test problems": f"{results['problems']['test']} of each task and size",
            "seeds": ", ".join(map(str, results["seeds"])),
            "device": environment.get("device"),
            "commit": environment.get("commit"),
        }
    )


def _folded(content: Table) -> str:
    """A table whose title is all that is seen of it at first."""
    return element("details", element("summary", escape(content.title)), html.table(content))
