"""The paper's numbers: arXiv 2505.18623 v2, tables 1, 10 and 14, and section 4.5."""

from typing import NamedTuple

SOURCE = "Mind The Gap (arXiv 2505.18623 v2)"


class Accuracy(NamedTuple):
    """Percent, over seeds."""

    mean: float
    deviation: float
    largest: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f} ({self.largest:.2f})"


BASELINES = {
    "bfs": Accuracy(98.30, 0.97, 100.00),
    "bellman_ford": Accuracy(90.63, 1.27, 92.77),
    "dfs": Accuracy(12.74, 3.44, 18.21),
}
"""Table 10."""
WITHOUT_TRACES = {
    "bfs": Accuracy(98.74, 0.98, 100.00),
    "bellman_ford": Accuracy(90.14, 1.15, 91.80),
    "dfs": Accuracy(16.49, 2.45, 20.61),
}
"""Table 14."""
CORRELATIONS = {
    "external": {"pearson": (-0.124, 0.203), "spearman": (-0.130, 0.178)},
    "internal": {"pearson": (-0.055, 0.569), "spearman": (-0.018, 0.856)},
}
"""Table 1, learned BFS, with p-values."""
BETWEEN_SOLUTIONS, CLOSEST_TO_COMPILED, CLUSTERS = 0.009, 0.37, 18
"""Section 4.5, learned BFS. Both distances are said to be eq. 24, which is at most 2 / n: the
second cannot be, and fits the sum over senders, the mean over steps and receivers."""
