"""Configurations of towers that take a second once they are compiled, their logits, and
recordings of hybrids that read what they are told to."""

import jax
import numpy as np

from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.recording import CrossAttention, Recording
from algoscope.transnar.tower import cast, forward, unembed

TOWER = TowerConfig(width=16, layers=2, heads=2, context=128, reads="final")
CONFIG = TransnarConfig(
    ("bfs",), sizes=(4,), samples=12, steps=5, batch=4, learning_rate=1e-2, warmup=2, tower=TOWER
)


@jax.jit
def logits(tower, tokens, positions, graph=None):
    """Of the token that follows each token: [batch, token, vocabulary]."""
    return unembed(cast(tower), forward(tower, tokens, positions, graph, fused=False)[0])


def planted(nodes: np.ndarray, partners: np.ndarray | None = None) -> Recording:
    """One layer and head whose token i attends to nodes[i] alone, and to the pair of partners[i]
    and i; int [problem, i] each, the same unless said otherwise."""
    partners = nodes if partners is None else partners
    count, n = nodes.shape
    pairs = np.zeros((count, 1, 1, n, n, n))
    for problem in range(count):
        pairs[problem, 0, 0, np.arange(n), partners[problem], np.arange(n)] = 1
    return Recording.from_arrays(
        attention=np.eye(n)[nodes][:, None, None],
        hidden=np.zeros((count, 1, n, 2)),
        lengths=np.full(count, 2),
        cross_attention=CrossAttention(pairs, np.ones(1), np.zeros((count, 1, n, 3))),
    )
