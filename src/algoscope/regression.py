"""Linear regressions: ridge, cross-validated ridge for any labels, and random intercepts."""

from typing import NamedTuple

import numpy as np


class Line(NamedTuple):
    """y = (x - centre) / spread @ weights + offset"""

    centre: np.ndarray
    spread: np.ndarray
    weights: np.ndarray
    offset: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return (x - self.centre) / self.spread @ self.weights + self.offset


def fit_line(x: np.ndarray, y: np.ndarray, ridge: float = 1e-6) -> Line:
    """Ridge regression of y [rows, targets] on standardised x [rows, inputs]. Constant inputs get
    no weight."""
    centre, spread = x.mean(0), x.std(0)
    spread = np.where(spread > 1e-12, spread, np.inf)
    z, offset = (x - centre) / spread, y.mean(0)
    gram = z.T @ z + ridge * len(z) * np.eye(z.shape[1])
    return Line(centre, spread, np.linalg.solve(gram, z.T @ (y - offset)), offset)


def held_out_smoother(
    x: np.ndarray, groups: np.ndarray, folds: int = 4, ridge: float = 0.1
) -> np.ndarray:
    """The matrix S [rows, rows] such that S @ (y - mean of y) are the predictions of ridge
    regressions of y on standardised x [rows, inputs], each from the folds that a row is not in.

    Rows of one group are in one fold. S does not depend on y, so permuting labels costs a product.
    """
    S = np.zeros((len(x), len(x)))
    fold_of_row = np.unique(groups, return_inverse=True)[1] % folds
    for fold in range(folds):
        tested, learned = fold_of_row == fold, fold_of_row != fold
        if not tested.any() or not learned.any():
            continue
        centre, spread = x[learned].mean(0), x[learned].std(0)
        z = ((x - centre) / np.where(spread > 1e-6, spread, 1)).astype(float)
        K = z @ z[learned].T / z.shape[1]
        gram = K[learned] + ridge * np.eye(int(learned.sum()))
        S[np.ix_(tested, learned)] = np.linalg.solve(gram, K[tested].T).T
    return S


class Coefficient(NamedTuple):
    """One coefficient of y = X b + u[group] + e, with random intercepts u, by REML."""

    b: float
    se: float
    t: float
    df: int
    p: float


def mixed_effects(y: np.ndarray, X: np.ndarray, groups: np.ndarray) -> Coefficient:
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
    return Coefficient(float(b[0]), se, t, df, float(2 * student.sf(abs(t), df)))
