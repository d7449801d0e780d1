"""Are the third set of held-out programs what they say they are?

    python benchmarks/truth_3.py [NAME …]

The interpreter runs every program on problems of the sampler and on problems that are made here,
and the reference algorithm runs, too. Unlike `truth.py`, this has numbers that are equal, sources
without neighbours, activities that touch, needles at the edge of the haystack: what the faults of
this set need. Problems on which a promise of the language is broken (numbers too close to compare)
are counted apart. Programs that are in the file are not run again, unless they are named.
"""

import json
import pathlib
import sys
from collections.abc import Iterator

import numpy as np

from algoscope import files, programs, tasks
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.tasks.sampling import problems_of, trace_problems

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "programs" / "held_out_3"
OUT = HERE / "truth_3.json"
SIZES = (4, 7, 10, 16, 24)
EACH = 6
SAMPLED, SAMPLED_SIZE = 600, 16
SEED = 311
LONGEST = 5.5
"""Programs with distances say up to which they are exact."""

Rng = np.random.Generator
Problem = dict[str, np.ndarray]
WEIGHTED = ("bellman_ford", "dijkstra", "mst_prim")


def _both_ways(edges: np.ndarray) -> np.ndarray:
    edges = np.triu(edges)
    return edges | edges.T


def structures(rng: Rng, n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Undirected graphs, bool [n, n]."""
    order = rng.permutation(n)
    yield "sparse", _both_ways(rng.random((n, n)) < 1.3 / n)
    yield "medium", _both_ways(rng.random((n, n)) < 0.25)
    yield "dense", _both_ways(rng.random((n, n)) < 0.7)
    yield "complete", ~np.eye(n, dtype=bool)
    path = np.zeros((n, n), bool)
    path[order[:-1], order[1:]] = True
    yield "path", path | path.T
    ring = np.zeros((n, n), bool)
    ring[order, np.roll(order, 1)] = True
    yield "ring", ring | ring.T
    tree = np.zeros((n, n), bool)
    for node in range(1, n):
        tree[rng.integers(max(0, node - 3), node), node] = True
    yield "tree", (tree | tree.T)[np.ix_(order, order)]
    part = rng.integers(0, 3, n)
    yield "islands", _both_ways((rng.random((n, n)) < 0.5) & (part[:, None] == part))
    level = rng.integers(0, max(2, n // 3), n)
    yield "layers", np.abs(level[:, None] - level) == 1
    hermit = _both_ways(rng.random((n, n)) < 0.4)
    hermit[order[0]] = hermit[:, order[0]] = False
    yield "hermit", hermit
    side = rng.random(n) < 0.5
    yield "bipartite", side[:, None] != side


def weights(rng: Rng, n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Symmetric weights of at least 1/32."""
    for name, drawn in {
        "uniform": rng.uniform(0.04, 1, (n, n)),
        "heavy": rng.uniform(0.9, 1.0005, (n, n)),
        "near": rng.uniform(0.4, 0.404, (n, n)),
        "mixed": np.where(rng.random((n, n)) < 0.5, 0.04, 0.85) + rng.uniform(0, 0.1, (n, n)),
    }.items():
        yield name, np.triu(drawn) + np.triu(drawn, 1).T


def graph_problems(task: tasks.Task, rng: Rng, n: int) -> Iterator[tuple[str, Problem]]:
    for structure, edges in structures(rng, n):
        if task.name == "topological_sort":
            order = rng.permutation(n)
            yield structure, {"A": np.triu(edges, 1)[np.ix_(order, order)].astype(float)}
            continue
        few = int(np.argmin(edges.sum(1)))
        for name, drawn in weights(rng, n) if task.name in WEIGHTED else [("", 1.0)]:
            source = rng.choice(np.array([0, n - 1, rng.integers(n), few]))
            yield f"{structure} {name}".strip(), {"A": edges * drawn, "s": np.array([source])}


def numbers(rng: Rng, n: int) -> dict[str, np.ndarray]:
    return {
        "uniform": rng.random(n),
        "rising": np.sort(rng.random(n)),
        "falling": np.sort(rng.random(n))[::-1],
        "close": 0.4 + 0.003 * rng.random(n),
        "small": 0.05 * rng.random(n),
        "large": 1 - 0.05 * rng.random(n),
        "lowest last": np.append(rng.uniform(0.1, 1, n - 1), 0.01),
        "lowest first": np.append(0.01, rng.uniform(0.1, 1, n - 1)),
    }


def matching_problems(rng: Rng, n: int) -> Iterator[tuple[str, Problem]]:
    length = int(rng.integers(1, n // 2 + 1))
    begin = n - length
    string = (np.arange(n) >= begin).astype(np.int8)
    places = {"at the start": 0, "at the end": begin - length, "by chance": None}
    for chars in (1, 2, 4):
        for name, place in places.items():
            key = rng.integers(0, chars, n).astype(np.int32)
            if place is not None:
                key[place : place + length] = key[begin:]
            yield f"{name}, {chars} characters", {"string": string, "key": key}


def number_problems(task: tasks.Task, rng: Rng, n: int) -> Iterator[tuple[str, Problem]]:
    drawn = numbers(rng, n)
    if task.name in ("minimum", "insertion_sort", "binary_search"):
        drawn["repeated"] = rng.choice(rng.random(max(2, n // 2)), n)
    for name, values in drawn.items():
        if task.name == "binary_search":
            key = np.sort(values)
            targets = {"hit": key[rng.integers(n)], "by chance": rng.random(), "above": 1.0}
            for where, target in targets.items():
                yield f"{name} {where}", {"key": key, "target": np.array([target])}
        elif task.name == "find_maximum_subarray_kadane":
            yield name, {"key": np.clip(2 * values - rng.choice(np.array([0.2, 1, 1.7])), -1, 1)}
            yield f"{name} debts", {"key": -np.maximum(values, 0.001)}
        elif task.name == "task_scheduling":
            most = rng.choice(np.array([n // 2 + 1, n, 2 * n]))
            yield name, {"w": values, "d": rng.integers(1, most + 1, n)}
            rank = np.argsort(np.argsort(-values)) + 1
            yield f"{name} full", {"w": values, "d": np.maximum(rank, rng.integers(1, n + 1, n))}
        elif task.name == "activity_selector":
            others = rng.random(n)
            yield name, {"s": np.minimum(values, others), "f": np.maximum(values, others)}
            yield f"{name} short", {"s": np.maximum(0, values - 0.1 * others), "f": values}
            ends = np.sort(values)
            starts = np.append(0, ends[:-1]) * np.where(others < 0.5, 1, others)
            yield f"{name} touching", {"s": starts, "f": ends}
        else:
            yield name, {"key": values}


def problems(task: tasks.Task, n: int, rng: Rng) -> Iterator[tuple[str, Problem]]:
    for _ in range(EACH):
        if "A" in {f.name for f in task.features}:
            yield from graph_problems(task, rng, n)
        elif task.name == "naive_string_matcher":
            yield from matching_problems(rng, n)
        else:
            yield from number_problems(task, rng, n)


def differs(
    program: programs.GraphProgram, batch: tasks.Batch
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether hints and whether outputs differ, where no promise is broken; and where one is."""
    run = show(program, batch)
    equal = agreement(run.account, batch)
    hints = {f.name for f in batch.task.at(tasks.Stage.HINT)}
    trace = np.all([same for name, same in equal.items() if name in hints], 0)
    answer = np.all([same for name, same in equal.items() if name not in hints], 0)
    return ~trace & ~run.broken, ~answer & ~run.broken, run.broken


def counts(trace: np.ndarray, answer: np.ndarray, broken: np.ndarray) -> dict[str, int]:
    """How many problems differ, in hints (traces) or outputs (answers), and in any of them."""
    whole = {"wrong": trace | answer, "traces": trace, "answers": answer, "broken": broken}
    return {"problems": len(trace), **{name: int(found.sum()) for name, found in whole.items()}}


def first(batch: tasks.Batch, wrong: np.ndarray) -> dict | None:
    """The first of these problems, as `trace_problems` takes it."""
    if not wrong.any():
        return None
    problem = problems_of(batch)[int(np.argmax(wrong))]
    values = {key: value.tolist() for key, value in problem.items()}
    return {"nodes": batch.nodes, "problem": values}


def truth(program: programs.GraphProgram) -> dict:
    task, found, kinds, smallest = program.task, [], {}, None
    for n in SIZES:
        drawn = list(problems(task, n, np.random.default_rng([SEED, n])))
        batch = trace_problems(task, n, [problem for _, problem in drawn])
        names = np.array([name for name, _ in drawn])
        if "d" in batch.hints:
            near = np.flatnonzero(np.asarray(batch.hints["d"]).max((1, 2)) <= LONGEST)
            batch, names = batch.take(near), names[near]
        trace, answer, broken = differs(program, batch)
        found.append((trace, answer, broken))
        wrong = trace | answer
        for name in names[wrong]:
            kinds[str(name)] = kinds.get(str(name), 0) + 1
        smallest = smallest or first(batch, wrong)
    batch = tasks.sample(task, SAMPLED_SIZE, SAMPLED, SEED)
    sampled = differs(program, batch)
    smallest = smallest or first(batch, sampled[0] | sampled[1])
    return {
        "task": task.name,
        "role": str(program.role),
        **counts(*(np.concatenate(part) for part in zip(*found, strict=True))),
        "sampled": counts(*sampled),
        "kinds": kinds,
        "smallest": smallest,
    }


def main(names: list[str]) -> None:
    content = {"seed": SEED, "sizes": SIZES, "each": EACH, "programs": {}}
    if OUT.exists():
        content = json.loads(OUT.read_text())
    found = content["programs"]
    for path in sorted(FOLDER.glob("*.program")):
        if path.stem in names or (not names and path.stem not in found):
            found[path.stem] = row = truth(programs.load(path))
            content["programs"] = found = dict(sorted(found.items()))
            files.write_bytes(OUT, (json.dumps(content, indent=1) + "\n").encode())
            print(path.stem, row["role"], row["wrong"], row["problems"], row["sampled"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
