"""The reasoner (NAR): networks of several tasks with one processor, trained by `algoscope train`.

On a problem it gives its *states*, which a hybrid reads, and its own answer, in text like any
other. The states are all that its output decoders read: of each node the encoded inputs, the hidden
state before the last step and after it; of each pair of nodes the encoded inputs and, for a
Triplet-GMPNN, the edge's own hidden state. As in CLRS-30, it starts from the algorithm's first step
and takes as many steps as the algorithm does, unless told otherwise. Problems go through it in
parts of one size, compiled once for each shape.
"""

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, Bool, Float

from algoscope import networks
from algoscope.errors import ConfigError
from algoscope.networks import Network
from algoscope.networks.network import Trajectory
from algoscope.runs import Run, RunError
from algoscope.tasks import Batch, Kind, Stage, text
from algoscope.tasks.transforms import with_predecessors_as_inputs
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.model import Model, model_of, start_model
from algoscope.training.pool import compact, longest
from algoscope.transnar.cross_attention import Widths
from algoscope.transnar.padding import NODES, padded, padded_time, reasoner_batch
from algoscope.transnar.text_dataset import TextDataset
from algoscope.transnar.tower import compute_dtype

_MASKED = -1


def from_run(run: Run, seed: int | None = None) -> Model:
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


def check_tasks(reasoner: Model, tasks: Sequence[str]) -> None:
    """Refuses a reasoner that lacks some of the tasks."""
    missing = ", ".join(sorted(set(tasks) - set(reasoner.parts)))
    if missing:
        trained = ", ".join(reasoner.parts)
        raise ConfigError(f"reasoner: got one for {trained}, needed one for {missing} too")


def widths_of(reasoner: Model) -> Widths:
    """Of its states."""
    task, part = next(iter(reasoner.parts.items()))
    width = part.config.width
    return Widths(3 * width, width * (2 if reasoner.network(task).rounds[-1].makes_edges else 1))


def answers(problems: Batch, outputs: dict[str, np.ndarray]) -> list[str]:
    """A reasoner's outputs as text. What counts for nothing follows from the problem alone (cells
    outside the table of a dynamic program), and is taken from there."""
    decided = {}
    for feature in problems.at(Stage.OUTPUT):
        truth, output = problems.outputs[feature.name], outputs[feature.name].astype(float)
        if feature.kind in (Kind.MASK, Kind.CATEGORICAL):
            masked = truth == _MASKED
            if feature.kind is Kind.CATEGORICAL:
                masked = masked.any(-1, keepdims=True)
            output = np.where(masked, truth, output)
        decided[feature.name] = output
    solved = dataclasses.replace(problems, outputs=decided)
    return [text.write(solved, sample).answer for sample in range(len(problems))]


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
    check_tasks(reasoner, [dataset.task for dataset in datasets])
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
    return jax.tree.map(jnp.asarray, networks.to_device(network, _problems(network, dataset)))


def run_of(network: Network, batch: Batch, time: int) -> Trajectory:
    """The run on problems of whose hints only the first step is there, inside a compiled
    function."""
    hints = {
        name: jnp.pad(first, [(0, 0), (0, time - 1)] + [(0, 0)] * (first.ndim - 2))
        for name, first in batch.hints.items()
    }
    return networks.trajectories(network, dataclasses.replace(batch, hints=hints))


def states_in(network: Network, batch: Batch, time: int) -> ReasonerStates:
    """What there is after each problem's last step, inside a compiled function."""
    run = run_of(network, batch, time)
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
        batch = networks.to_device(network, problems)

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
