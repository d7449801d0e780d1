"""A description as tables, as a page and as a folder."""

import json
import pathlib
from typing import Any

from algoscope import files
from algoscope.llm import figures
from algoscope.llm.description import Description
from algoscope.llm.observe import READOUTS
from algoscope.llm.results import observed_table, written
from algoscope.markup import element, escape
from algoscope.report import html
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.html import Section
from algoscope.serialise import to_json
from algoscope.table import Table

_SHOWN = 3
"""Prompts that are drawn."""


def tables(described: Description) -> dict[str, Table]:
    return {
        "answers": Table(
            f"{described.subject}: what it answers",
            ["prompt", "right", "likeliest token", "log P(Yes) - log P(No)"],
            [
                [_asked(o.item.prompt), o.item.answer, o.written, f"{o.log_odds:.2f}"]
                for o in described.observations
            ],
        ),
        "order": Table(
            "do layers attend to nodes in the order of an algorithm? (Spearman's ρ)",
            ["hypothesis", "token", "subject", "random weights", "p in random order"],
            [
                [o.hypothesis, o.readout, written(o.subject), written(o.control), f"{o.p:.2g}"]
                for o in described.orders
            ],
        ),
        "observed": observed_table(described.observed, described.control_observed),
        "layers": Table(
            "cosine of a node's state and its next",
            ["layers", "subject", "random weights"],
            [
                [f"{layer} to {layer + 1}", written(mine), written(theirs)]
                for layer, (mine, theirs) in enumerate(
                    zip(described.layer_similarity, described.control_layer_similarity, strict=True)
                )
            ],
        ),
    }


def _asked(prompt: str) -> str:
    return prompt if len(prompt) < 60 else "… " + prompt[-58:]


def description_json(described: Description) -> dict[str, Any]:
    parts = {
        name: to_json(getattr(described, name))
        for name in vars(described)
        if name != "observations"
    }
    parts["answers"] = [
        {"prompt": o.item.prompt, "answer": o.item.answer, "written": o.written}
        | {"log_odds": o.log_odds}
        for o in described.observations
    ]
    return parts


def page(described: Description) -> str:
    title = f"{described.subject}: a description, no verdict"
    head = [
        element("h1", escape(title)),
        element("h2", "What could not be judged, and why"),
        element("ul", *(element("li", escape(line)) for line in described.unjudged)),
        element(
            "p",
            f"{described.items} prompts, seed {described.seed}. Recorded attention differs from "
            f"eager attention by at most {described.check['attention']:.1e}.",
        ),
    ]
    shown = tables(described)
    sections = [
        Section("described", "Description", "".join(head)),
        *(
            Section(name, name.capitalize(), element("h2", escape(t.title)) + html.table(t))
            for name, t in shown.items()
        ),
    ]
    with style.styled():
        for number, o in enumerate(described.observations[:_SHOWN], 1):
            show = Album(f"prompt-{number}-").show
            drawn = [show(figures.attention_by_layer, o, readout) for readout in READOUTS]
            drawn += [show(figures.trajectories, o, method) for method in ("pca", "tsne")]
            pictures = "".join(drawn)
            prompt = element("pre", escape(o.item.prompt), tabindex="0", class_="text")
            heading = element("h2", f"Prompt {number}")
            sections.append(
                Section(f"prompt-{number}", f"Prompt {number}", heading + prompt + pictures)
            )
    return html.page(title, sections)


def write_folder(described: Description, folder: pathlib.Path) -> None:
    """description.json and page.html; refuses a folder that exists."""
    made = page(described)

    def fill(temporary: pathlib.Path) -> None:
        text = json.dumps(description_json(described), indent=1) + "\n"
        (temporary / "description.json").write_text(text, encoding="utf-8")
        (temporary / "page.html").write_text(made, encoding="utf-8")

    files.place_new(folder, fill)
