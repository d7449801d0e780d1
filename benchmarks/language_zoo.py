"""The word for every hand-written language model of known mechanism (`llm.scripted.zoo`). Each is
written as it comes, and a file that has some is gone on with.

    python benchmarks/language_zoo.py benchmarks/language_zoo.json --seconds 600
    python benchmarks/language_zoo.py benchmarks/language_zoo.json --only bfs dfs --seed 1
    python benchmarks/language_zoo.py benchmarks/language_strangers.json --group strangers
    python benchmarks/language_zoo.py benchmarks/language_impostors.json --group impostors --answers
"""

import argparse
import json
import pathlib
import time

import torch

from algoscope import files
from algoscope.llm import questions
from algoscope.llm.behaviour import behaviour
from algoscope.llm.causal import examine
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import Specimen, zoo
from algoscope.llm.scripted.impostors import IMPOSTORS
from algoscope.llm.scripted.late_strangers import LATE_STRANGERS
from algoscope.llm.scripted.strangers import STRANGERS
from algoscope.llm.verdict import about_answers, decide

ITEMS = 60
LATER = {"strangers": (*STRANGERS, *LATE_STRANGERS), "impostors": IMPOSTORS}
"""Those that were written after the verdict."""


def judged(specimen: Specimen, seed: int) -> dict:
    subject = specimen.subject(seed)
    items = navigation(ITEMS, form="letters", depths=(1, 2, 3), seed=seed)
    answers = behaviour(observe(subject, items))
    causal = examine(subject, items, seed) if answers.above_chance else None
    verdict = decide(answers, causal)
    truth = specimen.truth
    row = {"name": specimen.name, "seed": seed, "runs": truth.runs, "algorithm": truth.algorithm}
    row |= {"scope": truth.scope, "verdict": str(verdict), "unmet": verdict.reasons}
    if causal is not None:
        row["fits"] = [
            [f.name, str(f.contested), str(f.share), list(f.clock)] for f in causal.fits[:3]
        ]
    return row


def answered(specimen: Specimen, seed: int) -> dict:
    """Where its answers are right, without asking why: a tenth of the time."""
    subject, truth = specimen.subject(seed), specimen.truth
    items = navigation(ITEMS, form="letters", depths=(1, 2, 3), seed=seed)
    row = {"name": specimen.name, "seed": seed, "runs": truth.runs, "scope": truth.scope}
    if not behaviour(observe(subject, items)).above_chance:
        return row | {"region": "fails"}
    found = questions.examine(subject, items, seed)
    region = "none" if found.scope is None else str(found.scope) or "everywhere"
    wrong = {
        kind: [sum(not q.right for q in asked), len(asked)]
        for kind in questions.KINDS
        for asked in [[q for q in found.questions if q.kind == kind]]
    }
    row |= {"region": region, "wrong": wrong, "worst": [found.worst[0], str(found.worst[1])]}
    return row | {"unmet": [c.text for c in about_answers(found) if not c.met]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="names of subjects")
    parser.add_argument("--group", choices=("zoo", *LATER), default="zoo")
    parser.add_argument("--answers", action="store_true", help="only where answers are right")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(options.path.read_text()) if options.path.exists() else []
    done = {(row["name"], row["seed"]) for row in rows}
    groups = {m.name: group for group, mechanisms in LATER.items() for m in mechanisms}
    started = time.monotonic()
    for specimen in zoo():
        wanted = options.only is None or specimen.name in options.only
        wanted = wanted and groups.get(specimen.search, "zoo") == options.group
        if not wanted or (specimen.name, options.seed) in done:
            continue
        if time.monotonic() - started > options.seconds:
            break
        rows.append((answered if options.answers else judged)(specimen, options.seed))
        lines = ",\n ".join(map(json.dumps, rows))
        files.write_bytes(options.path, f"[\n {lines}\n]\n".encode())
        said = rows[-1].get("verdict") or rows[-1]["region"]
        print(f"{specimen.name:32}{rows[-1]['runs'][:44]:46}{said}", flush=True)


if __name__ == "__main__":
    main()
