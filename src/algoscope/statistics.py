"""Intervals and corrected p-values: what a number would be if there were nothing to it; and numbers
as they are written beside what they are compared with."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_MORE_DIGITS = 15
"""Beyond which numbers are written as Python does."""


class Estimate(NamedTuple):
    value: float
    low: float
    high: float
    """A 95 % interval."""

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    def beside(self, *limits: float) -> str:
        """The same, each number above, below or at the limits as it is."""
        value, low, high = (beside(number, *limits, digits=2) for number in self)
        return f"{value} [{low}, {high}]"


def beside(value: float, *limits: float, digits: int = 3, form: str = "f", sign: str = "") -> str:
    """The number with so many digits, or as many more as it takes to be above, below or at each
    limit as the value is: 0.8998 is not 0.900 beside 0.9."""
    for places in range(digits, digits + _MORE_DIGITS):
        text = f"{value:{sign}.{places}{form}}"
        if all(np.sign(float(text) - limit) == np.sign(value - limit) for limit in limits):
            return text
    return f"{value:{sign}}"


def apart(first: float, second: float, digits: int = 3) -> tuple[str, str]:
    """Two numbers with so many digits, or as many more as it takes to see which is larger."""
    for places in range(digits, digits + _MORE_DIGITS):
        texts = f"{first:.{places}f}", f"{second:.{places}f}"
        if (texts[0] == texts[1]) == (first == second):
            return texts
    return str(first), str(second)


def mean(values: np.ndarray) -> float:
    """NaN of nothing."""
    return float(values.mean()) if values.size else float("nan")


def share(part: float, whole: float) -> float:
    """NaN of nothing."""
    return float(part / whole) if whole else float("nan")


def proportion(right: Sequence[bool]) -> Estimate:
    """A share with Wilson's interval."""
    return proportion_of_counts(int(np.sum(right)), len(right))


def proportion_of_counts(part: int, n: int) -> Estimate:
    """The same, from how many of n."""
    if n == 0:
        return Estimate(np.nan, 0.0, 1.0)
    share, z = part / n, 1.96
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Estimate(share, float(max(0, centre - half)), float(min(1, centre + half)))


def bootstrap(values: np.ndarray, seed: int = 0, draws: int = 2000) -> Estimate:
    """The mean of independent values, with the interval of the percentile bootstrap."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return Estimate(float(values.mean()) if len(values) else np.nan, -np.inf, np.inf)
    means = values[resamples(len(values), draws, seed)].mean(1)
    return Estimate(float(values.mean()), *interval(means))


def resamples(units: int, draws: int, seed: int = 0) -> np.ndarray:
    """Bootstrap samples, as indices of units: int [draw, unit]."""
    return np.random.default_rng(seed).integers(0, units, (draws, units))


def interval(draws: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of the percentile bootstrap, from the statistic of each sample."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def signs(units: int, permutations: int, seed: int = 0) -> np.ndarray:
    """Random signs, one a unit: float [permutation, unit]."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], (permutations, units))


def flip_null(values: np.ndarray, permutations: int, seed: int = 0) -> np.ndarray:
    """The largest column mean of values [unit, column] when the sign of each unit is random:
    [permutation]."""
    return (signs(len(values), permutations, seed) @ values / len(values)).max(1)


def p_value(value: float, null: np.ndarray) -> float:
    """The share of the null distribution that is at least as large, the value counted in."""
    return float((1 + np.sum(null >= value - 1e-12)) / (1 + len(null)))


def holm(p: Sequence[float]) -> np.ndarray:
    """p-values corrected for being several, by Holm's method."""
    values = np.asarray(p, float)
    order = np.argsort(values)
    raised = values[order] * (len(values) - np.arange(len(values)))
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(raised))
    return corrected


def with_corrected_p(rows: Sequence[Any]) -> list[Any]:
    """The same named tuples, their field `p` corrected by Holm's method."""
    corrected = holm([row.p for row in rows])
    return [row._replace(p=float(p)) for row, p in zip(rows, corrected, strict=True)]


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation; NaN if either is constant."""
    from scipy.stats import rankdata

    a, b = rankdata(a), rankdata(b)
    if a.std() < 1e-12 or b.std() < 1e-12:
        return np.nan
    return float(np.corrcoef(a, b)[0, 1])


def binomial_p(successes: int, trials: int) -> float:
    """P(at least so many successes) if each has probability 1/2."""
    from scipy.stats import binomtest

    return float(binomtest(successes, trials, 0.5, "greater").pvalue) if trials else 1.0
