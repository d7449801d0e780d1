"""A reasoner's states on text datasets, which towers read: in parts of one size, compiled once for
each shape, on the device for training and on the host for tests."""

import dataclasses
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, Bool, Float

from algoscope.networks import Network, to_device, trajectories
from algoscope.tasks import Batch, Stage
from algoscope.tasks.transforms import with_predecessors_as_inputs
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.model import Model
from algoscope.training.pool import compact, longest
from algoscope.transnar.padding import NODES, padded, padded_time, reasoner_batch
from algoscope.transnar.text_dataset import TextDataset
from algoscope.transnar.tower import compute_dtype


class ReasonerStates(NamedTuple):
    """A reasoner on problems of one task and size: numpy's on the host, JAX's on the device, where
    nodes are padded."""

    nodes: Float[Array | np.ndarray, "stages sample n node_width"]
    edges: Float[Array | np.ndarray, "stages sample n n edge_width"]
    outputs: dict[str, Any]
    """Its own answers, in the form of `Batch.outputs`."""

    def take(self, samples: slice) -> "ReasonerStates":
        outputs = {name: array[samples] for name, array in self.outputs.items()}
        return ReasonerStates(self.nodes[:, samples], self.edges[:, samples], outputs)


class View(NamedTuple):
    """What of a reasoner's states a tower is shown."""

    stages: int | None = None
    """None for those after the last step, else those after 1, 2, …, `stages` steps."""
    inputs: bool = True
    """Whether the encoded inputs are among them, or zeros in their place."""


WHOLE = View()


def reason(
    reasoner: Model, datasets: Sequence[TextDataset], view: View = WHOLE, own_steps: bool = True
) -> list[ReasonerStates]:
    """The reasoner on the problems of each dataset. Without `own_steps` each problem gets as many
    steps as the longest of its dataset, so that nothing of the algorithm's run is given away but
    its first step."""
    compile_for(reasoner, datasets, view)
    states = []
    for dataset in datasets:
        starts, parts = zip(*parts_of(reasoner, dataset, view, own_steps), strict=True)
        sizes = np.diff([*starts, len(dataset)])
        parts = [
            part.take(slice(size)) for part, size in zip(jax.device_get(parts), sizes, strict=True)
        ]
        n = dataset.nodes
        nodes = np.concatenate([part.nodes[:, :, :n] for part in parts], 1)
        edges = np.concatenate([part.edges[:, :, :n, :n] for part in parts], 1)
        outputs = jax.tree.map(lambda *arrays: np.concatenate(arrays), *(p.outputs for p in parts))
        states.append(ReasonerStates(nodes, edges, outputs))
    return states


def parts_of(
    reasoner: Model, dataset: TextDataset, view: View = WHOLE, own_steps: bool = True
) -> Iterator[tuple[int, ReasonerStates]]:
    """The reasoner on a dataset, part by part on the device, each with where it begins. All are of
    one size: the last one overlaps the one before. Nodes are padded to one of `NODES`."""
    network, size = reasoner.network(dataset.task), reasoner_batch(len(dataset))
    problems, inputs = _problems(network, dataset, own_steps), np.bool_(view.inputs)
    program = _program(network, dataset, view)
    for start in range(0, len(dataset), size):
        start = min(start, len(dataset) - size)
        yield start, program(network, problems.take(slice(start, start + size)), inputs)


def compile_for(reasoner: Model, datasets: Sequence[TextDataset], view: View = WHOLE) -> None:
    """Compiles all that `reason` needs for these datasets; any reasoner of the same form will
    do."""
    missing = sorted({dataset.task for dataset in datasets} - set(reasoner.parts))
    if missing:
        raise ValueError(
            f"reasoner: got one for {', '.join(reasoner.parts)}, needed one for "
            f"{', '.join(missing)} too"
        )
    makers = {}
    for dataset in datasets:
        time, size = padded_time(dataset.problems), reasoner_batch(len(dataset))
        network = reasoner.network(dataset.task)
        makers[dataset.task, dataset.nodes, time, size] = partial(_program, network, dataset, view)
    side_by_side(makers)


def _program(network: Network, dataset: TextDataset, view: View) -> Compiled:
    """`_States` for parts of the dataset."""
    states = _States(padded_time(dataset.problems), view.stages)
    part = _problems(network, dataset).take(slice(reasoner_batch(len(dataset))))
    return program_for(states, network, part, np.bool_(view.inputs))


def _problems(network: Network, dataset: TextDataset, own_steps: bool = True) -> Batch:
    """The problems in small types, on the host; of the hints only the first step is there."""
    batch = dataset.problems
    if any(f.name == "pred" and f.stage is Stage.INPUT for f in network.features):
        batch = with_predecessors_as_inputs(batch)
    if not own_steps:
        batch = dataclasses.replace(batch, lengths=np.full(len(batch), longest(batch)))
    return compact(batch)


def problems_on_device(network: Network, dataset: TextDataset) -> Batch:
    """The problems as the network takes them."""
    return jax.tree.map(jnp.asarray, to_device(network, _problems(network, dataset)))


def states_in(network: Network, batch: Batch, time: int) -> ReasonerStates:
    """What there is after each problem's last step, inside a compiled function."""
    hints = {
        name: jnp.pad(first, [(0, 0), (0, time - 1)] + [(0, 0)] * (first.ndim - 2))
        for name, first in batch.hints.items()
    }
    run = trajectories(network, dataclasses.replace(batch, hints=hints))
    return ReasonerStates(
        run.states.nodes[None], run.states.edges[None], network.decide(run.outputs)
    )


@dataclasses.dataclass(frozen=True)
class _States:
    """The states on problems of one shape."""

    time: int
    stages: int | None

    def __call__(
        self, network: Network, problems: Batch, inputs: Bool[Array, ""]
    ) -> ReasonerStates:
        batch = to_device(network, problems)

        def after(time: int) -> ReasonerStates:
            cut = dataclasses.replace(batch, lengths=jnp.minimum(batch.lengths, time))
            return states_in(network, cut, time)

        final = states_in(network, batch, self.time)
        kept = [final] if self.stages is None else [after(t + 2) for t in range(self.stages)]
        width, n = network.config.width, problems.nodes
        more = (0, padded(n, NODES) - n)

        def shown(states: Array, *axes: tuple[int, int]) -> Array:
            # Encoded inputs come first, of nodes as of edges.
            visible = jnp.where(inputs, states, states.at[..., :width].set(0))
            return jnp.pad(visible.astype(compute_dtype()), [(0, 0), (0, 0), *axes, (0, 0)])

        return ReasonerStates(
            shown(jnp.concatenate([states.nodes for states in kept]), more),
            shown(jnp.concatenate([states.edges for states in kept]), more, more),
            final.outputs,
        )
