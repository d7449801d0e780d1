"""Does the order of layers follow the steps of an algorithm?

For every node there is, at each layer and head, a number: the attention it gets, or how similar its
state is to the last token's, less what a regression over all nodes makes of where, how often and in
which role it is mentioned. Step t of a hypothesis names the nodes V_t that are visited then. With
the mirror image of V_t in the component that cannot be reached, which is mentioned as often, in the
same roles, and is as deep,

    c[layer, head, t] = corr(number, V_t) - corr(number, mirror of V_t)

is 0 for all that a name's mentions alone give away. From it we take the mean over the other steps,
so that what is attended at all layers alike counts for nothing, in any order. The score of a
hypothesis is the mean over steps along its best alignment: a (layer, head) for each step, layers
never going back.

The alignment is chosen on one half of the mazes and scored on the other, and the other way round;
the interval is a bootstrap over mazes. The p-value flips the sign of each maze (as if mirror and
original were exchanged) and takes the best alignment again, so the choice of layers, heads and
alignment is in the null distribution.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.hypotheses import Hypothesis, trace
from algoscope.llm.observe import Observation
from algoscope.llm.prompts import covariates

Field = Callable[[Observation], np.ndarray]
"""A number for each node: [layer, head, node]."""

_FEWEST = 8
"""Mazes that a step has to occur in to be judged by itself."""


class Match(NamedTuple):
    hypothesis: str
    channel: str
    score: statistics.Estimate
    """On held-out mazes; 1 if layers are the steps, 0 if they are no more so than by chance."""
    p: float
    """By permutation, for the best alignment; not yet corrected."""
    steps: int
    """Steps that occur in enough mazes to be judged."""
    matched: int
    """Of these, those that are found on held-out mazes by themselves (interval above 0)."""
    alignment: tuple[tuple[int, int], ...]
    """The (layer, head) of each step, layers from 0, chosen on all mazes."""
    by_layer: np.ndarray
    """The best head's mean c at each layer: [layer, step]."""
    by_maze: np.ndarray
    """Held-out score of each maze: [maze]; NaN where the hypothesis has one step only."""


def _similarity(observation: Observation) -> np.ndarray:
    """Cosine of each node's state and the last token's, what all nodes share taken off."""
    nodes = observation.states[1:]
    mean = nodes.mean(1, keepdims=True)
    last = observation.readout_states("last")[1:, None] - mean
    nodes = nodes - mean
    norms = np.linalg.norm(nodes, axis=-1) * np.linalg.norm(last, axis=-1)
    return ((nodes * last).sum(-1) / np.maximum(norms, 1e-12))[:, None]


CHANNELS: dict[str, Field] = {
    "attention of the last token": lambda o: o.per_mention("last"),
    "attention of the goal": lambda o: o.per_mention("goal"),
    "similarity to the last token": _similarity,
}
BY_HEADS = {"attention of the last token": "last", "attention of the goal": "goal"}
"""The channels whose alignment names heads, which can be exchanged; and whose attention it is."""


def contrasts(field: np.ndarray, steps: np.ndarray, mirror: Sequence[int]) -> np.ndarray:
    """c of the module's docstring: field [layer, head, node], steps [step, node]
    -> [layer, head, step]."""
    visits = steps.astype(float)
    return _correlations(field, visits) - _correlations(field, visits[:, list(mirror)])


def _correlations(field: np.ndarray, visits: np.ndarray) -> np.ndarray:
    def unit(x):
        x = x - x.mean(-1, keepdims=True)
        norm = np.linalg.norm(x, axis=-1, keepdims=True)
        return np.divide(x, norm, out=np.zeros_like(x), where=norm > 1e-12)

    return unit(field.astype(float)) @ unit(visits).T


def match(
    observations: Sequence[Observation],
    hypothesis: Hypothesis,
    channel: str,
    permutations: int = 999,
    seed: int = 0,
) -> Match:
    """How well the layers follow the hypothesis, on one channel."""
    plain, centred = _by_maze(observations, hypothesis, CHANNELS[channel])
    mazes, layers, heads, steps = centred.shape
    present = np.isfinite(centred[:, 0, 0])
    values = np.nan_to_num(centred).reshape(mazes, -1)
    weights = present.sum(0) / max(1, present.sum())

    def mean(rows: np.ndarray, count: np.ndarray) -> np.ndarray:
        return (rows @ values).reshape(-1, layers, heads, steps) / np.maximum(count, 1)

    def fitted(chosen: np.ndarray) -> list[tuple[int, int]]:
        means = mean(chosen[None].astype(float), (present & chosen[:, None]).sum(0))
        return _trace_back(means[0], weights)

    half = np.arange(mazes) % 2 == 0
    held = np.full((mazes, steps), np.nan)
    for learned, tested in ((half, ~half), (~half, half)):
        for step, (layer, head) in enumerate(fitted(learned)):
            held[tested, step] = centred[tested, layer, head, step]
    by_maze = np.full(mazes, np.nan)
    judged = present.any(1)
    by_maze[judged] = np.nanmean(held[judged], 1)
    observed = _best(mean(np.ones((1, mazes)), present.sum(0)), weights)[0]
    null = _best(mean(statistics.signs(mazes, permutations, seed), present.sum(0)), weights)
    frequent = np.flatnonzero(present.sum(0) >= _FEWEST)
    matched = [
        statistics.bootstrap(held[present[:, step], step], seed).low > 0 for step in frequent
    ]
    average = np.nansum(plain, 0) / np.maximum(present.sum(0), 1)
    return Match(
        hypothesis.name,
        channel,
        statistics.bootstrap(by_maze, seed),
        statistics.p_value(float(observed), null) if present.any() else 1.0,
        len(frequent),
        int(np.sum(matched)),
        tuple(fitted(np.ones(mazes, bool))),
        average.max(1),
        by_maze,
    )


def _by_maze(observations: Sequence[Observation], hypothesis: Hypothesis, field: Field):
    """c of every maze (the mean of its twins), and c less that of the other steps; NaN where a
    maze has no such step, or only one step: [maze, layer, head, step] twice."""
    grouped: dict[int, list[np.ndarray]] = {}
    for observation, numbers in zip(observations, _residuals(observations, field), strict=True):
        item = observation.item
        if not item.mirror:
            raise ValueError(
                "items: got one without a mirror image of its nodes, needed items that "
                "llm.navigation makes"
            )
        steps = trace(hypothesis, item)
        grouped.setdefault(item.pair, []).append(contrasts(numbers, steps, item.mirror))
    longest = max(c.shape[-1] for twins in grouped.values() for c in twins)
    shape = next(iter(grouped.values()))[0].shape[:2]
    plain = np.full((len(grouped), *shape, longest), np.nan)
    for number, twins in enumerate(grouped.values()):
        steps = min(c.shape[-1] for c in twins)
        if steps > 1:
            plain[number, ..., :steps] = np.mean([c[..., :steps] for c in twins], 0)
    count = np.isfinite(plain).sum(-1, keepdims=True)
    others = (np.nansum(plain, -1, keepdims=True) - plain) / np.maximum(count - 1, 1)
    return plain, plain - others


def _residuals(observations: Sequence[Observation], field: Field) -> list[np.ndarray]:
    """The field of every observation, less its regression on covariates (positions also squared)
    within items, fitted over all nodes of all items for each layer and head."""

    def within(values: np.ndarray) -> np.ndarray:
        return values - values.mean(-1, keepdims=True)

    fields = [within(np.asarray(field(o), float)) for o in observations]
    known = [covariates(o.item) for o in observations]
    known = [within(np.column_stack([k, k[:, 2:4] ** 2]).T).T for k in known]
    X, Y = np.concatenate(known), np.concatenate(fields, -1)
    slopes = np.linalg.lstsq(X, Y.reshape(-1, Y.shape[-1]).T, rcond=None)[0]
    return [f - (k @ slopes).T.reshape(f.shape) for f, k in zip(fields, known, strict=True)]


def _paths(means: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of the best alignments that end at each layer: [step, batch, layer], and the layer
    each came from; of means [batch, layer, head, step]."""
    heads = means.max(2) * weights
    values, origins = [heads[..., 0]], [np.zeros(heads.shape[:2], int)]
    for step in range(1, heads.shape[-1]):
        before = np.maximum.accumulate(values[-1], -1)
        improved = values[-1] >= before
        number = np.where(improved, np.arange(before.shape[-1]), 0)
        origins.append(np.maximum.accumulate(number, -1))
        values.append(before + heads[..., step])
    return np.stack(values), np.stack(origins)


def _best(means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if means.shape[-1] == 0:
        return np.zeros(len(means))
    return _paths(means, weights)[0][-1].max(-1)


def _trace_back(means: np.ndarray, weights: np.ndarray) -> list[tuple[int, int]]:
    if means.shape[-1] == 0:
        return []
    values, origins = _paths(means[None], weights)
    layer = int(values[-1, 0].argmax())
    chosen = []
    for step in range(means.shape[-1] - 1, -1, -1):
        chosen.append((layer, int(means[layer, :, step].argmax())))
        layer = int(origins[step, 0, layer])
    return chosen[::-1]
