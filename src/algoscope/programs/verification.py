"""Does a compiled program do what it says, and does that equal the reference algorithm?

Three accounts of the same problems are compared step by step: the compiled network, the
interpreter, and the trace of the reference algorithm that is in the batch. Exact means that
discrete values are equal and scalars within 1e-5, at every step that is no padding.
"""

import concurrent.futures
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import networks, progress
from algoscope.networks import Network
from algoscope.programs.certificate import Certificate
from algoscope.programs.compiler import Compiled, compile_program
from algoscope.programs.interpreter import PromiseError, Shown, show
from algoscope.programs.language import GraphProgram
from algoscope.programs.precision import FLOAT32, FLOAT64, SCALAR_TOLERANCE, Precision
from algoscope.tasks import Batch, Kind, Stage, Task

_MASKED = -1
_FEWEST_FOLLOWED = 4
_PAIRS_FOLLOWED = 2**28
"""How many pairs of nodes running error analysis looks at, about."""

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
    """On how many of those that were followed some decision is closer than what rounding can do in
    the compiled network, as running error analysis bounds it."""
    exact_above_margin: float
    """The share of the others on which the network and the interpreter are the same throughout."""
    followed: int = 0
    """On how many samples that was done: the first ones, of long runs a few, and all on which
    network and interpreter differ."""
    broken: int = 0
    """On how many samples the program breaks a promise of the language."""
    reason: str = ""
    """The first of these promises."""
    differing: int = 0
    """On how many samples network and interpreter differ."""
    bounded: bool = True
    """Whether rounding is bounded: it is not where nodes and pairs take maxima."""

    @property
    def faulty(self) -> bool:
        """Whether network and interpreter differ where no rounding excuses it: above the margin,
        or anywhere if rounding is not bounded."""
        return self.exact_above_margin < 1 or (self.differing > 0 and not self.bounded)

    @staticmethod
    def together(parts: "Sequence[Verification]") -> "Verification":
        """Of problems of several sizes."""
        samples = [part.samples for part in parts]
        above = [part.followed - part.below_margin for part in parts]
        return Verification(
            sum(samples),
            max(part.nodes for part in parts),
            _mean([part.network for part in parts], samples),
            _mean([part.interpreter for part in parts], samples),
            _mean([part.compilation for part in parts], samples),
            parts[0].certificate,
            sum(part.below_margin for part in parts),
            _share([part.exact_above_margin for part in parts], above) if any(above) else 1.0,
            sum(part.followed for part in parts),
            sum(part.broken for part in parts),
            next((part.reason for part in parts if part.reason), ""),
            sum(part.differing for part in parts),
            all(part.bounded for part in parts),
        )

    def as_json(self) -> dict:
        """The network's shares at the top, as they are asked for most."""
        return {
            **self.network._asdict(),
            "interpreter": self.interpreter._asdict(),
            "compilation": self.compilation._asdict(),
            "certificate": self.certificate._asdict(),
            "followed": self.followed,
            "below_margin": self.below_margin,
            "exact_above_margin": self.exact_above_margin,
            "rounding_bounded": self.bounded,
            "differing": self.differing,
            "broken_promises": self.broken,
            "samples": self.samples,
            "nodes": self.nodes,
        }


def verify(
    program: GraphProgram,
    batch: Batch,
    width: int | None = None,
    precision: Precision = FLOAT32,
    follow: int | None = None,
    may_break: bool = False,
) -> Verification:
    """Compiles the program, at its smallest width or the given one, and compares all accounts; on
    so many samples, or as many as take little time, bounds what rounding can do. In float64 (with
    jax's x64 mode on) nothing is said to be below the margin. Where the program breaks a promise
    of the language, that is an error, unless it may, or numbers are closer than float32 tells
    apart: then such samples are counted. More nodes than the program is for are refused."""
    if program.most_nodes is not None and batch.nodes > program.most_nodes:
        raise ValueError(
            f"program {program.name}: got problems of {batch.nodes} nodes, needed at most "
            f"{program.most_nodes} (`# most_nodes: {program.most_nodes}` in its text)"
        )
    compiled = compile_program(program, width, precision=precision)
    showing = networks.Showing.of(compiled.network, batch)
    samples, runs = showing.parts, []
    with (
        progress.job(f"verifying {program.name}", total=len(batch)) as job,
        concurrent.futures.ThreadPoolExecutor(1) as beside,
    ):
        # Interpreter and network have a processor each.
        futures = [beside.submit(showing.part, some) for some in samples]
        count = _followed(program, batch) if follow is None else follow
        followed = np.arange(min(len(batch), count))
        sure = _sure(compiled, batch, followed, precision)
        for some in samples:
            runs.append(_interpreted(program, _part(batch, some), precision, may_break))
            job.advance(len(some))
        parts = [
            _comparison(future.result(), run.account, _part(batch, some))
            for some, run, future in zip(samples, runs, futures, strict=True)
        ]
    order = np.argsort(np.concatenate(samples))
    of_network, of_program, compilation = (
        {name: np.concatenate([part[k][name] for part in parts])[order] for name in parts[0][k]}
        for k in range(3)
    )
    exact = np.all(list(compilation.values()), axis=0)
    differ = np.setdiff1d(np.flatnonzero(~exact), followed)
    if len(differ):
        sure = np.concatenate([sure, _sure(compiled, batch, differ, precision)])
    followed = np.concatenate([followed, differ])
    return Verification(
        len(batch),
        batch.nodes,
        _exactness(of_network, batch.task),
        _exactness(of_program, batch.task),
        _exactness(compilation, batch.task),
        compiled.certificate,
        int((~sure).sum()),
        float(exact[followed][sure].mean()) if sure.any() else 1.0,
        len(followed),
        sum(int(run.broken.sum()) for run in runs),
        next((run.reason for run in runs if run.broken.any()), ""),
        int((~exact).sum()),
        bounded=program.pairs is None,
    )


def _followed(program: GraphProgram, batch: Batch) -> int:
    """How many samples running error analysis follows, the more the less a sample costs."""
    if program.pairs is not None:
        return 0  # Their errors are not followed.
    parts = len(program.rounds) + sum(len(round_.selections) for round_ in program.rounds)
    return max(_FEWEST_FOLLOWED, _PAIRS_FOLLOWED // (batch.steps * parts * batch.nodes**2))


def _sure(
    compiled: Compiled, batch: Batch, samples: np.ndarray, precision: Precision
) -> np.ndarray:
    """Of which of the samples it is certain that float32 makes no difference: bool [sample]"""
    if precision is not FLOAT32 or not len(samples):
        return np.ones(len(samples), bool)
    return compiled.certified(_part(batch, samples))


def compare_with_reference(network: Network, batch: Batch) -> Exactness:
    """Any network against the reference algorithm."""
    showing = networks.Showing.of(network, batch)
    equal: dict[str, np.ndarray] = {}
    for samples in showing.parts:
        part = _part(batch, samples)
        for name, same in _equality(showing.part(samples), _reference(part), part).items():
            equal.setdefault(name, np.zeros(len(batch), bool))[samples] = same
    return _exactness(equal, batch.task)


def agreement(account: Account, batch: Batch) -> Equality:
    """Whether the account is what the reference algorithm did, by feature: bool [batch]."""
    return _equality(account, _reference(batch), batch)


def _reference(batch: Batch) -> Account:
    return {name: hint[:, 1:] for name, hint in batch.hints.items()} | batch.outputs


def _part(batch: Batch, samples: np.ndarray) -> Batch:
    """Some samples, without the steps that are padding in all of them."""
    part = batch.take(samples)
    hints = {name: hint[:, : int(part.lengths.max())] for name, hint in part.hints.items()}
    return dataclasses.replace(part, hints=hints)


def _interpreted(
    program: GraphProgram, batch: Batch, precision: Precision, may_break: bool
) -> Shown:
    """A promise that is kept where N is that of float64 is broken by numbers that were drawn too
    close for the precision, which happens to every program."""
    run = show(program, batch, precision.resolution)
    run = run._replace(broken=run.broken & ~_too_close(batch, precision))
    if run.broken.any() and not may_break:
        finer = show(program, batch.take(np.flatnonzero(run.broken)), FLOAT64.resolution)
        if finer.broken.any():
            raise PromiseError(finer.reason)
    return run


def _comparison(
    network: Account, interpreter: Account, batch: Batch
) -> tuple[Equality, Equality, Equality]:
    """Network and reference, interpreter and reference, network and interpreter."""
    reference = _reference(batch)
    return (
        _equality(network, reference, batch),
        _equality(interpreter, reference, batch),
        _equality(network, interpreter, batch),
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


def _mean(parts: Sequence[Exactness], samples: Sequence[int]) -> Exactness:
    """Of parts with so many samples."""

    def by_name(shares: Sequence[dict[str, float]]) -> dict[str, float]:
        return {name: _share([each[name] for each in shares], samples) for name in shares[0]}

    return Exactness(
        _share([part.exact_traces for part in parts], samples),
        _share([part.exact_outputs for part in parts], samples),
        by_name([part.hints for part in parts]),
        by_name([part.outputs for part in parts]),
    )


def _share(shares: Sequence[float], weights: Sequence[int]) -> float:
    return float(np.average(shares, weights=weights))
