"""The word for every hand-written language model of known mechanism (`llm.scripted.zoo`). Each is
written as it comes, and a file that has some is gone on with.

    python benchmarks/language_zoo.py benchmarks/language_zoo.json --seconds 600
    python benchmarks/language_zoo.py benchmarks/language_zoo.json --only bfs dfs --seed 1
    python benchmarks/language_zoo.py benchmarks/language_strangers.json --strangers
"""

import argparse
import json
import pathlib
import time

import torch

from algoscope import files
from algoscope.llm.behaviour import behaviour
from algoscope.llm.causal import examine
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import Specimen, zoo
from algoscope.llm.scripted.late_strangers import LATE_STRANGERS
from algoscope.llm.scripted.strangers import STRANGERS
from algoscope.llm.verdict import decide

ITEMS = 60


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="names of subjects")
    parser.add_argument("--strangers", action="store_true", help="those written after the verdict")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(options.path.read_text()) if options.path.exists() else []
    done = {(row["name"], row["seed"]) for row in rows}
    strange = {mechanism.name for mechanism in (*LATE_STRANGERS, *STRANGERS)}
    started = time.monotonic()
    for specimen in zoo():
        wanted = options.only is None or specimen.name in options.only
        wanted = wanted and (specimen.search in strange) == options.strangers
        if not wanted or (specimen.name, options.seed) in done:
            continue
        if time.monotonic() - started > options.seconds:
            break
        rows.append(judged(specimen, options.seed))
        lines = ",\n ".join(map(json.dumps, rows))
        files.write_bytes(options.path, f"[\n {lines}\n]\n".encode())
        print(f"{specimen.name:32}{rows[-1]['runs'][:44]:46}{rows[-1]['verdict']}", flush=True)


if __name__ == "__main__":
    main()
