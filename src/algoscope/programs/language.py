"""The language of graph programs: what a program says, once its text has been read.

A program is what every node does in a step, all nodes at once. A node reads its own variables and
inputs, and those of a neighbour that it *selects*; then all variables change together.

    found: Bool                                       # state; everything starts at 0
    pi: Node

    visit = found or input.s                          # a name for what follows from the state

    parent = minimum(other.idx, where=other.visit)    # whom to read; the node itself counts too

    found = parent.visit and not input.s              # the update
    pi = once(parent.idx, when=parent.visit and not visit)

    hint.reach_h = visit                              # what to show, after the update
    hint.pi_h = output.pi = pi if found else idx

The text has Python's syntax and is never run as Python: it is parsed, checked, interpreted and
compiled. `idx` is a node's position (`input.pos`), by which nodes name each other. `hint.NAME` on
the right is what was shown in the step before; in the first step, the true first hint. A line
`then` ends a round and starts another, in which nodes read anew within the same step; a variable
that a round does not update stays as it is.

Everything is a linear form over *atoms*, cut at zero and under a guard, because that is what one
round of a graph attention network computes: the values below are its weights in disguise.
"""

import dataclasses
import enum
import textwrap
from collections.abc import Mapping
from typing import NamedTuple

from algoscope import markup

OWN, OTHER, EDGE = "self", "other", "edge"
POSITION = "input.pos"
NOT = "not "
"""`not hint.x` is 1 - hint.x: an atom of its own, because it has to be exactly 0 beside numbers."""


class Type(enum.StrEnum):
    BOOL = "Bool"
    FLOAT = "Float"
    NODE = "Node"


class Atom(NamedTuple):
    """A value that a node can read: its own, that of a node it selected, or of the edge to that."""

    where: str
    """OWN; OTHER and EDGE, in a selection; the selection's name, or its name with `.edge`."""
    name: str
    """A variable, an input such as `input.s`, a hint such as `hint.i`, or `not` one of the latter
    two."""

    def __str__(self) -> str:
        return self.name if self.where == OWN else f"{self.where}.{self.name}"


@dataclasses.dataclass(frozen=True)
class Linear:
    """The sum of coefficient times atom, plus a constant."""

    terms: Mapping[Atom, float]
    constant: float = 0.0

    def __add__(self, other: "Linear") -> "Linear":
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0.0) + coefficient
        return Linear({a: c for a, c in terms.items() if c}, self.constant + other.constant)

    def __mul__(self, factor: float) -> "Linear":
        return Linear({a: c * factor for a, c in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: "Linear") -> "Linear":
        return self + other * -1.0

    def at(self, where: str) -> "Linear":
        """The same form of another node."""
        return Linear({a._replace(where=where): c for a, c in self.terms.items()}, self.constant)


ZERO, ONE = Linear({}, 0.0), Linear({}, 1.0)


def read(where: str, name: str) -> Linear:
    return Linear({Atom(where, name): 1.0})


@dataclasses.dataclass(frozen=True)
class Guard:
    """A conjunction of Bools, or a comparison a <= b."""

    unmet: Linear = ZERO
    """How many of the Bools are not as they should be."""
    excess: Linear = ZERO
    """a - b. A program promises that this is 0 or at least 1 / N."""

    def __and__(self, other: "Guard") -> "Guard":
        return Guard(self.unmet + other.unmet, self.excess + other.excess)


ALWAYS = Guard()


class Term(NamedTuple):
    """coefficient * max(0, value) where the guard is met, and 0 elsewhere"""

    value: Linear
    guard: Guard = ALWAYS
    coefficient: float = 1.0


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    type: Type
    bound: float
    """The value is at least 0 and at most this."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """The neighbour j of i with the largest score_ij, among those that meet the conditions."""

    name: str
    score: Linear
    """Over OWN, OTHER and EDGE; its negative, for a minimum."""
    hinges: tuple[Term, ...]
    """Further parts of the score: coefficient * max(0, value)."""
    unmet: Linear
    """How many conditions the sender does not meet; those that miss the fewest come first."""
    unmet_hinges: tuple[Linear, ...]
    """Further conditions: each is missed by max(0, form), which is 0 or at least 1."""


@dataclasses.dataclass(frozen=True)
class Update:
    """The next value of a variable: the sum of the terms."""

    variable: str
    terms: tuple[Term, ...]


@dataclasses.dataclass(frozen=True)
class Shown:
    """A hint or output, after the update: the sum of the terms; one sum a class for a categorical
    feature. Of a mask_one, the node with the largest value is shown."""

    feature: str
    classes: tuple[tuple[Term, ...], ...]


@dataclasses.dataclass(frozen=True)
class Round:
    """One round of message passing: whom to read, and how every variable changes."""

    selections: tuple[Selection, ...]
    updates: tuple[Update, ...]


@dataclasses.dataclass(frozen=True)
class GraphProgram:
    name: str
    task: str
    text: str
    variables: tuple[Variable, ...]
    rounds: tuple[Round, ...]
    shown: tuple[Shown, ...]
    resolution: float
    """`N` in the text: positions are either equal or at least 1 / N apart."""
    everyone: bool
    """Whether a node can select every node, or only its neighbours and itself."""

    def _repr_html_(self) -> str:
        """For notebooks: the source."""
        text = textwrap.dedent(self.text).strip()
        name = markup.escape(f"{self.name}, a program for {self.task}")
        return f"<p><strong>{name}</strong></p><pre>{markup.escape(text)}</pre>"
