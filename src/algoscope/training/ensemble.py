"""Trainings of graph networks: a configuration becomes an ensemble in a run folder."""

import dataclasses
import functools
import os
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import progress
from algoscope.errors import ConfigError, together
from algoscope.networks import Ensemble, Network, WeightsError, arrays, with_arrays
from algoscope.runs import folder, reservation
from algoscope.runs.folder import Run
from algoscope.training import loop
from algoscope.training.config import TrainingConfig, check, from_json
from algoscope.training.evaluation import check_test, evaluate
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.loop import CHECKPOINT_SECONDS, Pacing, Report
from algoscope.training.model import Vectors, model_of, start_model
from algoscope.training.optimiser import Learner, start_learner
from algoscope.training.plan import TrainingPlan, plan_training


def train(
    config: TrainingConfig,
    path: str | os.PathLike,
    *,
    start: Network | None = None,
    force: bool = False,
    at_once: int | None = None,
    devices: int | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    report: Callable[[Report], None] | None = None,
    made_by: str | None = None,
    sweep: str | None = None,
) -> Run:
    """Trains an ensemble into a new run folder; all seeds start from the same weights if given.

    `force` replaces a run that nobody is training. `at_once` is the number of networks side by side
    on each device, chosen to fit if None. Seeds are spread evenly over at most so many `devices`,
    all there are if None. `report` is told how far the training is; if None, a line of progress
    shows it. `made_by` and the name of a `sweep` are kept with the run.
    """
    check(config)
    check_test(config)
    pacing = Pacing(report, checkpoint_seconds)
    with reservation.reserved(path, force=force) as place:
        with progress.job("preparing"):
            plan = plan_training(config, at_once, devices=devices)
            learners = start_learners(plan, start)
        metrics = loop.no_metrics(config.seeds, len(config.tasks))
        loop.save(place.emptied(), loop.Trained(0, learners, metrics))
        run = place.begin(
            config.as_json(),
            seeds_at_once=plan.placement.at_once,
            started_from_weights=start is not None,
            **({} if made_by is None else {"made_by": made_by}),
            **({} if sweep is None else {"sweep": sweep}),
        )
        with reservation.stoppable(run):
            return _go_on(run, plan, pacing)


def resume(
    path: str | os.PathLike,
    *,
    at_once: int | None = None,
    devices: int | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    report: Callable[[Report], None] | None = None,
) -> Run:
    """Goes on with a run that was stopped, to the same end; with the same number of networks at
    once, as far as the devices allow it, unless told otherwise."""
    run = folder.open_run(path)
    if run.finished:
        return run
    with reservation.held(run):
        config = from_json(TrainingConfig, run.config)
        before = run.description.get("seeds_at_once")
        plan = plan_training(config, at_once, devices=devices, before=before)
        return _go_on(run, plan, Pacing(report, checkpoint_seconds))


def _go_on(run: Run, plan: TrainingPlan, pacing: Pacing) -> Run:
    """Trains the run, which this process holds, to its end."""
    config = plan.config
    shapes = jax.eval_shape(functools.partial(start_learners, plan))
    run, trained = loop.go_on(run, GraphObjective(plan, run.resume_command), shapes, pacing)
    best, scoring = trained.learner.best, time.monotonic()
    assert best is not None
    weights = plan.placement.spread({"best": best.weights, "last": trained.learner.weights})
    kept = weights.pop(config.keep)
    results = evaluate(plan, kept, weights) | {
        "best_step": np.asarray(best.step).tolist(),
        "best_validation": (np.asarray(best.score) / len(config.tasks)).tolist(),
    }
    others = {name: _ensemble(plan, vectors) for name, vectors in weights.items()}
    seconds = trained.seconds + time.monotonic() - scoring
    return folder.finish(run, _ensemble(plan, kept), trained.metrics, results, others, seconds)


def _ensemble(plan: TrainingPlan, vectors: Vectors) -> Ensemble:
    model, config = jax.vmap(plan.layout.unpack)(vectors), plan.config
    return Ensemble({task: model.network(task) for task in config.tasks}, config.all_seeds)


def start_learners(plan: TrainingPlan, start: Network | None = None) -> Learner:
    """One learner for each seed, along a first axis; all from the same weights if given."""
    config, layout = plan.config, plan.layout
    if start is not None:
        _check_start(plan, start)
        vectors = layout.pack(model_of({plan.tasks[0].task: start}))
        weights = jax.tree.map(lambda vector: jnp.repeat(vector[None], config.seeds, 0), vectors)
    else:
        begin = functools.partial(start_model, dict(layout.features), config.network)
        seeds = jnp.asarray(config.all_seeds, jnp.uint32)
        weights = jax.jit(jax.vmap(lambda seed: layout.pack(begin(jax.random.key(seed)))))(seeds)
    return jax.vmap(functools.partial(start_learner, validated=True))(weights)


def _check_start(plan: TrainingPlan, start: Network) -> None:
    config, (first, *others) = plan.config, plan.tasks
    if others:
        raise ConfigError(
            f"start: got weights of one network and the tasks {', '.join(config.tasks)}, "
            "needed one task"
        )
    ours, theirs = dataclasses.asdict(config.network), dataclasses.asdict(start.config)
    faults = [
        f"network.{name}: got {ours[name]!r}, needed {theirs[name]!r}, as in the given weights"
        for name in ours
        if ours[name] != theirs[name]
    ]
    if set(start.features) != set(first.features):
        names = ", ".join(f.name for f in start.features)
        needed = ", ".join(f.name for f in first.features)
        faults.append(f"start: got weights for the features {names}; {first.task} needs {needed}")
    if faults:
        raise WeightsError(together("the weights to start from do not fit:", faults))
    with_arrays(start, arrays(start))
