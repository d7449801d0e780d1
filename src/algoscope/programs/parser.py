"""Reads a program's text, and lists all of its faults at once, with their places and reasons."""

import ast
import dataclasses
import keyword
import textwrap
import warnings

from algoscope import tasks
from algoscope.errors import nearest, unknown_name
from algoscope.programs.expressions import Expressions, Scope, calls, calls_inside
from algoscope.programs.faults import Fault, FaultError
from algoscope.programs.language import (
    ALWAYS,
    EDGE,
    GRAPH,
    LEGS,
    MISS_SCALE,
    OTHER,
    PAIR,
    SELF,
    VIA,
    ZERO,
    DegreeError,
    Emitted,
    Form,
    GraphProgram,
    N,
    Number,
    Pairs,
    Role,
    Round,
    Selection,
    Term,
    Type,
    Update,
    Variable,
    read,
)
from algoscope.tasks import Kind, Location, Stage, Task

_WORDS = (SELF, OTHER, EDGE, GRAPH, PAIR, VIA, *LEGS)
_WORDS += ("idx", "N", "input", "hint", "output", "then")

_MOST_CHARACTERS = 100_000
_MOST_DEPTH = 100


class ProgramError(ValueError):
    """Lists everything that is wrong with a program."""

    def __init__(self, name: str, faults: list[Fault]):
        self.faults = sorted(faults)
        before = " " if len(faults) == 1 else "\n"
        super().__init__(f"program {name}:{before}" + "\n".join(map(str, self.faults)))


def parse(
    name: str,
    task: Task | str,
    text: str,
    *,
    role: Role = Role.REFERENCE,
    fully_connected: bool = False,
) -> GraphProgram:
    """The program that the text says; a ProgramError lists all faults if it says none."""
    text = textwrap.dedent(text).strip("\n")
    module = _syntax(name, text)
    reader = _Reader(tasks.get(task))
    for statement in module.body:
        reader.read_or_note(statement)
    reader.end_round()
    reader.check_completeness(max(1, len(text.splitlines())))
    if reader.faults:
        raise ProgramError(name, reader.faults)
    return GraphProgram(
        name,
        reader.task,
        role,
        text,
        tuple(reader.variables.values()),
        tuple(map(reader.completed, reader.rounds)),
        tuple(reader.emitted.values()),
        fully_connected or reader.pairs is not None,
        reader.pairs,
    )


def _syntax(name: str, text: str) -> ast.Module:
    try:
        if len(text) > _MOST_CHARACTERS:
            raise ValueError(f"got {len(text):,} characters, needed at most {_MOST_CHARACTERS:,}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            module = ast.parse(text)
        if max(map(_depth, module.body), default=0) > _MOST_DEPTH:
            raise RecursionError
    except SyntaxError as error:
        fault = Fault(error.lineno or 1, error.offset or 1, error.msg)
    except (RecursionError, MemoryError):
        fault = Fault(1, 1, f"nested too deeply, needed at most {_MOST_DEPTH} levels")
    except ValueError as error:
        fault = Fault(1, 1, str(error))
    else:
        return module
    raise ProgramError(name, [fault])


def _depth(node: ast.AST) -> int:
    """How deep the tree is."""
    return 1 + max(map(_depth, ast.iter_child_nodes(node)), default=0)


class _Reader(Expressions):
    """Reads statement by statement."""

    def __init__(self, task: Task):
        super().__init__(task)
        self.features = {f.name: f for f in task.features}
        self.updates: dict[str, Update] = {}
        self.pair_updates: dict[str, Update] = {}
        self.rounds: list[Round] = []
        self.updated: set[str] = set()
        self.emitted: dict[str, Emitted] = {}
        self.faults: list[Fault] = []
        self.doubtful: set[str] = set()
        """What statements with a fault were to define, update or show."""
        self.undeclared: set[str] = set()
        """Of these, what was to be a variable."""

    def read_or_note(self, statement: ast.stmt) -> None:
        """Reads a statement, or notes its fault."""
        try:
            self._read_statement(statement)
        except FaultError as error:
            self._note(statement, error)
        except DegreeError as error:
            self._note(statement, FaultError(statement, str(error)))
        except OverflowError:
            self._note(statement, FaultError(statement, "a number that is too large"))

    def _note(self, statement: ast.stmt, error: FaultError) -> None:
        """Notes a fault once, and not what only follows from one noted before."""
        targets = {ast.unparse(target) for target in _targets(statement)}
        follows = error.names & self.doubtful or targets & self.undeclared
        if not follows and error.fault not in self.faults:
            self.faults.append(error.fault)
        self.doubtful |= targets
        if isinstance(statement, ast.AnnAssign):
            self.undeclared |= targets

    def _read_statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.AnnAssign(
                target=ast.Name(id=name),
                annotation=annotation,
                value=None | ast.Constant(value=0) as brief,
            ):
                variable = self._declared(statement, name, annotation, brief is not None)
                self.variables[name] = variable
            case ast.AnnAssign(
                target=ast.Attribute(value=ast.Name(id="pair"), attr=name),
                annotation=annotation,
                value=None,
            ):
                self.pair_variables[name] = self._declared(statement, name, annotation, True)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="pair"), attr=name)], value=value
            ):
                self._update_pairs(statement, name, value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                used = (self.derived, self.selections, self.updates, self.pair_selections)
                taken = any(name in names for names in used)
                if name in _WORDS and name not in self.variables:
                    raise FaultError(statement, f"{name}: a word of the language")
                if taken:
                    raise FaultError(statement, self._twice(name))
                if name in self.variables:
                    self.updates[name] = Update(name, self.next_value(name, value))
                elif calls(value, "minimum", "maximum") and _names_third_nodes(value):
                    with self.of_pairs(Scope.SELECTION):
                        self.pair_selections[name] = self._selected(name, value)
                elif calls(value, "minimum", "maximum"):
                    self.selections[name] = self._selected(name, value)
                elif calls(value, "among"):
                    self.selections[name] = self._among(name, value)
                else:
                    self._derive(name, value)
            case ast.Assign(targets=targets, value=value):
                if not all(isinstance(target, ast.Attribute) for target in targets):
                    raise FaultError(statement, "needed one name, or hint.NAME and output.NAME")
                for target in targets:
                    try:
                        self._emit(target, value)
                    except FaultError as error:
                        self._note(statement, error)
            case ast.Expr(value=ast.Name(id="then")):
                if self.pair_selections or self.pair_updates:
                    raise FaultError(
                        statement,
                        "then: got a round after what pairs compute, needed them in the last one: "
                        "the processor gives pairs nothing before it",
                    )
                self.end_round()
            case _:
                raise FaultError(
                    statement,
                    f"got `{ast.unparse(statement).splitlines()[0][:60]}`, needed `name: Type`, "
                    "`name: Type = 0`, `pair.name: Type`, `name = …`, `pair.name = …`, "
                    "`hint.name = …`, `output.name = …` or `then`",
                )

    def _twice(self, name: str) -> str:
        if name in self.updates:
            return f"{name}: updated twice in a round; needed one sum of cases, or `then` between"
        return f"{name}: defined twice; needed another name"

    def _declared(self, statement, name, annotation, brief) -> Variable:
        match annotation:
            case ast.Name(id="Bool" | "Node" as kind):
                variable = Variable(name, Type(kind), Number(1.0), brief)
            case ast.Call(func=ast.Name(id="Float"), args=[bound]):
                variable = Variable(name, Type.FLOAT, self.number(bound), brief)
            case ast.Call(func=ast.Name(id="Miss"), args=[bound]):
                bound = self.number(bound) * N * MISS_SCALE
                variable = Variable(name, Type.MISS, bound, brief)
            case _:
                raise FaultError(
                    annotation,
                    f"{name}: needed Bool, Node, Float(its largest value) or Miss(the largest "
                    "difference)",
                )
        if name in self.variables or name in self.pair_variables:
            raise FaultError(statement, f"{name}: declared twice")
        if name in _WORDS and (name, variable.type) != ("idx", Type.NODE):
            raise FaultError(
                statement, f"{name}: a word of the language; of these only idx: Node is declared"
            )
        if variable.type is Type.BOOL:
            self.booleans.add(name)
        return variable

    def _update_pairs(self, statement, name, value):
        if name not in self.pair_variables:
            raise FaultError(
                statement, unknown_name("variable of pairs", name, self.pair_variables)
            )
        if name in self.pair_updates:
            raise FaultError(statement, f"pair.{name}: updated twice")
        with self.of_pairs(Scope.UPDATE):
            self.pair_updates[name] = Update(name, self.terms(value))

    @property
    def pairs(self) -> Pairs | None:
        if not self.pair_variables:
            return None
        return Pairs(
            tuple(self.pair_variables.values()),
            tuple(self.pair_selections.values()),
            tuple(self.pair_updates.values()),
        )

    def _derive(self, name, value):
        terms = self.terms(value)
        if any(term.guard != ALWAYS for term in terms) or calls_inside(value, "positive"):
            raise FaultError(
                value,
                f"{name}: a name for something needs a sum, such as `a or b` of what never holds "
                "together; declare it as a variable to use `and`, `if` or positive(…)",
            )
        for atom in {atom for term in terms for atom in term.atoms}:
            if self.is_miss(atom.name):
                raise FaultError(
                    value,
                    f"{name}: a sum with {atom.name}, a Miss, is no Bool; declare `{name}: Bool` "
                    f"and give it `not {atom.name}`",
                )
        self.derived[name] = sum((term.value * term.coefficient for term in terms), ZERO)
        self.booleans.add(name)

    def _selected(self, name, call) -> Selection:
        if len(call.args) != 1 or any(k.arg != "where" for k in call.keywords):
            raise FaultError(call, "needed minimum(expression, where=condition) or maximum(…)")
        sign = -1.0 if call.func.id == "minimum" else 1.0
        score, hinges = self.score(call.args[0])
        return Selection(
            name,
            score * sign,
            tuple(hinge.times(sign) for hinge in hinges),
            *self._unmet(call),
        )

    def _among(self, name, call) -> Selection:
        if call.args or any(k.arg != "where" for k in call.keywords):
            raise FaultError(call, "needed among(where=condition), or among() for all nodes")
        return Selection(name, ZERO, (), *self._unmet(call), among=True)

    def _unmet(self, call) -> tuple[Form, tuple[Form, ...]]:
        """How many conditions of a selection are not met, and by how much others are missed."""
        unmet, hinges = ZERO, []
        for condition in _conjuncts([k.value for k in call.keywords]):
            if isinstance(condition, ast.Compare):
                hinges.append(self.missed_by(condition))
            else:
                unmet += self.guard(condition, selecting=True).unmet
        return unmet, tuple(hinges)

    def _emit(self, target, value):
        match target:
            case ast.Attribute(value=ast.Name(id="hint" | "output" as stage), attr=name):
                known = [f.name for f in self.task.features if f.stage == stage]
                if name not in known and keyword.iskeyword(name.removesuffix("_")):
                    name = name.removesuffix("_")
                if name not in known:
                    raise FaultError(
                        target, unknown_name(f"{stage} of {self.task.name}", name, known)
                    )
                if name in self.emitted:
                    raise FaultError(target, f"{stage}.{name}: shown twice")
                for node in ast.walk(value):
                    selections = self.selections | self.pair_selections
                    if isinstance(node, ast.Name) and node.id in selections:
                        raise FaultError(
                            node,
                            f"{name}: got {node.id}, a selection, needed variables: what is shown "
                            f"comes after the update; keep what {node.id} has in a variable",
                        )
                feature = self.features[name]
                permutes = feature.kind is Kind.PERMUTATION
                parts = value.elts if isinstance(value, ast.Tuple) else [value]
                if permutes and len(parts) != 2:
                    raise FaultError(
                        value,
                        f"{name}: got {len(parts)} values, needed two: the node before in the line "
                        "closed to a cycle, and a Bool of the first node",
                    )
                if not permutes and len(parts) != feature.classes:
                    raise FaultError(
                        value, f"{name}: got {len(parts)} values, needed {feature.classes}"
                    )
                if feature.location is Location.EDGE:
                    cases = feature.kind is Kind.POINTER and bool(self.pair_variables)
                    with self.of_pairs(Scope.SHOWN):
                        classes = tuple(self.of_both_ends(part, cases) for part in parts)
                else:
                    classes = tuple(self.terms(part) for part in parts)
                self.emitted[name] = Emitted(name, classes)
            case _:
                raise FaultError(target, "needed one name, or hint.NAME and output.NAME")

    def end_round(self) -> None:
        self.rounds.append(Round(tuple(self.selections.values()), tuple(self.updates.values())))
        self.updated |= set(self.updates)
        self.updates, self.selections = {}, {}

    def completed(self, round_: Round) -> Round:
        """The round with an update of every variable, also of those declared after it."""
        kept = {
            name: Update(name, () if variable.brief else (Term(read(SELF, name)),))
            for name, variable in self.variables.items()
        }
        updates = kept | {update.variable: update for update in round_.updates}
        return dataclasses.replace(round_, updates=tuple(updates.values()))

    def check_completeness(self, last_line: int) -> None:
        """Notes what is missing, but for what a statement with a fault was to give."""
        missing = {
            name: f"{name}: declared and never updated"
            for name in self.variables
            if name not in self.updated
        }
        missing |= {
            f"pair.{name}": f"pair.{name}: declared and never updated"
            for name in self.pair_variables
            if name not in self.pair_updates
        }
        missing |= {
            f"{feature.stage}.{feature.name}": (
                f"{feature.stage}.{feature.name}: never shown, and {self.task.name} has it"
            )
            for feature in self.task.features
            if feature.stage is not Stage.INPUT and feature.name not in self.emitted
        }
        reads = any(round_.selections for round_ in self.rounds) or self.pair_selections
        if not reads and not self.doubtful:
            missing[""] = "no minimum(…) or maximum(…): no node reads another"
        self.faults += [
            Fault(last_line, 1, reason)
            for name, reason in missing.items()
            if name not in self.doubtful and name not in self._meant()
        ]

    def _meant(self) -> set[str]:
        """What is near to a name of a hint or an output that there is not."""
        shown: dict[str, list[str]] = {}
        for feature in self.task.features:
            shown.setdefault(feature.stage, []).append(feature.name)
        return {
            f"{stage}.{near}"
            for stage, _, name in (name.partition(".") for name in self.doubtful)
            if name not in shown.get(stage, [])
            for near in nearest(name, shown.get(stage, []))
        }


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """What the statement says something of."""
    match statement:
        case ast.Assign(targets=targets):
            return targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
    return []


def _names_third_nodes(call: ast.expr) -> bool:
    names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
    return not names.isdisjoint((VIA, *LEGS))


def _conjuncts(conditions: list[ast.expr]) -> list[ast.expr]:
    """The parts of `a and b and c`."""
    match conditions:
        case [ast.BoolOp(op=ast.And(), values=values)]:
            return values
    return conditions
