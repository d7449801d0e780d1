"""What edges cannot show, and what they can: the lower bounds of `benchmarks/pairs.py` and
`benchmarks/splits.py`."""

import dataclasses
import importlib
import json

import numpy as np
import pytest
from pages import ROOT

from algoscope import tasks


@pytest.fixture(scope="module")
def pairs():
    return _benchmark("pairs")


@pytest.fixture(scope="module")
def splits():
    return _benchmark("splits")


def _benchmark(name: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module(name)


def test_sums_over_both_ends_and_the_edge_are_within_reach(pairs):
    """A control: anything that is such a sum is fitted to rounding."""
    batch = tasks.sample("floyd_warshall", 6, 1)
    random = np.random.default_rng(0)
    sender, receiver = random.random((6, 1)), random.random((1, 6))
    shown = sender + receiver + 3 * batch.hints["D"][0, 0] - 2 * batch.inputs["A"][0].T
    given = pairs.columns(batch, 0, 0)
    best = given @ np.linalg.lstsq(given, shown.ravel(), rcond=None)[0]
    np.testing.assert_allclose(best, shown.ravel(), atol=1e-9)


def test_a_table_that_is_updated_over_a_third_node_is_not(pairs):
    row = pairs.measure("floyd_warshall", "D", 7)
    assert row.beyond > 0
    assert row.bound > 0.01


def test_what_an_edge_is_given_it_can_show(pairs):
    assert pairs.measure("strongly_connected_components", "A_t", 4).beyond == 0


def test_one_maximum_over_a_third_node_is_a_step_of_floyd_warshall():
    """What an edge of a processor with triplets could compute from the hints of the step before: a
    maximum over the third node of a sum over the three edges and nodes, cut at 0."""
    batch = tasks.sample("floyd_warshall", 11, 8)
    far = 100.0
    for sample, length in enumerate(batch.lengths):
        for step in range(length - 1):
            D, known = batch.hints["D"][sample, step], batch.hints["msk"][sample, step]
            waypoint = batch.hints["k"][sample, step]
            # Over i, j and the third node.
            there = D[:, None, :] + D.T[None, :, :]
            closed = far * (1 - waypoint + 2 - known[:, None, :] - known.T[None, :, :])
            shorter = np.maximum(0, (D[..., None] - there - closed).max(-1) - far * (1 - known))
            first = np.maximum(0, (there - closed).max(-1) - far * known)
            joined = np.maximum(0, (1 - closed).max(-1))
            np.testing.assert_allclose(
                D - shorter + first, batch.hints["D"][sample, step + 1], atol=1e-6
            )
            assert ((known + joined > 0) == batch.hints["msk"][sample, step + 1]).all()


def test_a_cell_of_lcs_length_changes_without_anything_that_its_triplets_see():
    """A witness against all weights of one round without memory. A pair sees the inputs, hints of
    nodes, which stay, and its own row and column of the hints of pairs. In some problem these are
    the same at two steps and lead to different lengths. Where characters differ, the next length
    follows from row and column: there is no such pair of steps."""
    batch = tasks.sample("lcs_length", 16, 300, 7, length_2=12)
    witnesses: dict[bool, list[tuple[int, int, int, int]]] = {True: [], False: []}
    for sample, length in enumerate(batch.lengths):
        pred, c, arrows = (batch.hints[name][sample, :length] for name in ("pred_h", "c", "b_h"))
        assert (pred == pred[0]).all()
        moved = (c[1:] != c[:-1]) | (arrows[1:] != arrows[:-1]).any(-1)
        key = batch.inputs["key"][sample]
        alike = (key[:, None] == key[None]).all(-1)
        for step in range(length - 2):
            still = ~(moved[step].any(0) | moved[step].any(1))
            differs = (c[step + 2] != c[step + 1]) & still[:, None] & still
            for i, j in np.argwhere(differs):
                witnesses[bool(alike[i, j])].append((sample, step, int(i), int(j)))
    assert witnesses == {True: [(83, 11, 14, 26)], False: []}


@pytest.mark.parametrize("task", ["matrix_chain_order", "optimal_bst"])
def test_a_node_would_have_to_hold_more_numbers_in_larger_problems(splits, task):
    known = json.loads((ROOT / "benchmarks/splits.json").read_text())
    assert splits.measure(task, 11)._asdict() in known
    medians = [row["median"] for row in known if row["task"] == task]
    assert medians == sorted(medians)
    assert medians[-1] > 3 * medians[1]


def test_pairs_whose_best_split_is_the_same_are_counted(splits):
    """Costs of spans from 0 to 5 that change in one step: (0, 4), (1, 4) and (1, 5) split at 2, but
    a first part is (2, 2) in none of these, and (2, 5) has one."""
    costs, at = np.zeros((1, 2, 6, 6)), np.zeros((1, 2, 6, 6))
    for first, second, split in ((0, 4, 2), (1, 4, 2), (1, 5, 2), (2, 5, 2), (0, 5, 3)):
        costs[0, 1, first, second], at[0, 1, first, second] = 1, split
    batch = tasks.sample("matrix_chain_order", 6, 1)
    given = dataclasses.replace(
        batch, hints={**batch.hints, "m": costs, "s_h": at}, lengths=np.array([2])
    )
    assert splits.held(given, 0) == 2
