"""Trainings of towers: a configuration becomes a tower in a run folder, resumable to the same bits.

run.json, results.json       as of any run
reasoner/TASK.safetensors    the reasoner that the tower reads, if it reads one
teacher/                     the tower that it learns from, if there is one
weights.safetensors          the tower's, once it is finished
metrics.safetensors          loss of every step
checkpoint-…                 of a run that is not finished
"""

import dataclasses
import functools
import json
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from algoscope import capacity, tasks
from algoscope.configuration import TransnarConfig
from algoscope.errors import ConfigError
from algoscope.files import read_arrays, read_json, write_arrays, write_bytes
from algoscope.runs import Run, RunError, folder, reservation
from algoscope.tasks.sampling import check_memory as check_problems
from algoscope.training import loop
from algoscope.training.loop import CHECKPOINT_SECONDS, RECENT, Evaluations, Report, by_name, filled
from algoscope.training.model import Model, name_faults
from algoscope.training.optimiser import Learner, start_learner
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.config import check, config_from_json
from algoscope.transnar.learning import TowerObjective, Weights
from algoscope.transnar.pool import (
    Part,
    Parts,
    Pool,
    by_shape,
    make_buckets,
    make_live_buckets,
    training_orders,
)
from algoscope.transnar.reasoner import View
from algoscope.transnar.text_dataset import TextDataset, draw, draw_all
from algoscope.transnar.tower import Tower, build

KIND = "transnar"
_UNTRAINED_SEED = 1_000
"""What a seed is moved by for a reasoner with random weights."""
_TOKEN_OCTETS = 20
"""What a token takes in the main memory while texts are written: characters, numbers in lists."""
NO_EVALUATIONS = Evaluations()


def prepare(
    config: TransnarConfig,
    reasoner: Model | None,
    datasets: Sequence[TextDataset] | None = None,
    view: View | None = None,
) -> Parts:
    """All that a tower learns from; the same for towers with the same data and reasoner.
    `datasets` are those of `training_orders`, drawn here if they are not given, and `view` is what
    is shown of the reasoner's states, to this tower if nothing else is said."""
    datasets = draw_all(training_orders(config)) if datasets is None else datasets
    context = config.tower.context
    for dataset in datasets:
        if (most := int(dataset.lengths.max())) > context:
            raise ValueError(
                f"{dataset.task} of size {dataset.size}: got texts of up to {most} tokens, needed "
                f"at most {context}, the tower's context; take smaller sizes or a longer context"
            )
    live, view = bool(config.trains_reasoner), view_of(config) if view is None else view

    def make(number: int) -> Pool:
        part = Part(number, config.parts)
        if reasoner is not None and live:
            return make_live_buckets(datasets, reasoner, part)
        return make_buckets(datasets, reasoner, view, part)

    members = by_shape(datasets, live)
    samples = {s: sum(len(d) // config.parts for d in each) for s, each in members.items()}
    return Parts(config.parts, samples, make)


def _parts(config: TransnarConfig, reasoner: Model | None, teacher: "TrainedTower | None") -> Parts:
    if teacher is not None:
        return prepare(config, teacher.reasoner, view=view_of(teacher.config))
    return prepare(config, reasoner)


def _check_memory(config: TransnarConfig, reasoner: Model | None) -> None:
    """Refuses what would not fit, before any of it is made: weights, texts, and problems. Where
    JAX computes in the main memory, what a reasoner makes of the problems lies there too."""
    tower, live = config.tower, bool(config.trains_reasoner)
    shapes = jax.eval_shape(functools.partial(_start_learner, config, reasoner))
    weights = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
    what = f"a tower of width {tower.width:,} with {tower.layers:,} layers"
    capacity.check(what, weights, "take a smaller one")
    orders, advice = training_orders(config), "take fewer samples, or smaller problems"
    for task in config.tasks:
        counts = {order.size: order.count for order in orders if order.task == task}
        check_problems(tasks.get(task), counts, advice)
    octets = 0.0
    for order in orders:
        tokens = int(draw(order._replace(count=1)).lengths[0])
        octets += order.count * tokens * _TOKEN_OCTETS
        if reasoner is not None and not live and jax.default_backend() == "cpu":
            widths, nodes = (
                reasoners.widths_of(reasoner),
                tasks.get(order.task).nodes(order.size, {}),
            )
            stages = view_of(config).stages or 1
            states = nodes * widths.node + nodes**2 * widths.edge
            octets += order.count / config.parts * stages * states * np.float32().itemsize
    what = f"{sum(order.count for order in orders):,} problems as text"
    capacity.check(what, octets, advice)


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
    teacher: "TrainedTower | None" = None,
    parts: Parts | None = None,
    force: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    evaluations: Evaluations = NO_EVALUATIONS,
    report: Callable[[Report], None] | None = None,
) -> Run:
    """Trains a tower into a new run folder. `parts` is what `prepare` gave for this data and
    reasoner, that of the teacher if there is one; `evaluations` are given the step and the
    tower."""
    check(config)
    if (config.loss == "teacher") != (teacher is not None):
        given = "none" if teacher is None else "one"
        raise ConfigError(f"teacher: got {given} with loss {config.loss!r}")
    pacing = loop.Pacing(report, checkpoint_seconds, evaluations)
    with reservation.reserved(path, force=force) as place:
        reasoner = reasoner_for(config, reasoner)
        if parts is None:
            _check_memory(config, reasoner)
            parts = _parts(config, reasoner, teacher)
        learner = _start_learner(config, reasoner)
        folder_path = place.emptied()
        if reasoner is not None:
            reasoners.save(reasoner, folder_path / "reasoner")
        if teacher is not None:
            _save_teacher(teacher, folder_path / "teacher")
        loop.save(folder_path, loop.Trained(0, learner, loop.no_metrics(1, 1)))
        run = place.begin(config.as_json(), kind=KIND)
        with reservation.stoppable(run):
            return _go_on(run, parts, pacing)


def resume(
    path: str | os.PathLike,
    *,
    parts: Parts | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    evaluations: Evaluations = NO_EVALUATIONS,
    report: Callable[[Report], None] | None = None,
) -> Run:
    """Goes on with a run that was stopped, to the same end."""
    run = open_run(path)
    if run.finished:
        return run
    with reservation.held(run):
        return _go_on(run, parts, loop.Pacing(report, checkpoint_seconds, evaluations))


def _go_on(run: Run, parts: Parts | None, pacing: loop.Pacing) -> Run:
    """Trains the run, which this process holds, to its end."""
    config = config_from_json(run.config)
    reasoner = _reasoner_in(run.path, config)
    shapes = jax.eval_shape(functools.partial(_start_learner, config, reasoner))
    teacher = _load_teacher(run.path / "teacher") if config.loss == "teacher" else None
    parts = _parts(config, reasoner, teacher) if parts is None else parts
    begun, worked = time.monotonic(), time.process_time()
    objective = TowerObjective(config, parts, run.path, teacher and teacher.tower)
    evaluations = pacing.evaluations
    on_towers = evaluations._replace(
        evaluate=lambda step, learner: evaluations.evaluate(step, learner.weights.tower)
    )
    run, trained = loop.go_on(
        run, objective, shapes, dataclasses.replace(pacing, evaluations=on_towers)
    )
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


def _save_teacher(teacher: TrainedTower, path: pathlib.Path) -> None:
    if teacher.reasoner is not None:
        reasoners.save(teacher.reasoner, path / "reasoner")
    write_arrays(path / "weights.safetensors", by_name(teacher.tower))
    write_bytes(path / "config.json", json.dumps(teacher.config.as_json()).encode())


def _load_teacher(path: pathlib.Path) -> TrainedTower:
    config = config_from_json(read_json(path / "config.json", dict))
    return _tower_in(path, config)


def load(path: str | os.PathLike) -> TrainedTower:
    run = open_run(path)
    if not run.finished:
        raise RunError(f"{run.path}: got a run that {run.progress}, needed a finished one")
    return _tower_in(run.path, config_from_json(run.config))


def _tower_in(path: pathlib.Path, config: TransnarConfig) -> TrainedTower:
    reasoner = _reasoner_in(path, config)
    named = read_arrays(path / "weights.safetensors")
    shapes = jax.eval_shape(functools.partial(_start, config, reasoner))
    return TrainedTower(config, filled(shapes, named, path), reasoner)


def _start(config: TransnarConfig, reasoner: Model | None) -> Tower:
    widths = None if reasoner is None else reasoners.widths_of(reasoner)
    return build(config.tower, jax.random.key(config.seed), widths)


def _start_learner(config: TransnarConfig, reasoner: Model | None) -> Learner:
    learning = reasoner if config.trains_reasoner else None
    return start_learner(Weights(_start(config, reasoner), learning), validated=False)


def _reasoner_in(path: pathlib.Path, config: TransnarConfig) -> Model | None:
    return None if config.tower.reads == "nothing" else reasoners.load(path / "reasoner")
