"""The page on scale has the numbers that benchmarks/scale_plan.py counts and scale.py measured."""

import importlib
import json

import equinox
import jax
import numpy as np
import pytest
from pages import ROOT, one_line, read, table

from algoscope import networks, tasks
from algoscope.capacity import readable
from algoscope.networks import NetworkConfig
from algoscope.networks.processors import PROCESSORS
from algoscope.sweeps.estimate import COMPILED, JUDGED

PAGE = "docs/explanation/scale.md"
TEN_THOUSAND = json.loads((ROOT / "benchmarks/scale.json").read_text())


@pytest.fixture(scope="module")
def scale_plan():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module("scale_plan")


def test_what_the_plan_takes_for_granted(scale_plan):
    assert set(scale_plan.HINT_STEPS) == set(tasks.names())
    assert len(PROCESSORS) == scale_plan.PROCESSORS
    for name in ("bfs", "dfs", "bubble_sort"):
        lengths = np.asarray(tasks.sample(name, 16, 32, seed=0).lengths)
        assert lengths.max() == scale_plan.HINT_STEPS[name]
    shapes = equinox.filter_eval_shape(
        networks.build, tasks.get("bfs"), NetworkConfig(), key=jax.random.key(0)
    )
    arrays = (leaf for leaf in jax.tree.leaves(shapes) if hasattr(leaf, "size"))
    assert sum(array.size for array in arrays) == scale_plan.PARAMETERS


def test_runs_are_handed_out_the_longest_first(scale_plan):
    assert scale_plan.makespan([2, 3, 2, 3, 2], 2) == 7
    assert scale_plan.makespan([5, 1, 1], 3) == 5
    assert scale_plan.makespan([1, 2, 3], 1) == 6


def test_the_tables_of_plans(scale_plan):
    page = read(PAGE)
    assert table(page, "study", "device hours").rows == scale_plan.plan_rows()
    assert table(page, "study", "judgements").rows == scale_plan.stored_rows()


def test_estimates_of_sweeps_are_what_was_measured():
    """To within a third: of BFS, on one machine."""
    measured = json.loads((ROOT / "benchmarks/judging_time.json").read_text())
    (first, other), *_ = (one["processor_seconds"] for one in measured["measured"])
    assert pytest.approx((first, other), rel=1 / 3) == (
        COMPILED + JUDGED,
        JUDGED,
    )


def test_sentences(scale_plan):
    page, known = one_line(read(PAGE)), scale_plan.measured()
    first, other = scale_plan.judging_seconds()
    assert f"{other:.0f} seconds of one core, {first:.0f} for the first of a run" in page
    assert f"takes {known.growth_ms[128] / known.growth_ms[1]:.0f} times as long" in page
    rule = known.hint_step_ms * scale_plan.HINT_STEPS["dfs"]
    assert f"DFS costs {known.step_ms['dfs'] / rule:.1f} times what that rule says" in page
    _, every = scale_plan.STUDIES
    ones, many = (scale_plan.plan(known, every, 1, seeds) for seeds in (1, 128))
    assert f"has {ones.runs:,} runs and {ones.files:,} files" in page
    assert f"128 seeds a run {many.runs:,} and {many.files:,}" in page
    largest = scale_plan.fastest(known, every, 1000)
    assert f"{readable(largest.checkpoint_bytes_a_second)} a second on 1,000 GPUs" in page


def test_what_ten_thousand_runs_take():
    named = {
        "`runs list`": "list",
        "`runs query`, scores by task": "query results",
        "`runs query`, validation by step": "query validation",
        "`sweep status`": "status",
        "`sweep report`": "report",
    }
    rows, loads = [], []
    for title, name in named.items():
        turns = [TEN_THOUSAND["measured"][name][turn] for turn in ("first", "again")]
        keys = ("processor_seconds", "seconds")
        rows.append([title, *(f"{turn[key]:.1f}" for turn in turns for key in keys)])
        loads += [turn["load_average"] for turn in turns]
    page = read(PAGE)
    assert table(page, "command", "processor, again").rows == rows
    assert TEN_THOUSAND["runs"] == 10_000
    assert TEN_THOUSAND["measured"]["list"]["again"]["seconds"] < 2
    page = one_line(page)
    assert f"load average was {min(loads):.1f} to {max(loads):.1f}" in page
    assert f"{TEN_THOUSAND['made']['files']:,} files in all" in page
    assert f"is {readable(TEN_THOUSAND['measured']['report']['bytes'])} large" in page
