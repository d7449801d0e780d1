"""Surface forms: the same graph as rooms, people, cities or bare letters."""

import string
from typing import NamedTuple

from algoscope.errors import unknown_name


class Form(NamedTuple):
    """A surface form: what nodes are called and how edges are said."""

    names: tuple[str, ...]
    intro: str
    one_way: str
    both_ways: str
    reach: str
    path: str
    next: str


class Span(NamedTuple):
    """The characters [start, end) of a text."""

    start: int
    end: int


class Text:
    """A text that grows piece by piece and knows where the pieces are."""

    def __init__(self, beginning: str = "") -> None:
        self.text = beginning

    def add(self, piece: str, before: str = " ") -> Span:
        self.text += before if self.text else ""
        start = len(self.text)
        self.text += piece
        return Span(start, len(self.text))

    def fill(self, template: str, **words: str) -> dict[str, Span]:
        """Adds a template with a word for each of its fields; where the words are."""
        self.add("")
        spans = {}
        for literal, field, _, _ in string.Formatter().parse(template):
            self.text += literal
            if field is not None:
                spans[field] = self.add(words[field], before="")
        return spans


_ROOMS = (
    "attic balcony bathroom bedroom cellar chapel closet corridor courtyard den foyer gallery "
    "garage garden hall kitchen laboratory larder library loft lounge nursery office pantry "
    "parlor patio porch sauna stable studio study terrace tower vault veranda workshop armory "
    "bakery barn dungeon greenhouse gym lobby"
)
_PEOPLE = (
    "Adam Alice Amy Ben Bob Carl Clara Dan David Diana Ella Emma Eric Eva Frank George Grace "
    "Helen Henry Ivan Jack James Jane John Karen Kate Laura Leo Linda Lucy Mark Mary Max Nina "
    "Oscar Paul Peter Rose Ruth Sam Sarah Simon"
)
_CITIES = (
    "Athens Atlanta Baghdad Berlin Boston Bristol Brussels Cairo Chicago Cologne Dallas Delhi "
    "Denver Detroit Dublin Florence Geneva Havana Houston Istanbul Lisbon London Madrid Manila "
    "Miami Milan Moscow Munich Naples Oslo Oxford Paris Phoenix Prague Rome Seattle Seoul Sydney "
    "Tokyo Toronto Venice Vienna"
)

FORMS = {
    "rooms": Form(
        tuple(_ROOMS.split()),
        "A building has rooms with doors between them.",
        "{a} leads to {b}.",
        "{a} and {b} are joined.",
        "Can you get to {goal} from {source}? Answer Yes or No.",
        "Name the rooms on the way to {goal} from {source}, or None.",
        "Name the next room on the way to {goal} from {source}, or None.",
    ),
    "people": Form(
        tuple(_PEOPLE.split()),
        "People pass on what they hear.",
        "{a} tells {b}.",
        "{a} and {b} talk.",
        "Can word get to {goal} from {source}? Answer Yes or No.",
        "Name the people on the way to {goal} from {source}, or None.",
        "Name the next person on the way to {goal} from {source}, or None.",
    ),
    "cities": Form(
        tuple(_CITIES.split()),
        "Trains run between cities.",
        "{a} has trains to {b}.",
        "Trains run between {a} and {b}.",
        "Can you get to {goal} from {source}? Answer Yes or No.",
        "Name the cities on the way to {goal} from {source}, or None.",
        "Name the next city on the way to {goal} from {source}, or None.",
    ),
    "letters": Form(
        tuple(string.ascii_uppercase),
        "Edges of a graph:",
        "{a} > {b}.",
        "{a} - {b}.",
        "Can you get to {goal} from {source}? Answer Yes or No.",
        "Name the nodes on the way to {goal} from {source}, or None.",
        "Name the next node on the way to {goal} from {source}, or None.",
    ),
}


def form(name: str) -> Form:
    if name not in FORMS:
        raise ValueError(unknown_name("surface form", name, FORMS))
    return FORMS[name]
