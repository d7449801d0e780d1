"""A study as a folder: `study.json` with every number, `recordings.safetensors`, `page.html`."""

import json
import os
import pathlib
import shutil

import numpy as np

from algoscope import statistics
from algoscope.llm.study import Study
from algoscope.serialise import to_json
from algoscope.table import Table


def study_json(study: Study) -> dict:
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
    """Writes beside the folder and moves into place; what is there already is refused."""
    from safetensors.numpy import save_file

    if folder.exists():
        raise ValueError(f"--out: got {folder}, which exists; needed a new folder")
    temporary = folder.with_name(f".{folder.name}-{os.getpid()}")
    temporary.mkdir(parents=True)
    try:
        (temporary / "study.json").write_text(json.dumps(study_json(study), indent=1) + "\n")
        (temporary / "page.html").write_text(page, encoding="utf-8")
        save_file(_arrays(study), temporary / "recordings.safetensors")
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _arrays(study: Study) -> dict[str, np.ndarray]:
    """attention.last, attention.goal and mentions of every item, by the item's number."""
    arrays = {}
    for number, o in enumerate(study.observations):
        for readout, values in o.attention.items():
            arrays[f"{number}.attention.{readout}"] = np.ascontiguousarray(values, np.float32)
        arrays[f"{number}.mentions"] = o.places.mentions.astype(np.int64)
    return arrays


def tables(study: Study) -> list[Table]:
    """What the command line prints and the page shows."""
    found = [_accuracy(study), _heuristics(study), _hypotheses(study), _artefact(study)]
    if study.similarities:
        found.append(_similarities(study))
    if study.probes:
        found.append(_probes(study))
    if study.effects is not None:
        found.append(_causal(study))
    found.append(
        Table(
            f"verdict: {study.verdict}",
            ["", "condition"],
            [["yes" if c.met else "no", c.text] for c in study.verdict.conditions],
        )
    )
    return found


def _accuracy(study: Study) -> Table:
    cells = study.behaviour.cells
    depths = list(dict.fromkeys(c.depth for c in cells))
    rows = []
    for depth in depths:
        of = {c.reachable: c for c in cells if c.depth == depth}
        label = "all" if depth is None else str(depth)
        rows.append([label, *(f"{of[r].accuracy}, n = {of[r].count}" for r in (True, False))])
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


def _hypotheses(study: Study) -> Table:
    rows = []
    for s in study.standings:
        m = s.match
        rows.append(
            [
                m.hypothesis,
                m.channel,
                str(m.score),
                f"{s.corrected_p:.2g}",
                str(s.control),
                f"{m.matched}/{m.steps}",
                "yes" if s.holds else "no",
            ]
        )
    return Table(
        "do layers follow the steps? (1 = they are the steps, 0 = chance)",
        ["hypothesis", "channel", "held-out", "corrected p", "random weights", "steps", "holds"],
        rows,
    )


def _artefact(study: Study) -> Table:
    def strongest(layers):
        return min(layers, key=lambda layer: layer.naive_rho.value)

    def significant(layers):
        return sum(layer.paper.p < 0.01 for layer in layers)

    def surviving(layers):
        return int((statistics.holm([layer.corrected.p for layer in layers]) < 0.01).sum())

    own, control = study.attention, study.control_attention
    n = len(own)
    return Table(
        "the analyses of the case study, and what random weights make of them "
        f"(distance and mentions: ρ = {study.mention_rho})",
        ["analysis", "subject", "random weights"],
        [
            [
                "attention and distance, strongest layer: ρ",
                str(strongest(own).naive_rho),
                str(strongest(control).naive_rho),
            ],
            [
                "path gets more attention, layers with p < .01",
                f"{significant(own)} of {n}",
                f"{significant(control)} of {n}",
            ],
            [
                "the same per mention, with covariates, corrected for layers",
                f"{surviving(own)} of {n}",
                f"{surviving(control)} of {n}",
            ],
        ],
    )


def _similarities(study: Study) -> Table:
    return Table(
        "similarity of node states above the mirror image's, best layer (corrected p for the best "
        f"of all layers; CKA of a layer and the next: {study.layer_cka.min():.2f} or more)",
        ["reference", "measure", "subject", "corrected p", "random weights", "corrected p "],
        [
            [a.reference, a.measure, str(a.best), f"{a.p:.2g}", str(b.best), f"{b.p:.2g}"]
            for a, b in zip(study.similarities, study.control_similarities, strict=True)
        ],
    )


def _probes(study: Study) -> Table:
    return Table(
        "linear probes of node states, best layer (chance: 0.5; distance: 0)",
        ["target", "subject", "corrected p", "random weights", "corrected p "],
        [
            [own.target, str(own.best), f"{own.p:.2g}", str(other.best), f"{other.p:.2g}"]
            for own, other in zip(study.probes, study.control_probes, strict=True)
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
