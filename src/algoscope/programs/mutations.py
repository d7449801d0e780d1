"""Mutants: programs that differ from another in one place. What verification has to notice.

    negated     a literal of a condition becomes its opposite
    dropped     a condition loses one of its literals
    extreme     minimum becomes maximum, or the other way round
    number      a factor changes its sign; any other number is one more
    class       another class of a categorical feature is read

Declarations stay as they are, and so do names: a bound that is larger changes nothing.
"""

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from algoscope.programs.interpreter import show
from algoscope.programs.language import GraphProgram
from algoscope.programs.parser import ProgramError, parse
from algoscope.programs.verification import agreement
from algoscope.tasks import Batch


class Mutant(NamedTuple):
    kind: str
    line: int
    """Of the program's text, from 1."""
    change: str
    """What stood there, and what stands there now."""
    program: GraphProgram


def mutants(program: GraphProgram, most: int | None = None, seed: int = 0) -> list[Mutant]:
    """All mutants that are programs; or so many of them, without order."""
    module = ast.parse(program.text)
    declarations = (s for s in module.body if isinstance(s, ast.AnnAssign))
    declared = {id(node) for statement in declarations for node in ast.walk(statement)}
    places = [
        (place, kind, change)
        for place, node in enumerate(ast.walk(module))
        if id(node) not in declared
        for kind, change in _changes(node)
    ]
    if most is not None:
        places = [places[k] for k in np.random.default_rng(seed).permutation(len(places))]
    made = (_mutant(program, module, place, kind, change) for place, kind, change in places)
    return list(itertools.islice((mutant for mutant in made if mutant is not None), most))


def _mutant(
    program: GraphProgram, module: ast.Module, place: int, kind: str, change: "_Change"
) -> Mutant | None:
    """With the change at a place of the syntax tree; none where the language refuses it."""
    changed = copy.deepcopy(module)
    node = list(ast.walk(changed))[place]
    before = ast.unparse(node)
    change(node)
    try:
        mutant = parse(
            program.name,
            program.task,
            ast.unparse(changed),
            role=program.role,
            fully_connected=program.fully_connected,
        )
    except ProgramError:
        return None
    line = getattr(node, "lineno", 0)
    return Mutant(kind, line, f"{before} -> {ast.unparse(node)}", mutant)


def is_noticed(mutant: Mutant, batches: list[Batch]) -> bool:
    """Whether the mutant breaks a promise of the language, or differs from the reference algorithm,
    on some of the problems."""
    for batch in batches:
        run = show(mutant.program, batch)
        if run.broken.any():
            return True
        if not all(same.all() for same in agreement(run.account, batch).values()):
            return True
    return False


def _changes(node: ast.AST) -> Iterator[tuple[str, "_Change"]]:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            for position in range(len(values)):
                yield "negated", _Change("negate", position)
                yield "dropped", _Change("drop", position)
        case ast.Call(func=ast.Name(id="minimum" | "maximum")):
            yield "extreme", _Change("turn", 0)
        case ast.Subscript(slice=ast.Constant()):
            yield "class", _Change("other_class", 0)
        case ast.BinOp(left=ast.Constant(), op=ast.Mult()):
            yield "number", _Change("reverse", 0)
    for field, position in _numbers(node):
        yield "number", _Change("add_one", position, field)


def _numbers(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The fields of a node of the syntax tree in which a number stands that is neither a factor nor
    a class, with its position where a field has several."""
    if isinstance(node, ast.Subscript):
        return
    for field, held in ast.iter_fields(node):
        is_factor = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for position, value in enumerate(held if isinstance(held, list) else [held]):
            if isinstance(value, ast.Constant) and not is_factor:
                yield field, position


class _Change(NamedTuple):
    """A change of a node of the syntax tree, in place."""

    name: str
    position: int
    field: str = ""

    def __call__(self, node) -> None:
        match self.name:
            case "negate":
                value = node.values[self.position]
                opposite = ast.UnaryOp(ast.Not(), value)
                node.values[self.position] = (
                    value.operand if isinstance(value, ast.UnaryOp) else opposite
                )
            case "drop":
                del node.values[self.position]
                if len(node.values) == 1:
                    node.values *= 2
            case "turn":
                node.func.id = {"minimum": "maximum", "maximum": "minimum"}[node.func.id]
            case "other_class":
                node.slice.value = node.slice.value - 1 if node.slice.value else 1
            case "reverse":
                node.left.value *= -1
            case "add_one":
                held = getattr(node, self.field)
                number = held[self.position] if isinstance(held, list) else held
                number.value += 1
