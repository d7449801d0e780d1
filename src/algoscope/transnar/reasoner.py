"""The reasoner (NAR): networks of several tasks with one processor, trained by `algoscope train`.

On a problem it gives its *states*, which a hybrid reads, and its own answer, in text like any
other. The states are all that its output decoders read: of each node the encoded inputs, the hidden
state before the last step and after it; of each pair of nodes the encoded inputs and, for a
Triplet-GMPNN, the edge's own hidden state. As in CLRS-30, it starts from the algorithm's first step
and takes as many steps as the algorithm does, unless told otherwise.
"""

import dataclasses
import functools
import os
import pathlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from algoscope import networks
from algoscope.networks import Network
from algoscope.networks.kinds import KINDS
from algoscope.networks.network import BatchArrays, trajectories_of
from algoscope.networks.pairs import Edges
from algoscope.runs import Run, RunError
from algoscope.tasks import Batch, Kind, Stage, text
from algoscope.tasks.transforms import with_predecessors_as_inputs
from algoscope.training.learning import expand
from algoscope.training.model import Model, model_of, start_model
from algoscope.training.pool import compact
from algoscope.transnar.cells import Cell
from algoscope.transnar.reading import Widths
from algoscope.transnar.tower import compute_dtype

_AT_ONCE = {"cpu": 64}
_AT_ONCE_ELSEWHERE = 512
"""Problems on which a reasoner runs side by side."""
_MASKED = -1


class Thought(NamedTuple):
    """What the reasoner made of the problems of a cell."""

    nodes: Float[Array, "stages sample n node_width"]
    edges: Float[Array, "stages sample n n edge_width"]
    outputs: dict[str, np.ndarray]
    """Its own answers, in the form of `Batch.outputs`."""


def of_run(run: Run, seed: int | None = None) -> Model:
    """The reasoner that a run trained, with the best weights of one of its seeds."""
    seed = run.seeds[0] if seed is None else seed
    if seed not in run.seeds:
        raise RunError(f"{run.path}: got seed {seed}, needed one of {run.seeds}")
    ensemble = run.ensemble([seed])
    return model_of({task: ensemble.member(0, task) for task in ensemble.tasks})


def untrained(reasoner: Model, seed: int) -> Model:
    """One of the same form with random weights."""
    features = {task: part.features for task, part in reasoner.parts.items()}
    config = next(iter(reasoner.parts.values())).config
    return start_model(features, config, jax.random.key(seed))


def save(reasoner: Model, folder: pathlib.Path) -> None:
    """Writes each task's network to TASK.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in reasoner.parts:
        networks.save(reasoner.network(task), folder / f"{task}.safetensors", task)


def load(folder: pathlib.Path) -> Model:
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        raise RunError(f"{folder}: got a folder without a reasoner's weights, needed some")
    return model_of({path.stem: networks.load(path)[0] for path in paths})


def widths_of(reasoner: Model) -> Widths:
    """Of its states."""
    task, part = next(iter(reasoner.parts.items()))
    width = part.config.width
    return Widths(3 * width, width * (2 if reasoner.network(task).rounds[-1].makes_edges else 1))


def think(
    reasoner: Model, cells: Sequence[Cell], stages: int | None = None, own_steps: bool = True
) -> list[Thought]:
    """The reasoner on the problems of each cell.

    With `stages`, states are those after 1, 2, …, `stages` steps instead of the final ones. Without
    `own_steps` each problem gets as many steps as the longest of its cell, so that nothing of the
    algorithm's run is given away but its first step.
    """
    missing = sorted({cell.task for cell in cells} - set(reasoner.parts))
    if missing:
        raise ValueError(
            f"reasoner: got one for {', '.join(reasoner.parts)}, needed one for "
            f"{', '.join(missing)} too"
        )
    one = functools.partial(_think_cell, reasoner, stages=stages, own_steps=own_steps)
    # Each cell has a shape of its own, and threads compile side by side.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, cells))


def _think_cell(reasoner: Model, cell: Cell, *, stages: int | None, own_steps: bool) -> Thought:
    network = reasoner.network(cell.task)
    arrays = arrays_of(network, cell, own_steps)
    time = longest(cell)
    at_once = min(cell.samples, _AT_ONCE.get(jax.default_backend(), _AT_ONCE_ELSEWHERE))
    parts = []
    for start in range(0, cell.samples, at_once):
        # The last part is filled up, so that all have one shape.
        chosen = np.arange(start, start + at_once) % cell.samples
        some = jax.tree.map(lambda array, chosen=chosen: array[chosen], arrays)
        parts.append(_states(network, some, time, stages))
    nodes, edges, outputs = jax.tree.map(lambda *a: jnp.concatenate(a), *parts)
    nodes, edges = (jnp.moveaxis(a[: cell.samples], 1, 0) for a in (nodes, edges))
    return Thought(nodes, edges, {k: np.asarray(v)[: cell.samples] for k, v in outputs.items()})


def longest(cell: Cell) -> int:
    """Steps of the longest run of the algorithm, to which time is padded."""
    return max(2, int(cell.steps.max()))


def arrays_of(network: Network, cell: Cell, own_steps: bool = True) -> BatchArrays:
    """The problems as the network takes them; of the hints only the first step is there."""
    batch = cell.batch
    if any(f.name == "pred" and f.stage is Stage.INPUT for f in network.features):
        batch = with_predecessors_as_inputs(batch)
    if not own_steps:
        batch = dataclasses.replace(batch, lengths=np.full(len(batch), longest(cell)))
    return expand(network, compact(batch))


@functools.partial(jax.jit, static_argnums=(2, 3))
def _states(network: Network, arrays: BatchArrays, time: int, stages: int | None):
    """nodes [sample, stage, n, width], edges [sample, stage, n, n, width], outputs by name."""
    final = states_in(network, arrays, time)
    kept = [final]
    if stages is not None:
        kept = [
            states_in(network, arrays._replace(lengths=jnp.minimum(arrays.lengths, t)), t)
            for t in range(2, stages + 2)
        ]
    nodes = jnp.stack([states.nodes for states in kept], 1).astype(compute_dtype())
    edges = jnp.stack([states.edges for states in kept], 1).astype(compute_dtype())
    return nodes, edges, final.outputs


class _Final(NamedTuple):
    nodes: Float[Array, "sample n node_width"]
    edges: Float[Array, "sample n n edge_width"]
    outputs: dict[str, Array]
    """Decided."""


def states_in(network: Network, arrays: BatchArrays, time: int) -> _Final:
    """What there is after each problem's last step, inside a compiled function."""
    hints = {
        name: jnp.pad(first, [(0, 0), (0, time - 1)] + [(0, 0)] * (first.ndim - 2))
        for name, first in arrays.hints.items()
    }
    run = trajectories_of(network, arrays._replace(hints=hints))
    outputs = {f.name: KINDS[f.kind].decide(run.outputs[f.name]) for f in network.at(Stage.OUTPUT)}
    return _Final(run.states.nodes, jax.vmap(Edges.dense)(run.states.edges), outputs)


def answers(cell: Cell, outputs: dict[str, np.ndarray]) -> list[str]:
    """A reasoner's outputs as text. What counts for nothing follows from the problem alone (cells
    outside the table of a dynamic program), and is taken from there."""
    batch = cell.batch
    written = {}
    for feature in batch.at(Stage.OUTPUT):
        truth, own = batch.outputs[feature.name], outputs[feature.name].astype(float)
        if feature.kind in (Kind.MASK, Kind.CATEGORICAL):
            masked = truth == _MASKED
            if feature.kind is Kind.CATEGORICAL:
                masked = np.broadcast_to(masked.any(-1, keepdims=True), truth.shape)
            own = np.where(masked, truth, own)
        written[feature.name] = own
    own_batch: Batch = dataclasses.replace(batch, outputs=written)
    return [text.write(own_batch, sample).answer for sample in range(len(batch))]
