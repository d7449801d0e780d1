"""A reasoner's states on text datasets, which towers read: in parts of one size, compiled once for
each shape, on the device for training and on the host for tests."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, Bool, Float

from algoscope.networks import Network, to_device
from algoscope.tasks import Batch, Stage
from algoscope.tasks.transforms import with_predecessors_as_inputs
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.model import Model
from algoscope.training.pool import compact
from algoscope.transnar.padding import longest, padded_nodes, padded_time, reasoner_batch
from algoscope.transnar.reasoner import states_in
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
        parts = list(parts_of(reasoner, dataset, view, own_steps))
        n, starts = dataset.nodes, [start for start, _ in parts]
        nodes = [np.asarray(part.nodes)[:, :, :n] for _, part in parts]
        edges = [np.asarray(part.edges)[:, :, :n, :n] for _, part in parts]
        outputs = {
            name: _joined([np.asarray(part.outputs[name]) for _, part in parts], starts, 0)
            for name in parts[0][1].outputs
        }
        states.append(ReasonerStates(_joined(nodes, starts, 1), _joined(edges, starts, 1), outputs))
    return states


def _joined(parts: Sequence[np.ndarray], starts: Sequence[int], axis: int) -> np.ndarray:
    """Parts that begin at these places, each up to where the next begins."""
    sizes = [*np.diff(starts), parts[-1].shape[axis]]
    return np.concatenate(
        [part.take(np.arange(size), axis) for part, size in zip(parts, sizes, strict=True)], axis
    )


def parts_of(
    reasoner: Model, dataset: TextDataset, view: View = WHOLE, own_steps: bool = True
) -> Iterator[tuple[int, ReasonerStates]]:
    """The reasoner on a dataset, part by part on the device, each with where it begins. All are of
    one size: the last one overlaps the one before. Nodes are padded to `padded_nodes`."""
    network, size = reasoner.network(dataset.task), reasoner_batch(len(dataset))
    problems, inputs = _problems(network, dataset, own_steps), np.bool_(view.inputs)
    program = _program(network, dataset, view)
    for start in range(0, len(dataset), size):
        start = min(start, len(dataset) - size)
        yield (
            start,
            ReasonerStates(*program(network, problems.take(slice(start, start + size)), inputs)),
        )


def compile_for(reasoner: Model, datasets: Sequence[TextDataset], view: View = WHOLE) -> None:
    """Compiles all that `reason` needs for these datasets; any reasoner of the same form will
    do."""
    missing = sorted({dataset.task for dataset in datasets} - set(reasoner.parts))
    if missing:
        raise ValueError(
            f"reasoner: got one for {', '.join(reasoner.parts)}, needed one for "
            f"{', '.join(missing)} too"
        )

    def shape(dataset: TextDataset) -> tuple:
        time = padded_time(dataset.problems.lengths)
        return dataset.task, dataset.nodes, time, reasoner_batch(len(dataset))

    different = {shape(dataset): dataset for dataset in datasets}
    side_by_side(
        {
            key: functools.partial(_program, reasoner.network(dataset.task), dataset, view)
            for key, dataset in different.items()
        }
    )


def _program(network: Network, dataset: TextDataset, view: View) -> Compiled:
    """`_States` for parts of the dataset."""
    states = _States(padded_time(dataset.problems.lengths), view.stages)
    part = _problems(network, dataset).take(slice(reasoner_batch(len(dataset))))
    return program_for(states, network, part, np.bool_(view.inputs))


def _problems(network: Network, dataset: TextDataset, own_steps: bool = True) -> Batch:
    """The problems in small types, on the host; of the hints only the first step is there."""
    batch = dataset.problems
    if any(f.name == "pred" and f.stage is Stage.INPUT for f in network.features):
        batch = with_predecessors_as_inputs(batch)
    if not own_steps:
        batch = dataclasses.replace(batch, lengths=np.full(len(batch), longest(batch.lengths)))
    return compact(batch)


def problems_on_device(network: Network, dataset: TextDataset) -> Batch:
    """The problems as the network takes them."""
    return jax.tree.map(jnp.asarray, to_device(network, _problems(network, dataset)))


@dataclasses.dataclass(frozen=True)
class _States:
    """The states on problems of one shape."""

    time: int
    stages: int | None

    def __call__(self, network: Network, problems: Batch, inputs: Bool[Array, ""]):
        """The fields of `ReasonerStates`, nodes padded."""
        batch = to_device(network, problems)
        final = states_in(network, batch, self.time)
        kept = [final]
        if self.stages is not None:
            kept = [
                states_in(
                    network, dataclasses.replace(batch, lengths=jnp.minimum(batch.lengths, t)), t
                )
                for t in range(2, self.stages + 2)
            ]
        width, n = network.config.width, final.nodes.shape[1]
        more = (0, padded_nodes(n) - n)

        def shown(states: Array, *axes: tuple[int, int]) -> Array:
            # Encoded inputs come first, of nodes as of edges.
            visible = jnp.where(inputs, states, states.at[..., :width].set(0))
            return jnp.pad(visible.astype(compute_dtype()), [(0, 0), (0, 0), *axes, (0, 0)])

        return (
            shown(jnp.stack([states.nodes for states in kept]), more),
            shown(jnp.stack([states.edges for states in kept]), more, more),
            final.outputs,
        )
