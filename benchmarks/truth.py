"""Are the second set of held-out programs what they say they are?

    python benchmarks/truth.py benchmarks/programs/held_out_2 benchmarks/truth.json

The interpreter runs every program on fresh problems, and the reference algorithm runs, too. The
problems are made here, by other rules than those of the falsifier, which the verdict rests on: a
fault that only the falsifier's families know would prove nothing. Of each kind of problem the file
says on how many of how many hints or outputs differ, and the smallest problem on which they do.
Programs that are in the file are not run again.
"""

import json
import pathlib
import sys
from collections.abc import Callable, Iterator

import numpy as np

from algoscope import files, programs, tasks
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.tasks.sampling import problems_of, trace_problems

SIZES = (3, 5, 8, 11, 16, 20, 24)
EACH = 12
SEED = 20_26

Rng = np.random.Generator
Problem = dict[str, np.ndarray]


def _chance(rng: Rng, n: int) -> np.ndarray:
    """Edges by chance, loops too."""
    return rng.random((n, n)) < rng.uniform(0.1, 0.7)


def _walk(rng: Rng, n: int) -> np.ndarray:
    """A path through all nodes in random order."""
    order, edges = rng.permutation(n), np.zeros((n, n), bool)
    edges[order[:-1], order[1:]] = True
    return edges


def _ordered_walk(rng: Rng, n: int) -> np.ndarray:
    """A path up or down the positions."""
    edges = np.eye(n, k=1, dtype=bool)
    return edges if rng.random() < 0.5 else edges[::-1, ::-1]


def _thick_walk(rng: Rng, n: int) -> np.ndarray:
    """Layers of a few nodes, each joined with the next: deep, and with parents to choose from."""
    layers, order = np.sort(rng.integers(0, max(2, n // 2), n)), rng.permutation(n)
    edges = np.zeros((n, n), bool)
    edges[np.ix_(order, order)] = layers[None, :] - layers[:, None] == 1
    return edges


def _attached(rng: Rng, n: int) -> np.ndarray:
    """A random recursive tree with a few loops."""
    edges = np.zeros((n, n), bool)
    for node in range(1, n):
        edges[rng.integers(node), node] = True
    order = rng.permutation(n)
    return edges[np.ix_(order, order)] | np.diag(rng.random(n) < 0.3)


def _islands(rng: Rng, n: int) -> np.ndarray:
    """Two or three parts without edges between them."""
    part = rng.integers(0, rng.integers(2, 4), n)
    return (rng.random((n, n)) < 0.5) & (part[:, None] == part[None, :])


def _all(rng: Rng, n: int) -> np.ndarray:
    return np.ones((n, n), bool) ^ np.diag(rng.random(n) < 0.5)


def _wheel(rng: Rng, n: int) -> np.ndarray:
    """A cycle with a hub at a random place."""
    order = rng.permutation(n)
    edges = np.zeros((n, n), bool)
    edges[order, np.roll(order, 1)] = True
    edges[order[0]] = True
    return edges


GRAPHS = {
    "chance": _chance,
    "walk": _walk,
    "ordered walk": _ordered_walk,
    "layers": _thick_walk,
    "recursive tree": _attached,
    "islands": _islands,
    "all edges": _all,
    "wheel": _wheel,
}
WEIGHTS: dict[str, Callable[[Rng, tuple[int, int]], np.ndarray]] = {
    "uniform": lambda rng, shape: rng.uniform(0.05, 1, shape),
    "light": lambda rng, shape: rng.uniform(0.04, 0.2, shape),
    "heavy": lambda rng, shape: rng.uniform(0.75, 1, shape),
    "light or heavy": lambda rng, shape: np.where(
        rng.random(shape) < 0.5, rng.uniform(0.04, 0.1, shape), rng.uniform(0.85, 1, shape)
    ),
}
NUMBERS: dict[str, Callable[[Rng, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.random(n),
    "rising": lambda rng, n: np.sort(rng.random(n)),
    "falling": lambda rng, n: np.sort(rng.random(n))[::-1],
    "close": lambda rng, n: rng.random() * 0.9 + 0.004 * rng.random(n),
    "in pairs": lambda rng, n: (np.repeat(rng.random(n), 2)[:n] * 0.95 + 0.003 * rng.random(n))[
        rng.permutation(n)
    ],
    "small": lambda rng, n: 0.1 * rng.random(n),
    "large": lambda rng, n: 1 - 0.1 * rng.random(n),
    "lowest first": lambda rng, n: np.concatenate([[0.001], rng.uniform(0.002, 0.3, n - 1)]),
    "lowest last": lambda rng, n: np.concatenate([rng.uniform(0.002, 0.3, n - 1), [0.001]]),
    "lowest in the middle": lambda rng, n: np.where(
        np.arange(n) == n // 2, 0.001, rng.uniform(0.002, 0.3, n)
    ),
}
LONGEST = 5.5
"""Programs with distances say up to which they are exact: longer walks are scaled, and problems
with larger distances left out."""
CLOSEST = 1e-6


def graph_problems(task: tasks.Task, rng: Rng, n: int) -> Iterator[tuple[str, Problem]]:
    directed = task.name in ("dfs", "topological_sort")
    weighted = task.name in ("bellman_ford", "dijkstra", "mst_prim")
    for structure, draw in GRAPHS.items():
        for weights in WEIGHTS if weighted else ("",):
            edges = draw(rng, n)
            if task.name == "topological_sort":
                edges = np.triu(edges | edges.T, 1)
                order = rng.permutation(n)
                edges = edges[np.ix_(order, order)] if rng.random() < 0.5 else edges
            elif not directed or rng.random() < 0.3:
                edges = edges | edges.T
            values = edges.astype(float)
            if weighted:
                drawn = np.triu(WEIGHTS[weights](rng, (n, n)))
                values = values * (drawn + np.triu(drawn, 1).T)
                if "walk" in structure and task.name != "mst_prim":
                    values = values * min(1, LONGEST / max(values.sum() / 2, 1e-9))
                    values = np.where((values > 0) & (values < 1 / 32), 1 / 32 + values / 8, values)
            problem = {"A": values}
            if not directed:
                source = rng.choice(np.array([0, n - 1, rng.integers(n)]))
                problem["s"] = np.array([source])
            yield f"{structure} {weights}".strip(), problem


def number_problems(task: tasks.Task, rng: Rng, n: int) -> Iterator[tuple[str, Problem]]:
    for name, draw in NUMBERS.items():
        numbers = draw(rng, n)
        if task.name == "binary_search":
            key = np.sort(numbers)
            near = key[rng.integers(n)] + rng.uniform(-0.02, 0.02)
            target = np.clip(near if rng.random() < 0.7 else rng.random(), 0, 1)
            yield name, {"key": key, "target": np.asarray(target)}
        elif task.name == "find_maximum_subarray_kadane":
            yield name, {"key": 2 * numbers - rng.choice([0.2, 1, 1.5])}
        elif task.name == "task_scheduling":
            most = n if rng.random() < 0.5 else 2 * n
            yield name, {"w": numbers, "d": rng.integers(1, most + 1, n)}
        elif task.name == "activity_selector":
            other = rng.random(n)
            yield name, {"s": np.minimum(numbers, other), "f": np.maximum(numbers, other)}
        else:
            yield name, {"key": numbers}


def kinds(task: tasks.Task, n: int, rng: Rng) -> dict[str, list[Problem]]:
    draw = graph_problems if "A" in {f.name for f in task.features} else number_problems
    found: dict[str, list[Problem]] = {}
    for _ in range(EACH):
        for name, problem in draw(task, rng, n):
            found.setdefault(name, []).append(problem)
    return found


def within(batch: tasks.Batch) -> tasks.Batch:
    """The problems that programs are made for: no distance too large, no two numbers too close."""
    good = np.ones(len(batch), bool)
    if "d" in batch.hints and batch.task.name != "dfs":
        good &= np.asarray(batch.hints["d"]).max((1, 2)) <= LONGEST
    for name in {"key", "w", "s", "f"} & set(batch.inputs):
        if "A" not in batch.inputs:
            good &= np.diff(np.sort(batch.inputs[name], 1), axis=1).min(1) >= CLOSEST
    return batch.take(np.flatnonzero(good))


def differs(program: programs.GraphProgram, batch: tasks.Batch) -> tuple[np.ndarray, np.ndarray]:
    """Whether hints and whether outputs differ from the reference's: two of bool [batch]."""
    run = show(program, batch)
    equal = agreement(run.account, batch)
    hints = {f.name for f in batch.task.features if f.stage is tasks.Stage.HINT}
    trace = np.all([same for name, same in equal.items() if name in hints], 0)
    answer = np.all([same for name, same in equal.items() if name not in hints], 0)
    return ~trace | run.broken, ~answer | run.broken


def truth(program: programs.GraphProgram) -> dict:
    task, rows, smallest = program.task, {}, None
    sizes = [n for n in SIZES if n <= 16] if task.name in ("dfs", "bubble_sort") else SIZES
    for n in sizes:
        rng = np.random.default_rng([SEED, n])
        for name, problems in kinds(task, n, rng).items():
            batch = within(trace_problems(task, n, problems))
            if not len(batch):
                continue
            trace, answer = differs(program, batch)
            row = rows.setdefault(name, {"problems": 0, "traces": 0, "answers": 0})
            row["problems"] += len(batch)
            row["traces"] += int(trace.sum())
            row["answers"] += int(answer.sum())
            if smallest is None and (trace | answer).any():
                k = int(np.argmax(trace | answer))
                values = {key: value.tolist() for key, value in problems_of(batch)[k].items()}
                smallest = {"nodes": n, "kind": name, "problem": values}
    counted = ("problems", "traces", "answers")
    totals = {key: sum(row[key] for row in rows.values()) for key in counted}
    named = {"task": task.name, "role": str(program.role)}
    return {**named, **totals, "smallest": smallest, "kinds": rows}


def main(folder: str, path: str) -> None:
    out = pathlib.Path(path)
    content = {"seed": SEED, "sizes": SIZES, "each": EACH, "programs": {}}
    if out.exists():
        content = json.loads(out.read_text())
    found = content["programs"]
    for file in sorted(pathlib.Path(folder).glob("*.program")):
        if file.stem in found:
            continue
        found[file.stem] = row = truth(programs.load(file))
        files.write_bytes(out, (json.dumps(content, indent=1) + "\n").encode())
        counts = (row[key] for key in ("role", "traces", "answers", "problems"))
        print(file.stem, *counts, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
