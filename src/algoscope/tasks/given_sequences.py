"""A user's own lists, strings and points, as the arrays of a problem."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from algoscope.arrays import given_array
from algoscope.errors import short

POINTS = ("points", "x", "y")


def read_numbers(name: str, value: Any) -> np.ndarray:
    """A list of finite numbers: float64 [n]."""
    if value is None:
        raise ValueError(f"{name}: got none, needed a list of numbers")
    numbers = given_array(name, value, "a list of numbers")
    if numbers.size == 0 and numbers.ndim == 1:
        raise ValueError(f"{name}: got an empty list, needed at least one number")
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf":
        raise ValueError(f"{name}: got {short(value)}, needed a list of numbers")
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise ValueError(f"{name}: got {wrong} among the values, needed finite numbers")
    return numbers.astype(float)


def read_number(name: str, value: Any) -> np.ndarray:
    """One finite number: float64 [1]."""
    if value is None or given_array(name, value, "a number").ndim != 0:
        raise ValueError(f"{name}: got {short(value)}, needed a number")
    return read_numbers(name, [value])


def read_points(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """x and y [n], from `points` [n, 2] (or [2, 2, 2]: two segments), or one by one."""
    points = inputs.get("points")
    if points is None:
        x, y = (read_numbers(name, inputs.get(name)) for name in ("x", "y"))
        if len(x) != len(y):
            raise ValueError(f"y: got {len(y)} values, needed {len(x)}, as many as x has")
        return {"x": x, "y": y}
    if inputs.get("x") is not None or inputs.get("y") is not None:
        raise ValueError("x: got it beside points, needed either points or x and y")
    numbers = given_array("points", points, "pairs of numbers (x, y)")
    if numbers.shape == (0,):
        raise ValueError("points: got an empty list, needed at least one point")
    if numbers.ndim < 2 or numbers.shape[-1] != 2:
        raise ValueError(f"points: got {short(points)}, needed pairs of numbers (x, y)")
    x, y = numbers.reshape(-1, 2).T
    return {"x": read_numbers("x", x), "y": read_numbers("y", y)}


def read_search_probabilities(inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """p of each key, and q of the gaps around them, one more: both [n], the last p being 0."""
    p, q = (read_numbers(name, inputs.get(name)) for name in ("p", "q"))
    if len(q) != len(p) + 1:
        raise ValueError(f"q: got {len(q)} values, needed {len(p) + 1}, one more than p has")
    return {"p": np.append(p, 0.0), "q": q}


def read_strings(
    names: tuple[str, ...], inputs: Mapping[str, Any], classes: int
) -> dict[str, np.ndarray]:
    """Two strings over an alphabet of at most that many characters: `string` int8 [n], 1 on the
    nodes of the second, which follows the first; `key` int32 [n], the code of each character.

    The characters' codes are their places in `alphabet`, or else in the sorted set of those that
    occur; lists of integers are codes already.
    """
    texts = []
    for name in names:
        text = inputs.get(name)
        if not isinstance(text, (str, Sequence, np.ndarray)) or not getattr(text, "ndim", 1):
            raise ValueError(f"{name}: got {short(text)}, needed a string")
        if len(text) == 0:
            raise ValueError(f"{name}: got an empty string, needed at least one character")
        texts.append(list(text))
    characters = texts[0] + texts[1]
    alphabet = inputs.get("alphabet")
    for name, values in (*zip(names, texts, strict=True), ("alphabet", alphabet)):
        for value in values if isinstance(values, list | tuple) else ():
            if not isinstance(value, str | int | np.integer):
                raise ValueError(f"{name}: got {short(value)} in it, needed characters")
    if alphabet is None:
        codes = all(isinstance(c, (int, np.integer)) for c in characters)
        alphabet = range(classes) if codes else "".join(sorted({str(c) for c in characters}))
    if not isinstance(alphabet, Sequence) or len(set(alphabet)) != len(alphabet):
        raise ValueError(f"alphabet: got {short(alphabet)}, needed a string without repetition")
    if not 1 <= len(alphabet) <= classes:
        raise ValueError(
            f"alphabet: got {short(alphabet)}, needed 1 to {classes} different characters, "
            "the classes of a node's key"
        )
    codes = {character: code for code, character in enumerate(alphabet)}
    for name, text in zip(names, texts, strict=True):
        for character in text:
            if character not in codes:
                raise ValueError(
                    f"{name}: got {character!r} in it, needed characters among {list(alphabet)}"
                )
    return {
        "string": np.repeat(np.array([0, 1], np.int8), [len(texts[0]), len(texts[1])]),
        "key": np.array([codes[c] for c in characters], np.int32),
    }
