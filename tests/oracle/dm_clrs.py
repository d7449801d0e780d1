"""dm-clrs's answer to `tasks.sample`, in our layout. Needs `pip install dm-clrs==2.0.3`.

Run as a script, it compares all tasks (or those named) live:

    python tests/oracle/dm_clrs.py [TASK ...]
"""

import logging
import sys
from typing import Any, NamedTuple

import numpy as np


class Reference(NamedTuple):
    """Inputs and outputs: [batch, …]; hints: [batch, time, …]; lengths: [batch]."""

    inputs: dict[str, np.ndarray]
    hints: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    lengths: np.ndarray


def sample(name: str, size: int, count: int, seed: int, **options: Any) -> Reference:
    import clrs

    sampler, _ = clrs.build_sampler(name, num_samples=count, length=size, seed=seed, **options)
    feedback = sampler.next()
    return Reference(
        {x.name: x.data for x in feedback.features.inputs},
        {x.name: np.swapaxes(x.data, 0, 1) for x in feedback.features.hints},
        {x.name: x.data for x in feedback.outputs},
        np.asarray(feedback.features.lengths, np.int64),
    )


def differences(name: str, ours: Any, theirs: Reference) -> list[str]:
    """What differs between a Batch and dm-clrs's; empty if they are equal.

    At one node dm-clrs drops axes of length 1, hence the reshape of inputs and outputs.
    """
    faults = []
    if not np.array_equal(ours.lengths, theirs.lengths):
        faults.append(f"{name}: lengths {ours.lengths} != {theirs.lengths}")
    for stage in ("inputs", "hints", "outputs"):
        a, b = getattr(ours, stage), getattr(theirs, stage)
        if list(a) != list(b):
            faults.append(f"{name}: {stage} {list(a)} != {list(b)}")
            continue
        for key in a:
            if stage != "hints" and a[key].dtype != b[key].dtype:
                faults.append(f"{name}: {key} is {a[key].dtype}, not {b[key].dtype}")
            exact_shape = stage != "hints" or a[key].shape == b[key].shape
            if not exact_shape or a[key].size != b[key].size:
                faults.append(f"{name}: {key} has shape {a[key].shape}, not {b[key].shape}")
            elif not np.array_equal(a[key], b[key].reshape(a[key].shape)):
                wrong = a[key] != b[key].reshape(a[key].shape)
                faults.append(f"{name}: {key} differs in {wrong.sum()} of {wrong.size} values")
    return faults


def main() -> None:
    from algoscope import tasks

    logging.disable(logging.WARNING)
    failed = False
    for name in sys.argv[1:] or tasks.names():
        smallest = tasks.get(name).smallest
        for size in sorted({smallest, max(smallest, 5), 16, 33}):
            for seed in (0, 1, 2**31):
                ours = tasks.sample(name, size, 8, seed)
                faults = differences(name, ours, sample(name, size, 8, seed))
                failed = failed or bool(faults)
                for fault in faults:
                    print(f"size {size}, seed {seed}: {fault}")
        print(f"{name}: compared", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
