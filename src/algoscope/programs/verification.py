"""Does a compiled program do what it says, and does that equal the reference algorithm?

Three accounts of the same problems are compared step by step: the compiled network, the
interpreter, and the trace of the reference algorithm that is in the batch. Exact means that
discrete values are equal and scalars within 1e-5, at every step that is no padding.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from algoscope import networks
from algoscope.networks import Network
from algoscope.programs.certificate import Certificate
from algoscope.programs.compiler import Compiled, compile_program
from algoscope.programs.interpreter import PromiseError, follow
from algoscope.programs.language import GraphProgram
from algoscope.programs.precision import FLOAT32, SCALAR_TOLERANCE, Precision
from algoscope.programs.running_errors import certain
from algoscope.recording import Recording
from algoscope.tasks import Batch, Kind, Stage, Task

_NUMBERS_AT_ONCE = 2**25
"""How many numbers the recording of a part of the batch may have, about."""
_MASKED = -1

Account = Mapping[str, Any]
"""What happened, by feature: hints [batch, step, …] without the first, and outputs [batch, …]."""
Equality = dict[str, np.ndarray]
"""Whether two accounts are the same, by feature: bool [batch]."""


class Exactness(NamedTuple):
    """The shares of samples on which two accounts are the same."""

    exact_traces: float
    """All hints, at every step."""
    exact_outputs: float
    """All outputs."""
    hints: dict[str, float]
    outputs: dict[str, float]


class Verification(NamedTuple):
    samples: int
    nodes: int
    network: Exactness
    """The compiled network against the reference algorithm."""
    interpreter: Exactness
    """The interpreter against the reference algorithm."""
    compilation: Exactness
    """The compiled network against the interpreter: what the compiler answers for, also where the
    program is another algorithm than the reference."""
    certificate: Certificate
    below_margin: int
    """On how many samples some decision is closer than what rounding can do in the compiled
    network, as running error analysis bounds it."""
    exact_above_margin: float
    """The share of the others on which the network and the interpreter are the same throughout."""

    def as_json(self) -> dict:
        """The network's shares at the top, as they are asked for most."""
        return {
            **self.network._asdict(),
            "interpreter": self.interpreter._asdict(),
            "compilation": self.compilation._asdict(),
            "certificate": self.certificate._asdict(),
            "below_margin": self.below_margin,
            "exact_above_margin": self.exact_above_margin,
            "samples": self.samples,
            "nodes": self.nodes,
        }


def verify(
    program: GraphProgram, batch: Batch, width: int | None = None, precision: Precision = FLOAT32
) -> Verification:
    """Compiles the program, at its smallest width or the given one, and compares all accounts. In
    float64 (with jax's x64 mode on) nothing is said to be below the margin."""
    compiled = compile_program(program, width, precision=precision)
    parts = [
        _compare(program, compiled, part, precision) for part in _parts(batch, compiled.network)
    ]
    compilation = _joined([part.compilation for part in parts], len(batch))
    below = ~np.concatenate([part.certain for part in parts])[: len(batch)]
    exact = np.all(list(compilation.values()), axis=0)
    return Verification(
        len(batch),
        batch.nodes,
        _exactness(_joined([part.network for part in parts], len(batch)), batch.task),
        _exactness(_joined([part.interpreter for part in parts], len(batch)), batch.task),
        _exactness(compilation, batch.task),
        compiled.certificate,
        int(below.sum()),
        float(exact[~below].mean()) if not below.all() else 1.0,
    )


def compare_with_reference(network: Network, batch: Batch) -> Exactness:
    """Any network against the reference algorithm."""
    parts = [
        _equality(_recorded(networks.run(network, part)), _reference(part), part)
        for part in _parts(batch, network)
    ]
    return _exactness(_joined(parts, len(batch)), batch.task)


def agreement(recording: Recording, batch: Batch) -> Equality:
    """Whether what was recorded is what the reference algorithm did, by feature: bool [batch]."""
    return _equality(_recorded(recording), _reference(batch), batch)


def _recorded(recording: Recording) -> Account:
    return recording.hints | recording.outputs


def _reference(batch: Batch) -> Account:
    return {name: hint[:, 1:] for name, hint in batch.hints.items()} | batch.outputs


def _parts(batch: Batch, network: Network) -> Iterator[Batch]:
    """The batch in parts that fit memory, all of one size, so that XLA compiles once: the last is
    filled up with samples of the first."""
    config = network.config
    matrices = config.heads * config.rounds + len(network.features)
    numbers = batch.time * matrices * batch.nodes**2
    size = min(len(batch), max(1, _NUMBERS_AT_ONCE // numbers))
    for start in range(0, len(batch), size):
        yield batch.take(np.arange(start, start + size) % len(batch))


def _trimmed(batch: Batch) -> Batch:
    """The batch without the steps that are padding in all of its samples."""
    longest = int(batch.lengths.max())
    hints = {name: hint[:, :longest] for name, hint in batch.hints.items()}
    return dataclasses.replace(batch, hints=hints)


class _Comparison(NamedTuple):
    network: Equality
    """With the reference."""
    interpreter: Equality
    """With the reference."""
    compilation: Equality
    """Network and interpreter."""
    certain: np.ndarray
    """bool [batch]"""


def _compare(
    program: GraphProgram, compiled: Compiled, batch: Batch, precision: Precision
) -> _Comparison:
    network = _recorded(networks.run(compiled.network, batch))
    batch = _trimmed(batch)
    run = follow(program, batch, precision.resolution)
    if (run.broken & ~_too_close(batch, precision)).any():
        raise PromiseError(run.reason)
    sure = np.ones(len(batch), bool)
    if precision is FLOAT32:
        sure = certain(program, batch, compiled.certificate.sharpness, run)
    reference, interpreter = _reference(batch), _recorded(run.recording)
    return _Comparison(
        _equality(network, reference, batch),
        _equality(interpreter, reference, batch),
        _equality(network, interpreter, batch),
        sure & ~run.broken,
    )


def _too_close(batch: Batch, precision: Precision) -> np.ndarray:
    """Samples with positions that the language cannot tell apart: what goes wrong there is not the
    program's fault. [batch]"""
    positions = np.sort(batch.inputs["pos"], axis=1)
    close = positions[:, 1:] - positions[:, :-1] < 1 / precision.resolution
    return np.asarray(close.any(1))


def _equality(account: Account, truth: Account, batch: Batch) -> Equality:
    steps = batch.time - 1
    padding = batch.lengths[:, None] <= np.arange(1, steps + 1)
    equal = {}
    for feature in batch.task.at(Stage.HINT):
        values, true_values = (side[feature.name][:, :steps] for side in (account, truth))
        same = _same(feature.kind, values, true_values, axes=2)
        equal[feature.name] = (same | padding).all(1)
    for feature in batch.task.at(Stage.OUTPUT):
        values, true_values = account[feature.name], truth[feature.name]
        equal[feature.name] = _same(feature.kind, values, true_values, axes=1)
    return equal


def _same(kind: Kind, values: Any, true_values: Any, axes: int) -> np.ndarray:
    """Whether everything is the same, for each place of the leading axes; NaN never is, and what is
    masked counts neither for nor against."""
    difference = np.abs(np.asarray(values, float) - np.asarray(true_values, float))
    same = difference <= (SCALAR_TOLERANCE if kind is Kind.SCALAR else 0.0)
    if kind is Kind.MASK:
        same |= np.asarray(true_values) == _MASKED
    if kind is Kind.CATEGORICAL:
        same |= (np.asarray(true_values) == _MASKED).any(-1, keepdims=True)
    return np.asarray(same.all(axis=tuple(range(axes, same.ndim))))


def _joined(parts: list[Equality], count: int) -> Equality:
    return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}


def _exactness(equal: Equality, task: Task) -> Exactness:
    hints, outputs = (
        {feature.name: equal[feature.name] for feature in task.at(stage)}
        for stage in (Stage.HINT, Stage.OUTPUT)
    )
    return Exactness(
        float(np.all(list(hints.values()), axis=0).mean()),
        float(np.all(list(outputs.values()), axis=0).mean()),
        {name: float(same.mean()) for name, same in hints.items()},
        {name: float(same.mean()) for name, same in outputs.items()},
    )
