"""Whether a page may hold a network's weights in float16.

That is decided when a network is measured and kept with its findings, so that drawing a page runs
no network. The problems are fresh ones of every family that the falsifier knows, and not those that
the page shows: a reader draws what was never recorded.
"""

from collections.abc import Mapping

import numpy as np

from algoscope import networks, progress, tasks
from algoscope.falsify import Subject
from algoscope.falsify.cover import some_of_each
from algoscope.measures.examination import SMALL
from algoscope.networks import Network
from algoscope.recording import Recording
from algoscope.report.live import runs_in_page
from algoscope.tasks import Batch, Feature, Kind, Stage, Task

_OF_A_FAMILY = 4


def that_may_be_rounded(
    members: Mapping[str, Subject], task: Task | str, problem_seed: int
) -> tuple[str, ...]:
    """The names of the networks that a page can run and whose decisions stay the same."""
    task = tasks.get(task)
    own = {n: m for n, m in members.items() if isinstance(m, Network) and _fits(m, task)}
    if not own or not runs_in_page(task):
        return ()
    batches = {
        size: some_of_each(task, size, _OF_A_FAMILY, problem_seed)
        for size in {member.config.attention_bias or SMALL for member in own.values()}
    }
    return tuple(
        name
        for name, member in progress.over(own.items(), "rounding weights for the page")
        if keeps_decisions(member, batches[member.config.attention_bias or SMALL])
    )


def _fits(network: Network, task: Task) -> bool:
    return network.features == task.features


def keeps_decisions(network: Network, batch: Batch) -> bool:
    """Whether everything that is decided on the problems is the same with weights in float16.
    Numbers are no decisions: they are compared by what is decided from them."""
    rounded = _rounded(network)
    if rounded is None:
        return False
    before, after = networks.run(network, batch), networks.run(rounded, batch)
    decided = [f for f in network.features if f.name in after.logits and f.kind is not Kind.SCALAR]
    return all(
        np.array_equal(_decisions(feature, before), _decisions(feature, after))
        for feature in decided
    )


def _rounded(network: Network) -> Network | None:
    """None if float16 cannot hold the weights."""
    with np.errstate(over="ignore"):
        arrays = {
            name: np.asarray(array).astype(np.float16).astype(np.float32)
            for name, array in networks.arrays(network).items()
        }
    if not all(np.isfinite(array).all() for array in arrays.values()):
        return None
    return networks.with_arrays(network, arrays)


def _decisions(feature: Feature, recording: Recording) -> np.ndarray:
    if feature.stage is Stage.HINT:
        return np.asarray(recording.hints[feature.name])[np.asarray(recording.valid)]
    return np.asarray(recording.outputs[feature.name])
