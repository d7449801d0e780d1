"""Prompts of one's own, from a file: JSON, or JSON lines, an object a prompt.

    {"prompt": "The lobby leads to A and B. A leads to W and Q. Can you get to W from lobby?",
     "edges": [["lobby", "A"], ["lobby", "B"], ["A", "W"], ["A", "Q"]],
     "start": "lobby", "goal": "W", "directed": true, "asked": "Can you"}

`directed` and `asked` may be left out: doors are one-way, and the question is the sentence that the
last question mark ends.
"""

import dataclasses
import pathlib

from algoscope.errors import short
from algoscope.files import read_bytes, told
from algoscope.llm.prompts import Item, from_text
from algoscope.serialise import FormatError, from_json, parse_json


@dataclasses.dataclass(frozen=True)
class Prompt:
    """An object of the file."""

    prompt: str
    edges: list[tuple[str, str]]
    start: str
    goal: str
    directed: bool = True
    asked: str | None = None


def read(path: pathlib.Path) -> list[Item]:
    """The prompts of the file, or an error that names prompt and field."""
    octets = read_bytes(path)
    with told(path):
        if path.suffix == ".jsonl":
            given = [parse_json(line) for line in octets.split(b"\n") if line.strip()]
        else:
            given = parse_json(octets)
        objects = given if isinstance(given, list) else [given]
        if not objects:
            raise FormatError(f"got {short(given)}, needed at least one prompt")
        named = ((f"prompt {number + 1}", each) for number, each in enumerate(objects))
        return [_item(from_json(Prompt, each, where=where), where) for where, each in named]


def _item(given: Prompt, where: str) -> Item:
    ends = (given.start, *(end for edge in given.edges for end in edge), given.goal)
    names = list(dict.fromkeys(ends))
    try:
        return from_text(
            given.prompt,
            names,
            tuple((names.index(a), names.index(b)) for a, b in given.edges),
            names.index(given.start),
            names.index(given.goal),
            directed=given.directed,
            asked=given.asked,
        )
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None
