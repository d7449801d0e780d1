"""Trees of arrays by name, as checkpoints and files of weights hold them."""

import itertools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from algoscope.errors import unknown_name
from algoscope.files import RunError
from algoscope.networks.weights import leaf_name


def by_name(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {leaf_name(path): np.asarray(leaf) for path, leaf in leaves}


def filled(shapes: Any, named: Mapping[str, np.ndarray], where: object) -> Any:
    """The tree of these shapes with the named arrays; lists every fault at once if they do not
    fit."""
    paths, structure = jax.tree_util.tree_flatten_with_path(shapes)
    needed = {leaf_name(path): leaf for path, leaf in paths}
    faults = [f"missing: {name}" for name in needed if name not in named]
    faults += [
        f"{name}: got shape {list(array.shape)}, needed {list(needed[name].shape)}"
        if name in needed
        else unknown_name("array", name, needed)
        for name, array in named.items()
        if name not in needed or array.shape != needed[name].shape
    ]
    if faults:
        raise RunError(f"{where}: its arrays do not fit the model:\n" + "\n".join(faults))
    return jax.tree.unflatten(structure, [jnp.asarray(named[name]) for name in needed])


def name_faults(what: str, prefixes: tuple[str, ...], names: set[str]) -> list[str]:
    """The prefixes that no weight's dotted name begins with."""
    known = {p for name in names for p in itertools.accumulate(name.split("."), "{}.{}".format)}
    return [unknown_name(what, prefix, known) for prefix in prefixes if prefix not in known]


def begins_with(name: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a weight's dotted name begins with one of these."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)
