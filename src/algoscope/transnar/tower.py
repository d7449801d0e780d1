"""The text tower: a decoder-only Transformer whose layers may read a reasoner's states.

With x [batch, token, width], each layer is (pre-norm, causal, rotary positions)

    x += attention(norm(x))
    x += tanh(gate) · Mix [f(attention(norm(x) -> nodes)); f(attention(norm(x) -> edges))]
    x += MLP(norm(x))

where the second line is the hybrid's (`cross_attention`). Gates start at zero, so a hybrid starts
as its base Transformer, logit for logit. The graph never attends to the text. Weights of all layers
are stacked along a first axis and layers are a scan, so that a deep tower compiles as fast as a
shallow one; for training on a GPU it is unrolled. Weights are float32; on GPUs the work is done in
bfloat16, but for norms, softmax and logits.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from algoscope.configuration import TowerConfig
from algoscope.errors import ConfigError
from algoscope.networks.layers import along_last
from algoscope.training.compile_cache import OPTIONS
from algoscope.transnar.config import POSITIONS, check_tower
from algoscope.transnar.cross_attention import (
    AttentionWeights,
    Graph,
    Reader,
    Widths,
    memory_of,
    read,
    reading_layers,
    recomputed,
)
from algoscope.transnar.tokenizer import tokenizer

_ROTARY_BASE = 10_000.0
_EPSILON = 1e-6
COMPILER_OPTIONS: dict[str, Any] = OPTIONS | {"xla_gpu_enable_triton_gemm": False}
"""For programs of towers alone. cuBLAS is fast on matrices of their sizes, and to search for better
products takes long. A reasoner's matrices have rows of 2, 3 or 129 numbers, for which cuBLAS may
have no product."""


class Layers(eqx.Module):
    """All layers' own weights; the MLP is four times as wide as the tower."""

    attention_norm: Float[Array, "layer width"]
    query_key_value: Float[Array, "layer width 3*width"]
    attention_out: Float[Array, "layer width width"]
    mlp_norm: Float[Array, "layer width"]
    up: Float[Array, "layer width 4*width"]
    down: Float[Array, "layer 4*width width"]


class Tower(eqx.Module):
    embedding: Float[Array, "vocabulary width"]
    layers: Layers
    reader: Reader | None
    """None in the base Transformer."""
    norm: Float[Array, " width"]
    unembedding: Float[Array, "width vocabulary"]
    config: TowerConfig = eqx.field(static=True)


def build(config: TowerConfig, key: PRNGKeyArray, widths: Widths | None = None) -> Tower:
    """A tower with random weights. `widths` are those of the reasoner's states, for a hybrid; its
    other weights are those of the base Transformer with the same key."""
    faults = check_tower(config)
    if (config.reads == "nothing") != (widths is None):
        widths_given = "none" if widths is None else f"one of widths {tuple(widths)}"
        faults.append(f"reasoner: got {widths_given} with tower.reads {config.reads!r}")
    if faults:
        raise ConfigError("\n".join(faults))
    width, depth, vocabulary = config.width, config.layers, tokenizer().size
    keys = jax.random.split(key, 7)

    def weights(key: PRNGKeyArray, inputs: int, outputs: int, part: float = 1.0) -> Array:
        return part * inputs**-0.5 * jax.random.normal(key, (depth, inputs, outputs))

    in_residual = (2 * depth) ** -0.5
    return Tower(
        jax.random.normal(keys[0], (vocabulary, width)),
        Layers(
            jnp.ones((depth, width)),
            weights(keys[1], width, 3 * width),
            weights(keys[2], width, width, in_residual),
            jnp.ones((depth, width)),
            weights(keys[3], width, 4 * width),
            weights(keys[4], 4 * width, width, in_residual),
        ),
        None if widths is None else Reader.start(keys[5], config, widths),
        jnp.ones(width),
        width**-0.5 * jax.random.normal(keys[6], (width, vocabulary)),
        config,
    )


def compute_dtype() -> jnp.dtype:
    return jnp.dtype(jnp.float32 if jax.default_backend() == "cpu" else jnp.bfloat16)


def positions_of(
    config: TowerConfig, key: PRNGKeyArray, count: int, tokens: int
) -> Int[Array, "count tokens"]:
    """Where the tokens of each text stand: 0, 1, 2, …, or ascending draws out of 8,192."""
    steps = jnp.arange(tokens)
    if not config.random_positions:
        return jnp.broadcast_to(steps, (count, tokens))
    drawn = jax.random.randint(key, (count, tokens), 0, POSITIONS - tokens + 1)
    return jnp.sort(drawn, -1) + steps[None]


class LayerOutput(NamedTuple):
    x: Float[Array, "batch token width"]
    """The residual stream after the layer."""
    keys: Float[Array, "batch token head part"]
    values: Float[Array, "batch token head part"]
    cross_attention: AttentionWeights | None
    """None in the base Transformer."""


def forward(
    tower: Tower,
    tokens: Int[Array, "batch token"],
    positions: Int[Array, "batch token"],
    graph: Graph | None,
    keep: Callable[[LayerOutput], Any] = lambda _: None,
    *,
    fused: bool,
) -> tuple[Float[Array, "batch token width"], Any]:
    """The residual stream after the last layer, and what is kept of each layer's output, with a
    first axis of layers. `fused` attention, where the device has it, is for training: it saves the
    most there, and its programs are built anew whenever one is loaded."""
    tower = cast(tower)
    rotary = rotary_of(tower.config, positions)
    stepwise = graph is not None and tower.config.reads == "stepwise"

    def attend(query, key, value):
        kind = "cudnn" if fused and _has_fused_attention() else "xla"
        return jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation=kind)

    def one(x, now):
        layers, reader, stage = now
        memory = None
        if graph is not None and reader is not None:
            nodes, edges = stage if stepwise else (graph.nodes[0], graph.edges[0])
            memory = memory_of(reader, nodes, edges, graph.mask, tower.config.heads)
        output = layer(x, layers, reader, memory, rotary, attend)
        return output.x, keep(output)

    stages = (graph.nodes, graph.edges) if graph is not None and stepwise else None
    x = embed(tower.embedding, tokens)
    # What the backward pass needs then stays where it is.
    unroll = tower.config.layers if fused and jax.default_backend() == "gpu" else 1
    return jax.lax.scan(one, x, (tower.layers, tower.reader, stages), unroll=unroll)


@jax.custom_vjp
def embed(
    embedding: Float[Array, "vocabulary width"], tokens: Int[Array, "batch token"]
) -> Float[Array, "batch token width"]:
    """embedding[tokens]. A third of all tokens may be the same one, so the gradient is a matrix
    product: added up row by row, on a GPU, one token after the other would wait for its turn."""
    return embedding[tokens]


def _embed_backward(residuals, gradient: Float[Array, "batch token width"]):
    embedding, tokens = residuals
    is_token = jax.nn.one_hot(tokens, len(embedding), dtype=gradient.dtype)
    return jnp.einsum("btv,btw->vw", is_token, gradient), None


embed.defvjp(lambda embedding, tokens: (embedding[tokens], (embedding, tokens)), _embed_backward)


@functools.cache
def _has_fused_attention() -> bool:
    """Whether the device never has to hold the attention of all pairs of tokens."""
    if jax.default_backend() != "gpu":
        return False
    some = jax.ShapeDtypeStruct((1, 64, 1, 64), jnp.bfloat16)
    fused = functools.partial(jax.nn.dot_product_attention, is_causal=True, implementation="cudnn")
    try:
        jax.jit(fused).lower(some, some, some).compile()
    except (RuntimeError, ValueError, NotImplementedError):
        return False
    return True


def layer(x, weights: Layers, reader: Reader | None, memory, rotary, attend) -> LayerOutput:
    """One layer; `attend` mixes tokens, given the queries, keys and values of those at hand."""
    batch, count, width = x.shape
    parts = rotary[0].shape[-1] * 2
    mixed = _normed(x, weights.attention_norm, weights.query_key_value)
    query, key, value = jnp.split(mixed.reshape(batch, count, -1, parts), 3, axis=2)
    query, key = rotate(query, rotary), rotate(key, rotary)
    x += attend(query, key, value).reshape(batch, count, width) @ weights.attention_out
    cross_attention = None
    if reader is not None and memory is not None:
        answer, cross_attention = read(reader, norm(x, reader.norm), memory)
        x += answer
    x += _activated(_normed(x, weights.mlp_norm, weights.up), weights.down)
    return LayerOutput(x, key, value, cross_attention)


@recomputed
def _normed(x: Array, scale: Array, weights: Array) -> Array:
    return norm(x, scale) @ weights


@recomputed
def _activated(x: Array, weights: Array) -> Array:
    return jax.nn.gelu(x) @ weights


def cast(tower: Tower) -> Tower:
    """The tower in the type of the work. Gates of layers that do not read are zero, whatever their
    weights are: nothing is learnt of them."""
    if tower.reader is not None and tower.config.reading_layers != "all":
        shut = tower.reader.gate * jnp.array(reading_layers(tower.config))
        tower = eqx.tree_at(lambda t: t.reader.gate, tower, shut)
    return jax.tree.map(lambda weight: weight.astype(compute_dtype()), tower)


def unembed(tower: Tower, x: Float[Array, "... width"]) -> Float[Array, "... vocabulary"]:
    return (norm(x, tower.norm) @ tower.unembedding).astype(jnp.float32)


def norm(x: Float[Array, "... width"], scale: Float[Array, " width"]) -> Float[Array, "... width"]:
    """x / rms(x) · scale"""
    wide = x.astype(jnp.float32)
    root = jax.lax.rsqrt(jnp.mean(wide**2, -1, keepdims=True) + _EPSILON)
    return (wide * root).astype(x.dtype) * along_last(scale, x)


def rotary_of(config: TowerConfig, positions: Int[Array, "batch token"]) -> tuple[Array, Array]:
    """Cosines and sines [batch, token, 1, half a head]."""
    half = config.width // config.heads // 2
    rates = _ROTARY_BASE ** (-jnp.arange(half) / half)
    angles = positions[:, :, None, None] * rates[None, None, None]
    return jnp.cos(angles), jnp.sin(angles)


def rotate(x: Float[Array, "batch token head part"], rotary) -> Float[Array, "..."]:
    cosine, sine = rotary
    first, second = jnp.split(x.astype(jnp.float32), 2, -1)
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return jnp.concatenate(turned, -1).astype(x.dtype)
