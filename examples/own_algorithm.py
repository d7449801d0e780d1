"""An algorithm of one's own: the way out of a building with one-way doors and several exits.

For every room, the next room on a way to an exit with the fewest doors; of several, the first.
The features are those of the task bfs: exits are its sources.
"""

import networkx as nx
import numpy as np

from algoscope import tasks
from algoscope.programs.parser import parse
from algoscope.programs.verification import verify

way_out = parse("way_out", "bfs", """
    found: Bool
    onward: Node

    safe = found or input.s
    door = minimum(other.idx, where=other.safe and edge.adj)

    found = door.safe and door.edge.adj and not input.s
    onward = once(door.idx, when=door.safe and door.edge.adj and not safe)

    hint.reach_h = safe
    hint.pi_h = output.pi = onward if found else idx
    """)  # fmt: skip

building, exits = nx.gnp_random_graph(16, 0.1, seed=0, directed=True), [0, 5]
doors, rooms = nx.to_numpy_array(building), np.arange(16)
layers = list(nx.bfs_layers(building.reverse(), exits))
reach, pi = [np.isin(rooms, exits)], [rooms.copy()]
for far in layers[1:]:
    pi.append(pi[-1].copy())
    pi[-1][far] = [min(door for door in building[room] if reach[-1][door]) for room in far]
    reach.append(reach[-1] | np.isin(rooms, far))
inputs = {"pos": rooms / 16, "s": reach[0], "A": doors, "adj": doors}
hints, outputs = {"reach_h": np.array(reach), "pi_h": np.array(pi)}, {"pi": pi[-1]}
stages = [{name: value[None] for name, value in of.items()} for of in (inputs, hints, outputs)]
print(verify(way_out, tasks.Batch(tasks.get("bfs"), *stages, np.array([len(layers)]))).as_json())
