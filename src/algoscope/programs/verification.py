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
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import PromiseError, follow
from algoscope.programs.language import GraphProgram
from algoscope.programs.parser import at_resolution
from algoscope.programs.precision import FLOAT32, Precision
from algoscope.programs.rounding import Certificate, certain
from algoscope.tasks import Batch, Kind, Stage

_TOLERANCE = 1e-5
_NUMBERS_AT_ONCE = 2**25
"""How many numbers the recording of a part of the batch may have, about."""


class Account(NamedTuple):
    """What somebody says happened: hints [batch, step, …] without the first, and outputs."""

    hints: Mapping[str, Any]
    outputs: Mapping[str, Any]


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
    program: GraphProgram,
    batch: Batch,
    width: int | None = None,
    precision: Precision = FLOAT32,
) -> Verification:
    """Compiles the program, at its smallest width or the given one, and compares all accounts. In
    float64 (with jax's x64 mode on) nothing is said to be below the margin."""
    network, certificate = compile_program(program, width, precision=precision)
    program = at_resolution(program, precision.resolution)
    parts = []
    for part in _parts(batch, network):
        sharpness = certificate.sharpness if precision is FLOAT32 else None
        parts.append(_compare(program, network, part, sharpness))
    by_network, by_interpreter, of_both = (
        _joined([part.pairs[pair] for part in parts], len(batch)) for pair in range(3)
    )
    below = ~np.concatenate([part.certain for part in parts])[: len(batch)]
    exact = np.all([*of_both.hints.values(), *of_both.outputs.values()], axis=0)
    return Verification(
        len(batch),
        batch.nodes,
        _exactness(by_network),
        _exactness(by_interpreter),
        _exactness(of_both),
        certificate,
        int(below.sum()),
        float(exact[~below].mean()) if not below.all() else 1.0,
    )


def compare_with_reference(network: Network, batch: Batch) -> Exactness:
    """Any network against the reference algorithm."""
    parts = []
    for part in _parts(batch, network):
        recorded = networks.run(network, part)
        account = Account(recorded.hints, recorded.outputs)
        parts.append(_equality(account, _reference(part), part))
    return _exactness(_joined(parts, len(batch)))


def _reference(batch: Batch) -> Account:
    return Account({n: hint[:, 1:] for n, hint in batch.hints.items()}, batch.outputs)


def _parts(batch: Batch, network: Network) -> Iterator[Batch]:
    """The batch in parts that fit memory, all of one size, so that XLA compiles once: the last is
    filled up with samples of the first."""
    nodes, times = batch.nodes, _times(batch)
    config = network.config
    matrices = config.heads * config.rounds + len(network.features)
    size = min(len(batch), max(1, _NUMBERS_AT_ONCE // (times * matrices * nodes**2)))
    for start in range(0, len(batch), size):
        yield _taken(batch, np.arange(start, start + size) % len(batch))


def _times(batch: Batch) -> int:
    return next(iter(batch.hints.values())).shape[1]


def _taken(batch: Batch, samples: np.ndarray) -> Batch:
    inputs, hints, outputs = (
        {name: array[samples] for name, array in arrays.items()}
        for arrays in (batch.inputs, batch.hints, batch.outputs)
    )
    return dataclasses.replace(
        batch, inputs=inputs, hints=hints, outputs=outputs, lengths=batch.lengths[samples]
    )


def _trimmed(batch: Batch) -> Batch:
    """The batch without the steps that are padding in all of its samples."""
    longest = int(batch.lengths.max())
    hints = {name: hint[:, :longest] for name, hint in batch.hints.items()}
    return dataclasses.replace(batch, hints=hints)


class _Equality(NamedTuple):
    """Whether two accounts are the same: bool [batch] by the name of the feature."""

    hints: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]


class _Comparison(NamedTuple):
    pairs: tuple[_Equality, _Equality, _Equality]
    """Network and reference, interpreter and reference, network and interpreter."""
    certain: np.ndarray


def _compare(
    program: GraphProgram, network: Network, batch: Batch, sharpness: float | None
) -> _Comparison:
    recorded = networks.run(network, batch)
    batch = _trimmed(batch)
    interpreted, broken, reason = follow(program, batch)
    if (broken & ~_too_close(program, batch)).any():
        raise PromiseError(reason)
    sure = certain(program, batch, sharpness) if sharpness else np.ones(len(batch), bool)
    reference = _reference(batch)
    of_network = Account(recorded.hints, recorded.outputs)
    of_interpreter = Account(interpreted.hints, interpreted.outputs)
    pairs = (
        _equality(of_network, reference, batch),
        _equality(of_interpreter, reference, batch),
        _equality(of_network, of_interpreter, batch),
    )
    return _Comparison(pairs, sure & ~broken)


def _too_close(program: GraphProgram, batch: Batch) -> np.ndarray:
    """Samples with positions that the language cannot tell apart: what goes wrong there is not the
    program's fault. [batch]"""
    gaps = np.diff(np.sort(batch.inputs["pos"], axis=1), axis=1)
    return np.asarray((gaps < 1 / program.resolution).any(1))


def _equality(one: Account, other: Account, batch: Batch) -> _Equality:
    steps = _times(batch) - 1
    padding = batch.lengths[:, None] <= np.arange(1, steps + 1)
    hints, outputs = {}, {}
    for feature in batch.task.at(Stage.HINT):
        name = feature.name
        pair = (account.hints[name][:, :steps] for account in (one, other))
        hints[name] = (_same(feature.kind, *pair, axes=2) | padding).all(1)
    for feature in batch.task.at(Stage.OUTPUT):
        name = feature.name
        outputs[name] = _same(feature.kind, one.outputs[name], other.outputs[name], axes=1)
    return _Equality(hints, outputs)


def _same(kind: Kind, one: Any, other: Any, axes: int) -> np.ndarray:
    """Whether everything is the same, for each place of the leading axes; NaN never is."""
    difference = np.abs(np.asarray(one, float) - np.asarray(other, float))
    same = difference <= (_TOLERANCE if kind is Kind.SCALAR else 0.0)
    return np.asarray(same.all(axis=tuple(range(axes, same.ndim))))


def _joined(parts: list[_Equality], count: int) -> _Equality:
    hints, outputs = (
        {name: np.concatenate([part[stage][name] for part in parts])[:count] for name in first}
        for stage, first in enumerate(parts[0])
    )
    return _Equality(hints, outputs)


def _exactness(equal: _Equality) -> Exactness:
    def shares(by_name: dict[str, np.ndarray]) -> dict[str, float]:
        return {name: float(same.mean()) for name, same in by_name.items()}

    def of_all(by_name: dict[str, np.ndarray]) -> float:
        return float(np.all(list(by_name.values()), axis=0).mean())

    return Exactness(
        of_all(equal.hints), of_all(equal.outputs), shares(equal.hints), shares(equal.outputs)
    )
