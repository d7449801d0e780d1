"""The loop: config -> run folder.

The host only hands out stretches of steps, draws the next pool meanwhile, and writes checkpoints.
All randomness is a function of the seed and the number of the step or generation, so a run that was
killed goes on from its last checkpoint as if nothing had happened.
"""

import contextlib
import dataclasses
import functools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from algoscope.networks import ConfigError, Ensemble, Network, WeightsError, arrays, with_arrays
from algoscope.networks.weights import leaf_name
from algoscope.runs import checkpoints, folder
from algoscope.runs.folder import Metrics, Run
from algoscope.tasks.errors import unknown_name
from algoscope.training.config import TrainingConfig, check, config_from_json
from algoscope.training.evaluation import evaluate
from algoscope.training.learning import (
    Data,
    Learner,
    Program,
    advance,
    layout_of,
    over_seeds,
    start_learner,
)
from algoscope.training.model import model_of, same_for_all, start_model
from algoscope.training.placement import Placement, choose_placement
from algoscope.training.pool import (
    TaskPlan,
    compact,
    draw_generation,
    make_plans,
    steps_per_generation,
    validation_batch,
)

_STRETCH = 250
"""Most steps that the device takes on its own."""
_STRETCH_SECONDS = 2.0
"""How long a stretch should take, so that progress is seen and Ctrl-C heard."""
_CHECKPOINT_SECONDS = 60.0


class Report(NamedTuple):
    """How far a run is."""

    step: int
    steps: int
    loss: float
    """Mean over seeds and tasks at the last step."""
    score: float
    """Mean over seeds and tasks at the last validation."""
    steps_per_second: float
    seconds_left: float


class Stopped(Exception):  # noqa: N818
    """The run was asked to stop; it is safe on disk."""


def train(
    config: TrainingConfig,
    path: str | os.PathLike,
    *,
    start: Network | None = None,
    force: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> Run:
    """Trains an ensemble into a new run folder; all seeds start from the same weights if given."""
    check(config)
    plans = make_plans(config)
    _check_freeze(config, plans)
    placement = choose_placement(config, plans)
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
    return resume(path, report=report)


def resume(path: str | os.PathLike, *, report: Callable[[Report], None] = lambda _: None) -> Run:
    """Goes on with a run that was stopped, to the same end."""
    run = folder.open_run(path)
    if run.finished:
        return run
    config = config_from_json(run.config)
    check(config)
    plans = make_plans(config)
    placement = choose_placement(config, plans, run.description["seeds_at_once"])
    with folder.held(run):
        checkpoint = checkpoints.read(run.path)
        run = folder.note(run, *checkpoint.notes, *_moved(run, placement))
        for text in checkpoint.notes:
            print(f"{run.path}: {text}", flush=True)
        trained = _restore(config, plans, checkpoint)
        trained = _train(run, config, plans, placement, trained, report)
        _save(run, trained)
        best = _placed(trained.learners.best, placement.mesh)
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
    report: Callable[[Report], None],
) -> _Trained:
    mesh = placement.mesh
    length = min(_STRETCH, config.steps)
    in_generation = steps_per_generation(config)
    seeds = jnp.asarray(config.all_seeds, jnp.uint32)
    validation = tuple(compact(validation_batch(config, plan.task)) for plan in plans)
    validation = jax.device_put(validation, NamedSharding(mesh, PartitionSpec()))
    clock = _Clock(trained.step, config.steps)
    pace = _Pace(length)
    step, learners, metrics = trained.step, _placed(trained.learners, mesh), trained.metrics
    saved = time.monotonic()
    number, generation = -1, None
    with ThreadPoolExecutor(1) as executor, _asked_to_stop() as asked:
        draw = functools.partial(draw_generation, config, plans, seeds=config.all_seeds)
        coming = executor.submit(draw, number=step // in_generation)
        while step < config.steps:
            if step // in_generation != number:
                number = step // in_generation
                generation = coming.result()
                pools = jax.device_put(generation.pools, NamedSharding(mesh, PartitionSpec()))
                branches = tuple(jnp.asarray(s.branch) for s in generation.schedules)
                batches = tuple(s.batch for s in generation.schedules)
                batches = _placed(batches, mesh)
                if (number + 1) * in_generation < config.steps:
                    coming = executor.submit(draw, number=number + 1)
            assert generation is not None
            stop = min(step + pace.steps, (number + 1) * in_generation, config.steps)
            data = Data(
                pools,
                branches,
                validation,
                *(jnp.int32(n) for n in (step, stop, number * in_generation)),
            )
            program = Program(config, generation.plans, length)
            begun = time.monotonic()
            learners, progress = advance_all(
                program, mesh, placement.at_once, learners, seeds, batches, data
            )
            metrics = _extended(metrics, progress, step, stop)
            pace.took(stop - step, time.monotonic() - begun)
            step = stop
            report(clock.report(step, metrics))
            if asked.is_set() or time.monotonic() - saved > _CHECKPOINT_SECONDS:
                _save(run, _Trained(step, learners, metrics))
                saved = time.monotonic()
            if asked.is_set() and step < config.steps:
                raise Stopped(
                    f"stopped at step {step} of {config.steps}; go on with "
                    f"`algoscope train --resume {run.path}`"
                )
    return _Trained(step, learners, metrics)


@functools.partial(jax.jit, static_argnums=(0, 1, 2), donate_argnums=(3,))
def advance_all(program: Program, mesh: Mesh, at_once: int, learners, seeds, batches, data: Data):
    return over_seeds(
        lambda own, shared: advance(program, *own, shared),
        (learners, seeds, batches),
        data,
        mesh,
        at_once,
    )


class _Pace:
    """How many steps a stretch may have, so that it takes about as long as it should."""

    def __init__(self, most: int):
        self.most = most
        self.steps = 1
        self._first = True

    def took(self, steps: int, seconds: float) -> None:
        if self._first:  # It compiled.
            self._first = False
            return
        wanted = int(_STRETCH_SECONDS * steps / max(seconds, 1e-9))
        self.steps = max(1, min(self.most, wanted, 8 * self.steps))


class _Clock:
    """Measures from the end of the first stretch, which compiles."""

    def __init__(self, step: int, steps: int):
        self._steps = steps
        self._from: tuple[int, float] | None = None

    def report(self, step: int, metrics: Metrics) -> Report:
        now = time.monotonic()
        rate = float("nan")
        if self._from is None:
            self._from = (step, now)
        else:
            rate = (step - self._from[0]) / max(now - self._from[1], 1e-9)
        return Report(
            step,
            self._steps,
            float(metrics.loss[-1].mean()),
            float(metrics.validation[-1].mean()) if len(metrics.validation) else float("nan"),
            rate,
            (self._steps - step) / rate if rate > 0 else float("nan"),
        )


@contextlib.contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """An event that is set by Ctrl-C and by SIGTERM; a second one ends the process as ever."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def hear(number: int, _frame: Any) -> None:
        asked.set()
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, hear)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def start_learners(
    config: TrainingConfig, plans: tuple[TaskPlan, ...], given: Network | None
) -> Learner:
    layout = layout_of(config, plans)
    if given is not None:
        _check_given(config, plans, given)
        weights = same_for_all(layout.pack(model_of({plans[0].task: given})), config.seeds)
    else:
        begin = functools.partial(start_model, dict(layout.features), config.network)
        each = [layout.pack(begin(jax.random.key(seed))) for seed in config.all_seeds]
        weights = jax.tree.map(lambda *vectors: jnp.stack(vectors), *each)
    return jax.vmap(start_learner)(weights)


def _check_given(config: TrainingConfig, plans: tuple[TaskPlan, ...], given: Network) -> None:
    if len(plans) != 1:
        raise ConfigError(
            f"start: got weights of one network and the tasks {', '.join(config.tasks)}, "
            "needed one task"
        )
    faults = []
    if given.config != config.network:
        ours, theirs = dataclasses.asdict(config.network), dataclasses.asdict(given.config)
        faults += [
            f"network.{name}: got {ours[name]!r}, needed {theirs[name]!r}, as in the given weights"
            for name in ours
            if ours[name] != theirs[name]
        ]
    if set(given.features) != set(plans[0].features):
        names = ", ".join(f.name for f in given.features)
        needed = ", ".join(f.name for f in plans[0].features)
        faults.append(
            f"start: got weights for the features {names}; {plans[0].task} needs {needed}"
        )
    if faults:
        raise WeightsError("the weights to start from do not fit:\n" + "\n".join(faults))
    with_arrays(given, arrays(given))


def _check_freeze(config: TrainingConfig, plans: tuple[TaskPlan, ...]) -> None:
    known = {
        ".".join(name.split(".")[:depth])
        for name in layout_of(config, plans).names()
        for depth in range(1, name.count(".") + 2)
    }
    faults = [unknown_name("weights to freeze", f, known) for f in config.freeze if f not in known]
    if faults:
        raise ConfigError("\n".join(faults))


def _no_metrics(config: TrainingConfig) -> Metrics:
    empty = np.zeros((0, config.seeds, len(config.tasks)), np.float32)
    return Metrics(empty, np.zeros(0, np.int32), empty)


def _extended(metrics: Metrics, progress: Any, start: int, stop: int) -> Metrics:
    """With what a stretch showed: progress [seed, step, task]."""
    loss, validation = (
        np.swapaxes(np.asarray(a), 0, 1)[: stop - start]
        for a in (progress.loss, progress.validated)
    )
    validated = np.asarray(progress.is_validated)[0, : stop - start]
    steps = np.arange(start, stop, dtype=np.int32)[validated]
    return Metrics(
        np.concatenate([metrics.loss, loss]),
        np.concatenate([metrics.validation_steps, steps]),
        np.concatenate([metrics.validation, validation[validated]]),
    )


def _placed(tree: Any, mesh: Mesh) -> Any:
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
    shapes = jax.eval_shape(lambda model: start_learner(layout.pack(model)), layout.shapes())
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
