"""Generation: greedy answers with a cache of keys and values, in a few shapes.

Prompts of different lengths share a batch: each is padded on the right, and its answer is written
into the cache from its own end on. Nothing that comes later is ever looked at, so padding changes
nothing.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from algoscope.transnar.cross_attention import Graph, memory_of
from algoscope.transnar.padding import TEXTS, padded
from algoscope.transnar.tokenizer import PAD, tokenizer
from algoscope.transnar.tower import (
    COMPILER_OPTIONS,
    Tower,
    cast,
    forward,
    layer,
    positions_of,
    rotary_of,
    unembed,
)

_SHUT_OUT = -1e9


class ContextError(ValueError):
    """A prompt that does not fit the tower's context."""


Cache = tuple[Array, Array]
"""Keys and values [layer, batch, token, head, part]."""


def check_room(tower: Tower, tokens: int, room: int) -> None:
    context = tower.config.context
    if tokens + room > context:
        raise ContextError(
            f"prompt: got {tokens} tokens and room for {room} of the answer, needed at most "
            f"{context} together, the tower's context"
        )


def generate(
    tower: Tower,
    prompts: Sequence[Sequence[int]],
    room: int,
    graph: Graph | None = None,
    *,
    key: PRNGKeyArray,
    length: int | None = None,
) -> list[list[int]]:
    """At most `room` tokens after each prompt, up to the end of the answer. `key` is for randomised
    positions, and `length` what prompts with their answers are padded to, chosen to fit if None;
    calls with as many prompts, the same length and another room share a program."""
    longest = max(len(prompt) for prompt in prompts)
    check_room(tower, longest, room)
    length = padded(longest + room, TEXTS) if length is None else length
    tokens = np.full((len(prompts), length), PAD, np.int32)
    for row, prompt in zip(tokens, prompts, strict=True):
        row[: len(prompt)] = prompt
    lengths = np.array([len(prompt) for prompt in prompts], np.int32)
    texts = np.asarray(_generate(tower, tokens, lengths, graph, key, np.int32(room)))
    end = tokenizer().end
    answers = []
    for text, start in zip(texts.tolist(), lengths.tolist(), strict=True):
        written = text[start : start + room]
        ended = written.index(end) + 1 if end in written else room
        answers.append([token for token in written[:ended] if token != PAD])
    return answers


@functools.partial(jax.jit, compiler_options=COMPILER_OPTIONS)
def _generate(
    tower: Tower,
    tokens: Int[Array, "batch token"],
    lengths: Int[Array, " batch"],
    graph: Graph | None,
    key: PRNGKeyArray,
    room: Int[Array, ""],
) -> Int[Array, "batch token"]:
    """The texts with their answers."""
    count, length = tokens.shape
    positions = positions_of(tower.config, key, count, length)
    states, cache = forward(
        tower, tokens, positions, graph, lambda output: (output.keys, output.values), fused=False
    )
    small = cast(tower)
    last = unembed(small, jnp.take_along_axis(states, (lengths - 1)[:, None, None], 1)[:, 0])
    memories = _memories(small, graph)
    rows = jnp.arange(count)
    end = tokenizer().end

    def go_on(state):
        step, _, _, _, ended = state
        return (step < room) & ~ended.all()

    def write(state):
        step, cache, last, tokens, ended = state
        token = jnp.where(ended, PAD, jnp.argmax(last, -1))
        index = lengths + step
        tokens = tokens.at[rows, index].set(token)
        ended |= token == end
        position = positions[rows, index][:, None]
        last, cache = _extend(small, cache, token, position, index, memories)
        return step + 1, cache, last, tokens, ended

    state = (0, cache, last, tokens, jnp.zeros(count, bool))
    return jax.lax.while_loop(go_on, write, state)[3]


def _memories(tower: Tower, graph: Graph | None):
    """Every layer's keys and values of the graph, once for the whole answer."""
    if graph is None or tower.reader is None:
        return None
    stepwise = tower.config.reads == "stepwise"
    states = (graph.nodes, graph.edges) if stepwise else (graph.nodes[0], graph.edges[0])
    axis = 0 if stepwise else None
    return jax.vmap(memory_of, in_axes=(0, axis, axis, None, None))(
        tower.reader, *states, graph.mask, tower.config.heads
    )


def _extend(tower: Tower, cache: Cache, token, position, index, memories):
    """The logits after one more token of each text, which stands at `index` of the cache."""
    rows = jnp.arange(len(token))
    rotary = rotary_of(tower.config, position)
    visible = jnp.arange(cache[0].shape[2])[None] <= index[:, None]

    def one(x, now):
        layers, reader, memory, keys, values = now
        kept = []

        def attend(query, key, value):
            all_keys = keys.at[rows, index].set(key[:, 0])
            all_values = values.at[rows, index].set(value[:, 0])
            kept.extend([all_keys, all_values])
            scores = jnp.einsum("bqhp,bkhp->bhqk", query, all_keys).astype(jnp.float32)
            scores = jnp.where(visible[:, None, None], scores * query.shape[-1] ** -0.5, _SHUT_OUT)
            attention = jax.nn.softmax(scores).astype(all_values.dtype)
            return jnp.einsum("bhqk,bkhp->bqhp", attention, all_values)

        return layer(x, layers, reader, memory, rotary, attend).x, tuple(kept)

    x = tower.embedding[token][:, None]
    x, cache = jax.lax.scan(one, x, (tower.layers, tower.reader, memories, *cache))
    return unembed(tower, x)[:, 0], cache
