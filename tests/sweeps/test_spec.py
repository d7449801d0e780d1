"""Specifications: the same from every kind of file, and refused with all faults at once."""

import pytest
from tiny import AXES, BASE, LONG, SWEEP, TOML

from algoscope import sweeps
from algoscope.errors import ConfigError
from algoscope.sweeps.plan import stem_of

YAML = """\
seeds: 2
base:
  tasks: [bfs]
  evaluate_every: 20
  pool_steps: 20
  time_buckets: 1
  learning_rate: 1e-2
  recipe: {sizes: [4], count: 4}
  network.width: 4
  scored_on: [test]
axes:
  data_seed: [1, 2, 3]
  steps: [900, 40, 20]
"""


def test_toml_yaml_and_python_say_the_same(tmp_path):
    (tmp_path / "tiny.toml").write_text(TOML)
    (tmp_path / "tiny.yaml").write_text(YAML)
    assert sweeps.read(tmp_path / "tiny.toml") == SWEEP
    assert sweeps.read(tmp_path / "tiny.yaml") == SWEEP


def test_tables_of_yaml_are_merged_as_it_says(tmp_path):
    """And a value beside a merged one is no second one."""
    small = "&small {network.width: 4, steps: 20}"
    text = f"base: {{tasks: [bfs], <<: {small}, steps: 40}}\naxes: {{clip: [0.5, 1.0]}}"
    (tmp_path / "a.yaml").write_text(text)
    sweep = sweeps.read(tmp_path / "a.yaml")
    assert (sweep.base["steps"], sweep.base["network.width"]) == (40, 4)


def test_every_combination_is_a_configuration():
    configs = [SWEEP.config(combination) for combination in SWEEP.combinations]
    assert [(c.data_seed, c.steps) for c in configs] == [
        (1, LONG), (1, 40), (1, 20), (2, LONG), (2, 40), (2, 20), (3, LONG), (3, 40), (3, 20),
    ]  # fmt: skip
    assert {(c.tasks, c.seeds, c.network.width, c.recipe.sizes) for c in configs} == {
        (("bfs",), 2, 4, (4,))
    }


def test_a_hint_mode_is_two_options_of_the_network():
    axes = {"hint_mode": ["encoded_decoded", "decoded_only", "none"]}
    sweep = sweeps.checked(sweeps.Sweep("modes", BASE, axes))
    assert [sweep.config(c).hint_mode for c in sweep.combinations] == axes["hint_mode"]


def test_combinations_that_are_one_training_are_refused():
    axes = {"hint_mode": ["none", "decoded_only"], "network.decode_hints": [True, False]}
    with pytest.raises(ConfigError) as caught:
        sweeps.checked(sweeps.Sweep("a", BASE, axes))
    first, twice = str(caught.value).splitlines()
    assert first == "network.decode_hints: got it with hint_mode, which sets it, needed one of them"
    assert twice == (
        "axes: got hint_mode='none' and hint_mode='decoded_only', which are one training, needed "
        "it once"
    )


def test_values_that_differ_are_told_apart():
    values = [0.1, 1e-4, 0.12345678, 0.12345679, 3, "best", (4, 8)]
    texts = ["0.1", "0.0001", "0.12345678", "0.12345679", "3", "best", "4 8"]
    assert [sweeps.value_text(value) for value in values] == texts


def test_one_and_one_point_zero_are_the_same_run():
    stems = {
        stem_of(sweep.config({}))
        for value in (1, 1.0)
        for sweep in [sweeps.checked(sweeps.Sweep("a", BASE | {"learning_rate": value}))]
    }
    assert len(stems) == 1


def test_all_faults_are_listed_at_once():
    content = {
        "seeds": "many",
        "aftr": "judge",
        "name": "../elsewhere",
        "base": {"stps": 3, "steps": "x", "network": {"width": 1.5, "widht": 3}},
        "axes": {"learning_rate": 3, "steps": [1], "keep": ["best", "best"], "seeds": [1],
                 "clip": [], "tasks": [3]},
    }  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        sweeps.from_content(content)
    faults = str(caught.value).splitlines()
    expected = [
        "unknown key of a sweep: 'aftr'; did you mean after",
        "seeds: got 'many', needed an integer",
        "name: got '../elsewhere'",
        "base: unknown field: 'stps'; did you mean",
        "base.steps: got 'x', needed an integer",
        "base.network.width: got 1.5, needed an integer",
        "base: unknown field: 'network.widht'; did you mean network.width",
        "axes.learning_rate: got 3, needed a list of values",
        "axes.steps: got it in base too",
        "axes.keep: got 'best' twice",
        "axes.seeds: got it there, needed it beside base",
        "axes.clip: got no value",
        "axes.tasks.0: got 3, needed a text",
    ]
    for text in expected:
        assert any(fault.startswith(text) for fault in faults), text
    assert len(faults) == len(expected)


def test_faults_of_form_hide_none_of_meaning():
    """Somebody who mends all that is listed is not told of more."""
    content = {
        "seeds": -2,
        "after": "dance",
        "base": {"tasks": ["bsf", "bfs"], "stps": 4, "network": {"width": "wide", "heads": 0}},
        "axes": {"learning_rate": [-1.0, 0.1], "clip": [], "network.processor": ["gatv2", "gatv9"],
                 "recipe.sizes": [[0], [8]], "objective": ["hops"], "recipe.graphs": ["planar"]},
    }  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        sweeps.from_content(content)
    faults = str(caught.value).splitlines()
    named = (
        "seeds: got -2", "after: got 'dance'", "unknown task: 'bsf'", "base: unknown field: 'stps'",
        "base.network.width: got 'wide'", "heads: got 0", "learning_rate: got -1.0",
        "axes.clip: got no value", "unknown processor: 'gatv9'",
        "unknown objective: 'hops'", "recipe.sizes: got 0", "unknown kind of graphs: 'planar'",
    )  # fmt: skip
    for text in named:
        assert sum(text in fault for fault in faults) == 1, (text, faults)


def test_numbers_of_another_type_hide_no_fault_of_a_number():
    """`true` and an integer of too many bits are no seeds, and whatever else is wrong is said."""
    for seeds in (True, 2**64, None, "2"):
        content = {
            "seeds": seeds,
            "first_seed": -3,
            "base": {"tasks": ["bfs"], "steps": True},
            "axes": {"network.width": [8, False, 0], "data_seed": [1, -1]},
        }
        with pytest.raises(ConfigError) as caught:
            sweeps.from_content(content)
        faults = str(caught.value).splitlines()
        expected = (
            "seeds: got", "base.steps: got True", "axes.network.width: got False", "width: got 0",
            "first_seed: got -3", "data_seed: got -1",
        )  # fmt: skip
        for text in expected:
            assert sum(fault.startswith(text) for fault in faults) == 1, (text, faults)
        assert len(faults) == len(expected)


def test_what_is_no_table_hides_no_fault_of_the_other():
    with pytest.raises(ConfigError) as caught:
        sweeps.checked(sweeps.Sweep("a", [("tasks", ["bfs"])], {"stps": [1], "clip": {1.0}}))
    faults = str(caught.value).splitlines()
    named = (
        "base: got [('tasks'", "axes: unknown field: 'stps'", "axes.clip: got {1.0}",
        "tasks: not there",
    )  # fmt: skip
    assert len(faults) == len(named)
    assert all(sum(fault.startswith(text) for fault in faults) == 1 for text in named)


def test_a_number_that_is_none_is_not_there_twice():
    with pytest.raises(ConfigError) as caught:
        sweeps.checked(sweeps.Sweep("a", BASE, {"clip": [float("nan"), 1.0]}))
    assert str(caught.value) == "clip: got nan, needed a finite number of at least 0"


def test_faults_are_listed_where_no_task_is_named_too():
    with pytest.raises(ConfigError) as caught:
        sweeps.from_content({"base": {"steps": -5}, "axes": {"network.processor": ["gatv9"]}})
    faults = str(caught.value).splitlines()
    assert len(faults) == 3
    for text in ("tasks: not there, and needed", "steps: got -5", "unknown processor: 'gatv9'"):
        assert sum(fault.startswith(text) for fault in faults) == 1


@pytest.mark.parametrize("text", ["base: {1: 2}", "axes: {network: {~: [1]}}", "1: 2"])
def test_keys_of_yaml_that_are_no_text_are_refused(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"needed the name of a field|unknown key of a sweep: 1"):
        sweeps.read(tmp_path / "a.yaml")


def test_what_is_wrong_with_configurations_is_listed_once_each():
    axes = {"tasks": ["bfs", "bsf"], "learning_rate": [0.1, -1], "data_seed": [1, 2]}
    base = {name: value for name, value in BASE.items() if name not in axes} | {"steps": -2}
    with pytest.raises(ConfigError) as caught:
        sweeps.checked(sweeps.Sweep("a", base, axes))
    faults = str(caught.value).splitlines()
    assert len(faults) == 3
    for text in ("steps: got -2", "learning_rate: got -1", "unknown task: 'bsf'"):
        assert sum(fault.startswith(text) for fault in faults) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "base: {tasks: [bfs]}\naxes: {steps: [1], steps: [2]}", "got 'steps' twice"),
        ("a.yaml", "base: {network: {width: 4}, network.width: 8}", "network.width: got it in two"),
        ("a.toml", "[axes]\n'network.width' = [4]\nnetwork.width = [8]", "width: got it in two"),
        ("a.yaml", "base: &a {network: *a}", "a.yaml: base: unknown field: 'network.network'"),
        ("a.yaml", f"base: {'[' * 3000}", "a.yaml: nested too deeply"),
        ("a.toml", f"base = {'[' * 3000}", "a.toml: nested too deeply"),
        ("a.toml", "seeds = ", "a.toml: not valid TOML"),
        ("a.yaml", "seeds: [", "a.yaml: not valid YAML"),
        ("a.yaml", "3", "needed a table with base and axes"),
        ("a.json", "{}", "needed one in .toml, .yaml, .yml"),
        ("a.toml", "seeds = 1", "tasks: not there, and needed"),
        ("a.toml", "base = 1", "base: got 1, needed a table"),
    ],
)
def test_files_that_are_no_sweeps_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        sweeps.read(tmp_path / name)


def test_a_sweep_of_too_many_runs_is_refused():
    axes = AXES | {"learning_rate": [10.0**-k for k in range(300)], "steps": list(range(1, 300))}
    base = {name: value for name, value in BASE.items() if name not in axes}
    with pytest.raises(ConfigError, match="needed at most 100,000"):
        sweeps.checked(sweeps.Sweep("a", base, axes))
