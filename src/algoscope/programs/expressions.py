"""Expressions of a program's text: from Python's syntax tree to linear forms, guards and terms."""

import ast
import contextlib
import enum
import math
from collections.abc import Iterator

from algoscope.errors import unknown_name
from algoscope.networks.encoders import reads_at
from algoscope.programs.channels import names
from algoscope.programs.faults import FaultError, not_computed
from algoscope.programs.language import (
    ALWAYS,
    BACK,
    EDGE,
    GRAPH,
    LEGS,
    MISS_SCALE,
    NOT,
    ONE,
    OTHER,
    OWN,
    PAIR,
    POSITION,
    SELF,
    VIA,
    ZERO,
    Form,
    Guard,
    N,
    Number,
    Selection,
    Term,
    Type,
    Variable,
    read,
)
from algoscope.tasks import Kind, Location, Task

_BOOLEAN_KINDS = (Kind.MASK, Kind.MASK_ONE, Kind.CATEGORICAL, Kind.POINTER)
_LEAST_WEIGHT_INVERSE = 32.0
_PLURAL = {Location.NODE: "nodes", Location.EDGE: "edges", Location.GRAPH: "the graph"}


class Scope(enum.Enum):
    """Where something of pairs is read, and what can be read there besides both ends and the edge:
    the third node, whom was selected, or variables of pairs."""

    SELECTION, UPDATE, SHOWN = enum.auto(), enum.auto(), enum.auto()


class Expressions:
    """What names stand for at some place of a program, and how to read expressions there."""

    def __init__(self, task: Task):
        self.task = task
        self.variables: dict[str, Variable] = {}
        self.derived: dict[str, Form] = {}
        self.selections: dict[str, Selection] = {}
        self.pair_variables: dict[str, Variable] = {}
        self.pair_selections: dict[str, Selection] = {}
        self.scope: Scope | None = None
        """Of what is read, if it is of pairs."""
        self.booleans = {
            f"{f.stage}.{name}"
            for f in task.features
            if f.kind in _BOOLEAN_KINDS or f.whole
            for name in names(f)
        }

    def is_miss(self, name: str) -> bool:
        variable = self.variables.get(name) or self.pair_variables.get(name)
        return variable is not None and variable.type is Type.MISS

    @contextlib.contextmanager
    def of_pairs(self, scope: Scope) -> Iterator[None]:
        self.scope = scope
        try:
            yield
        finally:
            self.scope = None

    def next_value(self, name: str, node: ast.expr) -> tuple[Term, ...]:
        match node:
            case ast.Call(func=ast.Name(id="once"), args=[value], keywords=[keyword]) if (
                keyword.arg == "when"
            ):
                return Term(self._linear(value), self.guard(keyword.value)), Term(read(SELF, name))
        return self.terms(node)

    def terms(self, node: ast.expr) -> tuple[Term, ...]:
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                guard = self.guard(test)
                self._refuse_comparison(test, guard)
                terms = _under(guard, self.terms(body))
                if isinstance(orelse, ast.Constant) and orelse.value == 0:
                    return terms
                misses = (self.is_miss(atom.name) for atom in guard.unmet.terms)
                if isinstance(test, ast.BoolOp | ast.Compare) or any(misses):
                    raise FaultError(
                        test,
                        "an `else` needs a condition of one Bool; give the rest cases of their own "
                        "and add them, as in `(a if p and q else 0) + (b if not p else 0)`",
                    )
                return terms + _under(Guard(_complement(guard.unmet)), self.terms(orelse))
            case ast.BoolOp(op=ast.Or(), values=values):
                for value in values:
                    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
                        self._boolean(value, selecting=False)
                return tuple(term for value in values for term in self.terms(value))
            case ast.BoolOp(op=ast.And()):
                guard = self.guard(node)
                self._refuse_comparison(node, guard)
                return (Term(ONE, guard),)
            case ast.Compare():
                return (Term(ONE, self.guard(node)),)
            case ast.UnaryOp(op=ast.Not()):
                return (Term(ONE - self.guard(node).unmet),)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if _is_piecewise(
                node
            ):
                sign = 1.0 if isinstance(op, ast.Add) else -1.0
                return self.terms(left) + tuple(term.times(sign) for term in self.terms(right))
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if _is_piecewise(right):
                factor = self.number(left)
                return tuple(term.times(factor) for term in self.terms(right))
            case ast.Call(func=ast.Name(id="positive"), args=[argument]):
                return (Term(self._linear(argument)),)
            case ast.Call(func=ast.Name(id="same"), args=[left, right]):
                return self._same(self._linear(left) - self._linear(right))
            case ast.Call(func=ast.Name(id="sure"), args=[argument]):
                return self._sure(self._linear(argument))
            case ast.Call(func=ast.Name(id="apart" | "above" | "atleast"), args=[left, right]):
                return self._missed(node, self._linear(left) - self._linear(right))
            case ast.Call(func=ast.Name(id="once")):
                raise FaultError(
                    node, "once(value, when=condition) stands alone, after `variable =`"
                )
        return (Term(self._linear(node)),)

    def _refuse_comparison(self, node: ast.expr, guard: Guard) -> None:
        if guard.excess.terms:
            raise FaultError(
                node,
                "a comparison beside other things: it is scaled by N, and float32 would lose the "
                "rest; give it a Bool of its own, `before = idx <= other_one.idx`, and use that in "
                "a later round or step",
            )

    def _same(self, difference: Form) -> tuple[Term, ...]:
        """1 where the difference is 0, and 0 where it is at least 1 / N: a hat of three cuts."""
        scaled = difference * N
        return Term(scaled + ONE), Term(scaled, ALWAYS, Number(-2.0)), Term(scaled - ONE)

    def _sure(self, almost: Form) -> tuple[Term, ...]:
        """Exactly 0 or 1 from what is within 0.3 of it: 4 (b - 1/2) + 1/2, cut at 0 and at 1."""
        steep = almost * 4.0 - ONE * 1.5
        return Term(steep), Term(steep - ONE, ALWAYS, Number(-1.0))

    def _missed(self, call: ast.Call, difference: Form) -> tuple[Term, ...]:
        """At least 1 where the two are apart, or the first above or at least the second; else 0."""
        scaled = difference * (N * MISS_SCALE)
        if calls(call, "apart"):
            return Term(scaled), Term(scaled * -1.0)
        return (Term(scaled if calls(call, "above") else scaled + ONE),)

    def of_both_ends(self, node: ast.expr, cases: bool) -> tuple[Term, ...]:
        """What is shown of an edge: a sum over the node, the other end and the edge; of a pointer,
        cases."""
        if cases:
            return self.terms(node)
        if _is_piecewise(node):
            raise FaultError(
                node, "what is shown of an edge is a sum; make the case a variable of its ends"
            )
        return (Term(self._linear(node, selecting=True)),)

    def score(self, node: ast.expr) -> tuple[Form, list[Term]]:
        """A linear form plus multiples of positive(form)."""
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if calls_inside(
                node, "positive"
            ):
                sign = 1.0 if isinstance(op, ast.Add) else -1.0
                (a, hinges), (b, further) = self.score(left), self.score(right)
                return a + b * sign, hinges + [hinge.times(sign) for hinge in further]
            case ast.BinOp(left=factor, op=ast.Mult(), right=right) if calls(right, "positive"):
                _, [hinge] = self.score(right)
                return ZERO, [Term(hinge.value, ALWAYS, self.number(factor))]
            case ast.Call(func=ast.Name(id="positive"), args=[argument]):
                return ZERO, [Term(self._linear(argument, selecting=True))]
        return self._linear(node, selecting=True), []

    def missed_by(self, node: ast.Compare) -> Form:
        """A form that is above 0, and then at least 1, where the condition is not met. A weight is
        0, or at least 1 / 32 where there is an edge."""
        match node:
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
                return ONE - self._linear(left, selecting=True) * _LEAST_WEIGHT_INVERSE
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[right]):
                return self._linear(left, selecting=True) - self._linear(right, selecting=True)
        raise FaultError(node, "needed a comparison `edge.A > 0`, or `a <= b` of whole numbers")

    def guard(self, node: ast.expr, selecting: bool = False) -> Guard:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                guard = ALWAYS
                for value in values:
                    guard &= self.guard(value, selecting)
                return guard
            case ast.UnaryOp(op=ast.Not(), operand=operand) if self.is_miss(_bare_name(operand)):
                return Guard(self._linear(operand, selecting))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Guard(self._boolean(operand, selecting))
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[right]) if not selecting:
                return Guard(ZERO, self._linear(left) - self._linear(right))
            case ast.Compare():
                raise FaultError(node, "needed a comparison of the form `a <= b`")
        return Guard(_complement(self._boolean(node, selecting)))

    def _boolean(self, node: ast.expr, selecting: bool) -> Form:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return sum((self._boolean(value, selecting) for value in node.values), ZERO)
        linear = self._linear(node, selecting)
        if self.is_miss(_bare_name(node)):
            raise FaultError(
                node, f"{ast.unparse(node)}: a Miss is a condition only as `not {_bare_name(node)}`"
            )
        if _bare_name(node) not in self.booleans:
            raise FaultError(node, f"{ast.unparse(node)}: needed a Bool, a mask or `not` of one")
        return linear

    def number(self, node: ast.expr) -> Number:
        linear = self._linear(node)
        if linear.terms:
            raise FaultError(node, f"{ast.unparse(node)}: needed a number as a factor")
        return linear.constant

    def _linear(self, node: ast.expr, selecting: bool = False) -> Form:
        match node:
            case ast.Name(id="N"):
                return ONE * N
            case ast.Constant(value=bool()):
                raise FaultError(node, "needed a number; a Bool counts as 0 or 1")
            case ast.Constant(value=int() | float() as value):
                if not math.isfinite(float(value)):
                    raise OverflowError
                return ONE * float(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._linear(operand, selecting) * -1.0
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _complement(self._boolean(operand, selecting))
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._linear(left, selecting) + self._linear(right, selecting)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._linear(left, selecting) - self._linear(right, selecting)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                a, b = self._linear(left, selecting), self._linear(right, selecting)
                if a.terms and b.terms:
                    raise FaultError(
                        node,
                        "a product of two variables: one round of the network computes sums; the "
                        "nearest thing is a case, `a if b else 0`, where b is a Bool",
                    )
                return a * b.constant if a.terms else b * a.constant
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._read(node, selecting)
        raise FaultError(node, not_computed(node))

    def _places(self, selecting: bool) -> list[str]:
        """Whose values can be read."""
        match self.scope:
            case Scope.SELECTION:
                return [SELF, OTHER, EDGE, VIA, *LEGS]
            case Scope.UPDATE:
                return [SELF, OTHER, EDGE, *self.pair_selections]
            case Scope.SHOWN:
                return [SELF, OTHER, EDGE, PAIR]
        return [SELF, OTHER, EDGE] if selecting else [SELF, *self.selections]

    def _read(self, node: ast.expr, selecting: bool) -> Form:
        path = ast.unparse(node).split(".")
        places = self._places(selecting)
        where = SELF
        if path[0] in places:
            where, *path = path
            where = LEGS.get(where, where)
            if where in self.selections and path[:1] == [EDGE]:
                where, path = f"{where}.{EDGE}", path[1:]
        if where.endswith(EDGE):
            view, path = (path[:1], path[1:]) if path[:1] in ([BACK], [OWN]) else ([], path)
            channel = [*view, *path] if path[:1] == ["hint"] else [*view, "input", ".".join(path)]
            return self._read_channel(node, where, channel, selecting)
        if where == PAIR:
            if len(path) != 1 or path[0] not in self.pair_variables:
                raise FaultError(
                    node, unknown_name("variable of pairs", ".".join(path), self.pair_variables)
                )
            return read(PAIR, path[0])
        match path:
            case ["idx"] if "idx" not in self.variables:
                return read(where, POSITION)
            case ["input" | "hint" as stage, name]:
                return self._read_channel(node, where, [stage, name], selecting)
            case [name] if name in self.variables:
                return read(where, name)
            case [name] if name in self.derived:
                return self.derived[name] if where == SELF else self.derived[name].relocated(where)
        others = (OTHER, EDGE, PAIR, VIA, *LEGS, *self.selections, *self.pair_selections)
        if path and path[0] in others:
            here = ", ".join(f"{place}.…" for place in places)
            raise FaultError(
                node, f"{ast.unparse(node)}: cannot be read here; here one can read {here}"
            )
        known = [*self.variables, *self.derived, "idx"]
        raise FaultError(node, unknown_name("variable", ".".join(path), known))

    def _read_channel(self, node, where: str, channel: list[str], selecting: bool) -> Form:
        """A feature of a node or an edge, or in a selection of the graph: `[view,] stage, name`."""
        *_, stage, name = channel
        places = {
            name: reads_at(feature)
            for feature in self.task.features
            if feature.stage == stage
            for name in names(feature)
        }
        if where == SELF and places.get(name) is Location.GRAPH:
            if not selecting:
                raise FaultError(
                    node,
                    f"{ast.unparse(node)}: a feature of the graph reaches scores and conditions "
                    "alone; read it inside minimum(…) or maximum(…)",
                )
            return read(GRAPH, f"{stage}.{name}")
        location = Location.EDGE if where.endswith(EDGE) else Location.NODE
        known = [name for name, place in places.items() if place is location]
        if name not in known and name in places:
            raise FaultError(
                node,
                f"{ast.unparse(node)}: got a feature that is read of {_PLURAL[places[name]]}, "
                f"needed one of {_PLURAL[location]}"
                + (
                    f"; in a selection it is `edge.{'' if stage == 'input' else 'hint.'}{name}`"
                    if places[name] is Location.EDGE
                    else ""
                ),
            )
        if name not in known:
            raise FaultError(
                node, unknown_name(f"{location} {stage} of {self.task.name}", name, known)
            )
        return read(where, ".".join(channel))


def _under(guard: Guard, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(term._replace(guard=term.guard & guard) for term in terms)


def _complement(boolean: Form) -> Form:
    match list(boolean.terms.items()):
        case [(atom, Number(1.0, 0.0))] if not boolean.constant and "." in atom.name:
            name = atom.name
            return read(atom.where, name[len(NOT) :] if name.startswith(NOT) else NOT + name)
    return ONE - boolean


def calls(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def calls_inside(node: ast.expr, *names: str) -> bool:
    return any(isinstance(part, ast.expr) and calls(part, *names) for part in ast.walk(node))


def _is_piecewise(node: ast.expr) -> bool:
    """Does the expression have cases or cuts inside, so that it is a sum of several terms?"""
    return calls_inside(node, "positive", "same", "sure", "apart", "above", "atleast") or any(
        isinstance(part, ast.IfExp | ast.BoolOp | ast.Compare) for part in ast.walk(node)
    )


def _bare_name(node: ast.expr) -> str:
    """`found` of `parent.found`, `input.s` of `parent.input.s` and of `parent.edge.back.s`."""
    *path, name = ast.unparse(node).split(".")
    if path and path[-1] in ("input", "hint"):
        return f"{path[-1]}.{name}"
    return f"input.{name}" if path and path[-1] in (EDGE, BACK, OWN, *LEGS) else name
