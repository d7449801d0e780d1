"""Trainings of graph networks: a configuration becomes an ensemble in a run folder."""

import os
from collections.abc import Callable

import jax
import numpy as np

from algoscope.networks import Ensemble, Network
from algoscope.runs import folder
from algoscope.runs.folder import Run
from algoscope.training.config import TrainingConfig, from_json
from algoscope.training.evaluation import evaluate
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.initial_weights import learner_shapes, start_learners
from algoscope.training.loop import CHECKPOINT_SECONDS, Pacing, Trained, go_on, no_metrics, save
from algoscope.training.plan import TrainingPlan, plan_training
from algoscope.training.progress import Report


def train(
    config: TrainingConfig,
    path: str | os.PathLike,
    *,
    start: Network | None = None,
    force: bool = False,
    at_once: int | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    report: Callable[[Report], None] = lambda _: None,
) -> Run:
    """Trains an ensemble into a new run folder; all seeds start from the same weights if given.

    `at_once` is the number of networks side by side on each device, chosen to fit if None.
    """
    plan = plan_training(config, at_once)
    learners = start_learners(plan, start)
    run = folder.create(
        path,
        config.as_json(),
        force=force,
        seeds_at_once=plan.placement.at_once,
        started_from_weights=start is not None,
    )
    with folder.held(run):
        save(run, Trained(0, learners, no_metrics(config.seeds, len(config.tasks))))
    return _go_on(run, plan, Pacing(report, checkpoint_seconds))


def resume(
    path: str | os.PathLike,
    *,
    at_once: int | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    report: Callable[[Report], None] = lambda _: None,
) -> Run:
    """Goes on with a run that was stopped, to the same end; with the same number of networks at
    once, unless told otherwise."""
    run = folder.open_run(path)
    if run.finished:
        return run
    config = from_json(TrainingConfig, run.config)
    plan = plan_training(config, at_once or run.description["seeds_at_once"])
    return _go_on(run, plan, Pacing(report, checkpoint_seconds))


def _go_on(run: Run, plan: TrainingPlan, pacing: Pacing) -> Run:
    config = plan.config
    with folder.held(run):
        run, trained = go_on(run, GraphObjective(plan, run.path), learner_shapes(plan), pacing)
        best = trained.learner.best
        assert best is not None
        weights = plan.placement.spread(best.weights)
        results = evaluate(plan, weights) | {
            "best_step": np.asarray(best.step).tolist(),
            "best_validation": (np.asarray(best.score) / len(config.tasks)).tolist(),
        }
        model = jax.vmap(plan.layout.unpack)(weights)
        ensemble = Ensemble({task: model.network(task) for task in config.tasks}, config.all_seeds)
        return folder.finish(run, ensemble, trained.metrics, results)
