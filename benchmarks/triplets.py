"""Can a pair learn from a maximum over third nodes whom the maximum came from? Parents of Floyd and
Warshall's algorithm, from the lengths of the step before.

    python benchmarks/triplets.py benchmarks/triplets.json

The parent of (i, j) is the node p that ends the best way, of those that the way may pass or i
itself: the one with the largest -(D_ip + A_pj). For each bit of p's number, one maximum has the bit
added and one has not, with lengths so large that the bit decides nothing; their difference is the
bit of the best. All numbers are float32. What a pair may pass is given here, not computed; nothing
is trained or compiled.
"""

import argparse
import json
import pathlib
from typing import NamedTuple

import numpy as np

from algoscope import files, tasks
from algoscope.tasks import Batch

SIZES, COUNT, SEED = (5, 11, 24, 64), 32, 5
SHARPNESS = np.float32(2.0**20)
"""Lengths that differ by more than 2^-20 are told apart by more than a bit."""


class Row(NamedTuple):
    nodes: int
    steps: int
    steps_right: int
    """In which all pairs of two nodes have their parents."""
    problems: int
    problems_right: int


def best_senders(
    lengths: np.ndarray, A: np.ndarray, passable: np.ndarray, adj: np.ndarray
) -> np.ndarray:
    """Of ways with such lengths to a node p [start, p] that may be passed [start, p], and an edge
    from p, the number of the best p: int [start, end]."""
    joined = passable[:, None, :] & (adj & ~np.eye(len(adj), dtype=bool)).T[None]
    ways = lengths[:, None, :] + A.T[None]
    score = np.where(joined, -SHARPNESS * ways, np.float32(-np.inf)).astype(np.float32)
    score = np.where(joined.any(-1, keepdims=True), score, 0)
    numbers, plain = np.arange(len(A)), score.max(-1)
    found = np.zeros(plain.shape, int)
    for power in range(int(len(A) - 1).bit_length()):
        bit = (numbers >> power & 1).astype(np.float32)
        found += ((score + bit).max(-1) - plain > 0.5).astype(int) << power
    return found


def next_parents(batch: Batch, sample: int, step: int) -> np.ndarray:
    """[start, end]"""
    D, A = (
        np.asarray(values, np.float32)
        for values in (batch.hints["D"][sample, step], batch.inputs["A"][sample])
    )
    known, adj = batch.hints["msk"][sample, step] == 1, batch.inputs["adj"][sample] == 1
    starts = np.eye(len(D), dtype=bool)
    passed = batch.hints["k"][sample, :step].any(0)
    own = best_senders(np.where(starts, 0, D), A, known & passed | starts, adj)
    (k,) = np.flatnonzero(batch.hints["k"][sample, step])
    shorter = known[:, k, None] & known[k] & (~known | (D[:, k, None] + D[k] < D))
    return np.where(shorter, own[k], np.where(known, own, np.arange(len(D))[:, None]))


def measure(size: int) -> Row:
    batch = tasks.sample("floyd_warshall", size, COUNT, SEED)
    loops = np.eye(size, dtype=bool)
    right = [
        [
            bool(((next_parents(batch, sample, k) == parents[k + 1]) | loops).all())
            for k in range(length - 1)
        ]
        for sample, (length, parents) in enumerate(
            zip(batch.lengths, batch.hints["Pi_h"], strict=True)
        )
    ]
    steps = sum(map(len, right))
    return Row(size, steps, sum(map(sum, right)), len(right), sum(map(all, right)))


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("?")[0] + "?")
    parser.add_argument("path", type=pathlib.Path)
    path = parser.parse_args().path
    rows = [measure(size) for size in SIZES]
    lines = ",\n".join(f" {json.dumps(row._asdict())}" for row in rows)
    files.write_bytes(path, f"[\n{lines}\n]\n".encode())
    print(path.read_text())


if __name__ == "__main__":
    main()
