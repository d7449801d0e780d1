"""Algorithms whose steps are sums, minima and comparisons of whole arrays: their problems are drawn
and traced where the network runs.

Each is written once more, for JAX, beside the reference in `tasks.algorithms`, which it equals bit
for bit: weights and keys are multiples of 2^-12, so that sums of up to 2^12 of them are exact in
float32. Adding an algorithm is adding one value to `PARALLEL`.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

State = dict[str, Array]
"""Arrays of one problem by the names of its features, in their dense form."""

_BITS = 12
"""Weights and keys have at most so many, after the point."""


class Parallel(NamedTuple):
    """One algorithm, on one problem; `trace` maps it over a batch."""

    draw: Callable[[PRNGKeyArray, int], State]
    """(key, n) -> the inputs but for positions."""
    start: Callable[[State], State]
    """The hints before the first step."""
    step: Callable[[State, State, Array], State]
    """(inputs, hints, t) -> the hints after step t."""
    output: Callable[[State, State], State]
    """(hints at the last recorded step, hints one step further) -> the outputs."""
    settles: bool
    """Whether the trace ends where nothing changes; else it has n steps."""


def trace(
    algorithm: Parallel, inputs: State, n: int
) -> tuple[dict[str, Array], dict[str, Array], Array]:
    """Hints [batch, n, …], zero after a sample's last step, outputs [batch, …] and lengths [batch]
    of inputs [batch, …]: what the reference algorithm records."""
    return jax.vmap(lambda one: _trace(algorithm, one, n))(inputs)


def _trace(
    algorithm: Parallel, inputs: State, n: int
) -> tuple[dict[str, Array], dict[str, Array], Array]:
    def one_step(hints: State, t: Array) -> tuple[State, tuple[State, Array]]:
        after = algorithm.step(inputs, hints, t)
        changed = [(after[name] != hints[name]).any() for name in hints]
        return after, (hints, jnp.stack(changed).any())

    end, (hints, changed) = jax.lax.scan(one_step, algorithm.start(inputs), jnp.arange(n))
    # The state that nothing changes is the last that is recorded; n steps are enough for each.
    length = 1 + jnp.argmin(changed) if algorithm.settles else jnp.asarray(n)
    last = {name: values[length - 1] for name, values in hints.items()}
    recorded = jnp.arange(n) < length
    padded = {
        name: jnp.where(recorded.reshape(n, *[1] * (values.ndim - 1)), values, 0)
        for name, values in hints.items()
    }
    return padded, algorithm.output(last, end), length


def _dyadic(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Multiples of 2^-b up to 1, b from 1 to 12, the same for the whole array: the fewer bits, the
    more of them are equal."""
    for_bits, for_values = jax.random.split(key)
    levels = 2.0 ** jax.random.randint(for_bits, (), 1, _BITS + 1)
    return (jnp.floor(jax.random.uniform(for_values, shape) * levels) + 1) / levels


def _tree(key: PRNGKeyArray, n: int) -> Bool[Array, "n n"]:
    """The parent of each node is one of the w before it, w from 1, a line, to n; in every fourth
    graph a fifth of the edges is cut."""
    for_width, for_parents, for_cut, for_kept = jax.random.split(key, 4)
    nodes = jnp.arange(n)
    width = n ** jax.random.uniform(for_width)
    back = 1 + jnp.floor(jax.random.uniform(for_parents, (n,)) * width).astype(int)
    cut = jnp.where(jax.random.bernoulli(for_cut, 0.25), 0.2, 0.0)
    kept = jax.random.bernoulli(for_kept, 1 - cut, (n,)) & (nodes > 0)
    return jax.nn.one_hot(jnp.maximum(nodes - back, 0), n, dtype=bool) & kept[:, None]


def _edges(key: PRNGKeyArray, n: int) -> Bool[Array, "n n"]:
    """A tree and, in every other graph, more edges at random; loops too in half of these. The nodes
    are in any order."""
    of_tree, of_rest, for_share, for_loops, for_order = jax.random.split(key, 5)
    share = jnp.maximum(0.0, jax.random.uniform(for_share, minval=-1.0)) ** 2
    more = jax.random.bernoulli(of_rest, share, (n, n))
    off_diagonal = jnp.tril(_tree(of_tree, n) | more, -1)
    loops = jax.random.bernoulli(for_loops) & more & jnp.eye(n, dtype=bool)
    edges = off_diagonal | off_diagonal.T | loops
    order = jax.random.permutation(for_order, n)
    return edges[order][:, order]


def _graph(key: PRNGKeyArray, n: int, *, weighted: bool, source: bool) -> State:
    for_edges, for_weights, for_source = jax.random.split(key, 3)
    edges = _edges(for_edges, n)
    weights = jnp.ones((n, n))
    if weighted:
        drawn = jnp.tril(_dyadic(for_weights, (n, n)))
        weights = drawn + jnp.tril(drawn, -1).T
    inputs = {"A": edges * weights, "adj": (edges | jnp.eye(n, dtype=bool)).astype(float)}
    if source:
        inputs["s"] = jax.nn.one_hot(jax.random.randint(for_source, (), 0, n), n)
    return inputs


def _bfs_step(inputs: State, hints: State, t: Array) -> State:
    """The first reached neighbour becomes the parent of whoever has none."""
    reached, nodes = hints["reach_h"] > 0, jnp.arange(len(hints["pi_h"]))
    offers = reached[:, None] & (inputs["A"] > 0)
    none_yet = (hints["pi_h"] == nodes) & (inputs["s"] == 0) & offers.any(0)
    return {
        "reach_h": (reached | offers.any(0)).astype(float),
        "pi_h": jnp.where(none_yet, offers.argmax(0), hints["pi_h"]),
    }


def _bellman_ford_step(inputs: State, hints: State, t: Array) -> State:
    """Every edge from a reached node: d_v = min(d_v, min_u d_u + A_uv)."""
    offers = (hints["msk"] > 0)[:, None] & (inputs["A"] != 0)
    lengths = jnp.where(offers, hints["d"][:, None] + inputs["A"], jnp.inf)
    shortest = lengths.min(0)
    better = offers.any(0) & ((hints["msk"] == 0) | (shortest < hints["d"]))
    return {
        "pi_h": jnp.where(better, lengths.argmin(0), hints["pi_h"]),
        "d": jnp.where(better, shortest, hints["d"]),
        "msk": ((hints["msk"] > 0) | offers.any(0)).astype(float),
    }


def _floyd_warshall_step(inputs: State, hints: State, t: Array) -> State:
    """Paths through node t: D_ij = min(D_ij, D_it + D_tj)."""
    D, known = hints["D"], hints["msk"] > 0
    offers = known[:, t][:, None] & known[t][None]
    lengths = D[:, t][:, None] + D[t][None]
    better = offers & (~known | (lengths < D))
    return {
        "Pi_h": jnp.where(better, hints["Pi_h"][t][None], hints["Pi_h"]),
        "D": jnp.where(better, lengths, D),
        "msk": (known | offers).astype(float),
        "k": jax.nn.one_hot(t + 1, len(D)),
    }


def _minimum_step(inputs: State, hints: State, t: Array) -> State:
    """Is the next key smaller than the smallest so far?"""
    key, n = inputs["key"], len(inputs["key"])
    smallest = hints["min_h"].argmax()
    node = jnp.minimum(t + 1, n - 1)
    found = jnp.where(key[node] < key[smallest], node, smallest)
    return {
        "pred_h": hints["pred_h"],
        "min_h": jax.nn.one_hot(found, n),
        "i": jax.nn.one_hot(node, n),
    }


def _nodes(inputs: State) -> Array:
    return jnp.arange(len(next(iter(inputs.values()))))


PARALLEL: dict[str, Parallel] = {
    "bfs": Parallel(
        draw=lambda key, n: _graph(key, n, weighted=False, source=True),
        start=lambda inputs: {"reach_h": inputs["s"], "pi_h": _nodes(inputs)},
        step=_bfs_step,
        output=lambda last, end: {"pi": end["pi_h"]},
        settles=True,
    ),
    "bellman_ford": Parallel(
        draw=lambda key, n: _graph(key, n, weighted=True, source=True),
        start=lambda inputs: {
            "pi_h": _nodes(inputs),
            "d": jnp.zeros(len(inputs["s"])),
            "msk": inputs["s"],
        },
        step=_bellman_ford_step,
        output=lambda last, end: {"pi": end["pi_h"]},
        settles=True,
    ),
    "floyd_warshall": Parallel(
        draw=lambda key, n: _graph(key, n, weighted=True, source=False),
        start=lambda inputs: {
            "Pi_h": jnp.broadcast_to(_nodes(inputs)[:, None], inputs["A"].shape),
            "D": inputs["A"],
            "msk": inputs["adj"],
            "k": jax.nn.one_hot(0, len(inputs["A"])),
        },
        step=_floyd_warshall_step,
        output=lambda last, end: {"Pi": end["Pi_h"]},
        settles=False,
    ),
    "minimum": Parallel(
        draw=lambda key, n: {"key": _dyadic(key, (n,))},
        start=lambda inputs: {
            "pred_h": jnp.maximum(_nodes(inputs) - 1, 0),
            "min_h": jax.nn.one_hot(0, len(inputs["key"])),
            "i": jax.nn.one_hot(0, len(inputs["key"])),
        },
        step=_minimum_step,
        output=lambda last, end: {"min": last["min_h"]},
        settles=False,
    ),
}
"""By the name of the task."""
