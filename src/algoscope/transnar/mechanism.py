"""Mechanism: what answering tokens read of the graph, and what breaks without it.

The token that answers for node i is the one from which element i of the answer is predicted, the
one before it. `record` makes a Recording of these tokens: a step is a layer, receiver i is the
token that answers for node i, senders are the reasoner's nodes. So every measure of attention
applies to it as to a network's. What the tokens read of pairs of nodes, the gates and the states
that are read are its `cross_attention`.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from algoscope.recording import CrossAttention, Recording
from algoscope.tasks import Kind, Location, Stage
from algoscope.transnar.cross_attention import AttentionWeights, Graph, Reader, Stream, openness
from algoscope.transnar.padding import TEXTS, padded
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import ReasonerStates
from algoscope.transnar.scores import Scores, scores_of, tower_answers
from algoscope.transnar.text_dataset import TextDataset
from algoscope.transnar.tokenizer import PAD, tokenizer
from algoscope.transnar.tower import LayerOutput, Tower, forward, positions_of

_NUMBER = re.compile(r"-?[0-9.]+")
GATES_SHUT, OTHER_STATES = "gates shut", "another problem's states"
"""Two of the `ablations`."""


class Reads(NamedTuple):
    """Shares of attention, means over problems, heads and nodes; of each layer. Those about answers
    are empty if each node's answer is itself."""

    own: list[float]
    """Of the token that answers for node i, on node i."""
    predecessor: list[float]
    """On the node that is the answer for i, where that is not i itself."""
    uniform: float
    """What each node would get if all got the same."""
    own_in_best_head: list[float]
    predecessor_in_best_head: list[float]
    own_edges: list[float]
    """On pairs that node i is part of."""
    uniform_edges: float
    answer_edge: list[float]
    """On the two pairs of i and its answer, where that is not i itself."""
    uniform_answer_edge: float


def record(tower: Tower, dataset: TextDataset, states: ReasonerStates, seed: int = 0) -> Recording:
    """What the tower reads while it is shown the right answers."""
    gate, outputs = _reader(tower).gate, dataset.problems.at(Stage.OUTPUT)
    if len(outputs) != 1 or outputs[0].location is not Location.NODE or (
        outputs[0].kind in (Kind.MASK_ONE, Kind.PERMUTATION)
    ):  # fmt: skip
        raise ValueError(
            f"dataset: got {dataset.task}, needed a task whose answer has an element for each node"
        )
    n, samples = dataset.nodes, np.arange(len(dataset))
    graph = graph_of([(states, samples)], n)
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    positions = positions_of(tower.config, jax.random.key(seed), *tokens.shape)
    streams, weights = jax.device_get(_run(tower, tokens, positions, graph))
    places = np.stack([_answering(dataset, sample) for sample in range(len(dataset))])
    rows = samples[:, None]

    def at_places(attention: np.ndarray) -> np.ndarray:
        """[layer, problem, head, token, entry] -> [problem, layer, head, i, entry]"""
        chosen = attention.astype(np.float32).transpose(1, 3, 0, 2, 4)[rows, places]
        return chosen.transpose(0, 2, 3, 1, 4)

    hidden = streams.astype(np.float32).transpose(1, 2, 0, 3)[rows, places]
    attention, pairs = at_places(weights.nodes), at_places(weights.edges)
    return Recording.from_arrays(
        attention=attention,
        hidden=hidden.transpose(0, 2, 1, 3),
        lengths=np.full(len(dataset), tower.config.layers + 1),
        initial=np.asarray(tower.embedding)[dataset.tokens[rows, places]],
        cross_attention=CrossAttention(
            pairs.reshape(*attention.shape, n),
            np.asarray(openness(gate)),
            np.moveaxis(np.asarray(states.nodes, np.float32), 0, 1),
        ),
    )


class TokenReads(NamedTuple):
    """What is read while each token of an answer is written: by the token before it."""

    tokens: list[str]
    """The answer."""
    nodes: np.ndarray
    """[layer, head, token, n]"""
    pairs: np.ndarray
    """[layer, head, token, n, n]"""
    gates: np.ndarray
    """How far each layer's gate is open: [layer]"""


def token_reads(
    tower: Tower,
    prompt: Sequence[int],
    answer: Sequence[int],
    room: int,
    graph: Graph,
    *,
    key: PRNGKeyArray,
) -> TokenReads:
    """Of one prompt and its answer, at the positions that `generate` gave them with this room and
    key."""
    gate, n = _reader(tower).gate, graph.mask.shape[1]
    length = padded(len(prompt) + room, TEXTS)
    text = np.full((1, length), PAD, np.int32)
    text[0, : len(prompt) + len(answer)] = [*prompt, *answer]
    positions = positions_of(tower.config, key, 1, length)
    weights = jax.device_get(_run(tower, jnp.asarray(text), positions, graph)[1])
    writing = len(prompt) - 1 + np.arange(len(answer))
    nodes, pairs = (w[:, 0, :, writing].astype(np.float32) for w in (weights.nodes, weights.edges))
    # An index list beside a slice puts its axis first: [token, layer, head, entry].
    nodes, pairs = nodes.transpose(1, 2, 0, 3), pairs.transpose(1, 2, 0, 3)
    decode = tokenizer().decode
    return TokenReads(
        [decode([token]) for token in answer],
        nodes,
        pairs.reshape(*pairs.shape[:-1], n, n),
        np.asarray(openness(gate)),
    )


@jax.jit
def _run(
    tower: Tower,
    tokens: Int[Array, "problem token"],
    positions: Int[Array, "problem token"],
    graph: Graph,
) -> tuple[Float[Array, "layer problem token width"], AttentionWeights]:
    """The residual stream after each layer, and whom its tokens read, with a first axis of
    layers."""

    def keep(output: LayerOutput) -> tuple[Array, AttentionWeights | None]:
        return output.x, output.cross_attention

    return forward(tower, tokens, positions, graph, keep, fused=False)[1]


def _answering(dataset: TextDataset, sample: int) -> np.ndarray:
    """The places of the tokens from which the elements of the answer are predicted."""
    start, end = dataset.prompt_lengths[sample], dataset.lengths[sample]
    decode = tokenizer().decode
    parts = [decode([token]) for token in dataset.tokens[sample, start:end].tolist()]
    ends = np.cumsum([len(part) for part in parts])
    starts = [match.start() for match in _NUMBER.finditer("".join(parts))]
    return start - 1 + np.searchsorted(ends, starts, side="right")


def cross_attention_of(recording: Recording) -> CrossAttention:
    if recording.cross_attention is None:
        raise ValueError("recording: got one without cross_attention, needed a hybrid's")
    return recording.cross_attention


def reads(recording: Recording, answers: np.ndarray) -> Reads:
    """How much of the attention goes where; `answers` are the right pointers [problem, i]."""
    attention = np.moveaxis(np.asarray(recording.attention), 3, 1)
    edges = np.moveaxis(np.asarray(cross_attention_of(recording).pairs), 3, 1)
    n = attention.shape[-1]
    nodes, problems = np.arange(n), np.arange(len(answers))[:, None]
    moved = answers != nodes
    itself = attention[problems, nodes, ..., nodes]
    towards = attention[problems, nodes, ..., answers]
    touching = edges[problems, nodes, ..., nodes, :].sum(-1)
    touching = touching + edges[problems, nodes, ..., :, nodes].sum(-1)
    touching = touching - edges[problems, nodes, ..., nodes, nodes]
    pair = edges[problems, nodes, ..., answers, nodes] + edges[problems, nodes, ..., nodes, answers]

    def layer_means(shares: np.ndarray, where: np.ndarray) -> np.ndarray:
        """[problem, i, layer, head] -> [layer, head]; no layers if there is nothing to average."""
        return shares[where].mean(0) if where.any() else np.zeros((0, 1))

    everywhere = np.ones_like(moved)
    on_itself, on_answer = layer_means(itself, everywhere), layer_means(towards, moved)
    return Reads(
        on_itself.mean(-1).tolist(),
        on_answer.mean(-1).tolist(),
        1 / n,
        on_itself.max(-1).tolist(),
        on_answer.max(-1).tolist(),
        layer_means(touching, everywhere).mean(-1).tolist(),
        (2 * n - 1) / n**2,
        layer_means(pair, moved).mean(-1).tolist(),
        2 / n**2,
    )


def _reader(tower: Tower) -> Reader:
    if tower.reader is None:
        raise ValueError("tower: got a base Transformer, needed a hybrid, which reads a graph")
    return tower.reader


def without_gates(tower: Tower) -> Tower:
    """The hybrid with its gates shut: it reads nothing."""
    gate = _reader(tower).gate
    return eqx.tree_at(lambda t: t.reader.gate, tower, jnp.zeros_like(gate))


def without(tower: Tower, stream: str) -> Tower:
    """The hybrid that reads only nodes, or only edges: `stream` names what it does without."""
    reader = _reader(tower)
    read: Stream = getattr(reader, stream)
    silent = dataclasses.replace(read, transform=jnp.zeros_like(read.transform))
    return dataclasses.replace(tower, reader=dataclasses.replace(reader, **{stream: silent}))


def with_other_states(states: Sequence[ReasonerStates]) -> list[ReasonerStates]:
    """Each problem with the states of the one before it."""
    return [s._replace(nodes=np.roll(s.nodes, 1, 1), edges=np.roll(s.edges, 1, 1)) for s in states]


def ablations(
    tower: Tower, datasets: Sequence[TextDataset], states: Sequence[ReasonerStates], seed: int = 0
) -> dict[str, Scores]:
    """The scores with parts of the reading taken away."""
    variants = {
        GATES_SHUT: (without_gates(tower), states),
        "without nodes": (without(tower, "nodes"), states),
        "without edges": (without(tower, "edges"), states),
        OTHER_STATES: (tower, with_other_states(states)),
    }
    return {
        name: scores_of(datasets, tower_answers(changed, datasets, read, seed=seed))
        for name, (changed, read) in variants.items()
    }
