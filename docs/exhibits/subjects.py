"""What the gallery shows: a compiled program of each family of algorithms on a small problem, and
beside three of them a network that was trained for it."""

import pathlib
import tempfile
from typing import NamedTuple

import numpy as np
from exhibits.animation import Look, Problem, draw

from algoscope import networks, programs, tasks, training
from algoscope.programs.compiler import compile_program

NETWORKS = pathlib.Path(__file__).resolve().parents[1] / "gallery" / "networks"
STREETS = {
    (0, 1): 0.3, (0, 2): 0.6, (1, 3): 0.5, (2, 3): 0.1, (2, 4): 0.4, (3, 5): 0.7,
    (4, 6): 0.3, (5, 6): 0.2, (5, 7): 0.2, (6, 8): 0.6, (7, 8): 0.3,
}  # fmt: skip
"""Of a small town: length by the two corners."""
ONE_WAY = [(0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 1), (5, 4), (5, 3)]
LEARNT = {"bfs": 600, "dijkstra": 1200, "dfs": 1500}
"""Training steps of the networks that are shown beside a program."""
WIDTH, SEED, SIZES = 32, 0, (5, 8, 11)


class Family(NamedTuple):
    """A family of algorithms, and one compiled program of it on one problem."""

    title: str
    program: str
    problem: Problem


def town(directed: bool = False, weighted: bool = False) -> np.ndarray:
    """As a matrix."""
    edges = dict.fromkeys(ONE_WAY, 1.0) if directed else STREETS
    matrix = np.zeros((1 + max(max(pair) for pair in edges),) * 2)
    for (a, b), length in edges.items():
        matrix[a, b] = length if weighted else 1
        matrix[b, a] = matrix[b, a] if directed else matrix[a, b]
    return matrix


def families() -> list[Family]:
    """One for each file of tasks/algorithms that has a program."""
    lengths, ways = town(weighted=True), town(directed=True)

    def drawn(task: str, size: int, seed: int) -> tasks.Batch:
        return tasks.sample(task, size, 1, seed=seed)

    table = [
        ("Breadth first", "bfs", tasks.run("bfs", town(), source=0), Look("reach_h", "pi_h")),
        ("Shortest paths", "dijkstra", tasks.run("dijkstra", lengths, source=0),
         Look("mark", "pi_h", ("u",))),
        ("Depth first", "dfs", tasks.run("dfs", ways), Look("color", "pi_h", ("u", "v"))),
        ("Spanning trees", "mst_prim", tasks.run("mst_prim", lengths, source=0),
         Look("mark", "pi_h", ("u",))),
        ("Cut points", "articulation_points", tasks.run("articulation_points", town()[:6, :6]),
         Look("is_cut_h", "pi_h", ("u", "v"))),
        ("Sorting", "insertion_sort", drawn("insertion_sort", 7, 5),
         Look("", "pred_h", ("i", "j"), "key")),
        ("Searching", "minimum", drawn("minimum", 7, 5), Look("min_h", "", ("i",), "key")),
        ("Subarrays", "find_maximum_subarray_kadane", drawn("find_maximum_subarray_kadane", 7, 5),
         Look("", "", ("best_low", "best_high", "i", "j"), "key")),
        ("Greedy", "activity_selector", drawn("activity_selector", 7, 5),
         Look("selected_h", "", ("m", "k"), "f")),
        ("Geometry", "graham_scan", drawn("graham_scan", 7, 5),
         Look("in_hull_h", "stack_prev", ("i",))),
        ("Strings", "naive_string_matcher",
         tasks.run("naive_string_matcher", "abaab", needle="aab"),
         Look("", "", ("s", "i", "j"), "key")),
    ]  # fmt: skip
    return [Family(title, name, Problem(batch, look)) for title, name, batch, look in table]


def trained_of(task: str) -> networks.Network:
    network, _ = networks.load(NETWORKS / f"{task}.safetensors")
    return network


def train(task: str) -> None:
    """Learns the task on two cores in a minute or two, and keeps the best weights."""
    config = training.TrainingConfig(
        (task,),
        seeds=1,
        first_seed=SEED,
        steps=LEARNT[task],
        learning_rate=1e-3,
        time_buckets=1,
        recipe=tasks.Recipe(sizes=SIZES, count=16, predecessors_as_inputs=False),
        network=networks.NetworkConfig(width=WIDTH),
    )
    with tempfile.TemporaryDirectory() as folder:
        run = training.train(config, pathlib.Path(folder) / task)
        network = run.ensemble([SEED])[0]
    networks.save(network, NETWORKS / f"{task}.safetensors", task)


class Compared(NamedTuple):
    """A trained network beside a program, on one problem."""

    picture: str
    right: int
    """Nodes for which its answer is right, of `nodes`."""
    nodes: int
    steps: int
    faithful: int
    """Steps in which all that is drawn is as in the algorithm."""


def compared(family: Family) -> Compared:
    batch, look = family.problem.batch, family.problem.look
    program = compile_program(programs.get(family.program)).network
    learnt = networks.run(trained_of(family.program), batch)
    picture = draw(
        family.problem,
        {"compiled program": networks.run(program, batch), "trained network": learnt},
        f"{family.program}, step by step: the compiled program and a trained network",
    )
    right = np.asarray(learnt.outputs["pi"])[0] == batch.outputs["pi"][0]
    steps = int(batch.lengths[0]) - 1
    same = np.ones(steps, bool)
    for name in look.drawn:
        said = np.asarray(learnt.hints[name])[0, :steps]
        same &= (said == batch.hints[name][0, 1 : steps + 1]).reshape(steps, -1).all(1)
    return Compared(picture, int(right.sum()), batch.nodes, steps, int(same.sum()))


def alone(family: Family) -> str:
    network = compile_program(programs.get(family.program)).network
    recording = networks.run(network, family.problem.batch)
    title = f"{family.program}, compiled, step by step"
    return draw(family.problem, {family.program: recording}, title)
