"""A small lossless tokenizer made for CLRS-Text.

A number is written in few tokens, each of which means something: a leading space, sign and digit
are one token (` 0`, ` -1`), further digits one each, and up to three decimals one (`.417`). So an
entry of an adjacency matrix costs one token and one of a weight matrix two, while the number of a
node that no problem in training had (`13`) still consists of known parts. Names of tasks and
features, and the punctuation between numbers, are one token each. Anything else is spelled in
bytes, so every text comes back as it was.
"""

import functools
import re
from collections.abc import Iterable
from typing import SupportsIndex

from algoscope import tasks

PAD = 0
_PUNCTUATION = ("\n\n", ":\n", ": ", "], [", "[[", "]]", ", ", " | ")
END = "\n\n"
"""What an answer ends with."""
_PATTERN = re.compile(
    r"[A-Za-z_]+|\.[0-9]{1,3}| ?-?[0-9]|" + "|".join(map(re.escape, _PUNCTUATION)) + r"|.",
    re.DOTALL,
)


class Tokenizer:
    """Texts to numbers below `size` and back."""

    def __init__(self) -> None:
        words = {"trace", "initial_trace"}
        for name in tasks.names():
            words |= {name} | {feature.name for feature in tasks.get(name).features}
        units = [*sorted(words), *_PUNCTUATION]
        units += [
            f"{space}{sign}{d}" for space in ("", " ") for sign in ("", "-") for d in range(10)
        ]
        units += [f".{d:0{places}}" for places in (1, 2, 3) for d in range(10**places)]
        single = [bytes([octet]) for octet in range(256)]
        several = [unit.encode() for unit in units if len(unit.encode()) > 1]
        self._octets = [b"", *single, *several]
        self._numbers = {
            octets.decode("latin-1"): number for number, octets in enumerate(self._octets) if number
        }
        self.size = len(self._octets)
        self.end = self._numbers[END]

    def encode(self, text: str) -> list[int]:
        numbers = []
        for unit in _PATTERN.findall(text):
            number = self._numbers.get(unit)
            if number is None or not unit.isascii():
                numbers += [1 + octet for octet in unit.encode()]
            else:
                numbers.append(number)
        return numbers

    def decode(self, numbers: Iterable[SupportsIndex]) -> str:
        """The text; bytes that form none, which only a model writes, become �."""
        return b"".join(self._octets[number] for number in numbers).decode(errors="replace")


@functools.cache
def tokenizer() -> Tokenizer:
    """The one that all towers share."""
    return Tokenizer()
