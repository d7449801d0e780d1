"""Plans: runs are named by what they are, and only what is missing is planned."""

import dataclasses
import json

import pytest
from tiny import AXES, BASE, LONG, SETTINGS, SWEEP

from algoscope import sweeps
from algoscope.serialise import from_json, to_json


def names(sweep, folder) -> list[str]:
    return [one.item.name for one in sweeps.plan(sweep, folder, SETTINGS)]


def test_names_follow_from_the_configuration_alone(tmp_path):
    planned = names(SWEEP, tmp_path / "a")
    assert len(set(planned)) == len(planned) == 9
    assert all(name.startswith("bfs-") and name.endswith("-s0-1") for name in planned)
    renamed = sweeps.checked(dataclasses.replace(SWEEP, name="other", after="judge", problems=7))
    assert names(renamed, tmp_path / "b") == planned
    reordered = sweeps.checked(sweeps.Sweep("tiny", BASE, dict(reversed(AXES.items())), seeds=2))
    assert sorted(names(reordered, tmp_path)) == sorted(planned)
    changed = sweeps.checked(sweeps.Sweep("tiny", BASE | {"clip": 0.5}, AXES, seeds=2))
    assert not set(names(changed, tmp_path)) & set(planned)


@pytest.mark.parametrize(
    ("present", "wanted", "expected"),
    [
        ([], (0, 4), ["s0-3"]),
        (["s0-1"], (0, 4), ["s0-1", "s2-3"]),
        (["s2-3"], (0, 6), ["s0-1", "s2-3", "s4-5"]),
        (["s0-7"], (0, 4), ["s0-7"]),
        (["s0-1", "s4-5"], (0, 6), ["s0-1", "s2-3", "s4-5"]),
        (["s0-3", "s2-5"], (0, 6), ["s0-3", "s2-5"]),
        (["s8-9"], (0, 2), ["s0-1"]),
    ],
)
def test_more_seeds_are_runs_of_their_own(tmp_path, present, wanted, expected):
    stem = names(SWEEP, tmp_path)[0].removesuffix("-s0-1")
    for seeds in present:
        (tmp_path / f"{stem}-{seeds}").mkdir()
    first, last = wanted
    axes = {"data_seed": [1], "steps": [LONG]}
    sweep = sweeps.Sweep("tiny", BASE, axes, seeds=last - first, first_seed=first)
    planned = sweeps.plan(sweeps.checked(sweep), tmp_path, SETTINGS)
    assert [one.item.name.removeprefix(f"{stem}-") for one in planned] == expected
    for one in planned:
        first, last = map(int, one.item.name.rpartition("-s")[2].split("-"))
        assert one.item.config.all_seeds == tuple(range(first, last + 1))


def test_an_item_is_the_same_after_a_way_through_json(tmp_path):
    item = sweeps.plan(SWEEP, tmp_path, SETTINGS)[0].item
    assert from_json(sweeps.Item, json.loads(json.dumps(to_json(item)))) == item


def test_estimates_grow_with_what_there_is_to_do():
    config = SWEEP.config({})
    small = sweeps.estimate(config, "cpu")
    for changes in ({"steps": 400_000}, {"seeds": 64, "steps": 400_000}):
        large = sweeps.estimate(dataclasses.replace(config, **changes), "cpu")
        assert large.seconds > 2 * small.seconds
    judged = SETTINGS._replace(after="judge", problems=400)
    more = sweeps.estimate(config, "cpu", judged._replace(problems=4_000))
    assert more.training == small.training
    assert more.after > sweeps.estimate(config, "cpu", judged).after > small.after == 0
    assert sweeps.side_by_side([3, 2, 2, 1], 2) == 4
    assert sweeps.side_by_side([3, 2], 1) == 5
    wide = dataclasses.replace(config.network, width=1024)
    assert sweeps.estimate(dataclasses.replace(config, network=wide), "cpu").octets > small.octets
