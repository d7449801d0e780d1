"""Networks whose program is known get it back, others do not get one."""

import jax
import numpy as np
import pytest

from algoscope import networks, programs, tasks
from algoscope.decompile import decompile
from algoscope.decompile.fit import GOES_ON, READS, SHOWS, observe
from algoscope.decompile.grammar import length, neighbours, normal, random_neighbour
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program


@pytest.fixture(scope="module")
def self_reading():
    return compile_program(programs.get("bfs_self")).network


@pytest.fixture(scope="module")
def behaviour(self_reading):
    (one,) = observe(self_reading, tasks.get("bfs"), count=6, sets=1, seed=3)
    return one


def others(*kept: str) -> set[str]:
    """All programs of BFS but these."""
    return {p.name for role in Role for p in programs.of_task("bfs", role)} - set(kept)


def test_a_network_is_predicted_by_its_own_program_alone(behaviour):
    fit = behaviour.fit(programs.get("bfs_self"))
    assert {name: part.share for name, part in fit.parts.items()} == {
        READS: 1.0,
        SHOWS: 1.0,
        GOES_ON: 1.0,
    }
    assert fit.value == 1
    assert fit.error == 0


@pytest.mark.parametrize(
    ("rival", "part"), [("bfs", READS), ("bfs_highest", SHOWS), ("bfs_levels", GOES_ON)]
)
def test_each_part_tells_a_rival_apart(behaviour, rival, part):
    fit = behaviour.fit(programs.get(rival))
    assert fit.parts[part].share < 1
    assert fit.value < 1


def test_steps_add_up_to_the_share(behaviour):
    for part in behaviour.fit(programs.get("bfs_highest")).parts.values():
        weights = part.all.sum(0)
        known = [(s, w) for s, w in zip(part.by_step, weights, strict=True) if s is not None]
        shares, counted = map(np.array, zip(*known, strict=True))
        assert (shares * counted).sum() / counted.sum() == pytest.approx(part.share)
        assert [s is None for s in part.by_step] == [w == 0 for w in weights]


def test_a_program_that_is_held_back_is_made_anew(self_reading):
    found = decompile(
        self_reading, "bfs", without=others("bfs", "bfs_highest"), most=400, problems=4
    )
    assert found.fit == 1
    assert found.exact
    assert len(found.origin) > 1
    assert max(found.library.values()) < 1
    assert found.null.median < 1
    text = found.text
    assert "# role: variant" in text
    again = programs.parse("again", "bfs", text)
    assert normal(again.text) == normal(found.program.text)


def test_an_untrained_network_has_no_program():
    task = tasks.get("bfs")
    network = networks.build(task, networks.NetworkConfig(width=16), key=jax.random.key(0))
    found = decompile(network, task, without=others("bfs", "bfs_locked"), most=60, problems=4)
    assert found.fit < 0.8
    assert not found.exact or found.parts[SHOWS].value < 0.8


def test_neighbours_are_programs_one_change_away():
    bfs, highest = programs.get("bfs"), programs.get("bfs_highest")
    steps = list(neighbours(bfs, [highest, programs.get("bfs_levels")]))
    texts = [normal(step.program.text) for step in steps]
    assert len(set(texts)) == len(texts)
    assert normal(bfs.text) not in texts
    assert normal(highest.text) in texts
    by_level = [step for step in steps if step.change == "parent as in bfs_levels"]
    assert [v.name for v in by_level[0].program.variables] == ["level", "found", "pi"]


def test_what_is_not_needed_can_go():
    text = programs.get("bfs").text + "\nspare: Bool\nspare = not spare"
    program = programs.parse("spare", "bfs", text)
    shorter = [s.program for s in neighbours(program, []) if s.change == "without spare"]
    assert [normal(p.text) for p in shorter] == [normal(programs.get("bfs").text)]
    assert length(shorter[0]) < length(program)


def test_random_programs_are_the_same_for_the_same_seed():
    bfs = programs.get("bfs")
    one, two = (
        random_neighbour(bfs, [programs.get("bfs_self")], np.random.default_rng(5)) for _ in "ab"
    )
    assert one.text == two.text != bfs.text


def test_without_any_program_to_begin_with_it_says_so(self_reading):
    with pytest.raises(ValueError, match="needed a program of bfs to begin with"):
        decompile(self_reading, "bfs", without=others())
