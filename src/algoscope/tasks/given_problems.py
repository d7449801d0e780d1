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
may come without a name. Masks may be given as sets of nodes:

    tasks.run(way_out, graph, exits={"north", "south"})
"""

import dataclasses
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from algoscope.errors import short, unknown_name
from algoscope.tasks import given_graphs, given_sequences, needs
from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.registry import get
from algoscope.tasks.sampling import trace_problems
from algoscope.tasks.task import Task


def run(task: Task | str, problem: Any = None, /, **inputs: Any) -> Batch:
    """The batch of the user's own problem alone, with what the reference algorithm did on it."""
    task = get(task)
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
    return dataclasses.replace(batch, labels=tuple(labels))


def call(task: Task | str, registers: Mapping[str, np.ndarray]) -> str:
    """The call of `run`, as Python, that gives the problem with these registers."""
    task = get(task)
    given: dict[str, Any] = {}
    for feature in _problem(task):
        values = np.asarray(registers[feature.name])
        if feature.name == "A":
            senders, receivers = np.nonzero(values)
            given["edge_index"] = [senders.tolist(), receivers.tolist()]
            weights = values[senders, receivers]
            if (weights != 1).any():
                given["edge_weight"] = weights.tolist()
            given["num_nodes"] = len(values)
        elif feature.kind is Kind.MASK_ONE or feature.location is Location.GRAPH:
            given[_name(feature)] = values.reshape(()).item()
        else:
            given[_name(feature)] = values.tolist()
    if _is_pair_of_strings(task):
        texts: list[list[int]] = [[], []]
        for second, code in zip(given["string"], given["key"], strict=True):
            texts[int(second)].append(int(code))
        given = dict(zip(_input_names(task)[:2], texts, strict=True))
    elif {"p", "q"} == set(task.problem):
        given["p"] = given["p"][:-1]
    return f"tasks.run({', '.join([repr(task.name), *(f'{n}={v!r}' for n, v in given.items())])})"


def complaints(
    task: Task, available: Mapping[str, Any], spared: tuple[Callable, ...] = ()
) -> Iterator[str]:
    """What of the task's needs, but for those spared, the problem does not meet."""
    for need in task.needs:
        if need in spared:
            continue
        yield from need(*(available[name] for name in inspect.signature(need).parameters))


def _problem(task: Task) -> list[Feature]:
    """The features that define a problem."""
    return [feature for feature in task.at(Stage.INPUT) if feature.name in task.problem]


def _name(feature: Feature) -> str:
    """How a user names what the feature is read from."""
    return "source" if feature.name == "s" and feature.kind is Kind.MASK_ONE else feature.name


def _is_pair_of_strings(task: Task) -> bool:
    return {"string", "key"} == set(task.problem)


def _is_geometry(task: Task) -> bool:
    return {"x", "y"} == set(task.problem)


def _input_names(task: Task) -> tuple[str, ...]:
    """The names of what a problem of the task is given by; the first may be left out."""
    if "A" in task.problem:
        return (*given_graphs.NAMES, *(_name(f) for f in _problem(task) if f.name != "A"))
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


def _read(task: Task, inputs: dict[str, Any]) -> tuple[dict[str, np.ndarray], Sequence[Hashable]]:
    """The registers of the problem, and the labels of its nodes."""
    if "A" in task.problem:
        [A] = (feature for feature in task.features if feature.name == "A")
        weighted = needs.unweighted not in task.needs and A.kind is Kind.SCALAR
        graph = given_graphs.read_graph(inputs, weighted)
        return {"A": graph.A} | _read_others(task, inputs, graph.labels), graph.labels
    if _is_pair_of_strings(task):
        [key] = (feature for feature in task.features if feature.name == "key")
        registers = given_sequences.read_strings(_input_names(task)[:2], inputs, key.classes)
    elif _is_geometry(task):
        registers = given_sequences.read_points(inputs)
    elif {"p", "q"} == set(task.problem):
        registers = given_sequences.read_search_probabilities(inputs)
    else:
        registers = _read_others(task, inputs, range(_length(task, inputs)))
    return registers, range(max(len(values) for values in registers.values()))


def _length(task: Task, inputs: Mapping[str, Any]) -> int:
    """The number of nodes of a problem without graph: that of the first list's values."""
    values = (inputs.get(f.name) for f in _problem(task) if f.location is not Location.GRAPH)
    lists = (value for value in values if isinstance(value, Sized) and not isinstance(value, set))
    return next((len(value) for value in lists if getattr(value, "ndim", 1)), 0)


def _read_others(
    task: Task, inputs: Mapping[str, Any], labels: Sequence[Hashable]
) -> dict[str, np.ndarray]:
    """The registers of all features but the graph."""
    return {
        feature.name: _read_feature(feature, inputs.get(_name(feature)), labels)
        for feature in _problem(task)
        if feature.name != "A"
    }


def _read_feature(feature: Feature, value: Any, labels: Sequence[Hashable]) -> np.ndarray:
    """A number for the graph, a node for a mask_one, a set of nodes for a mask; for everything else
    a list with a number for each node."""
    name = _name(feature)
    if feature.kind is Kind.MASK_ONE:
        return np.array([_read_node(name, value, labels)])
    if isinstance(value, (set, frozenset)) and feature.kind is Kind.MASK:
        inside = [_read_node(name, node, labels) for node in value]
        return np.isin(np.arange(len(labels)), inside).astype(float)
    if feature.location is Location.GRAPH:
        return given_sequences.read_number(name, value)
    if feature.location is Location.EDGE:
        return given_graphs.read_matrix(name, value, len(labels))
    numbers = given_sequences.read_numbers(name, value)
    if len(numbers) != len(labels):
        raise ValueError(
            f"{name}: got {len(numbers)} values, needed {len(labels)}, one for each node"
        )
    return numbers


def _read_node(name: str, node: Any, labels: Sequence[Hashable]) -> int:
    numbers = {label: number for number, label in enumerate(labels)}
    if isinstance(node, bool) or not isinstance(node, Hashable) or node not in numbers:
        numbered = list(labels) == list(range(len(labels)))
        span = f"from 0 to {len(labels) - 1}" if numbered else f"among {short(labels)}"
        raise ValueError(f"{name}: got {node!r}, needed a node {span}")
    return numbers[node]
