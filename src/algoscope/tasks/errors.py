"""Messages that say what was given, what was needed and what may have been meant."""

import difflib
from collections.abc import Iterable


def unknown_name(what: str, given: object, known: Iterable[str]) -> str:
    known = sorted(known)
    close = difflib.get_close_matches(str(given), known, n=3, cutoff=0.5)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    else:
        hint = f"there is {', '.join(known)}" if known else "there is none"
    return f"unknown {what}: {given!r}; {hint}"
