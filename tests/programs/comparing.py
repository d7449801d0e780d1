"""What the tests compare: a program's run with the reference algorithm and with its meaning."""

from collections.abc import Mapping

import numpy as np

from algoscope import programs, tasks
from algoscope.recording import Recording
from algoscope.tasks import Batch, Kind

LIBRARY = [programs.get(name) for name in programs.names()]
WRONG = [p for task in tasks.names() for p in programs.of_task(task, programs.Role.WRONG)]
EXACT = [program for program in LIBRARY if program not in WRONG]
_FEW = [p for p in LIBRARY if sum(len(u.terms) for r in p.rounds for u in r.updates) <= 60]
"""Those with few hidden units, whose networks XLA compiles in seconds."""
QUICK = [program for program in EXACT if program in _FEW]
QUICK_WRONG = [program for program in WRONG if program in _FEW]
LARGE = [program for program in EXACT if program not in QUICK]
_SCALAR_ERROR = 1e-5
_MASKED = -1


def problems(task: str, size: int, seed: int = 0, count: int = 8) -> Batch:
    """Empty, sparse, dense and complete graphs in one batch; of other tasks, any problems."""
    densities = [0.0, 0.3, 0.7, 1.0] if "p" in tasks.get(task).options else [None]
    return Batch.join(
        [
            tasks.sample(task, size, count, seed + number, **({} if p is None else {"p": p}))
            for number, p in enumerate(densities)
        ]
    )


def from_reference(recording: Recording, batch: Batch) -> list[str]:
    """How the recording differs from what the reference algorithm did; empty if exact."""
    truths = {name: hint[:, 1:] for name, hint in batch.hints.items()}
    return _differences(recording, truths, batch.outputs, batch)


def from_interpreter(recording: Recording, interpreted: Recording, batch: Batch) -> list[str]:
    """How the recording differs from what the program says; empty if exact."""
    return _differences(recording, interpreted.hints, interpreted.outputs, batch)


def valid_steps(batch: Batch) -> np.ndarray:
    """bool [batch, step]: the steps that predict a hint of the problem's trace."""
    steps = batch.time - 1
    return np.arange(steps) < batch.lengths[:, None] - 1


def _differences(recording: Recording, hints: Mapping, outputs: Mapping, batch: Batch) -> list[str]:
    valid = valid_steps(batch)
    steps = valid.shape[1]
    differences = []
    for feature in batch.task.features:
        allowed = _SCALAR_ERROR if feature.kind is Kind.SCALAR else 0.0
        if feature.name in hints:
            recorded = np.asarray(recording.hints[feature.name], float)[:, :steps][valid]
            expected = np.asarray(hints[feature.name], float)[:, :steps][valid]
        elif feature.name in outputs:
            recorded = np.asarray(recording.outputs[feature.name], float)
            expected = np.asarray(outputs[feature.name], float)
        else:
            continue
        wrong = ~(np.abs(recorded - expected) <= allowed)
        if feature.kind is Kind.MASK:
            wrong &= expected != _MASKED
        if wrong.any():
            differences.append(f"{feature.name} differs in {wrong.sum()} of {wrong.size} values")
    return differences
