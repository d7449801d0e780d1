"""Compiled networks that can be trained further: soft, as wide as ordinary ones, the rest random.

A compiled network has a loss and a gradient of exactly 0, since its decoders are so sharp that
float32 sees no other answer, and most of its units are 0. Decoders decide by the largest logit, so
they are as exact with a small factor; attention is exact up to the size that the certificate gives
for its factor. Units that the program leaves unused may read anything: nothing reads them, until
training makes it.
"""

import re
from collections.abc import Iterable

import jax
import numpy as np

from algoscope import networks
from algoscope.networks import Network
from algoscope.programs.compiler import Compiled, compile_program
from algoscope.programs.language import GraphProgram
from algoscope.programs.precision import FLOAT32
from algoscope.tasks import Task

_HIDDEN = (
    r"encoders\.",
    r"processor(\.\d+)?\.(receiver|sender|edge|graph)\.",
    r"processor(\.\d+)?\.(value|skip|information)\b",
)
"""What is added up in the columns of a layer of units, in each round."""


def compile_soft(
    program: GraphProgram,
    width: int,
    *,
    attention: float | None = None,
    pointers: float = 64.0,
    masks: float = 16.0,
    rest: float = 1.0,
    seed: int = 0,
) -> Compiled:
    """The network that runs the program, with these factors of the scores of attention (as sharp as
    float32 allows if None), of pointers and of masks; weights into units that it does not use are
    `rest` times those of an ordinary start."""
    if attention is None:
        attention = compile_program(program, width).certificate.sharpness
    precision = FLOAT32._replace(sharpness=pointers, masks=masks)
    compiled = compile_program(program, width, sharpness=attention, precision=precision)
    return compiled._replace(network=with_random_rest(compiled.network, program.task, rest, seed))


def with_random_rest(network: Network, task: Task | str, scale: float, seed: int) -> Network:
    """The same function, with random weights into all units that nothing is written to."""
    ordinary = networks.build(task, network.config, key=jax.random.key(seed))
    arrays = {name: np.array(array) for name, array in networks.arrays(network).items()}
    random = {name: np.asarray(array) for name, array in networks.arrays(ordinary).items()}
    for names in _layers(arrays):
        # Where heads are summed, each has columns of its own for the same units.
        units = min(arrays[name].shape[-1] for name in names)
        used = np.any([(arrays[name] != 0).reshape(-1, units).any(0) for name in names], 0)
        for name in names:
            heads = arrays[name].shape[-1] // units
            columns = np.tile(~used, heads)
            arrays[name][..., columns] = scale * random[name][..., columns]
    return networks.with_arrays(network, arrays)


def _layers(arrays: Iterable[str]) -> list[list[str]]:
    """The names of the arrays whose columns are added up, for each layer of units."""
    layers: dict[str, list[str]] = {}
    for name in arrays:
        for number, pattern in enumerate(_HIDDEN):
            if found := re.match(pattern, name):
                layers.setdefault(f"{number} {found[1] if found.lastindex else ''}", []).append(
                    name
                )
        # A pointer's units are read by its score.
        decoder, _, layer = name.rpartition(".")[0].rpartition(".")
        if (
            layer in ("receiver", "sender", "edge", "target")
            and f"{decoder}.score.weight" in arrays
        ):
            layers.setdefault(decoder, []).append(name)
    return list(layers.values())
