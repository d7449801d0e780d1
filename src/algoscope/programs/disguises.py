"""Disguises: other weights for the same mechanism. What a verdict must not depend on.

    permuted    units of every layer in another order and on another scale; the function is the same
    softened    attention at a higher temperature
    noisy       every weight times 1 + noise · N(0, 1)

The last two change what the network computes, a little. `as_far_as` finds how much of it a network
bears while it still does what its program does.
"""

from collections.abc import Callable, Sequence

import numpy as np

from algoscope import networks
from algoscope.networks import Network, NetworkConfig
from algoscope.networks.encoders import reads_at
from algoscope.networks.processors.gatv2 import GATv2
from algoscope.tasks import Location

_NODE_DECODERS = ("node", "receiver", "sender", "nodes", "target")
_LARGEST_EXPONENT = 3


def permuted(network: Network, seed: int) -> Network:
    """The same function by other weights: channels of nodes and edges, hidden units and attention
    units permuted, and scaled by powers of two from 1/8 to 8, which rounds nothing. Hidden units
    keep their scale if a LayerNorm follows them."""
    _check(network)
    random = np.random.default_rng(seed)
    width = network.config.width
    nodes, edges, hidden = (_transform(random, width) for _ in range(3))
    if network.config.layer_norm:
        hidden = hidden[0], np.ones(width)
    channels = {Location.NODE: nodes, Location.EDGE: edges}
    locations = {f.name: reads_at(f) for f in network.features}
    arrays = {name: np.array(a, np.float64) for name, a in networks.arrays(network).items()}
    for name, array in arrays.items():
        match name.split("."):
            case ["encoders", feature, *_] if locations[feature] in channels:
                arrays[name] = _columns(array, channels[locations[feature]])
            case ["decoders", _, *_, part, "weight"] if part in _NODE_DECODERS:
                arrays[name] = _rows(array, [nodes, hidden, hidden])
            case ["decoders", _, *_, "edge", "weight"]:
                arrays[name] = _rows(array, [edges])
    rounds = [f"processor.{n}" for n in range(len(network.rounds))]
    for name in rounds if isinstance(network.processor, tuple) else ["processor"]:
        _disguise_round(arrays, name, network.config, (nodes, edges, hidden), random)
    return networks.with_arrays(network, arrays)


def softened(network: Network, temperature: float) -> Network:
    """Attention logits divided by the temperature."""
    _check(network)
    return networks.with_arrays(
        network,
        {
            name: array / temperature if name.endswith("head.weight") else array
            for name, array in networks.arrays(network).items()
        },
    )


def noisy(network: Network, noise: float, seed: int) -> Network:
    random = np.random.default_rng(seed)
    return networks.with_arrays(
        network,
        {
            name: np.asarray(array) * (1 + noise * random.standard_normal(array.shape))
            for name, array in networks.arrays(network).items()
        },
    )


def as_far_as(
    disguise: Callable[[float], Network],
    amounts: Sequence[float],
    follows: Callable[[Network], bool],
) -> tuple[Network, float] | None:
    """The network with the largest of the amounts, in rising order, with which it still follows its
    program, and that amount: by binary search, as if it followed with all smaller ones."""
    best, low, high = None, 0, len(amounts)
    while low < high:
        middle = (low + high) // 2
        disguised = disguise(amounts[middle])
        if follows(disguised):
            best, low = (disguised, amounts[middle]), middle + 1
        else:
            high = middle
    return best


Transform = tuple[np.ndarray, np.ndarray]
"""Unit k becomes unit order[k]'s, times scale[k]."""


def _transform(random: np.random.Generator, width: int) -> Transform:
    exponents = random.integers(-_LARGEST_EXPONENT, _LARGEST_EXPONENT + 1, width)
    return random.permutation(width), 2.0**exponents


def _columns(array: np.ndarray, transform: Transform) -> np.ndarray:
    order, scale = transform
    return array[..., order] * scale


def _rows(array: np.ndarray, transforms: list[Transform]) -> np.ndarray:
    """Blocks of rows, one for each transform, read what was transformed."""
    blocks = np.split(array, len(transforms))
    return np.concatenate(
        [
            block[order] / scale[:, None]
            for block, (order, scale) in zip(blocks, transforms, strict=True)
        ]
    )


def _disguise_round(
    arrays: dict[str, np.ndarray],
    name: str,
    config: NetworkConfig,
    transforms: tuple[Transform, Transform, Transform],
    random: np.random.Generator,
) -> None:
    nodes, edges, hidden = transforms
    units = len(arrays[f"{name}.head.weight"])
    attention = [_transform(random, units) for _ in range(config.heads)]
    values = [hidden] * (config.heads if config.head_combination == "sum" else 1)

    def change(names: str, changed: Callable[[np.ndarray], np.ndarray]) -> None:
        for array in (f"{name}.{part}" for part in names.split()):
            if array in arrays:
                arrays[array] = changed(arrays[array])

    change(
        "value.weight skip.weight sender.weight receiver.weight",
        lambda array: _rows(array, [nodes, hidden]),
    )
    change("edge.weight information", lambda array: _rows(array, [edges]))
    change("value.weight value.bias information", lambda array: _in_blocks(array, values))
    change("skip.weight skip.bias", lambda array: _columns(array, hidden))
    change("norm.scale norm.offset", lambda array: array[hidden[0]])
    for layer in ("sender", "receiver", "edge", "graph"):
        change(f"{layer}.weight {layer}.bias", lambda array: _in_blocks(array, attention))
    weights = arrays[f"{name}.head.weight"]
    arrays[f"{name}.head.weight"] = np.stack(
        [weights[order, head] / scale for head, (order, scale) in enumerate(attention)], -1
    )


def _in_blocks(array: np.ndarray, transforms: list[Transform]) -> np.ndarray:
    blocks = np.split(array, len(transforms), -1)
    return np.concatenate(
        [_columns(block, t) for block, t in zip(blocks, transforms, strict=True)], -1
    )


def _check(network: Network) -> None:
    one_block = network.config.heads == 1 or network.config.head_combination == "sum"
    if not all(isinstance(processor, GATv2) for processor in network.rounds) or not one_block:
        raise ValueError(
            f"network: got the processor {network.config.processor} with {network.config.heads} "
            f"heads, {network.config.head_combination}d; needed gatv2 with one head or summed ones"
        )
