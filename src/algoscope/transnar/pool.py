"""The pool: all problems of a training on the device, in a few shapes.

A *bucket* holds cells whose texts and graphs are padded to one shape. Batches are drawn from one
bucket each, and their order is a function of the seed, so a base Transformer and a hybrid with the
same seed see the same problems at the same steps.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from algoscope import tasks
from algoscope.configuration import TransnarConfig
from algoscope.training.model import Model
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.reasoner import (
    WHOLE,
    Thought,
    View,
    arrays_of,
    compile_for,
    longest,
    padded_nodes,
    parts_of,
    widths_of,
)
from algoscope.transnar.text_dataset import TRAINING, Cell, Order
from algoscope.transnar.tokenizer import PAD
from algoscope.transnar.tower import compute_dtype

_LENGTHS = (32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192)
_ANSWERS = (48, 192, 1024, 8192)


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
    problems: tasks.Batch | None = None
    """The problems themselves, for a reasoner that learns too."""

    @property
    def samples(self) -> int:
        return len(self.lengths)


Pool = Mapping[Shape, Bucket]


def training_orders(config: TransnarConfig) -> list[Order]:
    return [
        Order(task, size, config.samples, config.data_seed, TRAINING, config.decimals)
        for task in config.tasks
        for size in config.sizes
    ]


def padded_length(tokens: int) -> int:
    return next(length for length in _LENGTHS if length >= tokens)


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
    cells: Sequence[Cell], reasoner: Model | None = None, view: View = WHOLE
) -> dict[Shape, Bucket]:
    """The problems of all cells by shape, in an order that depends on the cells alone; with what
    the reasoner makes of them, if there is one."""
    members: dict[Shape, list[Cell]] = {}
    for cell in cells:
        members.setdefault(_shape(cell), []).append(cell)
    if reasoner is not None:
        compile_for(reasoner, cells, view)
    return {shape: _bucket(shape, members[shape], reasoner, view) for shape in sorted(members)}


def _shape(cell: Cell) -> Shape:
    tokens = padded_length(int(cell.lengths.max()))
    return Shape(tokens, padded_nodes(cell.nodes), min(tokens, _longest_answer(cell)))


def make_live_buckets(cells: Sequence[Cell], reasoner: Model) -> dict[Shape, Bucket]:
    """A bucket for each cell, with problems instead of states."""
    buckets = {}
    for cell in cells:
        shape = _shape(cell)._replace(nodes=cell.nodes, task=cell.task, time=longest(cell))
        arrays = jax.tree.map(jnp.asarray, arrays_of(reasoner.network(cell.task), cell))
        buckets[shape] = _bucket(shape, [cell])._replace(problems=arrays)
    return buckets


def _bucket(
    shape: Shape, cells: Sequence[Cell], reasoner: Model | None = None, view: View = WHOLE
) -> Bucket:
    tokens = [
        np.pad(cell.tokens, [(0, 0), (0, shape.tokens - cell.tokens.shape[1])], constant_values=PAD)
        for cell in cells
    ]
    return Bucket(
        jnp.asarray(np.concatenate(tokens)),
        jnp.asarray(np.concatenate([cell.prompt_lengths for cell in cells])),
        jnp.asarray(np.concatenate([cell.lengths for cell in cells])),
        None if reasoner is None else _graph(shape, cells, reasoner, view),
    )


def _graph(shape: Shape, cells: Sequence[Cell], reasoner: Model, view: View) -> Graph:
    """The states on all problems of the cells. They are the most of the memory that a training
    takes, so each part goes to its place as soon as it is there."""
    samples, n = sum(cell.samples for cell in cells), shape.nodes
    widths, stages = widths_of(reasoner), view.stages or 1
    nodes = jnp.zeros((stages, samples, n, widths.node), compute_dtype())
    edges = jnp.zeros((stages, samples, n, n, widths.edge), compute_dtype())
    mask = np.zeros((samples, n), bool)
    first = 0
    for cell in cells:
        for part in parts_of(reasoner, cell, view):
            place = np.int32(first + part.start)
            nodes, edges = _put(nodes, edges, part.nodes, part.edges, place)
        mask[first : first + cell.samples, : cell.nodes] = True
        first += cell.samples
    return Graph(nodes, edges, jnp.asarray(mask))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def _put(nodes, edges, some_nodes, some_edges, place):
    put = functools.partial(jax.lax.dynamic_update_slice_in_dim, start_index=place, axis=1)
    return put(nodes, some_nodes), put(edges, some_edges)


def graph_of(thought: Thought, chosen: np.ndarray, nodes: int) -> Graph:
    """The states on the chosen problems, padded to so many nodes."""
    return joint_graph([(thought, chosen)], nodes)


def joint_graph(parts: Sequence[tuple[Thought, np.ndarray]], nodes: int) -> Graph:
    """The states on the chosen problems of several cells. They are joined on the host: on a device,
    each number of problems would be compiled for."""
    at_nodes, at_edges, mask = [], [], []
    for thought, chosen in parts:
        n = thought.nodes.shape[2]
        more = (0, nodes - n)
        at_nodes.append(np.pad(thought.nodes[:, chosen], [(0, 0), (0, 0), more, (0, 0)]))
        at_edges.append(np.pad(thought.edges[:, chosen], [(0, 0), (0, 0), more, more, (0, 0)]))
        mask.append(np.broadcast_to(np.arange(nodes) < n, (len(chosen), nodes)))
    return Graph(
        jnp.asarray(np.concatenate(at_nodes, 1)),
        jnp.asarray(np.concatenate(at_edges, 1)),
        jnp.asarray(np.concatenate(mask)),
    )


def take(bucket: Bucket, chosen: Int[Array, " batch"]) -> Bucket:
    """The chosen problems, inside a compiled function."""
    graph = bucket.graph
    if graph is not None:
        graph = Graph(graph.nodes[:, chosen], graph.edges[:, chosen], graph.mask[chosen])
    others = jax.tree.map(lambda a: a[chosen], bucket._replace(graph=None))
    return others._replace(graph=graph)


class Minibatch(NamedTuple):
    shape: Shape
    chosen: np.ndarray
    """Which problems of the bucket: int32 [batch]."""


def order_of(counts: dict[Shape, int], batch: int, seed: int) -> Iterator[Minibatch]:
    """Batches without end, epoch after epoch; what is left over at the end of a bucket waits for
    the next epoch's shuffle. A bucket smaller than a batch is one batch."""
    if not sum(counts.values()):
        raise ValueError("counts: got no problems, needed some to learn from")
    epoch = 0
    while True:
        random = np.random.default_rng([seed, epoch])
        batches = []
        for shape, count in counts.items():
            shuffled = random.permutation(count).astype(np.int32)
            size = min(batch, count)
            batches += [
                Minibatch(shape, shuffled[start : start + size])
                for start in range(0, count - size + 1, size)
            ]
        for place in random.permutation(len(batches)):
            yield batches[place]
        epoch += 1
