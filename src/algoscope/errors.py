"""Messages that say what was given, what was needed and what may have been meant; and `Stopped`."""

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

_MOST_GUESSES = 3
_TELLING_PART = 3
"""From this many characters on, a part of a name says which name was meant."""


class Stopped(Exception):  # noqa: N818
    """A job was asked to stop; what it has done is safe on disk."""

    def __init__(self, text: str = "", signal: int | None = None):
        super().__init__(text)
        self.signal = signal
        """Which one asked; None if it is not known."""


class ConfigError(ValueError):
    """Lists everything that is wrong with a configuration."""


class Faults:
    """Several checks, of which all that is wrong is said at once."""

    def __init__(self):
        self._lines: dict[str, None] = {}

    @contextlib.contextmanager
    def listed(self) -> Iterator[None]:
        """Keeps what is refused within."""
        try:
            yield
        except ValueError as error:
            self._lines |= dict.fromkeys(str(error).splitlines())

    @property
    def lines(self) -> list[str]:
        return list(self._lines)

    def refuse(self) -> None:
        """Raises a ConfigError if anything was."""
        if self._lines:
            raise ConfigError("\n".join(self._lines))


def together(heading: str, faults: Sequence[str]) -> str:
    """One fault stands beside its heading, several stand below it."""
    return heading + ("\n" if len(faults) > 1 else " ") + "\n".join(faults)


def unknown_name(what: str, given: object, known: Iterable[str]) -> str:
    known = sorted(known)
    close = nearest(str(given), known)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    else:
        hint = f"there is {', '.join(known)}" if known else "there is none"
    return f"unknown {what}: {short(given)}; {hint}"


def short(value: object) -> str:
    """The value as Python writes it, on one line, cut where it gets long."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} that nests deeply"
    text = " ".join(text.split())  # Arrays are written over several lines.
    return text if len(text) <= 60 else f"{text[:57]}…"


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys instead of showing them, but for tabs and ends of lines."""


def visible(text: str) -> str:
    """The text, in which what a terminal would obey is written as Python writes it: names of
    folders, and what files of others say, may hold anything."""
    return _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


def nearest(given: str, known: Iterable[str]) -> list[str]:
    """The names that may have been meant."""
    text = given.lower()
    names = {name.lower(): name for name in known}
    containing = [name for name in names if len(text) >= _TELLING_PART and text in name]
    similar = difflib.get_close_matches(text, names, n=_MOST_GUESSES, cutoff=0.5)
    return [names[name] for name in dict.fromkeys(containing + similar)][:_MOST_GUESSES]
