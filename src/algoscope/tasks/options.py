"""Options of the samplers: their defaults, and what a user may give."""

import dataclasses
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope.errors import short, unknown_name

Check = Callable[[str, Any, int], Any]
"""(option name, value given, problem size) -> the value in the sampler's terms, or ValueError."""

OF_ALL_TASKS = ("truncate_decimals",)
"""Options that concern no sampler: they are applied to what it drew."""


class Condition(NamedTuple):
    """The values of another option with which an option means something."""

    option: str
    values: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Option:
    default: Any
    check: Check
    condition: Condition | None = None


def resolve(task: str, options: Mapping[str, Option], values: Mapping[str, Any], size: int) -> dict:
    """The values of all options of a task, checked: those of a user, or defaults."""
    for name in values:
        if name not in options:
            raise ValueError(unknown_name(f"option of {task}", name, [*options, *OF_ALL_TASKS]))
    resolved = {
        name: option.check(name, values.get(name, option.default), size)
        for name, option in options.items()
    }
    for name in values:
        condition = options[name].condition
        if condition is None:
            continue
        other = values.get(condition.option, options[condition.option].default)
        if other not in condition.values:
            raise ValueError(
                f"{name}: got {short(values[name])} with {condition.option}={other!r}, "
                f"needed {condition.option}={' or '.join(map(repr, condition.values))}"
            )
    return resolved


def number(name, value, size):
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name}: got {short(value)}, needed a number")
    if not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name}: got {short(value)}, needed a finite number")
    return float(value)


def positive(name, value, size):
    if number(name, value, size) <= 0:
        raise ValueError(f"{name}: got {short(value)}, needed a number above 0")
    return float(value)


def probability(name, value, size):
    if not 0 <= number(name, value, size) <= 1:
        raise ValueError(f"{name}: got {short(value)}, needed a probability between 0 and 1")
    return float(value)


def one_of(check: Check) -> Check:
    """A check for one value or several to choose from: an array [choices]."""

    def checked(name, value, size):
        several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)
        values = value if several else (value,)
        if len(values) == 0:
            raise ValueError(f"{name}: got an empty list, needed at least one value")
        return np.array([check(name, v, size) for v in values])

    return checked


_LARGEST_INTEGER = 2**63
"""From which on numpy has no integers, and somewhere beyond no float."""


def integer(low: int | None = None, high: int | None = None, purpose: str = "") -> Check:
    """A check for an integer from low to high (unbounded if None)."""
    bounds = f" from {low} to {high}" if high is not None else f" of at least {low}"
    span = "" if low is None else bounds

    def check(name, value, size):
        try:
            whole = operator.index(value)
            fits = (low is None or low <= whole) and (high is None or whole <= high)
        except TypeError:
            fits = False
        if isinstance(value, bool) or not fits:
            raise ValueError(f"{name}: got {short(value)}, needed an integer{span}{purpose}")
        if abs(whole) >= _LARGEST_INTEGER:
            raise ValueError(f"{name}: got {short(value)}, needed an integer of 64 bits{purpose}")
        return int(value)

    return check


RANGE = {"low": Option(0.0, number), "high": Option(1.0, number)}
"""The range of uniformly drawn values."""
