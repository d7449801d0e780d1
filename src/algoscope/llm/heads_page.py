"""What heads do, as a run folder: `primitives.json` with every number, `page.html`."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

from algoscope.llm import abilities, graphs, heads
from algoscope.llm.heads import Heads
from algoscope.llm.subjects import Subject
from algoscope.markup import element, escape
from algoscope.report import html
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.html import Section
from algoscope.runs.abilities import Abilities
from algoscope.serialise import to_json

FILE = "primitives.json"


def page(model: str, found: Heads) -> str:
    with style.styled():
        graph = Album().show(graphs.heads_graph, found) if found.used else ""
    used = sum(len(ability.used) for ability in found.abilities)
    looking = sum(len(ability.heads) for ability in found.abilities)
    words = element(
        "p",
        f"{looking} heads look as a primitive says; what {used} of them write is used. A head that "
        "looks and is not used may be idle, or do what the minimal tasks do not ask for.",
    )
    sections = [Section("heads", "Heads", element("h1", escape(f"{model}: heads")) + words + graph)]
    sections += [
        Section(name, table.columns[0], element("h2", escape(table.title)) + html.table(table))
        for name, table in heads.tables(found).items()
    ]
    return html.page(f"{model}: what heads do", sections)


def write_folder(
    found: Heads, subject: Subject, folder: pathlib.Path, config: Mapping[str, Any]
) -> None:
    """Refuses a folder that exists."""

    def fill(temporary: pathlib.Path) -> None:
        text = json.dumps(to_json(found), indent=1) + "\n"
        (temporary / FILE).write_text(text, encoding="utf-8")
        (temporary / "page.html").write_text(page(subject.name, found), encoding="utf-8")

    rows = Abilities(abilities.of_heads(subject.name, found))
    abilities.write_run(folder, subject, {**config, "model": subject.name}, rows, fill)
