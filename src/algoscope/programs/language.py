"""The language of graph programs: what a program says, once its text has been read.

docs/reference/programs.md says how one is written. All nodes do the same at once: a node reads its
own variables and inputs, and those of a neighbour that it *selects*; then all variables change.

Everything is a linear form over *atoms*, cut at zero and under a guard, because that is what one
round of a graph attention network computes: the values below are its weights in disguise.
"""

import dataclasses
import enum
import re
from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from algoscope import markup
from algoscope.tasks import Task

SELF, OTHER, EDGE, GRAPH = "self", "other", "edge", "graph"
VIA, PAIR = "via", "pair"
"""The third node, in a selection of pairs; a variable of pairs, in what is shown of edges."""
LEGS = {"first_leg": "first_leg.edge", "second_leg": "second_leg.edge"}
"""The edges from self to the third node and from there to other: `first_leg.A`."""
FIRST_LEG, SECOND_LEG = LEGS.values()
POSITION = "input.pos"
NOT = "not "
"""`not hint.x` is 1 - hint.x: an atom of its own, because it has to be exactly 0 beside numbers."""
BACK, OWN = "back", "own"
"""Views of an edge: `edge.back.A` is A of the edge that leads back, `edge.own.A` is A of a loop and
0 of every other edge."""
MISS_SCALE = 64.0
"""Numbers that a Miss tells apart are equal, or at least 1 / (64 N) apart."""


class Role(enum.StrEnum):
    """What a program is to its task."""

    REFERENCE = "reference"
    """The algorithm, exactly: what networks are compared with."""
    VARIANT = "variant"
    """The algorithm, exactly, in an unusual form; held back from the references."""
    STATE = "state"
    """The algorithm, exactly, that keeps something else from step to step: a rival of the others
    where it is asked whose state a network has."""
    WRONG = "wrong"
    """Another algorithm, known to be another: a control for measures of the mechanism."""


class Type(enum.StrEnum):
    BOOL = "Bool"
    FLOAT = "Float"
    NODE = "Node"
    MISS = "Miss"
    """0 where a condition is met, at least 1 where it is missed."""


class Atom(NamedTuple):
    """A value that a node can read: its own, that of a node it selected, or of the edge to that."""

    where: str
    """SELF; OTHER, EDGE and GRAPH, in a selection; its name or its name with `.edge`, outside. Of
    pairs also VIA and the legs, in a selection; PAIR, in what is shown."""
    name: str
    """A variable, or a channel such as `input.s`, `not hint.i`, `back.input.A`: see `channels`."""

    def __str__(self) -> str:
        return self.name if self.where == SELF else f"{self.where}.{self.name}"


class DegreeError(ValueError):
    """A product of two numbers that both contain N."""


@dataclasses.dataclass(frozen=True)
class Number:
    """constant + multiple · N"""

    constant: float
    multiple: float = 0.0

    def __add__(self, other: "Number") -> "Number":
        return Number(self.constant + other.constant, self.multiple + other.multiple)

    def __mul__(self, factor: "Number | float") -> "Number":
        if not isinstance(factor, Number):
            return Number(self.constant * factor, self.multiple * factor)
        if self.multiple and factor.multiple:
            raise DegreeError("N * N: needed numbers of the form a + b * N")
        multiple = self.constant * factor.multiple + self.multiple * factor.constant
        return Number(self.constant * factor.constant, multiple)

    def __bool__(self) -> bool:
        return bool(self.constant or self.multiple)

    def at(self, resolution: float) -> float:
        """The number where N is the resolution."""
        return self.constant + self.multiple * resolution


Coefficient = TypeVar("Coefficient", float, Number)


@dataclasses.dataclass(frozen=True)
class Linear(Generic[Coefficient]):
    """The sum of coefficient times atom, plus a constant."""

    terms: Mapping[Atom, Coefficient]
    constant: Coefficient

    def __add__(self, other: "Linear[Coefficient]") -> "Linear[Coefficient]":
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms[atom] + coefficient if atom in terms else coefficient
        return Linear({a: c for a, c in terms.items() if c}, self.constant + other.constant)

    def __mul__(self, factor: Coefficient | float) -> "Linear[Coefficient]":
        return Linear({a: c * factor for a, c in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: "Linear[Coefficient]") -> "Linear[Coefficient]":
        return self + other * -1.0

    def relocated(self, where: str) -> "Linear[Coefficient]":
        """The same form of another node."""
        return Linear({a._replace(where=where): c for a, c in self.terms.items()}, self.constant)

    def at(self: "Linear[Number]", resolution: float) -> "Linear[float]":
        """The form where N is the resolution."""
        terms = {atom: c.at(resolution) for atom, c in self.terms.items()}
        return Linear(terms, self.constant.at(resolution))


Form = Linear[Number]
N = Number(0.0, 1.0)
ZERO, ONE = Form({}, Number(0.0)), Form({}, Number(1.0))


def _contains_n(form: Form) -> bool:
    return any(number.multiple for number in (form.constant, *form.terms.values()))


def read(where: str, name: str) -> Form:
    return Form({Atom(where, name): Number(1.0)}, Number(0.0))


@dataclasses.dataclass(frozen=True)
class Guard:
    """A conjunction of Bools, or a comparison a <= b."""

    unmet: Form = ZERO
    """How many of the Bools are not as they should be."""
    excess: Form = ZERO
    """a - b. A program promises that this is 0 or at least 1 / N, never below 0."""

    def __and__(self, other: "Guard") -> "Guard":
        return Guard(self.unmet + other.unmet, self.excess + other.excess)


ALWAYS = Guard()


class Term(NamedTuple):
    """coefficient * max(0, value) where the guard is met, and 0 elsewhere"""

    value: Form
    guard: Guard = ALWAYS
    coefficient: Number = Number(1.0)

    def times(self, factor: Number | float) -> "Term":
        return self._replace(coefficient=self.coefficient * factor)

    @property
    def forms(self) -> tuple[Form, ...]:
        return self.value, self.guard.unmet, self.guard.excess

    @property
    def atoms(self) -> set[Atom]:
        """Everything that is read."""
        return {atom for form in self.forms for atom in form.terms}

    @property
    def uses_n(self) -> bool:
        """Whether N is in the value or its factor, or a comparison in the guard."""
        scaled = self.coefficient.multiple or self.guard.excess.terms
        return bool(scaled) or _contains_n(self.value)


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    type: Type
    bound: Number
    """The value is at least 0 and at most this."""
    brief: bool = False
    """Whether it is 0 after a round that does not update it, instead of what it was."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """The neighbour j of i with the largest score_ij, among those that meet the conditions."""

    name: str
    score: Form
    """Over SELF, OTHER and EDGE; its negative, for a minimum."""
    hinges: tuple[Term, ...]
    """Further parts of the score: coefficient * max(0, value)."""
    unmet: Form
    """How many conditions the sender does not meet; those that miss the fewest come first."""
    unmet_hinges: tuple[Form, ...]
    """Further conditions: each is missed by max(0, form), which is 0 or at least 1."""
    among: bool = False
    """Whether no one is chosen: of all that meet the conditions the largest is read of each value,
    and 0 where none does."""

    @property
    def forms(self) -> tuple[Form, ...]:
        return self.score, self.unmet, *self.unmet_hinges, *(hinge.value for hinge in self.hinges)

    @property
    def uses_n(self) -> bool:
        """Whether N is in the score or a condition."""
        return any(map(_contains_n, self.forms)) or any(hinge.uses_n for hinge in self.hinges)


@dataclasses.dataclass(frozen=True)
class Update:
    """The next value of a variable: the sum of the terms."""

    variable: str
    terms: tuple[Term, ...]

    @property
    def atoms(self) -> set[Atom]:
        return {atom for term in self.terms for atom in term.atoms}


@dataclasses.dataclass(frozen=True)
class Emitted:
    """A hint or output, after the update: the sum of the terms; one sum a class for a categorical
    feature. Of a mask_one, the node with the largest value is shown. Of an edge, one linear form
    over SELF, OTHER and EDGE; of the graph, the sum of what is largest over nodes; of a
    permutation, the pointer and which node is the first."""

    feature: str
    classes: tuple[tuple[Term, ...], ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """Of all classes."""
        return tuple(term for terms in self.classes for term in terms)


@dataclasses.dataclass(frozen=True)
class Round:
    """One round of message passing: whom to read, and how every variable changes."""

    selections: tuple[Selection, ...]
    updates: tuple[Update, ...]


@dataclasses.dataclass(frozen=True)
class Pairs:
    """What every pair of nodes computes in the last round of a step, from the state before it.
    Pairs keep nothing from step to step."""

    variables: tuple[Variable, ...]
    selections: tuple[Selection, ...]
    """The third node with the largest score, over SELF, OTHER, EDGE, VIA and the legs."""
    updates: tuple[Update, ...]
    """Over SELF, OTHER, EDGE and what the selected hold."""

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(term for update in self.updates for term in update.terms)


@dataclasses.dataclass(frozen=True)
class GraphProgram:
    name: str
    task: Task
    role: Role
    text: str
    variables: tuple[Variable, ...]
    rounds: tuple[Round, ...]
    emitted: tuple[Emitted, ...]
    fully_connected: bool
    """Whether a node can select every node, or only its neighbours and itself."""
    pairs: Pairs | None = None
    """If there are any, the program is for a processor with triplets."""

    @property
    def idx(self) -> str:
        """What names nodes, and pointers are decoded by: their position, or a variable `idx`."""
        return "idx" if any(v.name == "idx" for v in self.variables) else POSITION

    @property
    def needs_even_positions(self) -> bool:
        """Whether it counts in steps from one position to the next, as its head says."""
        return "# positions: even" in self.text.splitlines()

    @property
    def most_nodes(self) -> int | None:
        """The size up to which it is right, as its head says; None if that is any."""
        stated = re.search(r"^# most_nodes: (\d+)$", self.text, re.MULTILINE)
        return int(stated[1]) if stated else None

    @property
    def compares(self) -> bool:
        """Whether it compares numbers exactly, by a Miss."""
        of_pairs = self.pairs.variables if self.pairs else ()
        return any(variable.type is Type.MISS for variable in (*self.variables, *of_pairs))

    @property
    def atoms(self) -> set[Atom]:
        """Everything that the program reads."""
        selections = [s for round_ in self.rounds for s in round_.selections]
        terms = [t for round_ in self.rounds for update in round_.updates for t in update.terms]
        terms += [t for emitted in self.emitted for t in emitted.terms]
        if self.pairs:
            selections += self.pairs.selections
            terms += self.pairs.terms
        forms = [form for part in (*selections, *terms) for form in part.forms]
        return {atom for form in forms for atom in form.terms}

    def _repr_html_(self) -> str:
        """For notebooks: the source."""
        name = markup.escape(f"{self.name}, a program for {self.task.name}")
        return f"<p><strong>{name}</strong></p><pre>{markup.escape(self.text)}</pre>"
