"""A study as a folder: `study.json` with every number, `recordings.safetensors`, `page.html`."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope import files, statistics
from algoscope.llm.attention import Layer
from algoscope.llm.observe import READOUTS
from algoscope.llm.study import Study
from algoscope.serialise import to_json
from algoscope.table import Table


def study_json(study: Study) -> dict[str, Any]:
    parts = {name: to_json(getattr(study, name)) for name in vars(study) if name != "observations"}
    parts["verdict"] |= {"text": str(study.verdict)}
    parts["answers"] = [
        {
            "prompt": o.item.prompt,
            "pair": o.item.pair,
            "depth": o.item.depth,
            "reachable": o.item.reachable,
            "log_odds": o.log_odds,
            "written": o.written,
        }
        for o in study.observations
    ]
    return parts


def write_folder(study: Study, folder: pathlib.Path, page: str) -> None:
    """Refuses a folder that exists."""

    def fill(temporary: pathlib.Path) -> None:
        text = json.dumps(study_json(study), indent=1) + "\n"
        (temporary / "study.json").write_text(text, encoding="utf-8")
        (temporary / "page.html").write_text(page, encoding="utf-8")
        files.write_arrays(temporary / "recordings.safetensors", _arrays(study))

    files.place_new(folder, fill)


def _arrays(study: Study) -> dict[str, np.ndarray]:
    """attention.last, attention.goal and mentions of every item, by the item's number."""
    arrays = {}
    for number, o in enumerate(study.observations):
        for readout in READOUTS:
            arrays[f"{number}.attention.{readout}"] = o.attention(readout).astype(np.float32)
        arrays[f"{number}.mentions"] = o.places.mentions.astype(np.int64)
    return arrays


def tables(study: Study) -> dict[str, Table]:
    """What the command line prints and the page shows, by subject."""
    shown = {
        "accuracy": _accuracy(study),
        "heuristics": _heuristics(study),
        "steps": _steps(study),
        "attention": _attention(study),
    }
    if study.similarities:
        shown["similarity"] = _similarities(study)
    if study.probes:
        shown["probes"] = _probes(study)
    if study.effects is not None:
        shown["causal"] = _causal(study)
    shown["verdict"] = Table(
        f"verdict: {study.verdict}",
        ["", "condition"],
        [["yes" if c.met else "no", c.text] for c in study.verdict.conditions],
    )
    return shown


def _accuracy(study: Study) -> Table:
    cells = {(c.depth, c.reachable): c for c in study.behaviour.cells}
    rows = []
    for depth in dict.fromkeys(c.depth for c in study.behaviour.cells):
        by_truth = [cells[depth, reachable] for reachable in (True, False)]
        label = "all" if depth is None else str(depth)
        rows.append([label, *(f"{cell.accuracy}, n = {cell.count}" for cell in by_truth)])
    written = ", ".join(f"{text} {count}" for text, count in study.behaviour.written.items())
    return Table(
        f"{study.subject}: accuracy on {study.items} items (written: {written})",
        ["depth", "reachable", "unreachable"],
        rows,
    )


def _heuristics(study: Study) -> Table:
    return Table(
        "answers against heuristics",
        ["heuristic", "same answer", "where it is wrong", "corrected p"],
        [
            [a.heuristic, str(a.agreement), str(a.against_truth), f"{a.p:.2g}"]
            for a in study.behaviour.agreements
        ],
    )


def _steps(study: Study) -> Table:
    return Table(
        "do layers follow the steps? (1 = they are the steps, 0 = chance)",
        ["hypothesis", "channel", "held-out", "corrected p", "random weights", "steps", "holds"],
        [
            [
                standing.match.hypothesis,
                standing.match.channel,
                str(standing.match.score),
                f"{standing.corrected_p:.2g}",
                str(standing.control),
                f"{standing.match.matched}/{standing.match.steps}",
                "yes" if standing.holds else "no",
            ]
            for standing in study.standings
        ],
    )


def _attention(study: Study) -> Table:
    def summary(layers: Sequence[Layer]) -> list[str]:
        strongest = min(layers, key=lambda layer: layer.naive_rho.value)
        significant = sum(layer.paper.p < 0.01 for layer in layers)
        surviving = int((statistics.holm([layer.corrected.p for layer in layers]) < 0.01).sum())
        return [
            str(strongest.naive_rho),
            f"{significant} of {len(layers)}",
            f"{surviving} of {len(layers)}",
        ]

    analyses = [
        "attention and distance, strongest layer: ρ",
        "path gets more attention, layers with p < .01",
        "the same per mention, with covariates, corrected for layers",
    ]
    columns = (analyses, summary(study.attention), summary(study.control_attention))
    return Table(
        "the analyses of the case study, and what random weights make of them "
        f"(distance and mentions: ρ = {study.mention_rho})",
        ["analysis", "subject", "random weights"],
        [list(row) for row in zip(*columns, strict=True)],
    )


def _similarities(study: Study) -> Table:
    return Table(
        "similarity of node states above the mirror image's, best layer (corrected p for the best "
        f"of all layers; CKA of a layer and the next: {study.layer_cka.min():.2f} or more)",
        ["reference", "measure", "subject", "corrected p", "random weights", "corrected p "],
        [
            [s.reference, s.measure, str(s.best), f"{s.p:.2g}", str(c.best), f"{c.p:.2g}"]
            for s, c in zip(study.similarities, study.control_similarities, strict=True)
        ],
    )


def _probes(study: Study) -> Table:
    return Table(
        "linear probes of node states, best layer (chance: 0.5; distance: 0)",
        ["target", "subject", "corrected p", "random weights", "corrected p "],
        [
            [p.target, str(p.best), f"{p.p:.2g}", str(c.best), f"{c.p:.2g}"]
            for p, c in zip(study.probes, study.control_probes, strict=True)
        ],
    )


def _causal(study: Study) -> Table:
    return Table(
        "causal tests of the leading hypothesis",
        ["test", "measure", "effect", "control", "difference", "items"],
        [
            [e.test, e.measure, str(e.effect), str(e.control), str(e.difference), str(e.count)]
            for e in study.effects or ()
        ],
    )
