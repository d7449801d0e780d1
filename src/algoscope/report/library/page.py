"""The page of the library: algorithm by algorithm, every program that there is for it."""

import inspect
import pathlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from algoscope import programs, progress, tasks
from algoscope.files import make_room, write_bytes
from algoscope.markup import element, escape
from algoscope.programs.language import GraphProgram, Role
from algoscope.report import html
from algoscope.report.html import Section
from algoscope.report.library import examples, measurements, source
from algoscope.report.library.examples import Example
from algoscope.report.library.measurements import Measured
from algoscope.report.library.weight_strips import Strip
from algoscope.table import Table
from algoscope.tasks import Feature, Kind, Location, Task
from algoscope.tasks.compilation import in_python

ROLES = {
    Role.REFERENCE: "the algorithm, exactly: what networks are compared with",
    Role.STATE: "the algorithm, exactly, but another state is kept from step to step",
    Role.VARIANT: "the algorithm, exactly, in an unusual form",
    Role.WRONG: "another algorithm, which is often right: a control",
}
"""In the order in which they are shown."""
_GROUPS = {
    "graph": "Graphs",
    "plane": "Points in the plane",
    "cells": "Strings",
    "intervals": "Sequences",
    "bars": "Sequences",
}
"""What the drawing of a problem says about its task."""
_KINDS = {
    Kind.SCALAR: "a number",
    Kind.MASK: "yes or no",
    Kind.POINTER: "a node",
    Kind.PERMUTATION: "the node before it in one line",
    Kind.CYCLE: "the node before it in one cycle",
}
_LOCATIONS = {Location.NODE: "of each node", Location.EDGE: "of each pair", Location.GRAPH: ""}
_ROOMIEST, _STRIP = 7, 860
"""Pixels of a weight at most, and of a strip where that lets a weight have one."""
_DATA = "library-data"


class Entry(NamedTuple):
    """A program with all that the page says about it."""

    program: GraphProgram
    measured: Measured
    example: Example


def write_library(names: Sequence[str], path: pathlib.Path) -> pathlib.Path:
    """Measures the programs of these names and writes the page: one file, without requests."""
    make_room(path)
    entries = []
    with progress.job("programs", len(names)) as job:
        for name in names:
            job.reach(len(entries), name)
            program = programs.get(name)
            measured = measurements.measure(program)
            entries.append(Entry(program, measured, examples.example(program)))
    write_bytes(path, render(entries).encode())
    return path


def render(entries: Sequence[Entry]) -> str:
    by_task = _by_task(entries)
    data = {
        "programs": {e.program.name: examples.run_data(e.program, e.example) for e in entries},
        "problems": {e.program.name: examples.problem_data(e.example.batch) for e in entries},
    }
    groups = {
        task: _GROUPS[data["problems"][first.program.name]["scene"]["kind"]]
        for task, (first, *_) in by_task.items()
    }
    return html.page(
        f"{len(by_task)} algorithms as weights",
        [
            Section("top", "Algorithms", _opening(by_task, groups)),
            Section("sizes", "Sizes", _sizes(by_task)),
            *(Section(task.name, "", _task(task, own)) for task, own in by_task.items()),
            Section("reading", "How to read this page", _reading()),
        ],
        styles=("page.css", "library.css"),
        scripts=("page.js", "library.js"),
        data={_DATA: data},
    )


def _by_task(entries: Sequence[Entry]) -> dict[Task, list[Entry]]:
    """Tasks by name; of each, references first, and among those the one of the task's name."""
    rank = {role: number for number, role in enumerate(ROLES)}

    def place(entry: Entry) -> tuple:
        program = entry.program
        named_so = program.name == program.task.name
        return program.task.name, rank[program.role], not named_so, program.name

    by_task: dict[Task, list[Entry]] = {}
    for entry in sorted(entries, key=place):
        by_task.setdefault(entry.program.task, []).append(entry)
    return by_task


def _opening(by_task: Mapping[Task, Sequence[Entry]], groups: Mapping[Task, str]) -> str:
    entries = [entry for own in by_task.values() for entry in own]
    wrong = sum(entry.program.role is Role.WRONG for entry in entries)
    sizes = [own[0].measured.parameters for own in by_task.values()]
    cards = {
        "algorithms": str(len(by_task)),
        "exact programs": str(len(entries) - wrong),
        "wrong ones, as controls": str(wrong),
        "weights of a network": f"{min(sizes):,} <small>to {max(sizes):,}</small>",
    }
    tiles = []
    for group in dict.fromkeys(_GROUPS.values()):
        own = [task for task in by_task if groups[task] == group]
        if own:
            tiles.append(element("h2", group, class_="group"))
            tiles.append(element("div", *(_tile(t, by_task[t]) for t in own), class_="tiles"))
    return (
        element("h1", "Algorithms as weights")
        + '<p class="lead">Every text on this page is a program for the nodes of a graph, and '
        "every program is compiled, not trained, into the weights of an ordinary graph attention "
        "network. Watch each one run, see whom its nodes read, and look at the weights that do "
        "it.</p>" + html.cards(cards) + element("nav", *tiles, aria_label="algorithms")
    )


def _tile(task: Task, entries: Sequence[Entry]) -> str:
    first = entries[0]
    programs_ = f"{len(entries)} programs" if len(entries) > 1 else "1 program"
    return element(
        "a",
        element("span", class_="preview", data_program=first.program.name),
        element("strong", escape(task.name)),
        element("small", f"{first.measured.parameters:,} weights · {programs_}"),
        href=f"#{task.name}",
        class_="tile",
    )


def _sizes(by_task: Mapping[Task, Sequence[Entry]]) -> str:
    rows = []
    for task, (first, *_) in by_task.items():
        measured = first.measured
        rows.append(
            [
                task.name,
                str(measured.width),
                str(measured.heads),
                str(measured.rounds),
                f"{measured.parameters:,}",
                f"{measured.used:,}",
                f"{measured.certificate.largest_uniform_size:,}",
            ]
        )
    columns = [
        "algorithm",
        "width",
        "heads",
        "rounds a step",
        "weights",
        "not zero",
        "largest size",
    ]
    return (
        "<h2>Sizes</h2><p>Of the first reference of each algorithm, as narrow as it can be. The "
        "largest size is the number of nodes at even positions up to which the certificate "
        "holds.</p>" + html.table(Table("", columns, rows)) + _without_programs()
    )


def _without_programs() -> str:
    known = programs.tasks_with_references()
    names = [element("code", name) for name in tasks.names() if name not in known]
    return element(
        "p",
        f"Without a program: {', '.join(names)}. They show numbers of pairs of nodes that are "
        "updated over a third; an edge of a graph attention network shows a sum over its two ends "
        "and what it was given, which is too little (docs/explanation/exactness.md has the "
        "measurement). With triplets there are two: of Floyd and Warshall's algorithm, "
        "examples/floyd_warshall.program, and of the longest common subsequence, "
        "examples/lcs_length.py.",
    )


def _task(task: Task, entries: Sequence[Entry]) -> str:
    first, *others = entries
    return (
        element("h2", element("code", escape(task.name)), class_="algorithm")
        + element("p", escape(task.summary), class_="lead")
        + _entry(first)
        + _reference(task, first.program)
        + "".join(
            element("details", element("summary", _summary(entry)), _entry(entry), class_="program")
            for entry in others
        )
        + '<p class="up"><a href="#top">↑ all algorithms</a></p>'
    )


def _badge(role: Role) -> str:
    return element("span", str(role), class_=f"role {role}", title=ROLES[role])


def _summary(entry: Entry) -> str:
    program, measured = entry.program, entry.measured
    return (
        _badge(program.role)
        + element("code", escape(program.name))
        + element("small", f"{measured.parameters:,} weights")
    )


def _entry(entry: Entry) -> str:
    program, measured = entry.program, entry.measured
    text = source.parts(program)
    names = frozenset(variable.name for variable in program.variables)
    title = element("h3", element("code", escape(program.name)), _badge(program.role))
    listing = element("pre", source.coloured(text.body, names), class_="code", tabindex="0")
    stepper = element("div", class_="stepper", data_program=program.name)
    return element(
        "article",
        title,
        element("p", _prose(text.description)),
        _about_example(entry),
        element(
            "div",
            element("div", listing, _certificate(entry), class_="left"),
            stepper,
            class_="pair",
        ),
        _weights(measured),
    )


def _prose(text: str) -> str:
    """HTML of sentences, with what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _about_example(entry: Entry) -> str:
    if not entry.example.differs:
        return ""
    sign = element("span", "✗", class_="cross")
    return element("p", sign, " Here it does something else than the algorithm.", class_="differs")


def _weights(measured: Measured) -> str:
    cell = max(1, min(_ROOMIEST, _STRIP // max(strip.columns for strip in measured.strips)))
    return element("div", *(_strip(strip, cell) for strip in measured.strips), class_="weights")


def _strip(strip: Strip, cell: int) -> str:
    matrices = ", ".join(strip.matrices)
    picture = (
        f'<img src="{strip.address}" width="{strip.columns * cell}" height="{strip.rows * cell}" '
        f'alt="weights of {escape(strip.title)}: {escape(matrices)}" loading="lazy">'
    )
    caption = element("figcaption", escape(strip.title), title=matrices)
    return element("figure", picture, caption)


def _certificate(entry: Entry) -> str:
    measured, certificate = entry.measured, entry.measured.certificate
    nodes = max(measurements.NODES, entry.program.task.smallest)
    on = f"of {measurements.PROBLEMS} problems of {nodes} nodes"
    size = html.facts(
        {
            "width": measured.width,
            "heads": measured.heads,
            "rounds a step": measured.rounds,
            "weights": f"{measured.parameters:,}, {measured.used:,} of them not zero",
            "reads": "any node" if entry.program.fully_connected else "neighbours and itself",
        }
    )
    certified = html.facts(
        {
            "margin of scores": f"{certificate.margin:.2g}",
            "distance of positions": f"{certificate.position_gap:.2g}",
            "largest size": f"{certificate.largest_uniform_size:,} nodes at even positions, "
            f"{certificate.largest_random_size:,} at random ones",
            "running error": f"certain to change nothing on {measured.certain} of "
            f"{measurements.CERTIFIED_PROBLEMS} problems of {nodes} nodes",
            "every step right": f"{measured.exact_traces:.0%} {on}",
            "answer right": f"{measured.right_answers:.0%} {on}",
        }
    )
    return element(
        "div",
        "<h4>Size</h4>",
        size,
        "<h4>Certificate in float32</h4>",
        certified,
        class_="measured",
    )


def _reference(task: Task, program: GraphProgram) -> str:
    """The algorithm's own text, and its variables beside those of the program."""
    try:
        text = textwrap.dedent(inspect.getsource(in_python(task.algorithm)))
    except (OSError, TypeError):
        text = ""
    if text:
        lines = [line for line in text.splitlines() if not line.startswith("@")]
        text = element("pre", source.coloured("\n".join(lines)), class_="code", tabindex="0")
    shown_as = source.shown_as(program)
    rows = [
        element(
            "tr",
            element("td", element("code", escape(f.name))),
            element("td", str(f.stage)),
            element("td", escape(f.meaning), element("small", _form(f))),
            element("td", element("code", source.coloured(shown_as.get(f.name, "")))),
        )
        for f in task.features
    ]
    heads = (
        element("th", title, scope="col")
        for title in ("variable", "stage", "meaning", f"in {program.name}")
    )
    table = html.table_of_elements(heads, rows, f"variables of {task.name}")
    return element(
        "details",
        element("summary", "The reference algorithm, and its variables in the program's words"),
        element("div", text, table, class_="pair"),
        class_="reference",
    )


def _form(feature: Feature) -> str:
    if feature.kind is Kind.MASK_ONE:
        return "one node of all"
    kind = _KINDS.get(feature.kind, f"one of {feature.classes} classes")
    return f"{kind} {_LOCATIONS[feature.location]}".strip()


def _reading() -> str:
    roles = html.facts({str(role): meaning for role, meaning in ROLES.items()})
    return (
        "<h2>How to read this page</h2>"
        + roles
        + "<p>A step of the algorithm is one step of the network, in one round of message passing "
        "or several. In each round every node selects one node a head, reads it, and changes its "
        "variables; dashed arrows lead from the node that is read to the node that reads. The "
        "table below a picture has what was given, the algorithm's variables (hints), and what "
        "the program itself keeps; what a step changed is marked, and what differs from the "
        "reference algorithm is crossed.</p>"
        "<p>In the pictures of weights each pixel is one weight, "
        '<span class="positive">blue</span> if positive, <span class="negative">orange</span> if '
        "negative, the stronger the larger on the logarithmic scale of its matrix. A strip holds "
        "the matrices of one part of the network, side by side, without rows and columns of "
        "zeros.</p>"
        "<p>The certificate is computed, not measured: if scores are apart by the margin and "
        "positions by the distance, no rounding of float32 changes a decision. Running error "
        "analysis says the same of single problems, where it bounds the error of every value on "
        "the way.</p>"
    )
