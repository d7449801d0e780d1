"""An algorithm of one's own: the way out of a building with one-way doors and several exits.

For every room, the next room on a way to an exit with the fewest doors; of several, the first.

    python examples/own_algorithm.py

On the command line, this file stands for its task and its program:

    algoscope sample examples/own_algorithm.py --size 6
    algoscope verify examples/own_algorithm.py
    algoscope train examples/own_algorithm.py --out runs/way_out
    algoscope judge runs/way_out --task examples/own_algorithm.py
    algoscope report runs/way_out --task examples/own_algorithm.py
"""

import pathlib
import tempfile

import networkx as nx
import numpy as np

from algoscope import measures, networks, programs, tasks, training
from algoscope.programs.compiler import compile_program
from algoscope.programs.verification import verify

# What a problem consists of, what the algorithm shows at every step, and what it answers.
# `A` is the graph: A[i, j] is 1 where a door leads from room i to room j.
FEATURES = """
    A       input   edge  mask
    exits   input   node  mask
    safe_h  hint    node  mask
    door_h  hint    node  pointer
    door    output  node  pointer
    """


def draw(random, A, exits, doors=0.2):
    """A random building: a door between two rooms with probability `doors`, and two exits."""
    A[:] = random.random(A.shape) < doors
    np.fill_diagonal(A, 0)
    exits[random.choice(len(exits), size=2, replace=False)] = 1


def search(record, A, exits, safe_h, door_h, door):
    """Breadth-first search from the exits, against the direction of the doors."""
    rooms = np.arange(len(exits))
    safe_h[:] = exits
    door_h[:] = rooms
    record()
    while True:
        safe = safe_h.copy()
        for room in rooms[safe == 0]:
            onward = np.flatnonzero(A[room] * safe)
            if len(onward):
                safe_h[room] = 1
                door_h[room] = onward[0]
        if np.array_equal(safe_h, safe):
            break
        record()
    door[:] = door_h


way_out = tasks.define("way_out", FEATURES, draw, search, smallest=2)

# The same algorithm as a graph program: what every room does in a step, all of them at once.
program = programs.parse("way_out", way_out, """
    left: Bool
    onward: Node

    safe = left or input.exits
    way = minimum(other.idx, where=other.safe and edge.A)

    left = way.safe and way.edge.A and not input.exits
    onward = once(way.idx, when=way.safe and way.edge.A and not safe)

    hint.safe_h = safe
    hint.door_h = output.door = onward if left else idx
    """)  # fmt: skip


def main():
    # Sample: problems with the trace of the reference algorithm.
    batch = tasks.sample(way_out, size=16, count=32, seed=0)
    print(repr(batch))

    # Trace: any building of one's own, step by step.
    building = nx.DiGraph(
        [("cellar", "kitchen"), ("attic", "landing"), ("landing", "hall"), ("kitchen", "hall")]
    )
    print(tasks.run(way_out, building, exits={"hall"}))

    # Compile the program into a network, and verify it against the reference algorithm.
    compiled = compile_program(program)
    verification = verify(program, batch)
    width = compiled.network.config.width
    print(f"compiled, width {width}: {verification.network.exact_traces:.0%} exact")

    # Train a small network shortly, in the same way as on the thirty tasks.
    config = training.TrainingConfig(
        tasks=(way_out,),
        steps=20,
        learning_rate=1e-3,
        scored_on=("fresh",),
        recipe=tasks.Recipe(sizes=(8,), count=8),
        network=networks.NetworkConfig(width=16),
    )
    with tempfile.TemporaryDirectory() as folder:
        run = training.train(config, pathlib.Path(folder) / "way_out")
        trained = run.ensemble()[0]

    # Judge both: does the network run the algorithm, or a shortcut?
    programs.register(program)
    judgements = {
        "compiled": measures.judge(compiled, way_out, problems=500),
        "trained": measures.judge(trained, way_out, problems=500),
    }
    for name, judgement in judgements.items():
        print(f"{name}: {judgement.verdict}")
    return verification, judgements


if __name__ == "__main__":
    verification, judgements = main()
