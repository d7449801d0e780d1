"""Reads a program's text, and lists all of its faults at once, with their places and reasons."""

import ast
import textwrap
from typing import NamedTuple

from algoscope import tasks
from algoscope.programs.language import (
    ALWAYS,
    EDGE,
    NOT,
    ONE,
    OTHER,
    OWN,
    POSITION,
    ZERO,
    GraphProgram,
    Guard,
    Linear,
    Round,
    Selection,
    Shown,
    Term,
    Type,
    Update,
    Variable,
    read,
)
from algoscope.tasks import Kind, Location, Stage, Task
from algoscope.tasks.errors import unknown_name

_BOOLEAN_KINDS = (Kind.MASK, Kind.MASK_ONE)
_LEAST_WEIGHT_INVERSE = 32.0


class Fault(NamedTuple):
    line: int
    column: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


class ProgramError(ValueError):
    """Lists everything that is wrong with a program."""

    def __init__(self, name: str, faults: list[Fault]):
        self.faults = sorted(faults)
        super().__init__(f"program {name}:\n" + "\n".join(str(fault) for fault in self.faults))


class _StopError(Exception):
    """A fault that ends the reading of its statement."""

    def __init__(self, node: ast.AST, reason: str):
        super().__init__(reason)
        self.fault = Fault(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, reason)


def parse(
    name: str, task: str, text: str, *, everyone: bool = False, resolution: float = 2.0**18
) -> GraphProgram:
    """The program that the text says; a ProgramError lists all faults if it says none."""
    text = textwrap.dedent(text).strip("\n")
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        fault = Fault(error.lineno or 1, error.offset or 1, error.msg)
        raise ProgramError(name, [fault]) from None
    reader = _Reader(tasks.get(task), resolution)
    for statement in module.body:
        try:
            reader.read(statement)
        except _StopError as stop:
            reader.faults.append(stop.fault)
            reader.passed_over(statement)
    reader.end_round()
    reader.check_completeness(len(text.splitlines()))
    if reader.faults:
        raise ProgramError(name, reader.faults)
    return GraphProgram(
        name,
        task,
        text,
        tuple(reader.variables.values()),
        tuple(reader.rounds),
        tuple(reader.shown.values()),
        resolution,
        everyone,
    )


def at_resolution(program: GraphProgram, resolution: float) -> GraphProgram:
    """The same program, with another `N`."""
    if program.resolution == resolution:
        return program
    return parse(
        program.name,
        program.task,
        program.text,
        everyone=program.everyone,
        resolution=resolution,
    )


class _Reader:
    """Reads statement by statement; expressions become linear forms, guards and terms."""

    def __init__(self, task: Task, resolution: float):
        self.task = task
        self.resolution = resolution
        self.features = {f.name: f for f in task.features}
        self.variables: dict[str, Variable] = {}
        self.derived: dict[str, Linear] = {}
        self.selections: dict[str, Selection] = {}
        self.updates: dict[str, Update] = {}
        self.rounds: list[Round] = []
        self.updated: set[str] = set()
        self.shown: dict[str, Shown] = {}
        self.faults: list[Fault] = []
        self.booleans = {
            f"{f.stage}.{f.name}" for f in task.features if f.kind in _BOOLEAN_KINDS or f.whole
        }

    def read(self, statement: ast.stmt) -> None:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
                self._declare(statement, name, annotation)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                taken = name in self.derived or name in self.selections or name in self.updates
                if taken or name in (OWN, OTHER, EDGE, "idx", "input", "hint", "output"):
                    raise _StopError(statement, f"{name}: defined twice, or a word of the language")
                if name in self.variables:
                    self.updates[name] = Update(name, self._next_value(name, value))
                elif _calls(value, "minimum", "maximum"):
                    self._select(name, value)
                else:
                    self._derive(name, value)
            case ast.Assign(targets=targets, value=value):
                if not all(isinstance(target, ast.Attribute) for target in targets):
                    raise _StopError(statement, "needed one name, or hint.NAME and output.NAME")
                for target in targets:
                    try:
                        self._show(target, value)
                    except _StopError as stop:
                        self.faults.append(stop.fault)
            case ast.Expr(value=ast.Name(id="then")):
                self.end_round()
            case _:
                raise _StopError(
                    statement,
                    "needed `name: Type`, `name = …`, `hint.name = …`, `output.name = …` or `then`",
                )

    def passed_over(self, statement: ast.stmt) -> None:
        """A variable whose update has a fault is not also one that is never updated."""
        if isinstance(statement, ast.Assign):
            self.updated |= {t.id for t in statement.targets if isinstance(t, ast.Name)}

    def _declare(self, statement, name, annotation):
        match annotation:
            case ast.Name(id="Bool" | "Node" as kind):
                variable = Variable(name, Type(kind), 1.0)
            case ast.Call(func=ast.Name(id="Float"), args=[bound]):
                variable = Variable(name, Type.FLOAT, self._number(bound))
            case _:
                raise _StopError(
                    annotation, f"{name}: needed Bool, Node or Float(its largest value)"
                )
        if name in self.variables:
            raise _StopError(statement, f"{name}: declared twice")
        self.variables[name] = variable
        if variable.type is Type.BOOL:
            self.booleans.add(name)

    def _derive(self, name, value):
        terms = self._terms(value)
        if any(term.guard != ALWAYS for term in terms) or _calls_inside(value, "positive"):
            raise _StopError(
                value,
                f"{name}: a name for something needs a sum, such as `a or b` of what never holds "
                "together; declare it as a variable to use `and`, `if` or positive(…)",
            )
        self.derived[name] = sum((term.value * term.coefficient for term in terms), ZERO)
        self.booleans.add(name)

    def _select(self, name, call):
        if len(call.args) != 1 or any(k.arg != "where" for k in call.keywords):
            raise _StopError(call, "needed minimum(expression, where=condition) or maximum(…)")
        sign = -1.0 if call.func.id == "minimum" else 1.0
        score, hinges = self._score(call.args[0])
        unmet, unmet_hinges = ZERO, []
        for condition in _conjuncts([k.value for k in call.keywords]):
            if isinstance(condition, ast.Compare):
                unmet_hinges.append(self._missed_by(condition))
            else:
                unmet += self._guard(condition, selecting=True).unmet
        self.selections[name] = Selection(
            name,
            score * sign,
            tuple(Term(h.value, ALWAYS, h.coefficient * sign) for h in hinges),
            unmet,
            tuple(unmet_hinges),
        )

    def _score(self, node: ast.expr) -> tuple[Linear, list[Term]]:
        """A linear form plus multiples of positive(form)."""
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if _calls_inside(
                node, "positive"
            ):
                sign = 1.0 if isinstance(op, ast.Add) else -1.0
                (a, some), (b, more) = self._score(left), self._score(right)
                more = [Term(h.value, ALWAYS, h.coefficient * sign) for h in more]
                return a + b * sign, some + more
            case ast.BinOp(left=factor, op=ast.Mult(), right=right) if _calls(right, "positive"):
                _, [hinge] = self._score(right)
                return ZERO, [Term(hinge.value, ALWAYS, self._number(factor))]
            case ast.Call(func=ast.Name(id="positive"), args=[argument]):
                return ZERO, [Term(self._linear(argument, selecting=True))]
        return self._linear(node, selecting=True), []

    def _missed_by(self, node: ast.Compare) -> Linear:
        """A form that is above 0, and then at least 1, where the condition is not met. A weight is
        0, or at least 1 / 32 where there is an edge."""
        match node:
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]):
                return ONE - self._linear(left, selecting=True) * _LEAST_WEIGHT_INVERSE
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[right]):
                return self._linear(left, selecting=True) - self._linear(right, selecting=True)
        raise _StopError(node, "needed a comparison `edge.A > 0`, or `a <= b` of whole numbers")

    def _show(self, target, value):
        match target:
            case ast.Attribute(value=ast.Name(id="hint" | "output" as stage), attr=name):
                known = [f.name for f in self.task.features if f.stage == stage]
                if name not in known:
                    raise _StopError(
                        target, unknown_name(f"{stage} of {self.task.name}", name, known)
                    )
                if name in self.shown:
                    raise _StopError(target, f"{stage}.{name}: shown twice")
                count = self.features[name].classes
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                if len(parts) != count:
                    raise _StopError(value, f"{name}: got {len(parts)} values, needed {count}")
                self.shown[name] = Shown(name, tuple(self._terms(part) for part in parts))
            case _:
                raise _StopError(target, "needed one name, or hint.NAME and output.NAME")

    def _next_value(self, name: str, node: ast.expr) -> tuple[Term, ...]:
        match node:
            case ast.Call(func=ast.Name(id="once"), args=[value], keywords=[keyword]) if (
                keyword.arg == "when"
            ):
                return Term(self._linear(value), self._guard(keyword.value)), Term(read(OWN, name))
        return self._terms(node)

    def _terms(self, node: ast.expr) -> tuple[Term, ...]:
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                guard = self._guard(test)
                self._refuse_comparison(test, guard)
                terms = _under(guard, self._terms(body))
                if isinstance(orelse, ast.Constant) and orelse.value == 0:
                    return terms
                if isinstance(test, ast.BoolOp | ast.Compare):
                    raise _StopError(
                        test,
                        "an `else` needs a condition of one Bool; give the rest cases of their own "
                        "and add them, as in `(a if p and q else 0) + (b if not p else 0)`",
                    )
                return terms + _under(Guard(_complement(guard.unmet)), self._terms(orelse))
            case ast.BoolOp(op=ast.Or(), values=values):
                return tuple(term for value in values for term in self._terms(value))
            case ast.BoolOp(op=ast.And()):
                guard = self._guard(node)
                self._refuse_comparison(node, guard)
                return (Term(ONE, guard),)
            case ast.Compare():
                return (Term(ONE, self._guard(node)),)
            case ast.UnaryOp(op=ast.Not()):
                return (Term(ONE - self._guard(node).unmet),)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if _is_piecewise(
                node
            ):
                sign = 1.0 if isinstance(op, ast.Add) else -1.0
                subtracted = (
                    t._replace(coefficient=t.coefficient * sign) for t in self._terms(right)
                )
                return self._terms(left) + tuple(subtracted)
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if _is_piecewise(right):
                factor = self._number(left)
                return tuple(
                    t._replace(coefficient=t.coefficient * factor) for t in self._terms(right)
                )
            case ast.Call(func=ast.Name(id="positive"), args=[argument]):
                return (Term(self._linear(argument)),)
            case ast.Call(func=ast.Name(id="same"), args=[left, right]):
                return self._same(self._linear(left) - self._linear(right))
            case ast.Call(func=ast.Name(id="sure"), args=[argument]):
                return self._sure(self._linear(argument))
            case ast.Call(func=ast.Name(id="once")):
                raise _StopError(
                    node, "once(value, when=condition) stands alone, after `variable =`"
                )
        return (Term(self._linear(node)),)

    def _refuse_comparison(self, node: ast.expr, guard: Guard) -> None:
        if guard.excess.terms:
            raise _StopError(
                node,
                "a comparison beside other things: it is scaled by N, and float32 would lose the "
                "rest; give it a Bool of its own, `before = idx <= other_one.idx`, and use that in "
                "a later round or step",
            )

    def _same(self, difference: Linear) -> tuple[Term, ...]:
        """1 where the difference is 0, and 0 where it is at least 1 / N: a hat of three cuts."""
        scaled = difference * self.resolution
        return Term(scaled + ONE), Term(scaled, ALWAYS, -2.0), Term(scaled - ONE)

    def _sure(self, almost: Linear) -> tuple[Term, ...]:
        """Exactly 0 or 1 from what is within 0.3 of it: 4 (b - 1/2) + 1/2, cut at 0 and at 1."""
        steep = almost * 4.0 - ONE * 1.5
        return Term(steep), Term(steep - ONE, ALWAYS, -1.0)

    def _guard(self, node: ast.expr, selecting: bool = False) -> Guard:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                guard = ALWAYS
                for value in values:
                    guard &= self._guard(value, selecting)
                return guard
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Guard(self._boolean(operand, selecting))
            case ast.Compare(left=left, ops=[ast.LtE()], comparators=[right]) if not selecting:
                return Guard(ZERO, self._linear(left) - self._linear(right))
            case ast.Compare():
                raise _StopError(node, "needed a comparison of the form `a <= b`")
        return Guard(_complement(self._boolean(node, selecting)))

    def _boolean(self, node: ast.expr, selecting: bool) -> Linear:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return sum((self._boolean(value, selecting) for value in node.values), ZERO)
        linear = self._linear(node, selecting)
        if _bare_name(node) not in self.booleans:
            raise _StopError(node, f"{ast.unparse(node)}: needed a Bool, a mask or `not` of one")
        return linear

    def _number(self, node: ast.expr) -> float:
        linear = self._linear(node)
        if linear.terms:
            raise _StopError(node, f"{ast.unparse(node)}: needed a number as a factor")
        return linear.constant

    def _linear(self, node: ast.expr, selecting: bool = False) -> Linear:
        match node:
            case ast.Name(id="N"):
                return ONE * self.resolution
            case ast.Constant(value=bool()):
                raise _StopError(node, "needed a number; a Bool counts as 0 or 1")
            case ast.Constant(value=int() | float() as value):
                return ONE * float(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._linear(operand, selecting) * -1.0
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._linear(left, selecting) + self._linear(right, selecting)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self._linear(left, selecting) - self._linear(right, selecting)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                a, b = self._linear(left, selecting), self._linear(right, selecting)
                if a.terms and b.terms:
                    raise _StopError(
                        node,
                        "a product of two variables: one round of the network computes sums; the "
                        "nearest thing is a case, `a if b else 0`, where b is a Bool",
                    )
                return a * b.constant if a.terms else b * a.constant
            case ast.Name() | ast.Attribute():
                return self._read(node, selecting)
        raise _StopError(node, f"{ast.unparse(node)}: not something that one round computes")

    def _read(self, node: ast.expr, selecting: bool) -> Linear:
        path = ast.unparse(node).split(".")
        places = [OWN, OTHER, EDGE] if selecting else [OWN, *self.selections]
        where = OWN
        if path[0] in places:
            where, *path = path
            if not selecting and path[:1] == [EDGE]:
                where, path = f"{where}.{EDGE}", path[1:]
        if where.endswith(EDGE):
            return self._read_input(node, where, "input", ".".join(path), Location.EDGE)
        match path:
            case ["idx"]:
                return read(where, POSITION)
            case ["input" | "hint" as stage, name]:
                return self._read_input(node, where, stage, name, Location.NODE)
            case [name] if name in self.variables:
                return read(where, name)
            case [name] if name in self.derived:
                return self.derived[name] if where == OWN else self.derived[name].at(where)
        if path and path[0] in (OTHER, EDGE, *self.selections):
            here = ", ".join(f"{place}.…" for place in places)
            raise _StopError(
                node, f"{ast.unparse(node)}: cannot be read here; here one can read {here}"
            )
        known = [*self.variables, *self.derived, "idx"]
        raise _StopError(node, unknown_name("variable", ".".join(path), known))

    def _read_input(self, node, where: str, stage: str, name: str, location: Location) -> Linear:
        known = [
            f.name
            for f in self.task.features
            if (f.stage, f.location) == (stage, location)
            and f.kind not in (Kind.POINTER, Kind.CATEGORICAL)
        ]
        if name not in known:
            raise _StopError(
                node, unknown_name(f"{location} {stage} of {self.task.name}", name, known)
            )
        return read(where, f"{stage}.{name}")

    def end_round(self) -> None:
        kept = (Update(name, (Term(read(OWN, name)),)) for name in self.variables)
        updates = {update.variable: update for update in kept} | self.updates
        self.rounds.append(Round(tuple(self.selections.values()), tuple(updates.values())))
        self.updated |= set(self.updates)
        self.updates, self.selections = {}, {}

    def check_completeness(self, last_line: int) -> None:
        for name in self.variables:
            if name not in self.updated:
                self.faults.append(Fault(last_line, 1, f"{name}: declared and never updated"))
        for feature in self.task.features:
            if feature.stage is not Stage.INPUT and feature.name not in self.shown:
                reason = f"{feature.stage}.{feature.name}: never shown, and {self.task.name} has it"
                self.faults.append(Fault(last_line, 1, reason))
        if not any(round_.selections for round_ in self.rounds):
            reason = "no minimum(…) or maximum(…): no node reads another"
            self.faults.append(Fault(last_line, 1, reason))


def _under(guard: Guard, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(term._replace(guard=term.guard & guard) for term in terms)


def _complement(boolean: Linear) -> Linear:
    match list(boolean.terms.items()):
        case [(atom, 1.0)] if not boolean.constant and "." in atom.name:
            name = atom.name
            return read(atom.where, name[len(NOT) :] if name.startswith(NOT) else NOT + name)
    return ONE - boolean


def _calls(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _calls_inside(node: ast.expr, *names: str) -> bool:
    return any(isinstance(part, ast.expr) and _calls(part, *names) for part in ast.walk(node))


def _is_piecewise(node: ast.expr) -> bool:
    """Does the expression have cases or cuts inside, so that it is a sum of several terms?"""
    return _calls_inside(node, "positive", "same", "sure") or any(
        isinstance(part, ast.IfExp | ast.BoolOp | ast.Compare) for part in ast.walk(node)
    )


def _conjuncts(conditions: list[ast.expr]) -> list[ast.expr]:
    """The parts of `a and b and c`."""
    match conditions:
        case [ast.BoolOp(op=ast.And(), values=values)]:
            return values
    return conditions


def _bare_name(node: ast.expr) -> str:
    """`found` of `parent.found`, `input.s` of `parent.input.s` and of `parent.edge.s`."""
    *path, name = ast.unparse(node).split(".")
    if path and path[-1] in ("input", "hint"):
        return f"{path[-1]}.{name}"
    return f"input.{name}" if path and path[-1] == EDGE else name
