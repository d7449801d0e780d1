"""The programs that are one change away from another: the moves of the search.

    mutants      `programs.mutations`: a literal negated or dropped, an extreme turned, a number
    transplants  a statement of another program of the task, with all that it needs
    reads        another score or condition of a selection: whom to read, those of whom something
                 holds since the last step among them; and whom when it does not matter any more,
                 itself or a node that is kept
    keeps        stored once, or looked up again in every step: what to keep
    removals     a variable, or a name, that may not be needed

Each is a text, and a program if the language takes it.
"""

import ast
import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from algoscope.programs import GraphProgram, parse
from algoscope.programs.language import Type
from algoscope.programs.mutations import mutants
from algoscope.programs.parser import ProgramError
from algoscope.tasks import Kind, Location, Stage, Task


class Step(NamedTuple):
    """A way from one program to the next."""

    change: str
    program: GraphProgram


def neighbours(program: GraphProgram, donors: Sequence[GraphProgram]) -> Iterator[Step]:
    """All programs that are one change away, none of them twice."""
    seen = {normal(program.text)}
    for kind in _kinds(program, donors):
        for change, text in kind:
            if text not in seen:
                seen.add(text)
                made = _parsed(program, text)
                if made is not None:
                    yield Step(change, made)


def random_neighbour(
    program: GraphProgram, donors: Sequence[GraphProgram], random: np.random.Generator
) -> GraphProgram:
    """One of them, of a random kind; the program itself if there is none."""
    kinds = _kinds(program, donors)
    for kind in random.permutation(len(kinds)):
        texts = [text for _, text in kinds[kind]]
        for place in random.permutation(len(texts)):
            made = _parsed(program, texts[place])
            if made is not None and texts[place] != normal(program.text):
                return made
    return program


def normal(text: str) -> str:
    """The text without comments, always written in the same way."""
    return ast.unparse(ast.parse(text))


def length(program: GraphProgram) -> int:
    """How long a program is: the nodes of its syntax tree."""
    return sum(1 for _ in ast.walk(ast.parse(program.text)))


def _parsed(like: GraphProgram, text: str) -> GraphProgram | None:
    try:
        return parse(
            like.name, like.task, text, role=like.role, fully_connected=like.fully_connected
        )
    except ProgramError:
        return None


def _kinds(
    program: GraphProgram, donors: Sequence[GraphProgram]
) -> list[Iterator[tuple[str, str]]]:
    """The kinds of change, each the changes and the texts they lead to."""
    module = ast.parse(program.text)
    transplants = itertools.chain.from_iterable(_transplants(module, donor) for donor in donors)
    others = (transplants, _other_reads(module, program), _other_keeps(module), _removals(module))
    return [_mutations(program), *map(_written, others)]


def _mutations(program: GraphProgram) -> Iterator[tuple[str, str]]:
    for mutant in mutants(program):
        yield f"{mutant.kind}, line {mutant.line}", normal(mutant.program.text)


def _written(changes: Iterator["Change"]) -> Iterator[tuple[str, str]]:
    for change, changed in changes:
        yield change, ast.unparse(ast.fix_missing_locations(changed))


Change = tuple[str, ast.Module]


def _transplants(module: ast.Module, donor: GraphProgram) -> Iterator[Change]:
    given = ast.parse(donor.text).body
    for place, statement in enumerate(module.body):
        if not isinstance(statement, ast.Assign):
            continue
        for other in given:
            if _targets(other) == _targets(statement) and ast.dump(other) != ast.dump(statement):
                needed = _needed(other, given, _defined(module.body))
                declared = [s for s in needed if isinstance(s, ast.AnnAssign)]
                whole = [s for s in given if s is other or (s in needed and s not in declared)]
                before, after = module.body[:place], module.body[place + 1 :]
                body = copy.deepcopy([*declared, *before, *whole, *after])
                yield f"{_targets(statement)} as in {donor.name}", ast.Module(body, [])


def _needed(statement: ast.stmt, given: list[ast.stmt], there: set[str]) -> list[ast.stmt]:
    """What the statement refers to that is not there yet, and what that refers to."""
    wanted, found = _names(statement) - there, set[int]()
    while wanted:
        name = wanted.pop()
        for place, other in enumerate(given):
            if name == _targets(other) and place not in found:
                found.add(place)
                wanted |= _names(other) - there - {name}
        there = there | {name}
    return [other for place, other in enumerate(given) if place in found and other is not statement]


def _other_reads(module: ast.Module, program: GraphProgram) -> Iterator[Change]:
    for place, statement in enumerate(module.body):
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id="minimum" | "maximum"), args=[score])):
                pass
            case _:
                continue
        name = _targets(statement)
        bools = _bools(module)
        for text in _scores(program, bools, ast.unparse(score)):
            changed = copy.deepcopy(module)
            changed.body[place].value.args = [_expression(text)]  # type: ignore[attr-defined]
            yield f"{name}: by {text}", changed
        for text in _conditions(bools, program.task):
            changed = copy.deepcopy(module)
            where = [ast.keyword("where", _expression(text))] if text else []
            changed.body[place].value.keywords = where  # type: ignore[attr-defined]
            yield f"{name}: where {text or 'anything'}", changed
        for text in bools:
            changed = copy.deepcopy(module)
            new = [ast.keyword("where", _expression(f"other.new_{text}"))]
            changed.body[place].value.keywords = new  # type: ignore[attr-defined]
            lines = f"old_{text}: Bool", f"new_{text} = {text} - old_{text}", f"old_{text} = {text}"
            declared, named, updated = (ast.parse(line).body[0] for line in lines)
            changed.body[place:place] = [named]
            changed.body = [
                declared,
                *changed.body[: place + 2],
                updated,
                *changed.body[place + 2 :],
            ]
            yield f"{name}: where {text} is new", changed


def _scores(program: GraphProgram, bools: list[str], present: str) -> Iterator[str]:
    """Numbers that a candidate can be chosen by, and each added to the present one; then the
    present one with all nodes below a certain one put last, where the reader is settled."""
    numbers = [v.name for v in program.variables if v.type in (Type.FLOAT, Type.NODE)]
    atoms = ["other.idx", *(f"other.{name}" for name in numbers)]
    for feature in program.task.at(Stage.INPUT):
        if feature.kind is Kind.SCALAR and feature.name not in ("pos", "adj"):
            where = {Location.NODE: "other.input", Location.EDGE: "edge"}.get(feature.location)
            atoms += [f"{where}.{feature.name}"] if where else []
    for atom in dict.fromkeys(atoms):
        yield atom
        yield f"{present} + {atom}"
        yield f"{present} - {atom}"
    nodes = ["idx", *(v.name for v in program.variables if v.type is Type.NODE)]
    for node, settled in itertools.product(nodes, bools):
        yield f"{present} + 2 * positive({node} - other.idx + {settled} - 1)"


def _bools(module: ast.Module) -> list[str]:
    """The Bools that a program has: variables, and names of what is made of them."""
    found = []
    for statement in module.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="Bool")):
                found.append(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BoolOp() | ast.BinOp()):
                found.append(name)
    return list(dict.fromkeys(found))


def _conditions(bools: list[str], task: Task) -> Iterator[str]:
    """Nothing, and each Bool or pair of Bools of the candidate."""
    masks = [
        f"input.{feature.name}"
        for feature in task.at(Stage.INPUT)
        if feature.location is Location.NODE and feature.kind in (Kind.MASK, Kind.MASK_ONE)
    ]
    atoms = [f"other.{name}" for name in (*bools, *masks)]
    yield ""
    yield from atoms
    yield from (f"{a} and {b}" for a, b in itertools.combinations(atoms, 2))
    yield from (f"{a} and not {b}" for a, b in itertools.permutations(atoms, 2))


def _other_keeps(module: ast.Module) -> Iterator[Change]:
    for place, statement in enumerate(module.body):
        match statement:
            case ast.Assign(
                value=ast.Call(
                    func=ast.Name(id="once"), args=[value], keywords=[ast.keyword(value=when)]
                )
            ):
                other: ast.expr = ast.IfExp(when, value, ast.Constant(0))
                change = "looked up again"
            case ast.Assign(value=ast.IfExp(body=value, test=when, orelse=ast.Constant(value=0))):
                other = ast.Call(ast.Name("once"), [value], [ast.keyword("when", when)])
                change = "stored once"
            case _:
                continue
        changed = copy.deepcopy(module)
        changed.body[place].value = copy.deepcopy(other)  # type: ignore[attr-defined]
        yield f"{_targets(statement)}: {change}", changed


def _removals(module: ast.Module) -> Iterator[Change]:
    for name in dict.fromkeys(map(_targets, module.body)):
        kept = [statement for statement in module.body if _targets(statement) != name]
        if name and not any(name in _names(statement) for statement in kept):
            yield f"without {name}", copy.deepcopy(ast.Module(kept, []))


def _targets(statement: ast.stmt) -> str:
    """What a statement defines or shows, as text; nothing of `then`."""
    match statement:
        case ast.AnnAssign(target=target):
            return ast.unparse(target)
        case ast.Assign(targets=targets):
            return " = ".join(map(ast.unparse, targets))
    return ""


def _defined(body: list[ast.stmt]) -> set[str]:
    return set(map(_targets, body)) | {"idx", "input", "hint", "other", "edge", "N", "self"}


def _names(statement: ast.stmt) -> set[str]:
    """All words that a statement reads: names, and what is read of another node."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if value is None:
        return set()
    nodes = list(ast.walk(value))
    words = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id not in ("input", "hint", "edge")
    }
    functions = {node.func.id for node in nodes if isinstance(node, ast.Call)}  # type: ignore[union-attr]
    return (words | attributes) - functions - {"idx", "input", "hint", "edge"}


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
