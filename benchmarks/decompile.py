"""Is the program of a network found? Compiled, trained and untrained ones are decompiled.

    python benchmarks/decompile.py benchmarks/decompile.json bfs bellman_ford minimum
    python benchmarks/decompile.py benchmarks/decompile.json --trained runs/demo

A compiled network's own program is held back, and so are all of its parts that no other program of
the library has: the search has to make it anew. It is *found* if the program that is returned
predicts every read, every move, every answer and every exchange on problems that were held out.
Untrained networks of the same shape as the trained ones are the null. Networks that are in the file
are not done again.
"""

import argparse
import functools
import json
import pathlib
import time

import jax

from algoscope import networks, programs, runs, tasks
from algoscope.decompile import Decompiled, decompile
from algoscope.files import write_bytes
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.runs.environment import environment
from algoscope.serialise import to_json


def subjects(options: argparse.Namespace):
    """Name, task, network and what is held back of each."""
    for task in options.tasks:
        for program in (p for role in Role for p in programs.of_task(task, role)):
            name = program.name
            yield f"compiled {name}", task, lambda p=program: compile_program(p).network, {name}
    if options.trained is not None:
        run = runs.open(options.trained)
        (task,) = run.tasks
        ensemble = run.ensemble(None)
        for place, seed in enumerate(ensemble.seeds):
            yield f"trained {seed}", task, lambda k=place: ensemble.member(k, task), set()
        config = ensemble.member(0, task).config
        for seed in range(2):
            key = jax.random.key(1000 + seed)
            yield f"untrained {seed}", task, functools.partial(_untrained, task, config, key), set()


def _untrained(task: str, config: networks.NetworkConfig, key: jax.Array) -> Network:
    return networks.build(tasks.get(task), config, key=key)


def described(result: Decompiled, seconds: float) -> dict:
    return to_json(result._asdict() | {"program": result.text}) | {"seconds": round(seconds, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--trained", type=pathlib.Path, help="a run folder of one task")
    parser.add_argument("--programs", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="starts none after")
    options = parser.parse_args()
    done = json.loads(options.path.read_text()) if options.path.exists() else {}
    begun = time.perf_counter()
    for name, task, network, without in subjects(options):
        key = f"{task}: {name}"
        if key in done or time.perf_counter() - begun > options.seconds:
            continue
        started = time.perf_counter()
        result = decompile(network(), task, without=without, most=options.programs)
        about = {"environment": environment(), "programs": options.programs}
        done[key] = described(result, time.perf_counter() - started) | {"about": to_json(about)}
        write_bytes(options.path, json.dumps(done, indent=1).encode() + b"\n")
        print(
            f"{key}: {result.fit:.3f}, random {result.null.best:.3f}, {result.tried} programs, "
            f"{done[key]['seconds']} s, {'; '.join(result.origin)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
