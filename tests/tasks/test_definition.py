"""Tasks of one's own in plain Python: they are sampled, streamed and checked as the thirty are."""

import itertools

import numpy as np
import pytest
from own_algorithm import FEATURES, draw, search, way_out

from algoscope import tasks
from algoscope.tasks import Location, Stage


def test_positions_come_first_and_are_even():
    batch = tasks.sample(way_out, size=8, count=3)
    assert way_out.features[0].name == "pos"
    assert np.array_equal(batch.inputs["pos"][1], np.arange(8) / 8)
    assert way_out.problem == ("A", "exits")


def test_every_step_that_is_recorded_is_in_the_trace():
    batch = tasks.sample(way_out, size=12, count=20, seed=3)
    for sample in range(len(batch)):
        length = batch.lengths[sample]
        safe = batch.hints["safe_h"][sample]
        assert np.array_equal(safe[0], batch.inputs["exits"][sample])
        assert (safe[1:length].sum(-1) > safe[: length - 1].sum(-1)).all()
        assert not safe[length:].any()
        assert np.array_equal(
            batch.hints["door_h"][sample, length - 1], batch.outputs["door"][sample]
        )


def test_the_same_seed_draws_the_same_problems_one_by_one_or_together():
    batch = tasks.sample(way_out, size=8, count=4, seed=5)
    again = tasks.sample(way_out, size=8, count=2, seed=5)
    other = tasks.sample(way_out, size=8, count=4, seed=6)
    assert np.array_equal(batch.inputs["A"][:2], again.inputs["A"])
    assert not np.array_equal(batch.inputs["A"], other.inputs["A"])


def test_parameters_with_defaults_are_options():
    assert list(way_out.options) == ["doors"]
    assert not tasks.sample(way_out, size=8, doors=0.0).inputs["A"].any()
    doors = tasks.sample(way_out, size=8, doors=1.0).inputs["A"]
    assert (doors == 1 - np.eye(8)).all()
    with pytest.raises(ValueError, match="doors: got 'many', needed a number"):
        tasks.sample(way_out, doors="many")
    with pytest.raises(ValueError, match="unknown option of way_out: 'windows'"):
        tasks.sample(way_out, windows=3)


def test_it_is_streamed_and_written_as_text():
    batches = itertools.islice(tasks.stream(way_out, tasks.Recipe(sizes=(5, 8))), 2)
    assert [batch.inputs["A"].shape[1] for batch in batches] == [5, 8]
    assert len(tasks.split(way_out, "val")) == 32
    (example,) = tasks.text.sample(way_out, size=4, count=1)
    assert example.prompt.startswith("way_out:\nA: [[")
    assert tasks.text.read(way_out, example.answer, 4).arrays["door"].shape == (4,)


def test_adjacency_is_filled_in_where_it_is_a_feature():
    with_adj = tasks.define("way_out", f"adj input edge mask\n{FEATURES}", draw, search)
    batch = tasks.sample(with_adj, size=6, count=2)
    expected = (batch.inputs["A"] != 0) | np.eye(6, dtype=bool)
    assert np.array_equal(batch.inputs["adj"], expected)
    assert with_adj.problem == ("A", "exits")
    assert [f.name for f in with_adj.at(Stage.INPUT) if f.location is Location.EDGE] == ["adj", "A"]


def test_all_faults_of_a_definition_are_listed():
    def draw(random, A, exit): ...
    def search(record, A, safe): ...

    with pytest.raises(ValueError, match="task lost") as error:
        tasks.define("lost", FEATURES, draw, search)
    text = str(error.value)
    assert "draw: unknown input: 'exit'; did you mean exits?" in text
    assert "search: unknown feature: 'safe'; did you mean safe_h?" in text
    for name in ("exits", "safe_h", "door_h", "door"):
        assert f"{name}: no function has a parameter of this name" in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"door_h": 99}, "got 99 in the hint door_h, a pointer, needed values from 0 to 7"),
        ({"safe_h": 2}, "got 2 in the hint safe_h, a mask, needed values from -1 to 1"),
        ({"door": -1}, "got -1 in the output door, a pointer, needed values from 0 to 7"),
        ({}, "got a trace without a step"),
    ],
)
def test_registers_hold_what_their_kinds_can(change, reason):
    def search(record, A, exits, safe_h, door_h, door):
        registers = {"safe_h": safe_h, "door_h": door_h, "door": door}
        for name, value in change.items():
            registers[name][0] = value
            record()

    wrong = tasks.define("wrong", FEATURES, draw, search)
    with pytest.raises(ValueError, match=reason):
        tasks.sample(wrong, size=8, count=1)


def test_names_are_resolved_once_a_task_is_registered():
    own = tasks.define("registered_here", FEATURES, draw, search)
    with pytest.raises(ValueError, match=r"unknown task: 'registered_here'.*--task FILE\.py"):
        tasks.get("registered_here")
    tasks.register(own)
    assert tasks.get("registered_here") is tasks.get(own) is own
    assert "registered_here" not in tasks.names(variants=True)
    newer = tasks.define("registered_here", FEATURES, draw, search)
    assert tasks.get(tasks.register(newer).name) is newer


def test_the_thirty_keep_their_names():
    with pytest.raises(ValueError, match="name: got 'bfs', which is a task of CLRS-30"):
        tasks.register(tasks.define("bfs", FEATURES, draw, search))
    assert tasks.register(tasks.get("bfs")) is tasks.get("bfs")


def test_random_streams_of_tasks_are_told_apart_by_place_or_name():
    assert [tasks.seed_word(name) for name in tasks.names()] == list(range(30))
    words = {tasks.seed_word(name) for name in ("bfs_sequential", "dfs_simplified", way_out)}
    assert len(words) == 3
    assert all(30 <= word < 2**32 for word in words)


def test_a_prompt_of_it_is_solved_once_it_is_registered(monkeypatch):
    monkeypatch.setattr(tasks.registry, "_registered", {})
    (example,) = tasks.text.sample(way_out, size=5, count=1, seed=2)
    with pytest.raises(tasks.text.PromptError, match="unknown task: 'way_out'"):
        tasks.text.parse(example.prompt)
    tasks.register(way_out)
    assert tasks.text.write(tasks.text.parse(example.prompt).solved()).answer == example.answer
