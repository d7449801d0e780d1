"""Does verification notice a changed program? Mutants of an exact program of each task, interpreted
on fresh problems of a few sizes and densities, and on the falsifier's families. Every program's
numbers are written as they come, and a file that has some is gone on with.

    python benchmarks/mutations.py benchmarks/mutations.json --seconds 600
    python benchmarks/mutations.py benchmarks/mutations.json --programs topological_sort --again
"""

import argparse
import collections
import json
import pathlib
import time

import numpy as np
from exactness import references

from algoscope import files, programs, tasks
from algoscope.falsify.families import domain, families, traced
from algoscope.programs import GraphProgram
from algoscope.programs.interpreter import show
from algoscope.programs.mutations import is_noticed, mutants, sample
from algoscope.programs.verification import agreement
from algoscope.tasks import Batch, Task
from algoscope.tasks.transforms import with_random_positions

SIZES = (5, 9, 12)
FAMILY_SIZE, PER_FAMILY = 7, 4


def problems(task: Task, size: int, count: int, seed: int) -> Batch:
    """Of all densities, where graphs have one."""
    size = max(size, task.smallest)
    densities: list[dict] = [{}]
    if "p" in task.options:
        densities = [{"p": p} for p in (0.2, 0.5, 0.8)]
    if "length_needle" in task.options:
        size, densities = 2 * size, [{"length_needle": k} for k in (1, 2, 4)]
    return Batch.join(
        [tasks.sample(task, size, count, seed + k, **d) for k, d in enumerate(densities)]
    )


def from_families(task: Task, seed: int) -> list[Batch]:
    random = np.random.default_rng(seed)
    drawn = [family.draw(FAMILY_SIZE, PER_FAMILY, random) for family in families(domain(task))]
    return [traced(task, problem) for problem in drawn if problem]


def that_it_solves(program: GraphProgram, batch: Batch) -> Batch | None:
    """The problems on which the program is its algorithm: a mutant has to differ from both."""
    run = show(program, batch)
    same = np.all(list(agreement(run.account, batch).values()), axis=0) & ~run.broken
    return batch.take(np.flatnonzero(same)) if same.any() else None


def batches_for(program: GraphProgram, samples: int, seed: int) -> list[Batch]:
    fresh = [problems(program.task, size, samples, seed) for size in SIZES]
    moved = with_random_positions(fresh[0], seed)
    drawn = [*fresh, moved, *from_families(program.task, seed)]
    return [batch for batch in (that_it_solves(program, b) for b in drawn) if batch is not None]


def measure(program: GraphProgram, count: int, samples: int, seed: int) -> dict:
    batches = batches_for(program, samples, seed)
    kinds: dict[str, list[bool]] = collections.defaultdict(list)
    unnoticed = []
    for mutant in sample(mutants(program), count, seed):
        kinds[mutant.kind].append(is_noticed(mutant, batches))
        if not kinds[mutant.kind][-1]:
            line = program.text.splitlines()[mutant.line - 1].strip()
            unnoticed.append(f"{mutant.kind}, line {mutant.line}: {line}")
    return {
        "mutants": sum(map(len, kinds.values())),
        "noticed": sum(sum(noticed) for noticed in kinds.values()),
        "kinds": {kind: [sum(noticed), len(noticed)] for kind, noticed in sorted(kinds.items())},
        "unnoticed": unnoticed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=references())
    parser.add_argument("--count", type=int, default=24, help="mutants of each program")
    parser.add_argument("--samples", type=int, default=8, help="problems of a size and density")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more after")
    parser.add_argument("--again", action="store_true", help="measure also what the file has")
    options = parser.parse_args()
    results = json.loads(options.path.read_text()) if options.path.exists() else {}
    begun = time.perf_counter()
    for name in options.programs:
        if (name in results and not options.again) or time.perf_counter() - begun > options.seconds:
            continue
        found = measure(programs.get(name), options.count, options.samples, options.seed)
        results[name] = found
        text = json.dumps(dict(sorted(results.items())), indent=1) + "\n"
        files.write_bytes(options.path, text.encode())
        heading = f"{name:32}{found['noticed']:4} of {found['mutants']}"
        print(heading, *found["unnoticed"], sep="\n  ", flush=True)
    noticed, total = (sum(r[key] for r in results.values()) for key in ("noticed", "mutants"))
    print(f"{len(results)} programs, {noticed} of {total} noticed ({noticed / max(total, 1):.1%})")


if __name__ == "__main__":
    main()
