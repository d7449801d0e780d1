"""What word do trained networks get, and by which evidence?

Ensembles are trained with the defaults of `algoscope train` and judged, beside untrained networks
of the same shape and the compiled references of the task.

    python benchmarks/trained.py train RUNS bfs bellman_ford --seeds 16 --steps 2000
    python benchmarks/trained.py judge RUNS OUT.json --processes 15    # every run in the folder
    python benchmarks/trained.py report OUT.json                       # the tables, in Markdown

Judgements are written as they come, and a second call judges what is missing.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import jax
import numpy as np
from zoo import ONE_THREAD, share

from algoscope import networks, programs, runs, tasks, training
from algoscope.measures import Judgement, across, judge
from algoscope.measures.thresholds import CRITERIA
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.serialise import from_json, to_json

COMPILED, TRAINED, UNTRAINED = "compiled", "trained", "untrained"
MOST_UNTRAINED = 4
COLUMNS = ("accuracy 16", "accuracy 64", "eq25 16", "total variation", "probes 16", "probes 64")


class Subject(NamedTuple):
    run: str
    """The run's folder, that also says which task and network the others have."""
    kind: str
    name: str
    """The seed, or the program."""

    @property
    def key(self) -> str:
        return "/".join((pathlib.Path(self.run).name, self.kind, self.name))


def train(folder: pathlib.Path, names: list[str], seeds: int, steps: int) -> None:
    for task in names:
        config = training.TrainingConfig(tasks=(task,), seeds=seeds, steps=steps)
        run = training.train(config, folder / f"{task}-{steps}", force=True)
        scores = np.asarray(run.results["test"][task]["score"])
        print(f"{task}: test score {scores.mean():.3f} ± {scores.std():.3f}", flush=True)


def subjects(run: runs.Run) -> Iterable[Subject]:
    task, path = run.tasks[0], str(run.path)
    for program in programs.of_task(task, Role.REFERENCE):
        yield Subject(path, COMPILED, program.name)
    for seed in run.seeds:
        yield Subject(path, TRAINED, str(seed))
    for seed in run.seeds[:MOST_UNTRAINED]:
        yield Subject(path, UNTRAINED, str(seed))


def examine(subject: Subject) -> tuple[Subject, Judgement]:
    run = runs.open(subject.run)
    task = run.tasks[0]
    match subject.kind:
        case "compiled":
            judged = compile_program(programs.get(subject.name))
        case "trained":
            judged = run.ensemble([int(subject.name)]).member(0, task)
        case _:
            config = training.config_of(run).network
            key = jax.random.key(1000 + int(subject.name))
            judged = networks.build(tasks.get(task), config, key=key)
    return subject, judge(judged, task)._replace(recordings={})


def judge_all(folder: pathlib.Path, out: pathlib.Path, processes: int) -> None:
    found = json.loads(out.read_text()) if out.exists() else {"runs": {}, "subjects": {}}
    trained = [run for run in runs.list_runs(folder) if run.finished]
    for run in trained:
        found["runs"][run.path.name] = {"config": run.config, "test": run.results["test"]}
    wanted = [subject for run in trained for subject in subjects(run)]
    missing = [subject for subject in wanted if subject.key not in found["subjects"]]
    os.environ.update(ONE_THREAD)
    with (
        tempfile.TemporaryDirectory() as compiled,
        multiprocessing.get_context("spawn").Pool(processes, share, [compiled]) as pool,
    ):
        for subject, judgement in pool.imap_unordered(examine, missing):
            found["subjects"][subject.key] = to_json(judgement)
            unfinished = out.with_suffix(".part")
            unfinished.write_text(json.dumps(found))
            unfinished.replace(out)
            print(f"{subject.key}: {judgement.verdict.word}", flush=True)


def report(found: dict) -> None:
    """For each run what compiled, trained and untrained networks have, and the reasons."""
    judgements = from_json(dict[str, Judgement], found["subjects"])
    for run, about in found["runs"].items():
        config = about["config"]
        of = {
            kind: [j for key, j in judgements.items() if key.startswith(f"{run}/{kind}/")]
            for kind in (COMPILED, TRAINED, UNTRAINED)
        }
        print(f"### {run}: {config['seeds']} seeds, {config['steps']} steps\n")
        print_row("", [f"{kind} ({len(js)})" for kind, js in of.items()])
        print("|---" * (1 + len(of)) + "|")
        words = [Counter(j.verdict.word for j in js) for js in of.values()]
        print_row("verdict", [", ".join(f"{n} {w}" for w, n in c.items()) for c in words])
        for number in (*COLUMNS, *CRITERIA):
            print_row(number, [spread([value(j, number) for j in js]) for js in of.values()])
        conditions = [c for j in of[TRAINED] for c in j.verdict.conditions]
        reasons = Counter(c.measure for c in conditions if not c.met)
        counts = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
        print(f"\nReasons of the trained, in how many of {len(of[TRAINED])}: {counts}.\n")
        for number in ("eq25 16", "total variation", "probes 16"):
            print(correlated(of[TRAINED], number))
        print()


def print_row(label: str, cells: list[str]) -> None:
    print(f"| {label} | {' | '.join(cells)} |")


def value(judgement: Judgement, number: str) -> float:
    evidence = judgement.evidence
    external = evidence.external.get("small")
    by_name = {
        "accuracy 16": evidence.accuracy["small"],
        "accuracy 64": evidence.accuracy["large"],
        "eq25 16": external.eq25 if external else float("nan"),
        "total variation": evidence.nearest.by_rows["all"].total_variation,
        "probes 16": evidence.probes.same_size,
        "probes 64": evidence.probes.larger,
    }
    return (by_name | evidence.tested)[number]


def spread(values: list[float]) -> str:
    """The mean, with the least and the largest."""
    there = [v for v in values if v == v]
    if not there:
        return "–"
    return f"{np.mean(there):.3f} ({min(there):.3f} to {max(there):.3f})"


def correlated(judgements: list[Judgement], number: str) -> str:
    """Accuracy at 64 nodes against a number, over the trained seeds."""
    pairs = [(value(j, "accuracy 64"), value(j, number)) for j in judgements]
    try:
        c = across.correlation(*map(list, zip(*pairs, strict=True)))
    except ValueError as reason:
        return f"Accuracy 64 with {number}: {reason}."
    return (
        f"Accuracy 64 with {number}, N = {c.count}: Pearson {c.pearson:.2f} "
        f"[{c.pearson_low:.2f}, {c.pearson_high:.2f}], p = {c.pearson_p:.2g}; "
        f"Spearman {c.spearman:.2f} [{c.spearman_low:.2f}, {c.spearman_high:.2f}]."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("train")
    verb.add_argument("folder", type=pathlib.Path)
    verb.add_argument("names", nargs="+")
    verb.add_argument("--seeds", type=int, default=16)
    verb.add_argument("--steps", type=int, default=2000)
    verb = verbs.add_parser("judge")
    verb.add_argument("folder", type=pathlib.Path)
    verb.add_argument("out", type=pathlib.Path)
    verb.add_argument("--processes", type=int, default=1)
    verbs.add_parser("report").add_argument("out", type=pathlib.Path)
    options = parser.parse_args()
    match options.verb:
        case "train":
            train(options.folder, options.names, options.seeds, options.steps)
        case "judge":
            judge_all(options.folder, options.out, options.processes)
        case "report":
            report(json.loads(options.out.read_text()))


if __name__ == "__main__":
    main()
