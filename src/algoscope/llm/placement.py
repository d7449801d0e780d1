"""Where a language model is put, and in what numbers: device, device map, dtype, and what has to be
installed for it."""

import importlib.util
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

DTYPES = ("float32", "bfloat16", "float16", "auto")
"""`auto` is what the checkpoint was saved in."""
_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")

DeviceMap = str | Mapping[str, str | int]
"""A way to share a model out over devices, or the device of each part by the part's name."""


class Placement(NamedTuple):
    options: dict[str, Any]
    """For `from_pretrained`."""
    device: torch.device | None
    """Where the model goes after that; None if a map has put it."""


def placement(
    device: str = "cpu",
    device_map: DeviceMap | None = None,
    dtype: str | torch.dtype = "float32",
) -> Placement:
    """Refuses what cannot be had here. A device map has the last word."""
    options: dict[str, Any] = {"dtype": _dtype(dtype)}
    if device_map is None:
        return Placement(options, device_named(device))
    if importlib.util.find_spec("accelerate") is None:
        raise ValueError(
            f"device map: got {device_map!r}, needed the package accelerate, which is not "
            "installed (pip install accelerate); or give a device and no map"
        )
    options["device_map"] = _map(device_map)
    return Placement(options, None)


def _dtype(given: str | torch.dtype) -> str | torch.dtype:
    if isinstance(given, torch.dtype):
        return given
    if given not in DTYPES:
        raise ValueError(f"dtype: got {given!r}, needed {', '.join(DTYPES[:-1])} or {DTYPES[-1]}")
    return given if given == "auto" else getattr(torch, given)


def _map(given: DeviceMap) -> str | dict[str, str | int]:
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except ValueError as error:
            raise ValueError(f"device map: got {given!r}, which is no JSON ({error})") from None
    if isinstance(given, str):
        if given not in _MAPS:
            raise ValueError(
                f"device map: got {given!r}, needed {', '.join(_MAPS)}, or "
                '{"part of the model": "device", ...}'
            )
        return given
    for place in given.values():
        if place != "disk":
            device_named(str(place) if isinstance(place, str) else f"cuda:{place}")
    return dict(given)


def device_named(name: str) -> torch.device:
    """The device of that name; refused if torch cannot compute on it here."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        known = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
        raise ValueError(
            f"device: got {name!r}, which torch does not have here "
            f"({str(error).splitlines()[0]}), needed {' or '.join(known)}"
        ) from None
    return device


def put_like(model: Any, other: Any) -> None:
    """Puts a model where another of the same architecture is, part by part."""
    shared_out = getattr(other, "hf_device_map", {})
    if len(set(shared_out.values())) < 2:
        model.to(device=other.device)
        return
    from accelerate import dispatch_model

    # What lies on disk is kept in memory here: there is no checkpoint to read it from.
    parts = {part: "cpu" if place == "disk" else place for part, place in shared_out.items()}
    dispatch_model(model, parts, force_hooks=True)
