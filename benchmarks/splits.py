"""How many numbers would a node have to hold, so that pairs could add up the two parts of a split?

    python benchmarks/splits.py benchmarks/splits.json

In matrix_chain_order and optimal_bst the cost of (i, j) with a split at k is that of (i, k) and of
(k + 1, j), and something of the nodes. A triplet with the third node k has the edges (i, k) and
(k, j), so that k would have to say the cost of (k + 1, j), another number for each j; with k + 1 it
has (k + 1, j), and k + 1 would have to say that of (i, k), another for each i. Counted are the
pairs that change in one step and have their best split at the same k: the different i or the
different j among them, whichever are fewer, without parts of a single node, whose cost is an input.
The largest count of a problem is a lower bound of what one node has to hold in one step: splits
that are not the best have to be compared, too.
"""

import argparse
import json
import pathlib
from typing import NamedTuple

import numpy as np

from algoscope import files, tasks
from algoscope.tasks import Batch

HINTS = {"matrix_chain_order": ("m", "s_h"), "optimal_bst": ("e", "root_h")}
"""The cost of a pair, and its best split."""
SIZES, COUNT, SEED = (4, 11, 24, 37, 64), 16, 5


class Row(NamedTuple):
    task: str
    nodes: int
    problems: int
    least: int
    median: float
    most: int


def held(batch: Batch, sample: int) -> int:
    """The most numbers of one node in one step."""
    costs, splits = (batch.hints[name][sample] for name in HINTS[batch.task.name])
    most = 0
    for step in range(1, batch.lengths[sample]):
        first, second = np.nonzero(costs[step] != costs[step - 1])
        split = splits[step][first, second].astype(int)
        for k in np.unique(split):
            firsts = set(first[(split == k) & (first < k)])
            seconds = set(second[(split == k) & (second > k + 1)])
            most = max(most, min(len(firsts), len(seconds)))
    return most


def measure(task: str, size: int) -> Row:
    batch = tasks.sample(task, size, COUNT, SEED)
    counts = [held(batch, sample) for sample in range(len(batch))]
    return Row(task, batch.nodes, len(batch), min(counts), float(np.median(counts)), max(counts))


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("?")[0] + "?")
    parser.add_argument("path", type=pathlib.Path)
    path = parser.parse_args().path
    rows = [measure(task, size) for task in HINTS for size in SIZES]
    lines = ",\n".join(f" {json.dumps(row._asdict())}" for row in rows)
    files.write_bytes(path, f"[\n{lines}\n]\n".encode())
    print(path.read_text())


if __name__ == "__main__":
    main()
