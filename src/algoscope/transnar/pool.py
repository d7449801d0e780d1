"""The pool: the problems of a training on the device, in a few shapes.

A *bucket* holds datasets whose texts and graphs are padded to one shape. Batches are drawn from one
bucket each, and their order is a function of the seed, so a base Transformer and a hybrid with the
same seed see the same problems at the same steps. Where a reasoner's states on all problems do not
fit, the pool is made part by part, each anew whenever its turn comes.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from algoscope.configuration import TransnarConfig
from algoscope.tasks import Batch
from algoscope.training.model import Model
from algoscope.training.pool import longest
from algoscope.transnar.cross_attention import Graph
from algoscope.transnar.padding import ANSWERS, NODES, TEXTS, padded
from algoscope.transnar.reasoner import (
    WHOLE,
    ReasonerStates,
    View,
    compile_for,
    parts_of,
    problems_on_device,
    widths_of,
)
from algoscope.transnar.text_dataset import TRAINING, Order, TextDataset
from algoscope.transnar.tokenizer import PAD
from algoscope.transnar.tower import compute_dtype


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
    problems: Batch | None = None
    """The problems themselves, for a reasoner that learns too."""

    @property
    def samples(self) -> int:
        return len(self.lengths)

    def take(self, chosen: Int[Array, " batch"]) -> "Bucket":
        """The chosen problems, inside a compiled function."""
        graph = self.graph
        if graph is not None:
            graph = Graph(graph.nodes[:, chosen], graph.edges[:, chosen], graph.mask[chosen])
        others = jax.tree.map(lambda a: a[chosen], self._replace(graph=None))
        return others._replace(graph=graph)


Pool = Mapping[Shape, Bucket]


class Parts:
    """The pools of so many equal parts of the problems, of which the device holds one."""

    def __init__(self, count: int, samples: Mapping[Shape, int], make: Callable[[int], Pool]):
        self.count = count
        self.samples = samples
        """Problems in each bucket of a part."""
        self._make = make
        self._number: int | None = None
        self._pool: Pool = {}

    def __getitem__(self, number: int) -> Pool:
        if number != self._number:
            # First of all its memory is needed.
            self._number, self._pool = None, {}
            self._pool = self._make(number)
            self._number = number
        return self._pool


class Turn(NamedTuple):
    """A batch."""

    part: int
    shape: Shape
    chosen: Int[np.ndarray, " batch"]
    """Which problems of the part's bucket of this shape."""


def training_orders(config: TransnarConfig) -> list[Order]:
    return [
        Order(task, size, config.samples, config.data_seed, TRAINING, config.decimals)
        for task in config.tasks
        for size in config.sizes
    ]


class Part(NamedTuple):
    """One of so many equal parts of each dataset."""

    number: int = 0
    count: int = 1

    def of(self, dataset: TextDataset) -> TextDataset:
        size = len(dataset) // self.count
        return dataset.take(slice(self.number * size, (self.number + 1) * size))


ALL = Part()


def make_buckets(
    datasets: Sequence[TextDataset],
    reasoner: Model | None = None,
    view: View = WHOLE,
    part: Part = ALL,
) -> dict[Shape, Bucket]:
    """The problems of all datasets by shape, in an order that depends on the datasets alone; with
    what the reasoner makes of them, if there is one. Of each dataset a part may be asked for; its
    shape is that of the whole, so that all parts share programs."""
    members = {s: [part.of(d) for d in whole] for s, whole in by_shape(datasets).items()}
    if reasoner is not None:
        compile_for(reasoner, [dataset for each in members.values() for dataset in each], view)
    return {shape: _bucket(shape, each, reasoner, view) for shape, each in members.items()}


def make_live_buckets(
    datasets: Sequence[TextDataset], reasoner: Model, part: Part = ALL
) -> dict[Shape, Bucket]:
    """A bucket for each dataset, with problems instead of states."""
    buckets = {}
    for shape, [whole] in by_shape(datasets, live=True).items():
        dataset = part.of(whole)
        problems = problems_on_device(reasoner.network(dataset.task), dataset)
        buckets[shape] = _bucket(shape, [dataset])._replace(problems=problems)
    return buckets


def by_shape(datasets: Sequence[TextDataset], live: bool = False) -> dict[Shape, list[TextDataset]]:
    """The members of each bucket; `live` ones have one each."""
    members: dict[Shape, list[TextDataset]] = {}
    for dataset in datasets:
        members.setdefault(_live_shape(dataset) if live else _shape(dataset), []).append(dataset)
    return members if live else {shape: members[shape] for shape in sorted(members)}


def _shape(dataset: TextDataset) -> Shape:
    tokens = padded(int(dataset.lengths.max()), TEXTS)
    answer = padded(int(dataset.answer_lengths.max()), ANSWERS)
    return Shape(tokens, padded(dataset.nodes, NODES), min(tokens, answer))


def _live_shape(dataset: TextDataset) -> Shape:
    shape, time = _shape(dataset), longest(dataset.problems)
    return shape._replace(nodes=dataset.nodes, task=dataset.task, time=time)


def _bucket(
    shape: Shape, datasets: Sequence[TextDataset], reasoner: Model | None = None, view: View = WHOLE
) -> Bucket:
    tokens = [
        np.pad(d.tokens, [(0, 0), (0, shape.tokens - d.tokens.shape[1])], constant_values=PAD)
        for d in datasets
    ]
    prompt_lengths, lengths = [d.prompt_lengths for d in datasets], [d.lengths for d in datasets]
    texts = (jnp.asarray(np.concatenate(part)) for part in (tokens, prompt_lengths, lengths))
    graph = None if reasoner is None else _graph(shape, datasets, reasoner, view)
    return Bucket(*texts, graph=graph)


def _graph(shape: Shape, datasets: Sequence[TextDataset], reasoner: Model, view: View) -> Graph:
    """The states on all problems of the datasets. They are the most of the memory that a training
    takes, so each part goes to its place as soon as it is there."""
    samples, n = sum(map(len, datasets)), shape.nodes
    widths, stages = widths_of(reasoner), view.stages or 1
    nodes = jnp.zeros((stages, samples, n, widths.node), compute_dtype())
    edges = jnp.zeros((stages, samples, n, n, widths.edge), compute_dtype())
    mask = np.zeros((samples, n), bool)
    first = 0
    for dataset in datasets:
        for start, part in parts_of(reasoner, dataset, view):
            nodes, edges = _put(nodes, edges, part.nodes, part.edges, np.int32(first + start))
        mask[first : first + len(dataset), : dataset.nodes] = True
        first += len(dataset)
    return Graph(nodes, edges, jnp.asarray(mask))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def _put(nodes, edges, part_nodes, part_edges, place):
    put = functools.partial(jax.lax.dynamic_update_slice_in_dim, start_index=place, axis=1)
    return put(nodes, part_nodes), put(edges, part_edges)


def graph_of(parts: Sequence[tuple[ReasonerStates, np.ndarray]], nodes: int) -> Graph:
    """The states on chosen problems of several datasets, padded to so many nodes. They are joined
    on the host: on a device, each number of problems would be compiled for."""
    node_states, edge_states, mask = [], [], []
    for states, chosen in parts:
        n = states.nodes.shape[2]
        more = (0, nodes - n)
        node_states.append(np.pad(states.nodes[:, chosen], [(0, 0), (0, 0), more, (0, 0)]))
        edge_states.append(np.pad(states.edges[:, chosen], [(0, 0), (0, 0), more, more, (0, 0)]))
        mask.append(np.broadcast_to(np.arange(nodes) < n, (len(chosen), nodes)))
    joined = (np.concatenate(node_states, 1), np.concatenate(edge_states, 1), np.concatenate(mask))
    return Graph(*map(jnp.asarray, joined))


def order_of(counts: Mapping[Shape, int], batch: int, seed: int, parts: int = 1) -> Iterator[Turn]:
    """Batches without end, epoch after epoch, and part after part of an epoch; `counts` are those
    of a part. What is left over at the end of a bucket waits for the next epoch's shuffle. A bucket
    smaller than a batch is one batch."""
    if not sum(counts.values()):
        raise ValueError("counts: got no problems, needed some to learn from")
    epoch = 0
    while True:
        random = np.random.default_rng([seed, epoch])
        for part in random.permutation(parts).tolist() if parts > 1 else [0]:
            batches = []
            for shape, count in counts.items():
                shuffled = random.permutation(count).astype(np.int32)
                size = min(batch, count)
                batches += [
                    Turn(part, shape, shuffled[start : start + size])
                    for start in range(0, count - size + 1, size)
                ]
            for place in random.permutation(len(batches)):
                yield batches[place]
        epoch += 1
