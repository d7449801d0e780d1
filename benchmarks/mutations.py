"""Does verification notice a changed program? Mutants of each program of the library, interpreted
on a few problems of each of two sizes.

    python benchmarks/mutations.py --count 24 --out mutations.json
    python benchmarks/mutations.py --programs topological_sort --show
"""

import argparse
import collections
import json
import pathlib
import sys

from algoscope import programs, tasks
from algoscope.programs import Role
from algoscope.programs.mutations import is_noticed, mutants, sample
from algoscope.tasks import Batch

SIZES = (5, 9)


def problems(task: tasks.Task, size: int, count: int, seed: int) -> Batch:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    references = [n for n in programs.names() if programs.get(n).role is Role.REFERENCE]
    parser.add_argument("--programs", nargs="+", default=references)
    parser.add_argument("--count", type=int, default=24, help="mutants of each program")
    parser.add_argument("--samples", type=int, default=8, help="problems of a size and density")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print the mutants that stay unnoticed")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    results: dict[str, dict] = {}
    for name in options.programs:
        program = programs.get(name)
        batches = [problems(program.task, n, options.samples, options.seed) for n in SIZES]
        everything = mutants(program)
        by_kind: dict[str, list[bool]] = collections.defaultdict(list)
        for mutant in sample(everything, options.count, options.seed):
            by_kind[mutant.kind].append(is_noticed(mutant, batches))
            if options.show and not by_kind[mutant.kind][-1]:
                line = program.text.splitlines()[mutant.line - 1].strip()
                print(f"{name}: {mutant.kind} unnoticed: {line}")
        results[name] = {
            "mutants": sum(map(len, by_kind.values())),
            "noticed": sum(sum(noticed) for noticed in by_kind.values()),
            "kinds": {k: [sum(noticed), len(noticed)] for k, noticed in by_kind.items()},
        }
        print(f"{name:32}{results[name]['noticed']:4} of {results[name]['mutants']}", flush=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1) + "\n")
    noticed, total = (sum(r[key] for r in results.values()) for key in ("noticed", "mutants"))
    print(f"{noticed} of {total} noticed ({noticed / max(total, 1):.1%})", file=sys.stderr)


if __name__ == "__main__":
    main()
