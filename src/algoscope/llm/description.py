"""What a subject does on prompts of one's own: attention, states, and the order of layers, beside
random weights of the same architecture.

It describes and does not judge: without a mirror image, what is due to a node's name, to how often
and where it is mentioned, cannot be told from search. `unjudged` says so, point by point.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import geometry, representation
from algoscope.llm.hypotheses import CANDIDATES, Hypothesis, trace
from algoscope.llm.observe import READOUTS, Observation, observe
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject


class Order(NamedTuple):
    """Does the attention of layers come to nodes in the order of an algorithm?"""

    hypothesis: str
    readout: str
    subject: statistics.Estimate
    """Spearman correlation of the step at which a node is visited and the layer that attends to a
    mention of it most, mean over prompts."""
    control: statistics.Estimate
    """The same of random weights."""
    p: float
    """If nodes were attended to in random order; not corrected for where they are mentioned."""


@dataclasses.dataclass(frozen=True, eq=False)
class Description:
    subject: str
    check: dict[str, float]
    items: int
    seed: int
    orders: list[Order]
    observed: list[geometry.Observed]
    control_observed: list[geometry.Observed]
    layer_similarity: list[statistics.Estimate]
    """Cosine of a node's state and of its state in the next layer, mean over nodes and prompts:
    [layer]."""
    control_layer_similarity: list[statistics.Estimate]
    unjudged: list[str]
    observations: list[Observation]


def describe(subject: Subject, items: Sequence[Item], seed: int = 0) -> Description:
    observations = observe(subject, items)
    control = observe(subject.with_random_weights(seed), items)
    return Description(
        subject=subject.name,
        check=subject.check._asdict(),
        items=len(items),
        seed=seed,
        orders=[
            _order(observations, control, hypothesis, readout, seed)
            for readout in READOUTS
            for hypothesis in CANDIDATES
            if hypothesis.algorithm
        ],
        observed=geometry.observed(observations, seed),
        control_observed=geometry.observed(control, seed),
        layer_similarity=_layer_similarity(observations),
        control_layer_similarity=_layer_similarity(control),
        unjudged=_unjudged(items),
        observations=observations,
    )


def _layer_similarity(observations: Sequence[Observation]) -> list[statistics.Estimate]:
    each = np.array([_turns(o.states.astype(float)).mean(1) for o in observations])
    return [statistics.bootstrap(layer) for layer in each.T]


def _turns(states: np.ndarray) -> np.ndarray:
    """Cosine of each node's state [layer + 1, node, width] and its next: [layer, node]."""
    both = np.stack([states[:-1], states[1:]], 2)
    return representation.cosine(both)[..., 0, 1]


def _order(
    observations: Sequence[Observation],
    control: Sequence[Observation],
    hypothesis: Hypothesis,
    readout: str,
    seed: int,
    permutations: int = 999,
) -> Order:
    rng = np.random.default_rng(seed)
    mine, theirs, null = [], [], []
    for o, c in zip(observations, control, strict=True):
        visits = _visits(hypothesis, o.item)
        peaks, control_peaks = (
            x.per_mention(readout).mean(1).argmax(0)[list(visits)] for x in (o, c)
        )
        steps = np.array(list(visits.values()), float)
        mine.append(statistics.spearman(steps, peaks))
        theirs.append(statistics.spearman(steps, control_peaks))
        null.append(
            [statistics.spearman(steps, rng.permutation(peaks)) for _ in range(permutations)]
        )
    known = np.isfinite(mine)
    p = np.nan
    if known.any():
        chance = np.mean(np.array(null)[known], 0)
        p = statistics.p_value(float(np.mean(np.array(mine)[known])), chance)
    found, control_found = (statistics.bootstrap(np.array(values)) for values in (mine, theirs))
    return Order(hypothesis.name, readout, found, control_found, p)


def _visits(hypothesis: Hypothesis, item: Item) -> dict[int, int]:
    """The step at which each node is visited, start and goal left out: the question names them."""
    return {
        int(node): step
        for step, visited in enumerate(trace(hypothesis, item))
        for node in np.flatnonzero(visited)
        if node not in (item.source, item.goal)
    }


def _unjudged(items: Sequence[Item]) -> list[str]:
    """What could not be judged on these prompts, and why."""
    truths = {item.reachable for item in items}
    said = [
        "Which algorithm it runs: the prompts have no mirror image, so that what a name, the "
        "number of mentions and their places give cannot be told from search. Random weights stand "
        "beside every number for that reason; `algoscope llm navigate` asks matched questions.",
        "Whether what is seen is used: states and heads are exchanged between twin prompts, which "
        "differ in two names and in the answer, and these prompts have no twins.",
    ]
    if len(truths) == 1:
        said.append(
            "Whether its answers are better than a constant one: all of these questions are "
            f"answered {'Yes' if truths == {True} else 'No'}."
        )
    if len(items) < 20:
        said.append(
            f"How sure the numbers are: {len(items)} prompt{'s' if len(items) > 1 else ''} "
            "can be the exception; intervals over prompts need more of them."
        )
    return said
