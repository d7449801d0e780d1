"""Typed values as JSON and back, by their type: dataclasses, named tuples, enums, arrays.

    content = to_json(value)
    value == from_json(type(value), json.loads(json.dumps(content)))

JSON has no NaN: null stands for a float that is not finite, and is read as NaN. Arrays are lists,
or go into a dictionary of their own, for a safetensors file, with their name in their place:

    arrays = {}
    content = to_json(value, arrays)
    value == from_json(type(value), content, arrays)
"""

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from algoscope.errors import short, unknown_name

_ARRAY = "array"
"""The key of an object that stands for an array: {"array": its name}."""
Names = Mapping[type, Callable[[Any], Any]]
"""Types that are written as the `name` of a value, with how to get that back."""


class FormatError(ValueError):
    """JSON that is not of the type that was asked for."""


def to_json(
    value: Any,
    arrays: dict[str, np.ndarray] | None = None,
    names: Names = types.MappingProxyType({}),
    where: str = "",
) -> Any:
    """What `json.dumps` takes; fields of dataclasses and named tuples are keys."""

    def inner(part: Any, key: object) -> Any:
        return to_json(part, arrays, names, f"{where}.{key}" if where else str(key))

    if type(value) in names:
        return value.name
    fields = _fields(value)
    if fields is not None:
        return {name: inner(getattr(value, name), name) for name in fields}
    if isinstance(value, Mapping):
        return {str(key): inner(part, key) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [inner(part, index) for index, part in enumerate(value)]
    if isinstance(value, enum.Enum):
        return value.value
    if hasattr(value, "__array__"):
        if arrays is not None and np.ndim(value):
            arrays[where] = np.asarray(value)
            return {_ARRAY: where}
        return inner(np.asarray(value).tolist(), "")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def from_json(
    kind: Any,
    content: Any,
    arrays: Mapping[str, np.ndarray] = types.MappingProxyType({}),
    names: Names = types.MappingProxyType({}),
    where: str = "value",
) -> Any:
    """The value of this type that `to_json` turned into the content."""

    def inner(part_kind: Any, part: Any, name: str) -> Any:
        return from_json(part_kind, part, arrays, names, name)

    if isinstance(content, dict) and list(content) == [_ARRAY]:
        return arrays[content[_ARRAY]]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if content is None and type(None) in arguments:
            return None
        kind = _member(arguments, content)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in names:
        return names[kind](content)
    if _fields(kind) is not None:
        if not isinstance(content, dict):
            needed = f"needed the fields of {kind.__name__}"
            raise FormatError(f"{where}: got {short(content)}, {needed}")
        kinds = typing.get_type_hints(kind)
        unknown = [unknown_name(f"field of {where}", n, kinds) for n in content if n not in kinds]
        if unknown:
            raise FormatError("\n".join(unknown))
        try:
            return kind(**{name: inner(kinds[name], part, name) for name, part in content.items()})
        except TypeError as error:
            raise FormatError(f"{where}: {error}") from None
    if origin in (dict, Mapping) and isinstance(content, dict):
        key, part_kind = arguments
        return {key(name): inner(part_kind, part, where) for name, part in content.items()}
    if origin is list and isinstance(content, list):
        return [inner(arguments[0], part, where) for part in content]
    if origin is tuple and isinstance(content, list | tuple):
        kinds = arguments[:1] * len(content) if arguments[-1] is ... else arguments
        return tuple(inner(k, part, where) for k, part in zip(kinds, content, strict=True))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(content)
    if kind is np.ndarray:
        return np.array(content, float)
    if kind is float and content is None:
        return math.nan
    return content


def _fields(value: Any) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass or a named tuple; None of anything else."""
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value))
    return getattr(value, "_fields", None)


def _member(kinds: tuple[Any, ...], content: Any) -> Any:
    """The type of a union that the content is of: its own, or the first that is no plain value."""
    plain = (bool, int, float, str, type(None))
    composed = [kind for kind in kinds if kind not in plain]
    if type(content) in kinds or not composed or isinstance(content, int | float):
        return type(content)
    return composed[0]
