"""Mutators: what arrives instead of what was meant. All chance is the caller's."""

import json
import math
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

_NUMBERS = (0, 1, -1, 127, 255, 2**15, 2**31, 2**32, 2**63 - 1, 2**64, 10**18, 10**400)
ODD: tuple[Any, ...] = (
    None, True, False, *_NUMBERS, 0.5, -0.0, 1e-320, 1e300, math.nan, math.inf, -math.inf, "", "x",
    "NaN", "1", "../../x", "/etc/passwd", "a\0b", "\ud800", "\u202e", "é" * 50, "x" * 5_000, [], {},
    [[]], [None], {"": 1}, {"array": "x"}, [1, "a"], [0.5] * 300,
)  # fmt: skip
"""Values that are seldom expected."""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_PIECES = (
    "\n", "\t", " ", ",", ":", "[", "]", "(", ")", "{", "}", "-", "--", "1", "0", "-1", "1e999",
    "nan",
    "inf", "1.5", "9" * 400, "[" * 300, "(" * 300, "-" * 3_000, "é", "\0", "\ud800", "\u202e", "%s",
    "__import__('os').system('true')", "lambda: 0", "if", "=", "==", "*", "**",
    "10**10**10", "'", '"',
)  # fmt: skip


def mutate_bytes(chance: random.Random, octets: bytes) -> bytes:
    """A few bytes flipped, cut, copied, or replaced by numbers that lengths are made of."""
    mutated = bytearray(octets)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        place = chance.randrange(len(mutated) + 1)
        match chance.randrange(7):
            case 0 if place < len(mutated):
                mutated[place] ^= 1 << chance.randrange(8)
            case 1 if place < len(mutated):
                mutated[place] = chance.randrange(256)
            case 2:
                del mutated[place:]
            case 3:
                del mutated[place : place + chance.choice((1, 4, 8, 100))]
            case 4:
                start = chance.randrange(len(mutated) + 1)
                mutated[place:place] = mutated[start : start + chance.choice((1, 8, 64))]
            case 5:
                number = chance.choice(_NUMBERS[:10]) % 2**64
                width = chance.choice((1, 2, 4, 8))
                mutated[place : place + width] = (number % 2 ** (8 * width)).to_bytes(
                    width, "little"
                )
            case 6:
                mutated[place:place] = chance.randbytes(chance.choice((1, 8, 50)))
    return bytes(mutated)


def mutate_text(chance: random.Random, text: str, words: Sequence[str] = ()) -> str:
    """Some tokens dropped, doubled, exchanged, or replaced by others."""
    tokens = _TOKEN.findall(text)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        place = chance.randrange(len(tokens) + 1)
        match chance.randrange(6):
            case 0:
                del tokens[place : place + 1]
            case 1:
                tokens[place:place] = tokens[place : place + chance.choice((1, 3, 20))]
            case 2 if tokens:
                other = chance.randrange(len(tokens))
                tokens[place : place + 1] = [tokens[other]]
            case 3:
                tokens[place : place + 1] = [chance.choice((*_PIECES, *words))]
            case 4:
                tokens[place:place] = [chance.choice((*_PIECES, *words))]
            case 5:
                tokens = tokens[:place]
    return "".join(tokens)


def mutate_value(chance: random.Random, value: Any) -> Any:
    """The value of lists, dictionaries and plain values with a few of its parts changed."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        value = _at_random(chance, value, lambda part: _changed(chance, part))
    return value


def mutate_json(chance: random.Random, content: Any) -> bytes:
    """JSON whose content was changed, or else its text."""
    if chance.random() < 0.7:
        return json.dumps(mutate_value(chance, content)).encode("utf-8", "surrogatepass")
    text = json.dumps(content)
    if chance.random() < 0.5:
        return mutate_text(chance, text).encode("utf-8", "surrogatepass")
    return mutate_bytes(chance, text.encode())


def _at_random(chance: random.Random, value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with some part of it, or itself, changed."""
    if chance.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return change(value)
    if isinstance(value, dict):
        key = chance.choice(list(value))
        return {**value, key: _at_random(chance, value[key], change)}
    place = chance.randrange(len(value))
    return [*value[:place], _at_random(chance, value[place], change), *value[place + 1 :]]


def _changed(chance: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and chance.random() < 0.7:
        key = chance.choice([*value, "more"])
        if chance.random() < 0.5:
            return {name: part for name, part in value.items() if name != key}
        return {**value, str(chance.choice(("x", key, ""))): chance.choice(ODD)}
    if isinstance(value, list) and chance.random() < 0.7:
        return chance.choice((value[:-1], value * 2, value[::-1], [*value, chance.choice(ODD)]))
    if isinstance(value, int | float) and chance.random() < 0.3:
        return chance.choice((-value, value + 1, value * 1_000, str(value), [value], 0.5))
    if isinstance(value, str) and chance.random() < 0.3:
        return mutate_text(chance, value)
    return chance.choice(ODD)
