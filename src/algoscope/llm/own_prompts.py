"""Prompts of one's own, from a file: JSON, or JSON lines, an object a prompt.

    {"prompt": "The lobby leads to A and B. A leads to W and Q. Can you get to W from lobby?",
     "edges": [["lobby", "A"], ["lobby", "B"], ["A", "W"], ["A", "Q"]],
     "start": "lobby", "goal": "W", "directed": true, "asked": "Can you"}

`directed` and `asked` may be left out: doors are one-way, and the question is the sentence that the
last question mark ends.
"""

import itertools
import json
import pathlib
from typing import Any

from algoscope.llm.prompts import Item, from_text

_NEEDED = ("prompt", "edges", "start", "goal")
_OPTIONAL = {"directed": True, "asked": None}


def read(path: pathlib.Path) -> list[Item]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"prompts: got {path}, which cannot be read ({error})") from None
    try:
        if path.suffix == ".jsonl":
            given = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            given = json.loads(text)
    except ValueError as error:
        raise ValueError(f"prompts: got {path}, which is no JSON ({error})") from None
    objects = given if isinstance(given, list) else [given]
    if not objects:
        raise ValueError(f"prompts: got {path}, which is empty, needed at least one prompt")
    return [_item(each, number, path) for number, each in enumerate(objects)]


def _item(given: Any, number: int, path: pathlib.Path) -> Item:
    place = f"prompt {number + 1} of {path}"
    if not isinstance(given, dict) or not all(key in given for key in _NEEDED):
        raise ValueError(f"{place}: got {str(given)[:80]}, needed {{{', '.join(_NEEDED)}}}")
    unknown = sorted(given.keys() - {*_NEEDED, *_OPTIONAL})
    if unknown:
        known = ", ".join((*_NEEDED, *_OPTIONAL))
        raise ValueError(f"{place}: got {', '.join(unknown)}, needed no other than {known}")
    edges = given["edges"]
    if not isinstance(edges, list) or not all(
        isinstance(edge, list) and len(edge) == 2 and all(isinstance(end, str) for end in edge)
        for edge in edges
    ):
        raise ValueError(f"{place}: got the edges {edges!r}, needed [[from, to], ...] of names")
    ends = (given["start"], *itertools.chain.from_iterable(edges), given["goal"])
    names = list(dict.fromkeys(ends))
    if not isinstance(given["prompt"], str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{place}: got a prompt, start or goal that is no text, needed text")
    options = {key: given.get(key, usual) for key, usual in _OPTIONAL.items()}
    numbered = tuple((names.index(a), names.index(b)) for a, b in edges)
    try:
        return from_text(
            given["prompt"],
            names,
            numbered,
            names.index(given["start"]),
            names.index(given["goal"]),
            **options,
        )
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
