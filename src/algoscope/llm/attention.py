"""Attention over layers as the case study analyses it, beside the controls that it lacks.

Two analyses, both of the attention that rooms get from the last token, mean over heads, summed over
mentions: its rank correlation with a room's distance from the start, and a mixed-effects regression
on whether a room is on the path. Both find something at every layer of a model with random weights,
since rooms near the start are mentioned more often. `corrected` asks the second question again with
attention per mention, and with how often, where and in which role a room is mentioned, and whether
it is the start or the goal, as covariates.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import mazes
from algoscope.llm.observe import Observation
from algoscope.llm.prompts import covariates


class Regression(NamedTuple):
    """One coefficient of y = X b + u[group] + e, with random intercepts u, by REML."""

    b: float
    se: float
    t: float
    df: int
    p: float


class Layer(NamedTuple):
    layer: int
    naive_rho: statistics.Estimate
    """Spearman correlation of summed attention and distance from the start, mean over items."""
    paper: Regression
    """Standardised summed attention on whether a room is on the path, random intercept an item."""
    corrected: Regression
    """The same per mention, with the covariates."""


def by_layer(observations: Sequence[Observation], readout: str = "last") -> list[Layer]:
    """Both analyses of every layer, over the reachable items (the others have no path)."""
    reachable = [o for o in observations if o.item.reachable]
    if len(reachable) < 2:
        raise ValueError(f"items: got {len(reachable)} with a reachable goal, needed at least 2")
    tables = [_rooms(o) for o in reachable]
    groups = np.concatenate([[number] * o.item.nodes for number, o in enumerate(reachable)])
    path = np.concatenate([t["path"] for t in tables])
    covariates = np.concatenate([t["covariates"] for t in tables])
    layers = []
    for layer in range(len(reachable[0].attention[readout])):
        summed = [o.attention[readout][layer].mean(0) for o in reachable]
        mentioned = [o.per_mention(readout)[layer].mean(0) for o in reachable]
        rhos = [
            _spearman(a[t["depth"] >= 0], t["depth"][t["depth"] >= 0])
            for a, t in zip(summed, tables, strict=True)
        ]
        layers.append(
            Layer(
                layer,
                statistics.bootstrap(np.array(rhos)),
                mixed_effects(_standard(np.concatenate(summed)), path[:, None], groups),
                mixed_effects(
                    _standard(np.concatenate(mentioned)),
                    np.column_stack([path, covariates]),
                    groups,
                ),
            )
        )
    return layers


def mention_rho(observations: Sequence[Observation]) -> statistics.Estimate:
    """Spearman correlation of how often a room is mentioned and its distance from the start."""
    rhos = []
    for o in observations:
        depth = mazes.distances(o.item.adjacency(), o.item.source)
        rhos.append(_spearman(o.places.mentions[depth >= 0], depth[depth >= 0]))
    return statistics.bootstrap(np.array(rhos))


def _rooms(observation: Observation) -> dict[str, np.ndarray]:
    """What is known about each room of an item apart from attention."""
    item = observation.item
    return {
        "path": np.isin(np.arange(item.nodes), item.path()).astype(float),
        "covariates": covariates(item),
        "depth": mazes.distances(item.adjacency(), item.source),
    }


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import rankdata

    a, b = rankdata(a), rankdata(b)
    if a.std() < 1e-12 or b.std() < 1e-12:
        return np.nan
    return float(np.corrcoef(a, b)[0, 1])


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(values.std(), 1e-12)


def mixed_effects(y: np.ndarray, X: np.ndarray, groups: np.ndarray) -> Regression:
    """The first coefficient of a linear model with a random intercept for each group.

    With rho = var(u) / var(e), a group of n rows has the covariance I + rho 11', whose inverse
    root takes (1 - 1 / sqrt(1 + n rho)) times the group's mean from each row: so for each rho it is
    least squares, and rho is the one of the greatest restricted likelihood. df = rows - columns -
    groups + 1, as if the intercepts were fixed.
    """
    from scipy.optimize import minimize_scalar
    from scipy.stats import t as student

    X = np.column_stack([X, np.ones(len(y))])
    _, groups = np.unique(groups, return_inverse=True)
    sizes = np.bincount(groups)
    stacked = np.column_stack([X, y])
    means = np.stack([np.bincount(groups, column) / sizes for column in stacked.T], 1)

    def fit(log_rho: float):
        rho = np.exp(log_rho)
        shrink = 1 - 1 / np.sqrt(1 + sizes * rho)
        moved = stacked - (shrink[:, None] * means)[groups]
        Z, z = moved[:, :-1], moved[:, -1]
        gram = Z.T @ Z
        b = np.linalg.lstsq(Z, z, rcond=None)[0]
        rest = float(np.sum((z - Z @ b) ** 2))
        free = len(y) - X.shape[1]
        logdet = np.linalg.slogdet(gram + 1e-9 * np.eye(len(gram)))[1]
        loss = free * np.log(max(rest, 1e-300)) + np.sum(np.log1p(sizes * rho)) + logdet
        return loss, b, gram, rest / free

    best = minimize_scalar(lambda log_rho: fit(log_rho)[0], bounds=(-12, 8), method="bounded")
    _, b, gram, variance = fit(float(best.x))  # pyright: ignore[reportAttributeAccessIssue]
    se = float(np.sqrt(variance * np.linalg.pinv(gram)[0, 0]))
    df = len(y) - X.shape[1] - len(sizes) + 1
    t = float(b[0]) / se if se > 0 else 0.0
    return Regression(float(b[0]), se, t, df, float(2 * student.sf(abs(t), df)))
