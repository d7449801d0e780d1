"""The paper's numbers: arXiv 2505.18623 v2, tables 1 to 17, and section 4.5."""

from typing import NamedTuple

SOURCE = "Mind The Gap (arXiv 2505.18623 v2)"


class Accuracy(NamedTuple):
    """Percent, over seeds."""

    mean: float
    deviation: float
    largest: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f} ({self.largest:.2f})"


class Spread(NamedTuple):
    """The same where the paper gives no largest one."""

    mean: float
    deviation: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}"


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
EDGE_INFORMATION = {False: Accuracy(86.59, 5.97, 92.24), True: Accuracy(90.67, 1.40, 92.72)}
"""Tables 2 and 11, Bellman-Ford."""
REGULARISED = {"bfs": Spread(97.76, 1.05), "bellman_ford": Spread(87.35, 1.68)}
EXTENDED = Spread(97.55, 1.52)
MINIMAL = {"bfs": Spread(81.60, 11.32), "bellman_ford": Spread(87.35, 1.68)}
"""Table 9. Bellman-Ford's minimal networks have there what its regularised ones have, and 38.97 in
table 15: the former must be a misprint."""
PRE_ATTENTION_BIAS = {False: Accuracy(99.92, 0.28, 100.00), True: Accuracy(99.72, 0.95, 100.00)}
"""Table 12, BFS."""
BOTH = {False: Accuracy(97.31, 0.92, 98.93), True: Accuracy(97.81, 0.88, 99.41)}
"""Table 13, Bellman-Ford."""
SMALLEST = {
    ("bellman_ford", False): Accuracy(38.97, 8.35, 59.13),
    ("bellman_ford", True): Accuracy(74.38, 10.29, 88.77),
    ("bfs", False): Accuracy(81.60, 11.32, 99.56),
    ("bfs", True): Accuracy(93.32, 6.89, 99.32),
}
"""Table 15, by whether the networks are modified."""
TRAINED_ON = {"bellman_ford": Accuracy(80.77, 14.83, 97.66), "bfs": Accuracy(82.04, 15.55, 100.00)}
"""Table 16: compiled networks, trained further."""
DISPARITY = {
    "bfs_sequential": Accuracy(92.90, 2.85, 95.61),
    "dfs_simplified": Accuracy(11.66, 4.16, 20.75),
}
"""Table 17."""
CORRELATIONS = {
    "external": {"pearson": (-0.124, 0.203), "spearman": (-0.130, 0.178)},
    "internal": {"pearson": (-0.055, 0.569), "spearman": (-0.018, 0.856)},
}
"""Table 1, learned BFS, with p-values."""
BETWEEN_SOLUTIONS, CLOSEST_TO_COMPILED, CLUSTERS = 0.009, 0.37, 18
"""Section 4.5, learned BFS. Both distances are said to be eq. 24, which is at most 2 / n: the
second cannot be, and fits the sum over senders, the mean over steps and receivers."""
