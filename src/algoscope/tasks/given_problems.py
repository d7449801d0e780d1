"""A user's own problem: the reference algorithm's trace on it.

    tasks.run("dijkstra", graph, source="Basel")
    tasks.run("bfs", edge_index=edges, num_nodes=20, source=3)
    tasks.run("quicksort", [3, 1, 2])
    tasks.run("binary_search", [1, 2, 5, 9], target=4)
    tasks.run("kmp_matcher", "abcabd", needle="abd")
    tasks.run("lcs_length", "abcb", second="bdcb")
    tasks.run("graham_scan", [(0, 0), (2, 0), (1, 3), (1, 1)])
    tasks.run("activity_selector", s=[1, 3], f=[2, 5])

What a graph may be is in `given_graphs`. All other problems are given by the names of the features
that define them (`Task.problem`), strings and points as above; the first, or a dictionary of all,
may come without a name.
"""

import dataclasses
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope.errors import short, unknown_name
from algoscope.table import Table
from algoscope.tasks import given_graphs, given_sequences, needs
from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.registry import get
from algoscope.tasks.sampling import trace_problems
from algoscope.tasks.task import Task
from algoscope.tasks.trace_table import trace_table


@dataclasses.dataclass(frozen=True, eq=False)
class Trace:
    """What the reference algorithm did on one problem."""

    task: Task
    inputs: dict[str, np.ndarray]
    """Each input feature: […]."""
    hints: dict[str, np.ndarray]
    """Each hint feature: [time, …]."""
    outputs: dict[str, np.ndarray]
    """Each output feature: […]."""
    labels: Sequence[Hashable]
    """The user's name of each node; the numbers 0, 1, … where there was none."""

    def __len__(self) -> int:
        """The number of steps."""
        return len(next(iter(self.hints.values())))

    def as_batch(self) -> Batch:
        """The batch of this one sample."""
        inputs, hints, outputs = (
            {name: array[None] for name, array in arrays.items()}
            for arrays in (self.inputs, self.hints, self.outputs)
        )
        return Batch(self.task, inputs, hints, outputs, np.array([len(self)]))

    def table(self) -> Table:
        """A row a step, a column a hint, nodes by their labels."""
        return trace_table(self.as_batch(), labels=self.labels)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return f"Trace({self.task.name}, {len(self.labels)} nodes, {len(self)} steps)"

    @property
    def answer(self) -> dict[str, Any]:
        """Each output in the user's labels: see `named`."""
        return {feature.name: self.named(feature.name) for feature in self.task.at(Stage.OUTPUT)}

    def named(self, name: str) -> Any:
        """A feature in the user's labels; a hint's values are a list, one a step.

        A pointer is a dictionary from node to node, a mask the set of nodes in it, a mask_one the
        node itself, anything else a dictionary from node to value. At edges, pairs of nodes stand
        for nodes; at the graph there is the value alone.
        """
        features = {feature.name: feature for feature in self.task.features}
        if name not in features:
            raise ValueError(unknown_name(f"feature of {self.task.name}", name, features))
        values = (self.inputs | self.hints | self.outputs)[name]
        if features[name].stage is Stage.HINT:
            return [_in_labels(features[name], value, self.labels) for value in values]
        return _in_labels(features[name], values, self.labels)


def _in_labels(feature: Feature, value: np.ndarray, labels: Sequence[Hashable]) -> Any:
    if feature.one_hot:
        value = np.argmax(np.abs(value), axis=-1)
    if feature.kind is Kind.MASK_ONE:
        return labels[int(value)]
    if feature.location is Location.GRAPH:
        return value.item()
    if feature.location is Location.NODE:
        places = labels
    else:
        places = [(sender, receiver) for sender in labels for receiver in labels]
    values = value.ravel().tolist()
    if feature.kind is Kind.MASK:
        return {place for place, inside in zip(places, values, strict=True) if inside == 1}
    if feature.kind in (Kind.POINTER, Kind.PERMUTATION):
        values = [labels[int(node)] for node in values]
    return dict(zip(places, values, strict=True))


class _Problem(NamedTuple):
    registers: dict[str, np.ndarray]
    labels: Sequence[Hashable]


def run(name: str, problem: Any = None, /, **inputs: Any) -> Trace:
    """Runs a task's reference algorithm on the user's own problem."""
    task = get(name)
    known = _input_names(task)
    registers, labels = _read(task, _by_name(task, known, problem, inputs))
    least = task.nodes(task.smallest, {})
    if len(labels) < least:
        raise ValueError(
            f"{known[0]}: got a problem of {len(labels)} nodes, "
            f"needed at least {least} for {task.name}"
        )
    for complaint in complaints(task, registers | {"labels": labels}):
        raise ValueError(f"{complaint}, for {task.name}")
    batch = trace_problems(task, len(labels), [registers])
    inputs, hints, outputs = (
        {name: array[0] for name, array in arrays.items()}
        for arrays in (batch.inputs, batch.hints, batch.outputs)
    )
    return Trace(task, inputs, hints, outputs, labels)


def complaints(
    task: Task, available: Mapping[str, Any], spared: tuple[Callable, ...] = ()
) -> Iterator[str]:
    """What of the task's needs, but for those spared, the problem does not meet."""
    for need in task.needs:
        if need in spared:
            continue
        complaint = need(*(available[name] for name in inspect.signature(need).parameters))
        if complaint is not None:
            yield complaint


def _is_pair_of_strings(task: Task) -> bool:
    return "string" in task.problem


def _is_geometry(task: Task) -> bool:
    return {"x", "y"} == set(task.problem)


def _input_names(task: Task) -> tuple[str, ...]:
    """The names of what a problem of the task is given by; the first may be left out."""
    if "A" in task.problem:
        return (*given_graphs.NAMES, *(["source"] if "s" in task.problem else []))
    if _is_pair_of_strings(task):
        matches = needs.needle_in_haystack in task.needs
        return (*(("haystack", "needle") if matches else ("first", "second")), "alphabet")
    if _is_geometry(task):
        return given_sequences.POINTS
    return task.problem


def _by_name(
    task: Task, known: tuple[str, ...], problem: Any, inputs: Mapping[str, Any]
) -> dict[str, Any]:
    if isinstance(problem, Mapping):
        unnamed = dict(problem)
    elif problem is None:
        unnamed = {}
    elif _is_pair_of_strings(task) and _holds_two(problem):
        unnamed = dict(zip(known[:2], problem, strict=True))
    else:
        unnamed = {known[0]: problem}
    for name in (*unnamed, *inputs):
        if name not in known:
            raise ValueError(unknown_name(f"input of {task.name}", name, known))
        if name in unnamed and name in inputs:
            raise ValueError(f"{name}: got it twice, needed it once")
    return unnamed | dict(inputs)


def _holds_two(problem: Any) -> bool:
    """Two strings, or two lists of codes, and not one list of two codes."""
    return (
        isinstance(problem, (tuple, list))
        and len(problem) == 2
        and all(isinstance(part, (str, Sequence, np.ndarray)) for part in problem)
    )


def _read(task: Task, given: dict[str, Any]) -> _Problem:
    if "A" in task.problem:
        graph = given_graphs.read_graph(given, needs.unweighted not in task.needs)
        registers = {"A": graph.A}
        if "s" in task.problem:
            registers["s"] = _read_source(given.get("source"), graph.labels)
        return _Problem(registers, graph.labels)
    if _is_pair_of_strings(task):
        first, second, _ = _input_names(task)
        classes = {f.name: f.classes for f in task.features}["key"]
        strings = given_sequences.read_strings((first, second), given, classes)
        return _Problem(strings._asdict(), range(len(strings.key)))
    if _is_geometry(task):
        registers = given_sequences.read_points(given)
    elif {"p", "q"} == set(task.problem):
        registers = given_sequences.read_search_probabilities(given)
    else:
        registers = _read_sequences(task, given)
    return _Problem(registers, range(max(len(values) for values in registers.values())))


def _read_source(source: Any, labels: list[Hashable]) -> np.ndarray:
    numbers = {label: number for number, label in enumerate(labels)}
    if isinstance(source, bool) or not isinstance(source, Hashable) or source not in numbers:
        numbered = labels == list(range(len(labels)))
        span = f"from 0 to {len(labels) - 1}" if numbered else f"among {short(labels)}"
        raise ValueError(f"source: got {source!r}, needed a node {span}")
    return np.array([numbers[source]])


def _read_sequences(task: Task, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    registers = {}
    for feature in task.at(Stage.INPUT):
        if feature.name in task.problem:
            scalar = feature.location is Location.GRAPH
            read = given_sequences.read_number if scalar else given_sequences.read_numbers
            registers[feature.name] = read(feature.name, given.get(feature.name))
    lengths = {
        feature.name: len(registers[feature.name])
        for feature in task.at(Stage.INPUT)
        if feature.name in registers and feature.location is Location.NODE
    }
    first, *others = lengths
    for name in others:
        if lengths[name] != lengths[first]:
            raise ValueError(
                f"{name}: got {lengths[name]} values, needed {lengths[first]}, as {first} has"
            )
    return registers
