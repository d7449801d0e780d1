"""Attention over layers as the case study analyses it, beside the controls that it lacks.

Two analyses, both of the attention that rooms get from the last token, mean over heads, summed over
mentions: its rank correlation with a room's distance from the start, and a mixed-effects regression
on whether a room is on the path. Both find something in random weights, since rooms near the start
are mentioned more often. `corrected` asks the second question again with
attention per mention, and with how often, where and in which role a room is mentioned, and whether
it is the start or the goal, as covariates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.observe import Observation
from algoscope.llm.prompts import Item, covariates
from algoscope.regression import Coefficient, mixed_effects


class Layer(NamedTuple):
    layer: int
    naive_rho: statistics.Estimate
    """Spearman correlation of summed attention and distance from the start, mean over items."""
    paper: Coefficient
    """Standardised summed attention on whether a room is on the path, random intercept an item."""
    corrected: Coefficient
    """The same per mention, with the covariates."""


def by_layer(observations: Sequence[Observation], readout: str = "last") -> list[Layer]:
    """Both analyses of every layer, over the reachable items (the others have no path)."""
    reachable = [o for o in observations if o.item.reachable]
    if len(reachable) < 2:
        raise ValueError(f"items: got {len(reachable)} with a reachable goal, needed at least 2")
    items = [o.item for o in reachable]
    groups = np.repeat(np.arange(len(items)), [item.nodes for item in items])
    on_path = np.concatenate([np.isin(np.arange(i.nodes), i.path()) for i in items]).astype(float)
    known = np.concatenate([covariates(item) for item in items])
    summed = zip(*(o.attention(readout).mean(1) for o in reachable), strict=True)
    per_mention = zip(*(o.per_mention(readout).mean(1) for o in reachable), strict=True)

    def regression(attention: Sequence[np.ndarray], *predictors: np.ndarray) -> Coefficient:
        values = np.concatenate(attention)
        standard = (values - values.mean()) / max(values.std(), 1e-12)
        return mixed_effects(standard, np.column_stack(predictors), groups)

    layers = []
    for attention, each_mention in zip(summed, per_mention, strict=True):
        rho = statistics.bootstrap(np.array(list(map(_distance_rho, attention, items))))
        paper, corrected = regression(attention, on_path), regression(each_mention, on_path, known)
        layers.append(Layer(len(layers), rho, paper, corrected))
    return layers


def mention_rho(observations: Sequence[Observation]) -> statistics.Estimate:
    """Spearman correlation of how often a room is mentioned and its distance from the start."""
    rhos = [_distance_rho(o.places.mentions, o.item) for o in observations]
    return statistics.bootstrap(np.array(rhos))


def _distance_rho(values: np.ndarray, item: Item) -> float:
    """Spearman correlation of a number of each room [node] and its distance from the start, over
    the rooms that can be reached."""
    distance = mazes.distances(item.adjacency(), item.source)
    return statistics.spearman(values[distance >= 0], distance[distance >= 0])
