"""Trainings of towers: a configuration becomes a tower in a run folder, resumable to the same bits.

run.json, results.json       as of any run
reasoner/TASK.safetensors    the reasoner that the tower reads, if it reads one
weights.safetensors          the tower's, once it is finished
metrics.safetensors          loss of every step
checkpoint-…                 of a run that is not finished
"""

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax

from algoscope.configuration import TransnarConfig
from algoscope.errors import ConfigError
from algoscope.files import read_arrays, write_arrays
from algoscope.runs import Run, RunError, folder, reservation
from algoscope.training import loop
from algoscope.training.loop import CHECKPOINT_SECONDS, RECENT, Evaluations, Report, by_name, filled
from algoscope.training.model import Model, name_faults
from algoscope.training.optimiser import Learner, start_learner
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.config import check, config_from_json
from algoscope.transnar.learning import TowerObjective, Weights
from algoscope.transnar.pool import Pool, make_buckets, make_live_buckets, training_orders
from algoscope.transnar.reasoner import View
from algoscope.transnar.text_dataset import TextDataset, draw_all
from algoscope.transnar.tower import Tower, build

KIND = "transnar"
_UNTRAINED_SEED = 1_000
"""What a seed is moved by for a reasoner with random weights."""
NO_EVALUATIONS = Evaluations()


def prepare(
    config: TransnarConfig, reasoner: Model | None, datasets: Sequence[TextDataset] | None = None
) -> Pool:
    """All that a tower learns from, on the device; the same for towers with the same data and
    reasoner. `datasets` are those of `training_orders`, drawn here if they are not given."""
    datasets = draw_all(training_orders(config)) if datasets is None else datasets
    context = config.tower.context
    for dataset in datasets:
        if (most := int(dataset.lengths.max())) > context:
            raise ValueError(
                f"{dataset.task} of size {dataset.size}: got texts of up to {most} tokens, needed "
                f"at most {context}, the tower's context; take smaller sizes or a longer context"
            )
    if reasoner is None or config.tower.reads == "nothing":
        return make_buckets(datasets)
    if config.trains_reasoner:
        return make_live_buckets(datasets, reasoner)
    return make_buckets(datasets, reasoner, view_of(config))


def view_of(config: TransnarConfig) -> View:
    stages = config.tower.layers if config.tower.reads == "stepwise" else None
    return View(stages, config.reads_inputs)


def reasoner_for(config: TransnarConfig, reasoner: Model | None) -> Model | None:
    """The one that a tower of this configuration reads."""
    if config.tower.reads == "nothing":
        return None
    if reasoner is None:
        raise ConfigError(
            f"reasoner: got none, needed one for tower.reads {config.tower.reads!r}; train one "
            f"with `algoscope train {' '.join(config.tasks)} --network processor=triplet_gmpnn`"
        )
    reasoners.check_tasks(reasoner, config.tasks)
    faults = name_faults("weights of the reasoner", config.trains_reasoner, reasoner.names())
    if faults:
        raise ConfigError("\n".join(faults))
    if config.reasoner_trained:
        return reasoner
    return reasoners.untrained(reasoner, _UNTRAINED_SEED + config.seed)


def train(
    config: TransnarConfig,
    path: str | os.PathLike,
    *,
    reasoner: Model | None = None,
    pool: Pool | None = None,
    force: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    evaluations: Evaluations = NO_EVALUATIONS,
    report: Callable[[Report], None] | None = None,
) -> Run:
    """Trains a tower into a new run folder. `pool` is what `prepare` gave for this data and
    reasoner; `evaluations` are given the step and the tower."""
    check(config)
    with reservation.reserved(path, force=force) as place:
        reasoner = reasoner_for(config, reasoner)
        learner = _start_learner(config, reasoner)
        folder_path = place.emptied()
        if reasoner is not None:
            reasoners.save(reasoner, folder_path / "reasoner")
        loop.save(folder_path, loop.Trained(0, learner, loop.no_metrics(1, 1)))
        run = place.begin(config.as_json(), kind=KIND)
        with reservation.stoppable(run):
            return _go_on(run, pool, loop.Pacing(report, checkpoint_seconds, evaluations))


def resume(
    path: str | os.PathLike,
    *,
    pool: Pool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    evaluations: Evaluations = NO_EVALUATIONS,
    report: Callable[[Report], None] | None = None,
) -> Run:
    """Goes on with a run that was stopped, to the same end."""
    run = open_run(path)
    if run.finished:
        return run
    with reservation.held(run):
        return _go_on(run, pool, loop.Pacing(report, checkpoint_seconds, evaluations))


def _go_on(run: Run, pool: Pool | None, pacing: loop.Pacing) -> Run:
    """Trains the run, which this process holds, to its end."""
    config = config_from_json(run.config)
    reasoner = _reasoner_in(run, config)
    shapes = jax.eval_shape(functools.partial(_start_learner, config, reasoner))
    pool = prepare(config, reasoner) if pool is None else pool
    begun, worked = time.monotonic(), time.process_time()
    objective = TowerObjective(config, pool, run.path)
    evaluations = pacing.evaluations
    on_towers = evaluations._replace(
        evaluate=lambda step, learner: evaluations.evaluate(step, learner.weights.tower)
    )
    run, trained = loop.go_on(run, objective, shapes, pacing._replace(evaluations=on_towers))
    weights, loss = trained.learner.weights, trained.metrics.loss[:, 0, 0]
    write_arrays(run.path / "weights.safetensors", by_name(weights.tower))
    write_arrays(run.path / "metrics.safetensors", {"loss": loss})
    if weights.reasoner is not None:
        reasoners.save(weights.reasoner, run.path / "reasoner")
    results = {
        "loss": float(loss[-RECENT:].mean()),
        "parameters": sum(leaf.size for leaf in jax.tree.leaves(weights.tower)),
        "seconds_of_last_stretch": time.monotonic() - begun,
        "cpu_seconds_of_last_stretch": time.process_time() - worked,
    }
    return folder.seal(run, results)


def open_run(path: str | os.PathLike) -> Run:
    run = folder.open_run(path)
    if run.description.get("kind") != KIND:
        raise RunError(f"{run.path}: got a run of graph networks, needed one of a tower")
    return run


class TrainedTower(NamedTuple):
    """A finished run's models."""

    config: TransnarConfig
    tower: Tower
    reasoner: Model | None


def load(path: str | os.PathLike) -> TrainedTower:
    run = open_run(path)
    if not run.finished:
        raise RunError(f"{run.path}: got a run that {run.progress}, needed a finished one")
    config = config_from_json(run.config)
    reasoner = _reasoner_in(run, config)
    named = read_arrays(run.path / "weights.safetensors")
    shapes = jax.eval_shape(functools.partial(_start, config, reasoner))
    return TrainedTower(config, filled(shapes, named, run.path), reasoner)


def _start(config: TransnarConfig, reasoner: Model | None) -> Tower:
    widths = None if reasoner is None else reasoners.widths_of(reasoner)
    return build(config.tower, jax.random.key(config.seed), widths)


def _start_learner(config: TransnarConfig, reasoner: Model | None) -> Learner:
    learning = reasoner if config.trains_reasoner else None
    return start_learner(Weights(_start(config, reasoner), learning), validated=False)


def _reasoner_in(run: Run, config: TransnarConfig) -> Model | None:
    return None if config.tower.reads == "nothing" else reasoners.load(run.path / "reasoner")
