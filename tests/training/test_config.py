"""Configurations: the paper's defaults, JSON and back, faults."""

import dataclasses
import json

import pytest

from algoscope import networks, tasks
from algoscope.networks import ConfigError, NetworkConfig
from algoscope.training import TrainingConfig, hint_options
from algoscope.training.config import check, from_json


def test_the_defaults_are_those_of_table_8():
    config = TrainingConfig(("bellman_ford",))
    assert config.recipe.sizes == (4, 7, 11, 13, 16)
    assert config.recipe.random_positions
    assert config.recipe.permutations == "line"
    assert config.recipe.predecessors_as_inputs
    assert (config.recipe.count, config.steps, config.evaluate_every) == (32, 10_000, 50)
    assert (config.learning_rate, config.clip) == (1e-4, 1.0)
    assert (config.teacher_forcing, config.regularisation, config.freeze) == (0, 0, ())
    network = config.network
    assert (network.processor, network.width, network.heads, network.rounds) == ("gatv2", 128, 1, 1)
    assert (network.dropout, network.layer_norm) == (0, True)
    assert (network.hint_repred_mode, network.encoder_start) == ("soft", "xavier_on_scalars")
    assert (network.simple_decoders, network.edge_information) == (False, False)
    assert network.attention_bias is None
    assert config.hint_mode == "encoded_decoded"


def test_a_configuration_survives_json():
    config = TrainingConfig(
        ("bfs", "minimum"),
        freeze=("processor",),
        recipe=tasks.Recipe(sizes=(8,), p=(0.5,)),
        network=NetworkConfig(width=4, attention_width=8),
    )
    assert from_json(TrainingConfig, json.loads(json.dumps(config.as_json()))) == config
    assert hash(from_json(TrainingConfig, config.as_json())) == hash(config)


def test_json_with_an_unknown_field_is_refused():
    with pytest.raises(ConfigError, match="did you mean learning_rate"):
        from_json(TrainingConfig, {"tasks": ["bfs"], "learning_rat": 1})
    with pytest.raises(ConfigError, match=r"field of config\.network: 'widht'; did you mean width"):
        from_json(TrainingConfig, {"tasks": ["bfs"], "network": {"widht": 1}})


@pytest.mark.parametrize("mode", ["encoded_decoded", "decoded_only", "none"])
def test_hint_modes(mode):
    network = networks.NetworkConfig(**hint_options(mode))
    assert TrainingConfig(("bfs",), network=network).hint_mode == mode


def test_an_unknown_hint_mode_is_refused():
    with pytest.raises(ConfigError, match="did you mean decoded_only"):
        hint_options("decoded")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": -5}, "steps: got -5, needed an integer of at least 1"),
        ({"seeds": 0}, "seeds: got 0"),
        ({"tasks": ()}, "tasks: got none"),
        ({"tasks": ("bsf",)}, "unknown task: 'bsf'; did you mean bfs"),
        ({"scored_on": ("tset",)}, "unknown set of problems: 'tset'; did you mean test"),
        ({"tasks": ("bfs", "bfs")}, "needed each of them once"),
        ({"teacher_forcing": 1.5}, "needed a probability"),
        ({"learning_rate": float("nan")}, "learning_rate: got nan, needed a finite number"),
        ({"recipe": tasks.Recipe(sizes=())}, "recipe.sizes: got"),
        ({"recipe": tasks.Recipe(sizes=(0, 4))}, "needed integers of at least 1 for bfs"),
        ({"recipe": tasks.Recipe(permutations="cycle")}, 'got "cycle"'),
        ({"recipe": tasks.Recipe(p=(0.5, 5.0))}, "recipe.p: got 5.0, needed a probability"),
        ({"recipe": tasks.Recipe(p=())}, "recipe.p: got none"),
        ({"recipe": tasks.Recipe(count=0)}, "recipe.count: got 0"),
        (
            {"tasks": ("kmp_matcher",), "recipe": tasks.Recipe(sizes=(4,), length_needle=9)},
            "recipe.length_needle: got 9, needed an integer from -2 to 2",
        ),
        ({"freeze": ("procesor",)}, "weights to freeze: 'procesor'; did you mean processor"),
        ({"network": NetworkConfig(width=-1)}, "width: got -1"),
        ({"network": NetworkConfig(heads=3)}, "heads: got 3, needed a divisor of width"),
        ({"network": NetworkConfig(attention_bias=16)}, "needed 16 alone"),
        ({"test_size": 0}, "test_size: got 0, needed integers of at least 1 for bfs"),
        (
            {"test_size": 64, "network": NetworkConfig(attention_bias=16)},
            "test_size: got 64, needed 16, the size of the network's pre-attention bias",
        ),
        (
            {"teacher_forcing": 0.5, "network": NetworkConfig(encode_hints=False)},
            "with hint mode decoded_only",
        ),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    config = dataclasses.replace(TrainingConfig(("bfs",)), **changes)
    with pytest.raises(ConfigError, match=message):
        check(config)


def test_all_faults_are_listed_at_once():
    with pytest.raises(ConfigError) as caught:
        check(TrainingConfig(("bsf",), steps=0, network=NetworkConfig(width=0)))
    assert len(str(caught.value).splitlines()) == 3
