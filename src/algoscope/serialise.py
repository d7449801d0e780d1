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
import functools
import json
import math
import re
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

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
    *,
    finite: bool = False,
) -> Any:
    """The value of this type that `to_json` turned into the content; a FormatError names the field
    that is not of its type. A typed dictionary may have further keys, nothing else may. What was
    written by hand, and holds `finite` numbers alone, has no null for one."""

    def read(kind: Any, part: Any, where: str = where) -> Any:
        return from_json(kind, part, arrays, names, where, finite=finite)

    def inner(kind: Any, part: Any, key: object) -> Any:
        return read(kind, part, f"{where}.{key}")

    def refused(needed: str) -> FormatError:
        return FormatError(f"{where}: got {_given(content)}, needed {needed}")

    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(content, dict) and list(content) == [_ARRAY]:
        name = content[_ARRAY]
        if not isinstance(name, str) or name not in arrays:
            raise refused("the name of an array that is there")
        return arrays[name]
    if kind in (Any, Hashable):
        return content
    if origin in (types.UnionType, typing.Union):
        return _one_of(arguments, content, read, where)
    if kind in names:
        try:
            return names[kind](_plain(str, content, where))
        except ValueError as error:
            raise FormatError(f"{where}: {error}") from None
    if _is_record(kind):
        return _record(kind, content, inner, where)
    if origin in (dict, Mapping):
        if not isinstance(content, dict):
            raise refused("an object")
        return {
            _key(arguments[0], name, where): inner(arguments[1], part, name)
            for name, part in content.items()
        }
    if origin in (list, Sequence):
        if not isinstance(content, list):
            raise refused("a list")
        return [inner(arguments[0], part, number) for number, part in enumerate(content)]
    if origin is tuple:
        open_ended = arguments[-1] is ...
        if not isinstance(content, list | tuple) or not (
            open_ended or len(content) == len(arguments)
        ):
            raise refused("a list" if open_ended else f"a list of {len(arguments)}")
        kinds = arguments[:1] * len(content) if open_ended else arguments
        parts = enumerate(zip(kinds, content, strict=True))
        return tuple(inner(part_kind, part, number) for number, (part_kind, part) in parts)
    if origin is typing.Literal:
        if not any(type(content) is type(choice) and content == choice for choice in arguments):
            raise refused(f"one of {', '.join(map(str, arguments))}")
        return content
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(content)
        except ValueError:
            raise refused(f"one of {', '.join(str(one.value) for one in kind)}") from None
    if hasattr(kind, "shape"):
        try:
            return np.array(content, float if kind is np.ndarray else None)
        except (ValueError, TypeError, OverflowError):
            raise refused("lists of numbers of one length") from None
    if kind is float and content is None and not finite:
        return math.nan
    return _plain(kind, content, where)


def type_faults(value: Any, prefix: str = "", kind: type | None = None) -> list[str]:
    """Of the fields of a dataclass, and of those inside of it, all that are of another type: of
    those that it has as a `kind`, if that is given. A number is never None."""
    faults = []
    for name, needed in _fields_of(kind or type(value)).kinds.items():
        field, where = getattr(value, name), f"{prefix}{name}"
        if isinstance(needed, type) and dataclasses.is_dataclass(needed):
            if isinstance(field, needed):
                faults += type_faults(field, f"{where}.")
            else:
                faults.append(f"{where}: got {_given(field)}, needed a {needed.__name__}")
            continue
        try:
            from_json(needed, field, where=where, finite=True)
        except FormatError as error:
            faults.append(str(error))
    return faults


def parse_json(octets: bytes | str) -> Any:
    """What JSON says; a FormatError if it is none, nests without end, or names a key twice."""
    try:
        return json.loads(octets, object_pairs_hook=_without_duplicates)
    except FormatError:
        raise
    except RecursionError:
        raise FormatError("not valid JSON (nested too deeply)") from None
    except ValueError as error:
        raise FormatError(f"not valid JSON ({error})") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(name for name, count in Counter(n for n, _ in pairs).items() if count > 1)
        raise FormatError(f"got {short(twice)} twice in one object, needed each key once")
    return content


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character, which no file or terminal can hold."""
_PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
    str: ((str,), "a text"),
    list: ((list,), "a list"),
    dict: ((dict,), "an object"),
    type(None): ((type(None),), "null"),
}
"""What JSON has for each plain type, and its name."""


def _plain(kind: Any, content: Any, where: str) -> Any:
    if kind not in _PLAIN:
        raise TypeError(f"{where}: JSON for {kind} is not known")
    accepted, needed = _PLAIN[kind]
    fits = isinstance(content, accepted) and (kind is bool or not isinstance(content, bool))
    if fits and kind is int:
        fits, needed = -(2**63) <= content < 2**64, "an integer of at most 64 bits"
    if fits and kind is float:
        fits = not isinstance(content, int) or abs(content) < sys.float_info.max
    if fits and kind is str:
        fits = _LONE_SURROGATE.search(str(content)) is None
    if not fits:
        raise FormatError(f"{where}: got {_given(content)}, needed {needed}")
    return content


def _given(content: Any) -> str:
    """The content in a message, None by its name in JSON and YAML."""
    return "null" if content is None else short(content)


def _one_of(
    kinds: tuple[Any, ...], content: Any, read: Callable[[Any, Any], Any], where: str
) -> Any:
    """The content as the first of the types that it is of."""
    if content is None and type(None) in kinds:
        return None
    members = [kind for kind in kinds if kind is not type(None)]
    faults = []
    for kind in members:
        try:
            return read(kind, content)
        except FormatError as error:
            faults.append(str(error))
    if len(faults) == 1:
        raise FormatError(faults[0])
    needed = " or ".join(fault.rpartition("needed ")[2] for fault in faults)
    raise FormatError(f"{where}: got {_given(content)}, needed {needed}")


def _record(kind: Any, content: Any, inner: Callable[[Any, Any, object], Any], where: str) -> Any:
    """A dataclass, named tuple or typed dictionary."""
    if not isinstance(content, dict):
        needed = f"needed the fields of {kind.__name__}"
        raise FormatError(f"{where}: got {short(content)}, {needed}")
    kinds, needed = _fields_of(kind)
    unknown = () if typing.is_typeddict(kind) else (name for name in content if name not in kinds)
    faults = [unknown_name(f"field of {where}", name, kinds) for name in unknown]
    faults += [f"{where}.{name}: not there, and needed" for name in needed if name not in content]
    if faults:
        raise FormatError("\n".join(faults))
    values = {name: inner(kinds.get(name, Any), part, name) for name, part in content.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None


def _key(kind: Any, name: str, where: str) -> Any:
    try:
        return kind(name)
    except ValueError:
        raise FormatError(f"{where}: got the key {short(name)}, needed {kind.__name__}") from None


def _fields(value: Any) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass or a named tuple; None of anything else."""
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value))
    return getattr(value, "_fields", None)


def _is_record(kind: Any) -> bool:
    return typing.is_typeddict(kind) or _fields(kind) is not None


class _Fields(NamedTuple):
    kinds: dict[str, Any]
    needed: tuple[str, ...]
    """Those that have no default."""


@functools.cache
def _fields_of(kind: Any) -> _Fields:
    kinds = typing.get_type_hints(kind)
    if typing.is_typeddict(kind):
        return _Fields(kinds, tuple(name for name in kinds if name in kind.__required_keys__))
    if dataclasses.is_dataclass(kind):
        missing = dataclasses.MISSING
        fields = dataclasses.fields(kind)
        needed = (f.name for f in fields if f.default is f.default_factory is missing)
        return _Fields({field.name: kinds[field.name] for field in fields}, tuple(needed))
    return _Fields(kinds, tuple(name for name in kind._fields if name not in kind._field_defaults))
