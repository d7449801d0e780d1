"""Does verification notice a changed program? Mutants of an exact program of each task, interpreted
on the problems that `algoscope verify` draws: those of the sampler, of a few sizes and densities
(`--draw sampler`), then of the falsifier's families (`--draw families`), then all of very few nodes
(`--draw small`). Some show the same, but only because the first of equal scores counts: `verify`
says that they are below the margin, on samples where the program is not. Those that are not noticed
are run on many more of the families: a mutant that differs there is *missed*, one that never does
is *alike*. Every program's numbers are written as they come, and a file that has some is gone on
with.

    python benchmarks/mutations.py benchmarks/mutations.json --seconds 600
    python benchmarks/mutations.py benchmarks/mutations.json --programs topological_sort --again
    python benchmarks/mutations.py benchmarks/mutations.json --programs jarvis_march --again \
        --per-family 12
"""

import argparse
import collections
import functools
import json
import pathlib
import time
from collections.abc import Iterable

import numpy as np
from exactness import references

from algoscope import files, programs, tasks
from algoscope.falsify.cover import cover, some_of_each
from algoscope.falsify.small import every_small_problem
from algoscope.programs import GraphProgram
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import show
from algoscope.programs.mutations import is_noticed, mutants
from algoscope.programs.verification import agreement
from algoscope.tasks import Batch, Task
from algoscope.tasks.transforms import with_random_positions

SIZES = (5, 9, 12)
FAMILY_SIZE = 7
COVERED_SIZES, COVERED = (4, 8, 16), 600


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


def that_it_solves(program: GraphProgram, batch: Batch) -> Batch | None:
    """The problems on which the program is its algorithm: a mutant has to differ from both."""
    run = show(program, batch)
    same = np.all(list(agreement(run.account, batch).values()), axis=0) & ~run.broken
    return batch.take(np.flatnonzero(same)) if same.any() else None


def solved(program: GraphProgram, drawn: Iterable[Batch]) -> list[Batch]:
    return [batch for batch in (that_it_solves(program, b) for b in drawn) if batch is not None]


def batches_for(
    program: GraphProgram, samples: int, per_family: int, seed: int
) -> dict[str, list[Batch]]:
    """By where they are drawn."""
    task = program.task
    fresh = [problems(task, size, samples, seed) for size in SIZES]
    drawn = {
        "sampler": [*fresh, with_random_positions(fresh[0], seed)],
        "families": [some_of_each(task, FAMILY_SIZE, per_family, seed)],
        "small": every_small_problem(task),
    }
    return {source: solved(program, some) for source, some in drawn.items()}


def more_batches_for(program: GraphProgram, seed: int) -> list[Batch]:
    """Many problems of the families."""
    groups = cover(program.task, COVERED_SIZES, COVERED, seed)
    return solved(program, (group.batch for group in groups))


def less_certain(mutant: GraphProgram, program: GraphProgram, batches: list[Batch]) -> bool:
    """Whether the mutant is below the margin on samples on which the program is not."""
    compiled = compile_program(mutant)
    known = ((batch, _certified(program, batch)) for batch in batches)
    return any((sure & ~compiled.certified(batch)).any() for batch, sure in known)


def _certified(program: GraphProgram, batch: Batch) -> np.ndarray:
    return compile_program(program).certified(batch)


def measure(program: GraphProgram, count: int, samples: int, per_family: int, seed: int) -> dict:
    batches = batches_for(program, samples, per_family, seed)
    first = dict.fromkeys([*batches, "margin"], 0)
    more = functools.cache(lambda: more_batches_for(program, seed))
    kinds: dict[str, list[bool]] = collections.defaultdict(list)
    escaped: dict[str, list[str]] = {"missed": [], "alike": []}
    for mutant in mutants(program, count, seed):
        where = next((s for s, some in batches.items() if is_noticed(mutant, some)), None)
        if where is None and less_certain(mutant.program, program, batches["sampler"]):
            where = "margin"
        kinds[mutant.kind].append(where is not None)
        if where is not None:
            first[where] += 1
        else:
            fate = "missed" if is_noticed(mutant, more()) else "alike"
            escaped[fate].append(f"{mutant.kind}, line {mutant.line}: {mutant.change}")
    return {
        "mutants": sum(map(len, kinds.values())),
        "noticed": sum(sum(noticed) for noticed in kinds.values()),
        "kinds": {kind: [sum(noticed), len(noticed)] for kind, noticed in sorted(kinds.items())},
        "first_noticed": first,
        "problems": {source: sum(map(len, some)) for source, some in batches.items()},
        "more_problems": sum(map(len, more())) if any(escaped.values()) else 0,
        **escaped,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--programs", nargs="+", default=references())
    parser.add_argument("--count", type=int, default=24, help="mutants of each program")
    parser.add_argument("--samples", type=int, default=8, help="problems of a size and density")
    parser.add_argument("--per-family", type=int, default=4, help="problems of a family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more after")
    parser.add_argument("--again", action="store_true", help="measure also what the file has")
    options = parser.parse_args()
    results = json.loads(options.path.read_text()) if options.path.exists() else {}
    begun = time.perf_counter()
    for name in options.programs:
        if (name in results and not options.again) or time.perf_counter() - begun > options.seconds:
            continue
        found = measure(
            programs.get(name), options.count, options.samples, options.per_family, options.seed
        )
        results[name] = found
        text = json.dumps(dict(sorted(results.items())), indent=1) + "\n"
        files.write_bytes(options.path, text.encode())
        heading = f"{name:32}{found['noticed']:4} of {found['mutants']}"
        print(heading, *found["missed"], "alike:", *found["alike"], sep="\n  ", flush=True)
    noticed, total = (sum(r[key] for r in results.values()) for key in ("noticed", "mutants"))
    differ = total - sum(len(r["alike"]) for r in results.values())
    print(f"{len(results)} programs, {noticed} of {total} noticed, of those that differ {differ}")


if __name__ == "__main__":
    main()
