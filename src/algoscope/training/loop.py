"""The loop: config -> run folder.

The host only hands out stretches of steps, draws the next pool meanwhile, and writes checkpoints.
All randomness is a function of the seed and the number of the step or generation, so a run that was
killed goes on from its last checkpoint as if nothing had happened.
"""

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from algoscope.errors import Stopped
from algoscope.networks import Ensemble, Network
from algoscope.networks.weights import leaf_name
from algoscope.runs import RunError, checkpoints, folder
from algoscope.runs.folder import Metrics, Run
from algoscope.training.config import TrainingConfig, check, config_from_json
from algoscope.training.device_steps import Group, Material, Progress, Stretches
from algoscope.training.evaluation import evaluate
from algoscope.training.initial_weights import check_freeze, start_learners
from algoscope.training.learning import Learner, layout_of, start_learner
from algoscope.training.placement import Placement, choose_placement
from algoscope.training.pool import (
    TaskPlan,
    compact,
    draw_generation,
    make_plans,
    steps_per_generation,
    validation_batch,
)
from algoscope.training.progress import Clock, Pace, Report, asked_to_stop

_STRETCH = 250
"""Most steps that the device takes on its own."""
CHECKPOINT_SECONDS = 60.0
"""How much of its work a run may lose when it is killed, unless told otherwise."""


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
    check(config)
    plans = make_plans(config)
    check_freeze(config, plans)
    placement = choose_placement(config, plans, at_once)
    learners = start_learners(config, plans, start)
    run = folder.create(
        path,
        config.as_json(),
        force=force,
        seeds_at_once=placement.at_once,
        started_from_weights=start is not None,
    )
    with folder.held(run):
        _save(run, _Trained(0, learners, _no_metrics(config)))
    return _go_on(run, config, plans, placement, checkpoint_seconds, report)


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
    config = config_from_json(run.config)
    check(config)
    plans = make_plans(config)
    placement = choose_placement(config, plans, at_once or run.description["seeds_at_once"])
    return _go_on(run, config, plans, placement, checkpoint_seconds, report)


def _go_on(
    run: Run,
    config: TrainingConfig,
    plans: tuple[TaskPlan, ...],
    placement: Placement,
    checkpoint_seconds: float,
    report: Callable[[Report], None],
) -> Run:
    """From the last checkpoint to the end."""
    with folder.held(run):
        checkpoint = checkpoints.read(run.path)
        run = folder.note(run, *checkpoint.notes, *_moved(run, placement))
        trained = _restore(config, plans, checkpoint)
        trained = _train(run, config, plans, placement, trained, checkpoint_seconds, report)
        _save(run, trained)
        best = _placed(trained.learners.best, placement)
        results = evaluate(config, plans, best, placement.mesh, placement.at_once)
        results |= {
            "best_step": np.asarray(trained.learners.best_step).tolist(),
            "best_validation": (
                np.asarray(trained.learners.best_score) / len(config.tasks)
            ).tolist(),
        }
        model = jax.vmap(layout_of(config, plans).unpack)(best)
        ensemble = Ensemble({task: model.network(task) for task in config.tasks}, config.all_seeds)
        return folder.finish(run, ensemble, trained.metrics, results)


class _Trained(NamedTuple):
    step: int
    """Steps taken so far."""
    learners: Learner
    """With a seed axis."""
    metrics: Metrics


def _train(
    run: Run,
    config: TrainingConfig,
    plans: tuple[TaskPlan, ...],
    placement: Placement,
    trained: _Trained,
    checkpoint_seconds: float,
    report: Callable[[Report], None],
) -> _Trained:
    mesh = placement.mesh
    everywhere = NamedSharding(mesh, PartitionSpec())
    in_generation = steps_per_generation(config)
    validation = tuple(compact(validation_batch(config, plan.task)) for plan in plans)
    validation = jax.device_put(validation, everywhere)
    clock = Clock(config.steps)
    pace = Pace(min(_STRETCH, config.steps), checkpoint_seconds)
    step, metrics = trained.step, trained.metrics
    groups = groups_of(config, placement, trained.learners)
    stretches = Stretches(config, plans, placement)
    saved = time.monotonic()
    material = None
    with ThreadPoolExecutor(1) as executor, asked_to_stop() as asked:
        draw = functools.partial(draw_generation, config, plans, seeds=config.all_seeds)
        coming = executor.submit(draw, number=step // in_generation)
        while step < config.steps:
            if material is None or step >= material.first + in_generation:
                number = step // in_generation
                generation = coming.result()
                pools = jax.device_put(generation.pools, everywhere)
                material = Material(generation, pools, validation, number * in_generation)
                if (number + 1) * in_generation < config.steps:
                    coming = executor.submit(draw, number=number + 1)
                stretches.compile(material, groups[0])
            stop = min(step + pace.steps, material.first + in_generation, config.steps)
            begun = time.monotonic()
            progress = []
            with _memory_explained(run, placement.at_once):
                for number, group in enumerate(groups):
                    groups[number], of_group = stretches.take(material, group, step, stop)
                    progress.append(of_group)
            metrics = _extended(metrics, progress)
            pace.took(stop - step, time.monotonic() - begun)
            step = stop
            report(clock.report(step, metrics))
            if asked.is_set() or time.monotonic() - saved >= checkpoint_seconds:
                _save(run, _Trained(step, _together(groups), metrics))
                saved = time.monotonic()
            if asked.is_set() and step < config.steps:
                raise Stopped(
                    f"stopped at step {step} of {config.steps}; go on with "
                    f"`algoscope train --resume {run.path}`"
                )
    return _Trained(step, _together(groups), metrics)


def groups_of(config: TrainingConfig, placement: Placement, learners: Learner) -> list[Group]:
    size = placement.at_once * placement.mesh.size
    seeds = np.asarray(config.all_seeds, np.uint32)

    def group(rows: slice) -> Group:
        own = jax.tree.map(lambda of_all: of_all[rows], (learners, seeds))
        return Group(*_placed(own, placement), rows=rows)

    return [group(slice(start, start + size)) for start in range(0, len(seeds), size)]


def _together(groups: list[Group]) -> Learner:
    """The learners of all groups, on the host."""
    each = [group.learners for group in groups]
    return jax.tree.map(lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *each)


@contextlib.contextmanager
def _memory_explained(run: Run, at_once: int) -> Iterator[None]:
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise RunError(
            f"the device's memory does not hold {at_once} networks at once; go on with fewer: "
            f"`algoscope train --resume {run.path} --at-once {max(1, at_once // 2)}`"
        ) from None


def _no_metrics(config: TrainingConfig) -> Metrics:
    empty = np.zeros((0, config.seeds, len(config.tasks)), np.float32)
    return Metrics(empty, np.zeros(0, np.int32), empty)


def _extended(metrics: Metrics, progress: list[Progress]) -> Metrics:
    """With what a stretch showed of all groups."""
    loss, scores = (
        np.concatenate([getattr(of_group, name) for of_group in progress], 1)
        for name in ("loss", "scores")
    )
    return Metrics(
        np.concatenate([metrics.loss, loss]),
        np.concatenate([metrics.validation_steps, progress[0].validated]),
        np.concatenate([metrics.validation, scores]),
    )


def _placed(tree: Any, placement: Placement) -> Any:
    """Spread over the devices."""
    mesh = placement.mesh
    return jax.device_put(tree, NamedSharding(mesh, PartitionSpec(mesh.axis_names[0])))


def _save(run: Run, trained: _Trained) -> None:
    named = {
        f"learners.{leaf_name(path)}": np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(trained.learners)
    }
    named |= {f"metrics.{name}": array for name, array in trained.metrics._asdict().items()}
    checkpoints.write(run.path, trained.step, named)


def _restore(
    config: TrainingConfig, plans: tuple[TaskPlan, ...], checkpoint: checkpoints.Checkpoint
) -> _Trained:
    layout = layout_of(config, plans)
    shapes = jax.eval_shape(lambda model: start_learner(layout.pack(model)), layout.shapes)
    paths, structure = jax.tree_util.tree_flatten_with_path(shapes)
    leaves = [checkpoint.arrays[f"learners.{leaf_name(path)}"] for path, _ in paths]
    learners = jax.tree.unflatten(structure, leaves)
    metrics = Metrics(*(checkpoint.arrays[f"metrics.{name}"] for name in Metrics._fields))
    return _Trained(checkpoint.step, learners, metrics)


def _moved(run: Run, placement: Placement) -> tuple[str, ...]:
    """A note if the run goes on elsewhere than it was begun."""
    begun = run.description["environment"]
    now = {
        "device": placement.mesh.devices.flat[0].device_kind,
        "devices": len(jax.local_devices()),
    }
    if all(begun[name] == value for name, value in now.items()):
        return ()
    return (
        f"begun on {begun['devices']} × {begun['device']}, went on from step {run.step} on "
        f"{now['devices']} × {now['device']}: bits may differ from an uninterrupted run",
    )
