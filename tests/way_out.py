"""A task of one's own for tests: the way out of a building with one-way doors and two exits."""

import numpy as np

from algoscope import tasks

FEATURES = """
    A       input   edge  mask
    exits   input   node  mask
    safe_h  hint    node  mask
    door_h  hint    node  pointer
    door    output  node  pointer
    """

PROGRAM = """
    left: Bool
    onward: Node

    safe = left or input.exits
    way = minimum(other.idx, where=other.safe and edge.A)

    left = way.safe and way.edge.A and not input.exits
    onward = once(way.idx, when=way.safe and way.edge.A and not safe)

    hint.safe_h = safe
    hint.door_h = output.door = onward if left else idx
    """


def draw(random, A, exits, doors=0.2):
    """Doors between some pairs of rooms, and two exits."""
    A[:] = random.random(A.shape) < doors
    exits[random.choice(len(exits), size=2, replace=False)] = 1


def search(record, A, exits, safe_h, door_h, door):
    """The first door of a shortest way to an exit, by breadth-first search from the exits."""
    safe_h[:] = exits
    door_h[:] = np.arange(len(exits))
    record()
    while True:
        safe = safe_h.copy()
        for room in np.flatnonzero(safe == 0):
            onward = np.flatnonzero(A[room] * safe)
            if len(onward):
                safe_h[room] = 1
                door_h[room] = onward[0]
        if np.array_equal(safe_h, safe):
            break
        record()
    door[:] = door_h


way_out = tasks.define("way_out", FEATURES, draw, search, smallest=2)
