"""A task whose reference algorithm is a program: features, a sampler and the program's text.

    way_out = programs.define("way_out", FEATURES, draw, TEXT)
    tasks.sample(way_out.task)

The first step of a trace is what the program shows before it does anything; a step follows for each
one in which a variable or a hint changes, and the outputs are those of the end.
"""

import inspect
from collections.abc import Callable

import numpy as np

from algoscope import tasks
from algoscope.programs.interpreter import PromiseError
from algoscope.programs.language import GraphProgram
from algoscope.programs.machine import Machine
from algoscope.programs.parser import parse
from algoscope.tasks import Batch, Feature, Stage
from algoscope.tasks.features import parse_features

_MOST_STEPS = 4
"""Times the number of pairs of nodes: a program that has not come to rest by then never will."""
Registers = dict[str, np.ndarray]


def define(
    name: str,
    features: str,
    draw: Callable,
    text: str,
    *,
    fully_connected: bool = False,
    smallest: int = 1,
) -> GraphProgram:
    """The program that the text says, for a task of its own (`GraphProgram.task`), whose problems
    `draw` draws: see `tasks.define`."""
    names = ["pos", *(f.name for f in parse_features(features) if f.name != "pos")]

    def algorithm(record: Callable[[], None], *registers: np.ndarray) -> None:
        _trace(program, record, dict(zip(names, registers, strict=True)))

    parameters = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in ("record", *names)
    ]
    algorithm.__dict__["__signature__"] = inspect.Signature(parameters)
    algorithm.__doc__ = f"The program {name}."
    task = tasks.define(name, features, draw, algorithm, smallest=smallest)
    program = parse(name, task, text, fully_connected=fully_connected)
    return program


def _trace(program: GraphProgram, record: Callable[[], None], registers: Registers) -> None:
    """Fills hints and outputs of one problem, step by step."""
    hints, outputs = program.task.at(Stage.HINT), program.task.at(Stage.OUTPUT)
    nodes = len(registers["pos"])
    most = _MOST_STEPS * nodes**2
    machine = Machine(program, _problem(program, registers, most))
    machine.hints = {name: machine.emit()[name] for name in machine.hints}
    _write(hints, machine.hints, registers)
    record()
    for _ in range(most):
        before = machine.state | machine.hints
        machine.step()
        if machine.broken.any():
            raise PromiseError(f"program {program.name}: {machine.reason}")
        after = machine.state | machine.hints
        if all(np.array_equal(after[name], before[name]) for name in before):
            break
        _write(hints, machine.hints, registers)
        record()
    else:
        raise ValueError(
            f"program {program.name}: got one that still changes after {most} steps on {nodes} "
            "nodes, needed one that comes to rest"
        )
    _write(outputs, machine.emit(), registers)


def _problem(program: GraphProgram, registers: Registers, length: int) -> Batch:
    """The batch of this one problem, without a trace."""
    nodes = len(registers["pos"])
    dense = {feature.name: feature.dense_shape(nodes) for feature in program.task.features}
    inputs = {
        f.name: _dense(f, registers[f.name], dense[f.name]) for f in program.task.at(Stage.INPUT)
    }
    hints = {f.name: np.zeros((1, 1, *dense[f.name])) for f in program.task.at(Stage.HINT)}
    return Batch(program.task, inputs, hints, {}, np.array([length]))


def _dense(feature: Feature, register: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """[1, …]"""
    value = np.eye(shape[-1])[register] if feature.one_hot else register
    return value.reshape(1, *shape)


def _write(features: tuple[Feature, ...], dense: Registers, to: Registers) -> None:
    for feature in features:
        value = dense[feature.name][0]
        register = to[feature.name]
        register[:] = (value.argmax(-1) if feature.one_hot else value).reshape(register.shape)
