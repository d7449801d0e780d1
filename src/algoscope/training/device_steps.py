"""Stretches: what the device does on its own between two looks of the host.

A run needs a program for each task and each shape of its batches, and one for each task's
validation. They are compiled side by side before the first step. Compiled into one, they would take
as long as all of them together, and the device would copy the learners from one part to the next.
"""

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from algoscope.tasks import Batch
from algoscope.training.compile_cache import program_for
from algoscope.training.config import TrainingConfig
from algoscope.training.learning import (
    Learner,
    Lesson,
    Validation,
    keep_best,
    layout_of,
    over_seeds,
)
from algoscope.training.placement import Placement
from algoscope.training.pool import Generation, TaskPlan

_COMPILED_AT_ONCE = 16
_KEPT = 64
"""Programs, for further runs of the same shapes."""


class Material(NamedTuple):
    """The data of a generation on the devices."""

    generation: Generation
    """Its plans and schedules."""
    pools: tuple[tuple[Batch, ...], ...]
    """By task and size."""
    validation: tuple[Batch, ...]
    """By task."""
    first: int
    """The generation's first step."""


class Group(NamedTuple):
    """Networks that run side by side."""

    learners: Learner
    seeds: Any
    """uint32 [network]"""
    rows: slice
    """Where they stand among all of the run."""


class Progress(NamedTuple):
    """What a stretch of steps showed."""

    loss: np.ndarray
    """[step, network, task]"""
    validated: np.ndarray
    """The steps after which there was a validation."""
    scores: np.ndarray
    """[validation, network, task]"""


class Stretches:
    """Takes steps with groups of networks."""

    def __init__(self, config: TrainingConfig, plans: Sequence[TaskPlan], placement: Placement):
        # Other seeds need no other program.
        self._config = dataclasses.replace(config, first_seed=0)
        self._layout = layout_of(config, plans)
        self._placement = placement
        self._programs: dict[Any, Callable] = {}

    def compile(self, material: Material, group: Group) -> None:
        """All programs that a generation needs and that are not there yet."""
        step, batches = np.int32(0), np.zeros(len(group.seeds), np.int32)
        wanted: dict[Any, tuple] = {
            lesson: (lesson, group.learners, (group.seeds, batches), step, pool)
            for number, plan in enumerate(material.generation.plans)
            for lesson, pool in (
                self._lesson(material, number, b) for b in range(len(plan.branches))
            )
        }
        validations = self._validations(material)
        wanted |= {
            one: (one, group.learners, (group.seeds,), step, problems)
            for one, problems in validations
        }
        scores = tuple(np.zeros(len(group.seeds), np.float32) for _ in validations)
        wanted[keep_best] = (keep_best, group.learners, (scores,), step, ())
        with ThreadPoolExecutor(min(_COMPILED_AT_ONCE, os.cpu_count() or 1)) as executor:
            compiling = {
                name: executor.submit(_program, one, *self._placement, *arguments)
                for name, (one, *arguments) in wanted.items()
            }
            self._programs = {name: done.result() for name, done in compiling.items()}

    def take(
        self, material: Material, group: Group, start: int, stop: int
    ) -> tuple[Group, Progress]:
        """The group after these steps, and its progress."""
        learners, losses, validated, scores = group.learners, [], [], []
        schedules = material.generation.schedules
        lessons = [
            [self._lesson(material, number, branch) for branch in range(len(plan.branches))]
            for number, plan in enumerate(material.generation.plans)
        ]
        programs = [[(self._programs[lesson], pool) for lesson, pool in of] for of in lessons]
        for step in range(start, stop):
            now, place = np.int32(step), step - material.first
            for number, schedule in enumerate(schedules):
                program, pool = programs[number][int(schedule.branch[place])]
                batches = np.ascontiguousarray(schedule.batch[group.rows, place])
                learners, loss = program(learners, (group.seeds, batches), now, pool)
                losses.append(loss)
            if step % self._config.evaluate_every == 0:
                of_tasks = []
                for one, problems in self._validations(material):
                    learners, score = self._programs[one](learners, (group.seeds,), now, problems)
                    of_tasks.append(score)
                keep = self._programs[keep_best]
                learners, of_tasks = keep(learners, (tuple(of_tasks),), now, ())
                validated.append(step)
                scores.append(of_tasks)
        tasks, networks = len(schedules), len(group.seeds)
        loss = np.array([np.asarray(one) for one in losses]).reshape(-1, tasks, networks)
        of_all = np.array([np.asarray(one) for one in scores], np.float32)
        progress = Progress(
            np.swapaxes(loss, 1, 2),
            np.array(validated, np.int32),
            of_all.reshape(-1, networks, tasks),
        )
        return group._replace(learners=learners), progress

    def _validations(self, material: Material) -> list[tuple[Validation, Batch]]:
        tasks = self._config.tasks
        return [
            (Validation(self._config, self._layout, task), problems)
            for task, problems in zip(tasks, material.validation, strict=True)
        ]

    def _lesson(self, material: Material, number: int, branch: int) -> tuple[Lesson, Batch]:
        """A task's lesson of one shape, and the pool that it draws from."""
        plan = material.generation.plans[number]
        size, time = plan.branches[branch]
        pool = material.pools[number][size]
        lesson = Lesson(self._config, self._layout, plan.task, pool.nodes, time)
        return lesson, pool


def _program(one: Callable, mesh: Mesh, at_once: int, *arguments: Any) -> Callable:
    """`one` for the networks of a group, whose learners' memory it takes over."""
    shapes = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=getattr(a, "sharding", None)),
        arguments,
    )
    leaves, structure = jax.tree.flatten(shapes)
    return _compiled(one, mesh, at_once, structure, tuple(leaves))


@functools.lru_cache(_KEPT)
def _compiled(one: Callable, mesh: Mesh, at_once: int, structure: Any, leaves: tuple) -> Callable:
    def of_all(learners, own, step, shared):
        return over_seeds(
            lambda per_seed, given: one(per_seed[0], *per_seed[1], *given),
            (learners, own),
            (step, shared),
            mesh,
            at_once,
        )

    shapes = jax.tree.unflatten(structure, leaves)
    return program_for(jax.jit(of_all, donate_argnums=0), *shapes)
