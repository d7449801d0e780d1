"""The reasoner (NAR): networks of several tasks with one processor, trained by `algoscope train`.

On a problem it gives its *states*, which a hybrid reads, and its own answer, in text like any
other. The states are all that its output decoders read: of each node the encoded inputs, the hidden
state before the last step and after it; of each pair of nodes the encoded inputs and, for a
Triplet-GMPNN, the edge's own hidden state. As in CLRS-30, it starts from the algorithm's first step
and takes as many steps as the algorithm does, unless told otherwise.
"""

import dataclasses
import pathlib

import jax
import numpy as np

from algoscope import networks
from algoscope.runs import Run, RunError
from algoscope.tasks import Batch, Kind, Stage, text
from algoscope.training.model import Model, model_of, start_model
from algoscope.transnar.cross_attention import Widths

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
                masked = np.broadcast_to(masked.any(-1, keepdims=True), truth.shape)
            output = np.where(masked, truth, output)
        decided[feature.name] = output
    solved = dataclasses.replace(problems, outputs=decided)
    return [text.write(solved, sample).answer for sample in range(len(problems))]
