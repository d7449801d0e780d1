"""What does not fit together is refused with all faults at once."""

import jax
import pytest

from algoscope import networks, tasks


def faults(**options) -> str:
    with pytest.raises(networks.ConfigError) as error:
        networks.build(tasks.get("bfs"), networks.NetworkConfig(**options), key=jax.random.key(0))
    return str(error.value)


def test_an_unknown_processor_gets_a_suggestion():
    assert "unknown processor: 'gatv3'; did you mean gatv2" in faults(processor="gatv3")


def test_heads_must_divide_the_width():
    assert faults(heads=3) == "heads: got 3, needed a divisor of width = 128"
    assert "attention_width = 10" in faults(heads=4, attention_width=10)
    assert "attention_width = 128" in faults(heads=3, head_combination="sum")


def test_an_option_of_another_processor_is_refused():
    message = faults(processor="mpnn", heads=2, edge_information=True)
    assert "heads: got 2, not an option of mpnn, which has gated" in message
    assert "edge_information: got True" in message
    assert "gated: got True" in faults(gated=True)


def test_several_faults_are_listed_together():
    message = faults(width=0, dropout=1.5, attention_bias=-1, rounds=10**6)
    for part in ("width: got 0", "dropout: got 1.5", "attention_bias: got -1", "rounds: got"):
        assert part in message
    message = faults(
        processor=[1], dropout="x", attention_mask="x", width=1.5, gated=1, activation="tanh"
    )
    for part in (
        "processor: got [1], needed a text",
        "dropout: got 'x', needed a number",
        "attention_mask: got 'x', needed a number",
        "width: got 1.5, needed an integer",
        "gated: got 1, needed true or false",
        "activation: got 'tanh', needed one of sum, skip",
    ):
        assert part in message


def test_a_network_that_does_not_fit_is_refused_with_an_estimate():
    with pytest.raises(ValueError, match=r"width 1,000,000: needs about \d+ TB of memory"):
        networks.build("bfs", networks.NetworkConfig(width=1_000_000), key=jax.random.key(0))


def test_hints_cannot_be_encoded_without_being_decoded():
    assert "decode_hints: got False with encode_hints=True" in faults(decode_hints=False)


def test_a_batch_without_the_features_of_the_network_is_refused():
    network = networks.build(
        tasks.get("bfs"), networks.NetworkConfig(width=4), key=jax.random.key(0)
    )
    batch = tasks.sample("articulation_points", size=5, count=1)
    with pytest.raises(ValueError, match="lacks input s, output pi, hint reach_h"):
        networks.run(network, batch)
    # Inside a compiled function, as in training, where the numbers of a batch are not known.
    with pytest.raises(ValueError, match=r"got Batch\(articulation_points, .*lacks input s"):
        jax.jit(networks.to_device)(network, batch)


def test_a_network_with_an_attention_bias_is_refused_at_another_size():
    config = networks.NetworkConfig(width=4, attention_bias=6)
    network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    networks.run(network, tasks.sample("bfs", size=6, count=1))
    with pytest.raises(ValueError, match=r"got 5 nodes.*attention_bias = 6"):
        networks.run(network, tasks.sample("bfs", size=5, count=1))
