"""Throughput of training a tower of the paper's size, as a part of the device's matrix rate.

    python benchmarks/transnar.py                       # 6 layers, width 1024, 1,024 tokens
    python benchmarks/transnar.py --hybrid              # and reading graphs of 16 nodes
    python benchmarks/transnar.py --width 384 --heads 6 --tokens 128 --batch 256

Counted are the operations that the matrix products of a step need, two for each multiplication and
addition: all weights of the layers once for each token, the unembedding for the half of the tokens
that is answer, causal attention over half of the pairs of tokens, for a hybrid the keys and values
of its graph and the attention to them; a backward pass is twice the forward pass. Norms, softmax,
Adam and padding count for nothing. The matrix rate is the best of the same device on square
products in the same type, in the same run.
"""

import argparse
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.training.optimiser import start_learner
from algoscope.transnar.cross_attention import Graph, Widths
from algoscope.transnar.learning import Weights, compiled
from algoscope.transnar.pool import Bucket, Shape
from algoscope.transnar.tokenizer import tokenizer
from algoscope.transnar.tower import build, compute_dtype

WIDTHS = Widths(384, 256)
"""Of the states of a Triplet-GMPNN of width 128."""


def operations(config: TowerConfig, shape: Shape, hybrid: bool) -> int:
    """Of a training step on one text."""
    width, layers, tokens, n = config.width, config.layers, shape.tokens, shape.nodes
    of_weights = tokens * 12 * width**2 * layers + shape.answer * width * tokenizer().size
    of_attention = layers * 2 * width * tokens * (tokens + 1) // 2
    if hybrid:
        number = 32
        entries = n * (WIDTHS.node + number) + n * n * (WIDTHS.edge + 2 * number)
        of_weights += layers * (tokens * 4 * width**2 + 2 * entries * width)
        of_attention += layers * 2 * width * tokens * (n + n * n)
    return 3 * 2 * (of_weights + of_attention)


def matrix_rate(size: int) -> float:
    """Operations a second of the best of some square products."""
    a = jnp.ones((size, size), compute_dtype())
    product = jax.jit(lambda a: jax.lax.fori_loop(0, 20, lambda _, x: (x @ a) * (1 / size), a))
    product(a).block_until_ready()
    best = float("inf")
    for _ in range(5):
        begun = time.perf_counter()
        product(a).block_until_ready()
        best = min(best, time.perf_counter() - begun)
    return 20 * 2 * size**3 / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--hybrid", action="store_true")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--matrix", type=int, default=8192, help="size of the square products")
    given = parser.parse_args()
    reads = "final" if given.hybrid else "nothing"
    tower = TowerConfig(given.width, given.layers, given.heads, given.tokens, True, reads)
    config = TransnarConfig(("bfs",), batch=given.batch, tower=tower)
    shape = Shape(given.tokens, given.nodes, given.tokens // 2)
    random = np.random.default_rng(0)
    samples = given.batch
    graph = None
    if given.hybrid:
        size = (1, samples, given.nodes)
        graph = Graph(
            jnp.asarray(random.normal(size=(*size, WIDTHS.node)), compute_dtype()),
            jnp.asarray(random.normal(size=(*size, given.nodes, WIDTHS.edge)), compute_dtype()),
            jnp.ones(size[1:], bool),
        )
    bucket = Bucket(
        jnp.asarray(random.integers(1, tokenizer().size, (samples, given.tokens)), jnp.int16),
        jnp.full(samples, given.tokens // 2, jnp.int32),
        jnp.full(samples, given.tokens, jnp.int32),
        graph,
    )
    weights = build(tower, jax.random.key(0), WIDTHS if given.hybrid else None)
    parameters = sum(leaf.size for leaf in jax.tree.leaves(weights))
    learner = start_learner(Weights(weights, None), validated=False)
    chosen = jnp.arange(samples, dtype=jnp.int32)
    key = jax.random.key(1)
    begun = time.perf_counter()
    step = compiled(config, shape, learner, bucket, key)
    learner, loss = step(learner, bucket, chosen, key, None)
    loss.block_until_ready()
    compiling = time.perf_counter() - begun
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        for _ in range(given.steps):
            learner, loss = step(learner, bucket, chosen, key, None)
        loss.block_until_ready()
        best = min(best, (time.perf_counter() - begun) / given.steps)
    counted = samples * operations(tower, shape, given.hybrid)
    rate, peak = counted / best, matrix_rate(given.matrix)
    print(
        json.dumps(
            {
                "device": jax.local_devices()[0].device_kind,
                "parameters": parameters,
                "hybrid": given.hybrid,
                "tokens_per_step": samples * given.tokens,
                "seconds_per_step": best,
                "tokens_per_second": samples * given.tokens / best,
                "counted_operations_per_step": counted,
                "tflops": rate / 1e12,
                "matrix_tflops": peak / 1e12,
                "part_of_matrix_rate": rate / peak,
                "compile_seconds": compiling,
                "loss": float(loss),
            }
        )
    )


if __name__ == "__main__":
    main()
