"""Tasks of one's own, from plain Python functions: no numba, no random stream to keep in step.

    def draw(random, A, exits, doors=0.2): ...
    def search(record, A, exits, safe_h, door_h, door): ...

    way_out = tasks.define("way_out", FEATURES, draw, search)

Both functions fill registers, numpy arrays that they get by the names of their parameters; what a
register of each kind holds is in `features`.

    draw(random, …)       a numpy Generator; input registers to fill, and options with defaults
    algorithm(record, …)  a function that records the hints of now as the next step; any registers

Every task has positions (`pos`), which need no line in the table of features. They are filled in,
as `adj` is from the graph `A`, unless `draw` fills them.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from algoscope.errors import together, unknown_name
from algoscope.tasks import compilation, mersenne
from algoscope.tasks.features import Feature, Kind, Stage, parse_features
from algoscope.tasks.options import Option, integer, number
from algoscope.tasks.task import Task

_POSITIONS = "pos input node scalar"
_SEED_WORDS = 4
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY


def define(
    name: str, features: str, draw: Callable, algorithm: Callable, *, smallest: int = 1
) -> Task:
    """A task whose problems `draw` draws and `algorithm` traces, both plain Python.

    `features` is a table, a line for features of one form (see `features.parse_features`); problems
    have at least `smallest` nodes.
    """
    if not any(feature.name == "pos" for feature in parse_features(features)):
        features = f"{_POSITIONS}\n{features.strip()}"
    options = {
        parameter.name: Option(parameter.default, _check_like(parameter.default))
        for parameter in inspect.signature(draw).parameters.values()
        if parameter.default is not parameter.empty
    }
    task = Task(name, features, draw, algorithm, options, smallest)
    faults = list(_faults(task))
    if faults:
        raise ValueError(together(f"task {name}:", faults))
    return dataclasses.replace(
        task, draw=_over_stream(draw), algorithm=_over_trace(task), plain=True
    )


def _check_like(default: Any) -> Callable[[str, Any, int], Any]:
    """The check of an option: numbers for a number, anything for anything else."""
    if isinstance(default, int) and not isinstance(default, bool):
        return integer()
    return number if isinstance(default, float) else lambda name, value, size: value


def _faults(task: Task) -> Iterator[str]:
    """Everything that keeps features and parameters from fitting together."""
    features = {feature.name: feature for feature in task.features}
    inputs = [name for name, feature in features.items() if feature.stage is Stage.INPUT]
    for name in task.draw_parameters:
        if name not in inputs and name not in task.options:
            yield f"{task.draw.__name__}: {unknown_name('input', name, inputs)}"
    for name in task.algorithm_parameters:
        if name not in features:
            yield f"{task.algorithm.__name__}: {unknown_name('feature', name, features)}"
    written = {*task.draw_parameters, *task.algorithm_parameters, "pos"}
    if "A" in features:
        written.add("adj")
    for name, feature in features.items():
        if name not in written:
            yield f"{name}: no function has a parameter of this name, to fill the {feature.stage}"
    if not task.at(Stage.OUTPUT):
        yield "features: got no output, needed at least one"


def _over_stream(draw: Callable) -> Callable:
    """The sampler in the form that `Task` has it: over a stream, which seeds each problem."""

    @functools.wraps(draw)
    def over_stream(stream, *arguments):
        seed = [int(mersenne.word(stream)) for _ in range(_SEED_WORDS)]
        draw(np.random.default_rng(seed), *arguments)

    return over_stream


def _over_trace(task: Task) -> Callable:
    """The algorithm in the form that `Task` has it: over a trace."""
    algorithm, parameters = task.algorithm, task.algorithm_parameters
    features = {feature.name: feature for feature in task.features}
    bound = tuple(dict.fromkeys(("pos", *parameters)))

    @functools.wraps(algorithm)
    def over_trace(trace, *arguments):
        registers = dict(zip(bound, arguments, strict=True))

        def check(stage: Stage) -> None:
            for name, register in registers.items():
                if features[name].stage is stage:
                    _check_values(task, features[name], register, len(registers["pos"]))

        def record() -> None:
            check(Stage.HINT)
            compilation.record(trace)

        check(Stage.INPUT)
        recorded = trace[-1]
        before = int(recorded[0])
        algorithm(record, *(registers[name] for name in parameters))
        check(Stage.OUTPUT)
        if recorded[0] == before:
            raise ValueError(f"{task.name}: got a trace without a step, needed record() called")

    signature = [inspect.Parameter(name, _POSITIONAL) for name in ("trace", *bound)]
    over_trace.__dict__["__signature__"] = inspect.Signature(signature)
    return over_trace


def _check_values(task: Task, feature: Feature, register: np.ndarray, nodes: int) -> None:
    """A register holds finite numbers, or what its kind has an index for."""
    if feature.kind is Kind.SCALAR:
        low, high = -np.finfo(float).max, np.finfo(float).max
    elif feature.kind is Kind.MASK:
        low, high = -1, 1
    else:
        count = feature.classes if feature.kind is Kind.CATEGORICAL else nodes
        low, high = -count if feature.one_hot else 0, count - 1
    wrong = register[~((register >= low) & (register <= high))]
    if wrong.size:
        raise ValueError(
            f"{task.name}: got {wrong[0]} in the {feature.stage} {feature.name}, a {feature.kind}, "
            f"needed values from {low} to {high}"
        )
