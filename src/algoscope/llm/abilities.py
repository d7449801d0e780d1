"""What a study found, as rows of the registry of abilities, in a run folder of its own."""

import json
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from algoscope import files
from algoscope.llm.heads import Heads, number
from algoscope.llm.study import Study
from algoscope.llm.subjects import Subject
from algoscope.runs.abilities import Abilities, Found
from algoscope.runs.environment import environment_on
from algoscope.runs.folder import STUDY, now, write_description
from algoscope.runs.reservation import description

TASK = "navigation"
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "safetensors")


def of_study(study: Study) -> Abilities:
    """Its verdict, and what its heads do."""
    verdict, causal = study.verdict, study.causal
    best = causal.fits[0] if causal and causal.fits else None
    share = best.share if best else (np.nan, np.nan, np.nan)
    told = f"{study.items} items, seed {study.seed}"
    if causal and best:
        told += (
            f"; {len(causal.outcomes)} exchanges of states, nearest {best.name}, agreement where "
            f"contested {best.contested}; questions: {causal.examined.tried}"
        )
    unmet = "; ".join(verdict.reasons)
    row = Found(
        study.subject,
        "algorithm",
        verdict.which or "none",
        verdict.word,
        [
            f"step {v.step} after layer {v.layer}: {v.token}"
            for v in (causal.variables if causal else [])
        ],
        *map(float, share),
        p=np.nan,
        evidence=f"{told}; not met: {unmet}" if unmet else told,
    )
    return Abilities([row, *(of_heads(study.subject, study.heads) if study.heads else [])])


def of_heads(model: str, heads: Heads) -> list[Found]:
    rows = []
    for ability in heads.abilities:
        alone = [*ability.alone] or [None] * len(ability.heads)
        for d, exchanged in zip(ability.heads, alone, strict=True):
            looks = f"attention above matched {d.excess}, corrected p {d.p:.2g}"
            if exchanged:
                looks += f"; what it writes exchanged in {ability.tasks} tasks"
            share = exchanged.share if exchanged else (np.nan, np.nan, np.nan)
            rows.append(
                Found(
                    model,
                    "primitive",
                    d.primitive,
                    "used" if exchanged and exchanged.used else "looks only",
                    [number((d.layer, d.head))],
                    *map(float, share),
                    p=exchanged.p if exchanged else np.nan,
                    evidence=looks,
                )
            )
    rows += [
        Found(
            model,
            "composition",
            f"{heads.name(path.sender)} -> {heads.name(path.receiver)}",
            "used",
            [number(head) for head in (path.sender, path.receiver) if head],
            *map(float, path.share),
            p=path.p,
            evidence=f"path patching on tasks of {path.primitive}",
        )
        for path in heads.shown
    ]
    return rows


def write_run(
    folder: pathlib.Path,
    subject: Subject,
    config: Mapping[str, Any],
    found: Abilities,
    fill: Callable[[pathlib.Path], None],
    accuracy: float | None = None,
) -> None:
    """A finished run folder, whole or not there; `fill` writes its other files. Refuses a folder
    that exists."""
    settings = {"tasks": [TASK], "seeds": 1, "first_seed": config["seed"], "steps": 1, **config}
    device = next(subject.model.parameters()).device
    results = {} if accuracy is None else {"test": {TASK: {"score": [accuracy]}}}

    def write(temporary: pathlib.Path) -> None:
        fill(temporary)
        found.write(temporary)
        files.write_bytes(temporary / "results.json", json.dumps(results, indent=2).encode())
        made_in = environment_on(device.type, str(device), packages=_PACKAGES)
        facts = {"kind": STUDY, "state": "finished", "finished": now()}
        write_description(temporary, description(settings, made_in, **facts))

    files.place_new(folder, write)
