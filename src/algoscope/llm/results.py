"""A study as a folder: `study.json` with every number, `recordings.safetensors`, `page.html`."""

import itertools
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from algoscope import files, statistics
from algoscope.llm import abilities, heads
from algoscope.llm.attention import Layer
from algoscope.llm.causal import Causal
from algoscope.llm.geometry import Observed
from algoscope.llm.observe import READOUTS
from algoscope.llm.questions import KINDS
from algoscope.llm.study import Study
from algoscope.llm.subjects import Subject
from algoscope.serialise import to_json
from algoscope.table import Table


def study_json(study: Study) -> dict[str, Any]:
    left_out = ("observations", "causal")
    parts = {name: to_json(getattr(study, name)) for name in vars(study) if name not in left_out}
    parts["causal"] = None if study.causal is None else _causal_json(study.causal)
    parts["verdict"] |= {"text": str(study.verdict)}
    parts["answers"] = [
        {name: getattr(o.item, name) for name in ("prompt", "pair", "depth", "reachable")}
        | {"log_odds": o.log_odds, "written": o.written}
        for o in study.observations
    ]
    return parts


def _causal_json(causal: Causal) -> dict[str, Any]:
    examined = causal.examined
    return {
        "questions": [
            {"prompt": q.item.prompt, "reachable": q.item.reachable, "odds": q.odds}
            | {name: getattr(q, name) for name in ("kind", "root", "depth", "nodes")}
            for q in examined.questions
        ],
        "wrong": to_json(examined.wrong),
        "scope": to_json(examined.scope),
        "exchanges": [
            {
                "base": o.exchange.base.prompt,
                "donor": o.exchange.donor.prompt,
                "plain": o.plain.tolist(),
                "patched": o.patched.tolist(),
            }
            for o in causal.outcomes
        ],
        "left_out": causal.left_out,
        "fits": [
            {"algorithm": f.name, "keeps": f.machine.keeps}
            | {
                n: to_json(getattr(f, n))
                for n in ("clock", "agreement", "contested", "share", "steps")
            }
            for f in causal.fits
        ],
        "rivals": [
            {"algorithm": r.fit.name, "above": to_json(r.above), "mazes": r.mazes}
            for r in causal.rivals
        ],
        "flow": to_json(causal.flow),
        "knowledge": to_json(causal.knowledge),
        "variables": to_json(causal.variables),
    }


def write_folder(
    study: Study, folder: pathlib.Path, page: str, subject: Subject, **config: Any
) -> None:
    """A run folder, which `algoscope runs` lists; refuses one that exists. `config` is what the
    study was asked for."""

    def fill(temporary: pathlib.Path) -> None:
        text = json.dumps(study_json(study), indent=1) + "\n"
        (temporary / "study.json").write_text(text, encoding="utf-8")
        (temporary / "page.html").write_text(page, encoding="utf-8")
        files.write_arrays(temporary / "recordings.safetensors", _arrays(study))

    config |= {"model": study.subject, "items": study.items, "seed": study.seed}
    right = float(np.mean([o.right for o in study.observations]))
    abilities.write_run(folder, subject, config, abilities.of_study(study), fill, right)


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
        "heuristics": Table(
            "answers against heuristics",
            ["heuristic", "same answer", "where it is wrong", "corrected p"],
            [
                [a.heuristic, str(a.agreement), str(a.against_truth), f"{a.p:.2g}"]
                for a in study.behaviour.agreements
            ],
        ),
        "steps": _steps(study),
        "attention": _attention(study),
        "observed": observed_table(study.observed, study.control_observed),
    }
    if study.similarities:
        shown["similarity"] = _best_layers(
            "similarity of node states above the mirror image's, best layer (corrected p for the "
            "best of all layers; CKA of a layer and the next: "
            f"{study.layer_cka.min():.2f} or more)",
            ["reference", "measure"],
            study.similarities,
            study.control_similarities,
        )
    if study.probes:
        shown["probes"] = _best_layers(
            "linear probes of node states, best layer (chance: 0.5; distance: 0)",
            ["target"],
            study.probes,
            study.control_probes,
        )
    if study.causal is not None:
        shown |= _causal(study.causal)
    if study.heads is not None:
        shown |= heads.tables(study.heads)
    return shown | {"verdict": study.verdict.table}


def _causal(causal: Causal) -> dict[str, Table]:
    examined = causal.examined
    rows = []
    for kind, root in itertools.product(KINDS, (True, False)):
        asked = [q for q in examined.questions if (q.kind, q.root) == (kind, root)]
        if asked:
            right = statistics.proportion([q.right for q in asked])
            rows.append([kind, "root" if root else "inner node", str(right), str(len(asked))])
    return {
        "questions": Table(
            f"questions that it is to break on: {examined.tried}",
            ["goal", "start", "right", "questions"],
            rows,
        ),
        "exchanges": Table(
            f"what exchanged states lead to, as each algorithm predicts it: {len(causal.outcomes)} "
            f"exchanges after each layer, {causal.left_out} left out",
            ["algorithm", "keeps", "agreement", "contested", "share", "steps by layer"],
            [
                [
                    f.name,
                    f.machine.keeps,
                    written(f.agreement),
                    written(f.contested),
                    written(f.share),
                    " ".join(map(str, f.clock)),
                ]
                for f in causal.fits
            ],
        ),
        "variables": Table(
            "where the variables of the best algorithm are",
            ["step", "after layer", "token", "share of the answer", "visited nodes above images"],
            [[str(value) for value in variable] for variable in causal.variables],
        ),
    }


def _clock(steps: Sequence[int]) -> str:
    return " ".join(map(str, steps))


def _accuracy(study: Study) -> Table:
    rows: dict[int | None, list[str]] = {}
    for depth, _, accuracy, count in study.behaviour.cells:
        row = rows.setdefault(depth, ["all" if depth is None else str(depth)])
        row.append(f"{accuracy}, n = {count}")
    written = ", ".join(f"{text} {count}" for text, count in study.behaviour.written.items())
    return Table(
        f"{study.subject}: accuracy on {study.items} items (written: {written})",
        ["depth", "reachable", "unreachable"],
        list(rows.values()),
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
        significant = sum(layer.paper.p < 0.01 for layer in layers)
        surviving = int((statistics.holm([layer.corrected.p for layer in layers]) < 0.01).sum())
        strongest = min((layer.naive_rho for layer in layers), key=lambda rho: rho.value)
        return [
            str(strongest),
            *(f"{count} of {len(layers)}" for count in (significant, surviving)),
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


def written(estimate: statistics.Estimate) -> str:
    """With its interval, if it has one: a single prompt has none."""
    if np.isnan(estimate.value):
        return "–"
    return str(estimate) if np.isfinite(estimate.low) else f"{estimate.value:.2f}"


def observed_table(subject: Sequence[Observed], control: Sequence[Observed]) -> Table:
    """What the case study sees in its pictures: first and last layer, trend, mirror image."""

    def cells(row: Observed) -> list[str]:
        ends = f"{row.plain[0].value:.3f} to {row.plain[-1].value:.3f}"
        if not row.mirrored:
            return [ends, written(row.trend), "–"]
        return [ends, written(row.trend), f"{row.best.value:.3f}, p = {row.p:.2g}"]

    columns = ["first to last layer", "trend over layers", "above the mirror image, best layer"]
    return Table(
        "what the case study sees in its pictures, as numbers (corrected p for the best of all "
        "layers; trend: Spearman's ρ)",
        ["seen", *columns, *(f"random weights: {name}" for name in columns)],
        [[a.seen, *cells(a), *cells(b)] for a, b in zip(subject, control, strict=True)],
    )


def _best_layers(
    title: str, names: list[str], results: Sequence[Any], controls: Sequence[Any]
) -> Table:
    """Similarities or probes: the first fields, which name each, and the best layers."""
    return Table(
        title,
        [*names, "subject", "corrected p", "random weights", "corrected p "],
        [
            [*r[: len(names)], str(r.best), f"{r.p:.2g}", str(c.best), f"{c.p:.2g}"]
            for r, c in zip(results, controls, strict=True)
        ],
    )
