"""Judging all networks of one configuration in one pass.

    judgements = judge_all(ensemble.network, "bfs")     # one for each seed

Networks run on the examination side by side, and are falsified on the same problems
(`falsify.falsify_all`). Measured is what a verdict rests on: probes, nulls and interchange, which
cost most and decide nothing, are left to `judge`.
"""

import functools
from collections.abc import Callable, Iterator, Sequence

import jax
import numpy as np

from algoscope import falsify, networks, tasks
from algoscope.falsify.cover import Group
from algoscope.measures.evidence import decisive_evidence
from algoscope.measures.examination import Examination, examination
from algoscope.measures.verdict import Judgement, check_features, conclude
from algoscope.networks import Network, Path
from algoscope.recording import Recording
from algoscope.tasks import Batch, Task


def judge_all(
    stacked: Network,
    task: Task | str,
    seed: int = 0,
    *,
    problems: int = falsify.PROBLEMS,
    exam: Examination | None = None,
    covers: Sequence[Sequence[Group]] = (),
    searched: bool = True,
    shrunk: int = falsify.SHRUNK,
    report: Callable[[str], None] = lambda text: None,
) -> list[Judgement]:
    """One judgement, without recordings, for each of the networks that are stacked along a first
    axis of every array; examination and covers are made unless given, and the last three options
    are those of `falsify.falsify_all`."""
    task = tasks.get(task)
    check_features(stacked, task)
    exam = exam or examination(task, seed)
    tried = falsify.falsify_all(
        stacked,
        task,
        problems=problems,
        seed=seed,
        covers=covers,
        searched=searched,
        shrunk=shrunk,
        report=report,
    )
    recordings = zip(
        _recordings(stacked, exam.small), _recordings(stacked, exam.large), strict=True
    )
    judgements = [
        conclude(decisive_evidence(exam, small, large), result, {})
        for (small, large), result in zip(recordings, tried, strict=True)
    ]
    report(f"examined {len(judgements)} networks")
    return judgements


def _recordings(stacked: Network, batch: Batch) -> Iterator[Recording]:
    """Of each network, but for hidden states, which have no width here, and logits."""
    on_device = networks.to_device(stacked, batch)
    hidden = np.zeros((len(batch), batch.steps, batch.nodes, 0))
    record = functools.partial(_record, path=networks.fast_path())
    for attention, hints, outputs in networks.one_by_one(record, stacked, on_device):
        yield Recording(attention, hidden, hints, outputs, np.asarray(batch.lengths), {})


@functools.partial(jax.jit, static_argnames="path")
def _record(stacked: Network, batch: Batch, path: Path):
    def one(network: Network):
        trajectory = networks.trajectories(network, batch, path=path)
        hints, outputs = network.decide(trajectory.hints), network.decide(trajectory.outputs)
        return trajectory.attention, hints, outputs

    return jax.vmap(one)(stacked)
