"""Weights by name: the one door in and out of a network.

Every array has a name that says what it is (`processor.value.weight`, `encoders.A.bias`). The
compiler, files and the converter from dm-clrs all come in through `with_arrays`.
"""

import dataclasses
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import __version__, files, serialise
from algoscope.errors import short, together, unknown_name
from algoscope.networks.config import ConfigError, NetworkConfig
from algoscope.networks.network import Network, skeleton
from algoscope.tasks import Feature

_METADATA = "algoscope"


class WeightsError(ValueError):
    """Lists everything that is wrong with some weights."""


def leaf_name(path: tuple) -> str:
    parts = (getattr(p, "name", getattr(p, "key", getattr(p, "idx", None))) for p in path)
    return ".".join(str(part) for part in parts)


def arrays(network: Network) -> dict[str, Any]:
    """All weights by name; those of a skeleton are shapes."""
    leaves = jax.tree_util.tree_leaves_with_path(network)
    return {leaf_name(path): leaf for path, leaf in leaves}


def with_arrays(network: Network, named: Mapping[str, Any]) -> Network:
    """The network with exactly these weights; lists every fault at once if they do not fit."""
    leaves = arrays(network)
    needed = {name: array.shape for name, array in leaves.items()}
    faults = [f"missing: {name} {list(needed[name])}" for name in needed if name not in named]
    for name, array in named.items():
        if name not in needed:
            faults.append(unknown_name("weight", name, needed))
            continue
        shape, dtype = np.shape(array), np.asarray(array).dtype
        if shape != needed[name]:
            faults.append(f"{name}: got shape {list(shape)}, needed {list(needed[name])}")
        if not np.issubdtype(dtype, np.floating):
            faults.append(f"{name}: got {dtype}, needed a floating-point type")
        elif not _finite(array, leaves[name].dtype):
            faults.append(f"{name}: got values that are not finite in {leaves[name].dtype}")
    if faults:
        raise WeightsError(together("weights do not fit the network:", faults))
    paths, structure = jax.tree_util.tree_flatten_with_path(network)
    filled = [jnp.asarray(named[leaf_name(path)], leaf.dtype) for path, leaf in paths]
    return jax.tree.unflatten(structure, filled)


def _finite(array: Any, dtype: Any) -> bool:
    """Whether all values are numbers of that type; 1e300 is none of float32."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.asarray(array).astype(dtype)).all())


class Source(NamedTuple):
    """The program that a network was compiled from."""

    name: str
    text: str
    fully_connected: bool


@dataclasses.dataclass(frozen=True)
class _Metadata:
    """What a file says beside the arrays."""

    version: str
    task: str
    config: NetworkConfig
    features: tuple[Feature, ...]
    source: Source | None = None
    """Written only where there is one."""


def save(
    network: Network, path: str | os.PathLike, task: str, source: Source | None = None
) -> None:
    """Writes weights, config and features to a safetensors file, atomically."""
    metadata = _Metadata(__version__, task, network.config, network.features, source)
    content = serialise.to_json(metadata)
    if source is None:
        del content["source"]
    files.write_arrays(pathlib.Path(path), arrays(network), {_METADATA: json.dumps(content)})


def load(path: str | os.PathLike) -> tuple[Network, str]:
    """The network in the file, and the name of the task it was saved for."""
    metadata, named = _read(pathlib.Path(path))
    try:
        return with_arrays(skeleton(metadata.features, metadata.config), named), metadata.task
    except (ConfigError, WeightsError) as error:
        raise WeightsError(f"{path}: {error}") from None


def load_source(path: str | os.PathLike) -> Source | None:
    """The program that the network in the file was compiled from, if it says so."""
    return _read(pathlib.Path(path)).metadata.source


class _Content(NamedTuple):
    metadata: _Metadata
    arrays: dict[str, np.ndarray]


def _read(path: pathlib.Path) -> _Content:
    try:
        content = files.unpacked(files.read_bytes(path))
        if _METADATA not in content.metadata:
            raise WeightsError(f"{path}: got a safetensors file without Algoscope's metadata")
        metadata = serialise.parse_json(content.metadata[_METADATA])
    except serialise.FormatError as error:
        raise WeightsError(f"{path}: {error}") from None
    try:
        return _Content(serialise.from_json(_Metadata, metadata, where="metadata"), content.named)
    except serialise.FormatError as error:
        version = short(metadata.get("version")) if isinstance(metadata, dict) else None
        raise WeightsError(
            f"{path}: its metadata, of version {version}, cannot be read by version "
            f"{__version__}: {error}"
        ) from None
