"""The loop: config -> run folder, resumable to the same bits.

run.json, results.json       as of any run
reasoner/TASK.safetensors    the reasoner that the tower reads, if it reads one
weights.safetensors          the tower's, once it is finished
metrics.safetensors          loss of every step
checkpoint-…                 of a run that is not finished
"""

import functools
import os
import pathlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from algoscope.configuration import TransnarConfig
from algoscope.errors import unknown_name
from algoscope.files import read_arrays, write_arrays
from algoscope.networks import ConfigError
from algoscope.networks.weights import leaf_name
from algoscope.runs import Run, RunError, checkpoints, folder
from algoscope.training import Stopped
from algoscope.training.model import Model
from algoscope.training.progress import asked_to_stop
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.config import check, config_from_json
from algoscope.transnar.learning import Learner, Weights, compiled, start_learner
from algoscope.transnar.pool import (
    Bucket,
    Shape,
    check_context,
    make_buckets,
    make_live_buckets,
    order_of,
    training_orders,
)
from algoscope.transnar.reasoner import View
from algoscope.transnar.text_dataset import Cell, draw_all
from algoscope.transnar.tower import Tower, build

KIND = "transnar"
CHECKPOINT_SECONDS = 60.0
_RECENT = 20
"""Steps over which a reported loss is averaged."""
_AHEAD = 16
"""Steps that the device may be behind the host, which should hear when it is asked to stop."""
_UNTRAINED_SEED = 1_000
"""What a seed is moved by for a reasoner with random weights."""


class Progress(NamedTuple):
    step: int
    steps: int
    loss: float
    """Mean over the last few steps."""


class Looks(NamedTuple):
    """Looks at a tower on its way."""

    steps: tuple[int, ...]
    """After which steps."""
    look: Callable[[int, Tower], None]


NO_LOOKS = Looks((), lambda step, tower: None)


Pool = Mapping[Shape, Bucket]


def prepare(
    config: TransnarConfig, reasoner: Model | None, cells: Sequence[Cell] | None = None
) -> Pool:
    """All that a tower learns from, on the device; the same for towers with the same data and
    reasoner. `cells` are those of `training_orders`, drawn here if they are not given."""
    cells = draw_all(training_orders(config)) if cells is None else cells
    check_context(cells, config.tower.context)
    if reasoner is None or config.tower.reads == "nothing":
        return make_buckets(cells)
    if config.trains_reasoner:
        return make_live_buckets(cells, reasoner)
    return make_buckets(cells, reasoner, view_of(config))


def view_of(config: TransnarConfig) -> View:
    stages = config.tower.layers if config.tower.reads == "stepwise" else None
    return View(stages, config.reads_inputs)


def reasoner_for(config: TransnarConfig, given: Model | None) -> Model | None:
    """The one that a tower of this configuration reads."""
    if config.tower.reads == "nothing":
        return None
    if given is None:
        raise ConfigError(
            f"reasoner: got none, needed one for tower.reads {config.tower.reads!r}; train one "
            f"with `algoscope train {' '.join(config.tasks)} --network processor=triplet_gmpnn`"
        )
    missing = [task for task in config.tasks if task not in given.parts]
    if missing:
        raise ConfigError(
            f"reasoner: got one for {', '.join(given.parts)}, needed {', '.join(missing)} too"
        )
    if config.reasoner_trained:
        return given
    return reasoners.untrained(given, _UNTRAINED_SEED + config.seed)


def train(
    config: TransnarConfig,
    path: str | os.PathLike,
    *,
    reasoner: Model | None = None,
    pool: Pool | None = None,
    force: bool = False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    looks: Looks = NO_LOOKS,
    report: Callable[[Progress], None] = lambda _: None,
) -> Run:
    """Trains a tower into a new run folder. `pool` is what `prepare` gave for this data and
    reasoner."""
    check(config)
    own = reasoner_for(config, reasoner)
    _check_names(config, own)
    learner = start_learner(Weights(_start(config, own), own if config.trains_reasoner else None))
    run = folder.create(path, config.as_json(), force=force, kind=KIND)
    with folder.held(run):
        if own is not None:
            reasoners.save(own, run.path / "reasoner")
        _save(run, learner, np.zeros(0, np.float32))
    return resume(
        path, pool=pool, checkpoint_seconds=checkpoint_seconds, looks=looks, report=report
    )


def resume(
    path: str | os.PathLike,
    *,
    pool: Pool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    looks: Looks = NO_LOOKS,
    report: Callable[[Progress], None] = lambda _: None,
) -> Run:
    """Goes on with a run that was stopped, to the same end."""
    run = open_run(path)
    if run.finished:
        return run
    config = config_from_json(run.config)
    with folder.held(run):
        reasoner = _reasoner_in(run, config)
        checkpoint = checkpoints.read(run.path)
        run = folder.note(run, *checkpoint.notes)
        losses = checkpoint.arrays.pop("losses")
        learner = _restored(config, reasoner, checkpoint.arrays)
        pool = prepare(config, reasoner) if pool is None else pool
        begun, worked = time.monotonic(), time.process_time()
        learner, losses = _train(
            run, config, pool, learner, losses, checkpoint_seconds, looks, report
        )
        write_arrays(run.path / "weights.safetensors", _named(learner.weights.tower))
        write_arrays(run.path / "metrics.safetensors", {"loss": losses})
        if learner.weights.reasoner is not None:
            reasoners.save(learner.weights.reasoner, run.path / "reasoner")
        results = {
            "loss": float(losses[-_RECENT:].mean()),
            "parameters": _count(learner.weights.tower),
            "seconds_of_last_stretch": time.monotonic() - begun,
            "cpu_seconds_of_last_stretch": time.process_time() - worked,
        }
        return folder.seal(run, results)


def open_run(path: str | os.PathLike) -> Run:
    run = folder.open_run(path)
    if run.description.get("kind") != KIND:
        raise RunError(f"{run.path}: got a run of graph networks, needed one of a tower")
    return run


class Trained(NamedTuple):
    """A finished run's models."""

    config: TransnarConfig
    tower: Tower
    reasoner: Model | None


def load(path: str | os.PathLike) -> Trained:
    run = open_run(path)
    if not run.finished:
        raise RunError(
            f"{run.path}: got a run that stopped at step {run.step} of {run.config['steps']}, "
            f"needed a finished one; go on with `algoscope transnar train --resume {run.path}`"
        )
    config = config_from_json(run.config)
    reasoner = _reasoner_in(run, config)
    named = read_arrays(run.path / "weights.safetensors")
    return Trained(config, _filled(_shapes(config, reasoner), named, run.path), reasoner)


def _start(config: TransnarConfig, reasoner: Model | None) -> Tower:
    widths = None if reasoner is None else reasoners.widths_of(reasoner)
    return build(config.tower, jax.random.key(config.seed), widths)


def _shapes(config: TransnarConfig, reasoner: Model | None) -> Tower:
    return jax.eval_shape(functools.partial(_start, config, reasoner))


def _reasoner_in(run: Run, config: TransnarConfig) -> Model | None:
    return None if config.tower.reads == "nothing" else reasoners.load(run.path / "reasoner")


def _check_names(config: TransnarConfig, reasoner: Model | None) -> None:
    if reasoner is None or not config.trains_reasoner:
        return
    if config.tower.reads == "stepwise":
        raise ConfigError('trains_reasoner: needed tower.reads "final"; it reads all steps at once')
    known = {
        ".".join(name.split(".")[:depth])
        for task in reasoner.parts
        for name in _named(reasoner.network(task))
        for depth in range(1, name.count(".") + 2)
    }
    faults = [
        unknown_name("weights of the reasoner", n, known)
        for n in config.trains_reasoner
        if n not in known
    ]
    if faults:
        raise ConfigError("\n".join(faults))


def _train(
    run: Run,
    config: TransnarConfig,
    pool: Pool,
    learner: Learner,
    losses: np.ndarray,
    checkpoint_seconds: float,
    looks: Looks,
    report: Callable[[Progress], None],
) -> tuple[Learner, np.ndarray]:
    key = jax.random.key(config.seed)
    step, recent = int(learner.step), []
    batches = order_of({shape: b.samples for shape, b in pool.items()}, config.batch, config.seed)
    for _ in range(step):
        next(batches)
    programs = _programs(config, pool, learner, key)
    saved = reported = time.monotonic()
    with asked_to_stop() as asked:
        while step < config.steps:
            shape, chosen = next(batches)
            learner, loss = programs[shape](learner, pool[shape], chosen, key)
            recent.append(loss)
            step += 1
            if len(recent) > _AHEAD:
                recent[-_AHEAD].block_until_ready()
            now, looking = time.monotonic(), step in looks.steps
            stopping = asked.is_set() and step < config.steps
            saving = stopping or looking or now - saved >= checkpoint_seconds
            if saving or now - reported >= 1.0:
                losses, recent = _with(losses, recent), []
                reported = time.monotonic()
                report(Progress(step, config.steps, float(losses[-_RECENT:].mean())))
            if saving:
                _save(run, learner, losses)
                saved = time.monotonic()
            if looking:
                looks.look(step, learner.weights.tower)
            if stopping:
                raise Stopped(
                    f"stopped at step {step} of {config.steps}; go on with "
                    f"`algoscope transnar train --resume {run.path}`"
                )
    losses = _with(losses, recent)
    report(Progress(step, config.steps, float(losses[-_RECENT:].mean())))
    return learner, losses


def _with(losses: np.ndarray, recent: list) -> np.ndarray:
    return np.concatenate([losses, np.asarray(jax.device_get(recent), np.float32)])


def _programs(
    config: TransnarConfig, pool: Pool, learner: Learner, key: PRNGKeyArray
) -> dict[Shape, Callable]:
    """The step for each shape; threads compile side by side."""

    def of(shape: Shape) -> Callable:
        return compiled(config, shape, learner, pool[shape], key)

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        return dict(zip(pool, executor.map(of, pool), strict=True))


def _named(tree: Any) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {leaf_name(path): np.asarray(leaf) for path, leaf in leaves}


def _count(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def _save(run: Run, learner: Learner, losses: np.ndarray) -> None:
    checkpoints.write(run.path, int(learner.step), _named(learner) | {"losses": losses})


def _restored(config: TransnarConfig, reasoner: Model | None, named: dict) -> Learner:
    def fresh() -> Learner:
        learns = reasoner if config.trains_reasoner else None
        return start_learner(Weights(_start(config, reasoner), learns))

    # Files hold arrays of at least one axis.
    named = named | {"step": named["step"].reshape(())}
    return _filled(jax.eval_shape(fresh), named, pathlib.Path("checkpoint"))


def _filled(shapes: Any, named: Mapping[str, np.ndarray], where: pathlib.Path) -> Any:
    paths, structure = jax.tree_util.tree_flatten_with_path(shapes)
    own = {leaf_name(path): leaf for path, leaf in paths}
    faults = [f"missing: {name}" for name in own if name not in named]
    faults += [
        f"{name}: got shape {list(array.shape)}, needed {list(own[name].shape)}"
        if name in own
        else unknown_name("weight", name, own)
        for name, array in named.items()
        if name not in own or array.shape != own[name].shape
    ]
    if faults:
        raise RunError(f"{where}: its weights do not fit the tower:\n" + "\n".join(faults))
    return jax.tree.unflatten(structure, [jnp.asarray(named[name]) for name in own])
