"""Exchange: with the state of another run, the network goes on as the program does.

Problems A and B have the same source and positions, and other graphs. Both run; after a step t_B of
B, drawn at random, the whole state of B (hidden states, and the hints read back) is put into A, and
the network takes `STEPS` further steps on A's graph. The target is what the program does from the
same exchange of its own variables:

    sum over hints f of  mean over samples and these steps of  loss_f(logits, program's hint)

Each problem of a batch is the A of its partner and the B of it. Exchanges after which the program
breaks a promise of the language, or of problems without a step, do not count.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algoscope.networks import NetworkConfig, to_device, trajectories
from algoscope.networks.objective import hint_losses
from algoscope.networks.running import start_at
from algoscope.programs.exchange import resume
from algoscope.tasks import Recipe, Stage
from algoscope.training.compact import compact
from algoscope.training.objectives.base import Attempt, Lecture, Objective

STEPS = 2


class Exchange(NamedTuple):
    steps: Any
    """After which step each problem gives its state away: int [sample]"""
    hints: dict[str, Any]
    """What the program shows at the exchange and after each further step: [sample, 1 + STEPS, …]"""
    lengths: Any
    """1 + STEPS, or 1 where the exchange does not count: int [sample]"""


def exchanges(lecture: Lecture) -> Exchange:
    program, batch, sampled, _, states, others = lecture.demonstration
    lengths = np.asarray(batch.lengths)
    steps = lecture.random.integers(0, np.maximum(lengths - 3, 0) + 1)
    received = {name: values[others, steps[others]] for name, values in states.items()}
    running = dataclasses.replace(sampled, lengths=np.full(len(batch), 1 + STEPS))
    after = resume(program, running, received, STEPS)
    hints = {
        f.name: np.concatenate([after.initial_hints[f.name][:, None], after.hints[f.name]], 1)
        for f in batch.at(Stage.HINT)
    }
    counts = after.kept & (lengths >= 2) & (lengths[others] >= 2)
    lengths = np.where(counts, 1 + STEPS, 1)
    small = compact(dataclasses.replace(batch, hints=hints, lengths=lengths))
    return Exchange(steps.astype(np.int32), small.hints, small.lengths)


def continued(attempt: Attempt) -> Iterator[Float[Array, ""]]:
    network, run, exchange = attempt.network, attempt.run, attempt.target
    half = len(attempt.batch) // 2
    others = np.roll(np.arange(2 * half), half)
    places = (jnp.asarray(others), exchange.steps[others])
    start = start_at(network, run.hidden, run.hints, places, training=True)
    changed = dataclasses.replace(attempt.batch, hints=exchange.hints, lengths=exchange.lengths)
    batch = to_device(network, changed)
    after = trajectories(network, batch, training=True, start=start, path=attempt.path)
    yield from hint_losses(network, after, batch)


def faults(network: NetworkConfig, recipe: Recipe) -> list[str]:
    wrong = []
    if not network.decode_hints:
        wrong.append(
            "objective exchange: got networks that predict no hints (hint mode none), needed some "
            "that do: give --hint-mode encoded_decoded"
        )
    if isinstance(recipe.count, int) and recipe.count % 2:
        wrong.append(
            f"objective exchange: got batches of {recipe.count} problems, needed an even number, "
            "since they exchange states in pairs: give --batch"
        )
    return wrong


EXCHANGE = Objective("exchange", continued, exchanges, paired=True, faults=faults)
