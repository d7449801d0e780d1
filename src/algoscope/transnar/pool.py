"""The pool: all problems of a training on the device, in a few shapes.

A *bucket* holds problems whose texts and graphs are padded to one shape. Batches are drawn from one
bucket each, and their order is a function of the seed, so a base Transformer and a hybrid with the
same seed see the same problems at the same steps.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from algoscope.networks.network import BatchArrays
from algoscope.training.model import Model
from algoscope.transnar.cells import TRAINING, Cell, Order, draw_all
from algoscope.transnar.config import TransnarConfig
from algoscope.transnar.reading import Graph
from algoscope.transnar.reasoner import Thought, arrays_of, longest
from algoscope.transnar.tokenizer import PAD

_LENGTHS = (32, 64, 128, 256, 384, 512, 1024, 2048, 4096, 8192)
_ANSWERS = (48, 192, 1024, 8192)
_NODES = (8, 16, 32, 64)


class Shape(NamedTuple):
    tokens: int
    nodes: int
    answer: int = 0
    """Tokens of the longest answer, rounded up."""
    task: str = ""
    """Where the reasoner learns too: the task of all problems, and the steps it takes on them."""
    time: int = 0


class Bucket(NamedTuple):
    tokens: Int[Array, "sample token"]
    prompt_lengths: Int[Array, " sample"]
    lengths: Int[Array, " sample"]
    graph: Graph | None
    """What a frozen reasoner makes of each problem; None if there is none."""
    problems: BatchArrays | None = None
    """The problems themselves, for a reasoner that learns too."""

    @property
    def samples(self) -> int:
        return len(self.lengths)


def training_cells(config: TransnarConfig) -> list[Cell]:
    return draw_all(
        [
            Order(task, size, config.samples, config.data_seed, TRAINING, config.decimals)
            for task in config.tasks
            for size in config.sizes
        ]
    )


def padded_length(tokens: int) -> int:
    return next(length for length in _LENGTHS if length >= tokens)


def padded_nodes(nodes: int) -> int:
    return next(n for n in _NODES if n >= nodes)


def _longest_answer(cell: Cell) -> int:
    longest = int((cell.lengths - cell.prompt_lengths).max())
    return next(length for length in _ANSWERS if length >= longest)


def check_context(cells: Sequence[Cell], context: int) -> None:
    for cell in cells:
        if (most := int(cell.lengths.max())) > context:
            raise ValueError(
                f"{cell.task} of size {cell.size}: got texts of up to {most} tokens, needed at "
                f"most {context}, the tower's context; take smaller sizes or a longer context"
            )


def make_buckets(
    cells: Sequence[Cell], thoughts: Sequence[Thought] | None = None
) -> dict[Shape, Bucket]:
    """The problems of all cells by shape, in an order that depends on the cells alone."""
    members: dict[Shape, list[tuple[int, np.ndarray]]] = {}
    for number, cell in enumerate(cells):
        lengths = np.array([padded_length(int(length)) for length in cell.lengths])
        for length in np.unique(lengths):
            shape = Shape(int(length), padded_nodes(cell.nodes), _longest_answer(cell))
            members.setdefault(shape, []).append((number, np.flatnonzero(lengths == length)))
    return {shape: _bucket(shape, members[shape], cells, thoughts) for shape in sorted(members)}


def make_live_buckets(cells: Sequence[Cell], reasoner: Model) -> dict[Shape, Bucket]:
    """A bucket for each cell, with problems instead of states."""
    buckets = {}
    for cell in cells:
        shape = Shape(
            padded_length(int(cell.lengths.max())),
            cell.nodes,
            _longest_answer(cell),
            cell.task,
            longest(cell),
        )
        arrays = jax.tree.map(jnp.asarray, arrays_of(reasoner.network(cell.task), cell))
        everything = [(0, np.arange(cell.samples))]
        buckets[shape] = _bucket(shape, everything, [cell], None)._replace(problems=arrays)
    return buckets


def _bucket(shape: Shape, members, cells: Sequence[Cell], thoughts) -> Bucket:
    tokens = [
        _fill(cells[number].tokens[chosen, : shape.tokens], shape.tokens)
        for number, chosen in members
    ]
    prompt_lengths, lengths = (
        np.concatenate([getattr(cells[number], name)[chosen] for number, chosen in members])
        for name in ("prompt_lengths", "lengths")
    )
    graph = None
    if thoughts is not None:
        graph = join_graphs([graph_of(thoughts[n], chosen, shape.nodes) for n, chosen in members])
    return Bucket(
        jnp.asarray(np.concatenate(tokens)),
        jnp.asarray(prompt_lengths),
        jnp.asarray(lengths),
        graph,
    )


def _fill(tokens: np.ndarray, length: int) -> np.ndarray:
    return np.pad(tokens, [(0, 0), (0, length - tokens.shape[1])], constant_values=PAD)


def graph_of(thought: Thought, chosen: np.ndarray, nodes: int) -> Graph:
    """The states on the chosen problems, padded to so many nodes."""
    n = thought.nodes.shape[2]
    more = (0, nodes - n)
    chosen_nodes, chosen_edges = thought.nodes[:, chosen], thought.edges[:, chosen]
    return Graph(
        jnp.pad(chosen_nodes, [(0, 0), (0, 0), more, (0, 0)]),
        jnp.pad(chosen_edges, [(0, 0), (0, 0), more, more, (0, 0)]),
        jnp.broadcast_to(jnp.arange(nodes) < n, (len(chosen), nodes)),
    )


def join_graphs(graphs: Sequence[Graph]) -> Graph:
    return Graph(
        jnp.concatenate([g.nodes for g in graphs], 1),
        jnp.concatenate([g.edges for g in graphs], 1),
        jnp.concatenate([g.mask for g in graphs]),
    )


def take(bucket: Bucket, chosen: Int[Array, " batch"]) -> Bucket:
    """The chosen problems, inside a compiled function."""
    graph = bucket.graph
    if graph is not None:
        graph = Graph(graph.nodes[:, chosen], graph.edges[:, chosen], graph.mask[chosen])
    others = jax.tree.map(lambda a: a[chosen], bucket._replace(graph=None))
    return others._replace(graph=graph)


class Batch(NamedTuple):
    shape: Shape
    chosen: np.ndarray
    """Which problems of the bucket: int32 [batch]."""


def order_of(counts: dict[Shape, int], batch: int, seed: int) -> Iterator[Batch]:
    """Batches without end, epoch after epoch; what is left over at the end of a bucket waits for
    the next epoch's shuffle. A bucket smaller than a batch is one batch."""
    epoch = 0
    while True:
        random = np.random.default_rng([seed, epoch])
        batches = []
        for shape, count in counts.items():
            shuffled = random.permutation(count).astype(np.int32)
            size = min(batch, count)
            batches += [
                Batch(shape, shuffled[start : start + size])
                for start in range(0, count - size + 1, size)
            ]
        for place in random.permutation(len(batches)):
            yield batches[place]
        epoch += 1
