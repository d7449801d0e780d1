"""The reasoner (NAR): networks of several tasks with one processor, trained by `algoscope train`.

On a problem it gives its *states*, which a hybrid reads, and its own answer, in text like any
other. The states are all that its output decoders read: of each node the encoded inputs, the hidden
state before the last step and after it; of each pair of nodes the encoded inputs and, for a
Triplet-GMPNN, the edge's own hidden state. As in CLRS-30, it starts from the algorithm's first step
and takes as many steps as the algorithm does, unless told otherwise.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, Bool, Float

from algoscope import networks
from algoscope.networks import Network
from algoscope.networks.kinds import KINDS
from algoscope.networks.network import to_device, trajectories_of
from algoscope.runs import Run, RunError
from algoscope.tasks import Batch, Kind, Stage, text
from algoscope.tasks.transforms import with_predecessors_as_inputs
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.model import Model, model_of, start_model
from algoscope.training.pool import compact
from algoscope.transnar.cross_attention import Widths
from algoscope.transnar.text_dataset import Cell
from algoscope.transnar.tower import compute_dtype

_AT_ONCE = {"cpu": 64}
_AT_ONCE_ELSEWHERE = 100
"""Problems on which a reasoner runs side by side: as many as a test has of a task and size, so that
test and training share programs."""
_NODES = (8, 12, 16, 32, 64, 128, 256)
_STEPS = 8
_MORE_STEPS = 2
"""Times of cells are padded to 10, 18, 26, … steps: few lengths, and none so short that its loop is
unrolled, which takes long to compile."""
_MASKED = -1


class Thought(NamedTuple):
    """What the reasoner made of the problems of a cell, on the host."""

    nodes: Float[np.ndarray, "stages sample n node_width"]
    edges: Float[np.ndarray, "stages sample n n edge_width"]
    outputs: dict[str, np.ndarray]
    """Its own answers, in the form of `Batch.outputs`."""


class View(NamedTuple):
    """What of a reasoner's states a tower is shown."""

    stages: int | None = None
    """None for those after the last step, else those after 1, 2, …, `stages` steps."""
    inputs: bool = True
    """Whether the encoded inputs are among them, or zeros in their place."""


WHOLE = View()


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
    reasoner: Model, cells: Sequence[Cell], view: View = WHOLE, own_steps: bool = True
) -> list[Thought]:
    """The reasoner on the problems of each cell. Without `own_steps` each problem gets as many
    steps as the longest of its cell, so that nothing of the algorithm's run is given away but its
    first step."""
    compile_for(reasoner, cells, view)
    return [_thought(cell, list(parts_of(reasoner, cell, view, own_steps))) for cell in cells]


class Part(NamedTuple):
    """The reasoner on some problems of a cell, those from `start` on, on the device."""

    start: int
    nodes: Float[Array, "stages some n node_width"]
    edges: Float[Array, "stages some n n edge_width"]
    outputs: dict[str, Array]


def parts_of(
    reasoner: Model, cell: Cell, view: View = WHOLE, own_steps: bool = True
) -> Iterator[Part]:
    """The reasoner on a cell, part by part, all of one size: the last one overlaps the one before.
    States are padded to `padded_nodes`."""
    network = reasoner.network(cell.task)
    problems = _problems(network, cell, own_steps)
    at_once, shown = _at_once(cell), np.bool_(view.inputs)
    for start in range(0, cell.samples, at_once):
        start = min(start, cell.samples - at_once)
        some = jax.tree.map(lambda array, start=start: array[start : start + at_once], problems)
        program = _program_for(network, some, padded_time(cell), view.stages)
        yield Part(start, *program(network, some, shown))


def compile_for(reasoner: Model, cells: Sequence[Cell], view: View = WHOLE) -> None:
    """Compiles all that `think` needs for these cells, in threads side by side; any reasoner of the
    same form will do."""
    missing = sorted({cell.task for cell in cells} - set(reasoner.parts))
    if missing:
        raise ValueError(
            f"reasoner: got one for {', '.join(reasoner.parts)}, needed one for "
            f"{', '.join(missing)} too"
        )

    def shape(cell: Cell) -> tuple:
        return cell.task, cell.nodes, padded_time(cell), _at_once(cell)

    def one(cell: Cell) -> Compiled:
        network = reasoner.network(cell.task)
        some = _problems(network, cell).take(slice(_at_once(cell)))
        return _program_for(network, some, padded_time(cell), view.stages)

    side_by_side({shape(cell): functools.partial(one, cell) for cell in cells})


def _program_for(network: Network, problems: Batch, time: int, stages: int | None) -> Compiled:
    return program_for(_States(time, stages), network, problems, np.bool_(True))


def _at_once(cell: Cell) -> int:
    return min(cell.samples, _AT_ONCE.get(jax.default_backend(), _AT_ONCE_ELSEWHERE))


def _thought(cell: Cell, parts: Sequence[Part]) -> Thought:
    samples, n = cell.samples, cell.nodes

    def joined(arrays: Sequence[Array], axis: int) -> np.ndarray:
        found = [np.asarray(array) for array in arrays]
        shape = list(found[0].shape)
        shape[axis] = samples
        whole = np.empty(shape, found[0].dtype)
        for part, array in zip(parts, found, strict=True):
            place = (slice(None),) * axis + (slice(part.start, part.start + array.shape[axis]),)
            whole[place] = array
        return whole

    return Thought(
        joined([part.nodes for part in parts], 1)[:, :, :n],
        joined([part.edges for part in parts], 1)[:, :, :n, :n],
        {name: joined([part.outputs[name] for part in parts], 0) for name in parts[0].outputs},
    )


def longest(cell: Cell) -> int:
    """Steps of the longest run of the algorithm, to which time is padded."""
    return max(2, int(cell.steps.max()))


def padded_time(cell: Cell) -> int:
    """To how many steps time is padded, so that cells share programs."""
    return -(-longest(cell) // _STEPS) * _STEPS + _MORE_STEPS


def _problems(network: Network, cell: Cell, own_steps: bool = True) -> Batch:
    """The problems in small types, on the host; of the hints only the first step is there."""
    batch = cell.batch
    if any(f.name == "pred" and f.stage is Stage.INPUT for f in network.features):
        batch = with_predecessors_as_inputs(batch)
    if not own_steps:
        batch = dataclasses.replace(batch, lengths=np.full(len(batch), longest(cell)))
    return compact(batch)


def arrays_of(network: Network, cell: Cell) -> Batch:
    """The problems as the network takes them."""
    return to_device(network, _problems(network, cell))


@dataclasses.dataclass(frozen=True)
class _States:
    """The states on problems of one shape."""

    time: int
    stages: int | None

    def __call__(self, network: Network, problems: Batch, inputs: Bool[Array, ""]):
        """nodes [stage, sample, n, width], edges [stage, sample, n, n, width], outputs by name."""
        arrays = to_device(network, problems)
        final = states_in(network, arrays, self.time)
        kept = [final]
        if self.stages is not None:
            kept = [
                states_in(
                    network, dataclasses.replace(arrays, lengths=jnp.minimum(arrays.lengths, t)), t
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


def padded_nodes(nodes: int) -> int:
    """To how many nodes graphs are padded, so that texts about them share programs."""
    return next(n for n in _NODES if n >= nodes)


class _Final(NamedTuple):
    nodes: Float[Array, "sample n node_width"]
    edges: Float[Array, "sample n n edge_width"]
    outputs: dict[str, Array]
    """Decided."""


def states_in(network: Network, arrays: Batch, time: int) -> _Final:
    """What there is after each problem's last step, inside a compiled function."""
    hints = {
        name: jnp.pad(first, [(0, 0), (0, time - 1)] + [(0, 0)] * (first.ndim - 2))
        for name, first in arrays.hints.items()
    }
    run = trajectories_of(network, dataclasses.replace(arrays, hints=hints))
    outputs = {f.name: KINDS[f.kind].decide(run.outputs[f.name]) for f in network.at(Stage.OUTPUT)}
    return _Final(
        run.states.nodes, jax.vmap(lambda edges: edges.dense())(run.states.edges), outputs
    )


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
