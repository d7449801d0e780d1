"""Graph networks as an objective: the ensemble's data and programs, and its steps on the devices.

There is a program for each task and each shape of its batches, and one for each task's validation,
compiled side by side. The next generation of problems is drawn while the device works; by an
executor of processes several are, for where drawing is slow.
"""

import dataclasses
import functools
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.stages import Compiled

from algoscope import progress
from algoscope.runs.folder import Metrics
from algoscope.tasks import Batch, Recipe
from algoscope.training.compile_cache import program_for, side_by_side
from algoscope.training.learning import Lesson, Validation, keep_best, over_seeds
from algoscope.training.optimiser import Learner
from algoscope.training.plan import Placement, TrainingPlan
from algoscope.training.pool import (
    Generation,
    Material,
    Schedule,
    compact,
    draw_generation,
    steps_per_generation,
    validation_batch,
)


class GenerationOnDevice(NamedTuple):
    """The data of a generation on the devices, with what is learnt from it."""

    first: int
    """The generation's first step."""
    schedules: tuple[Schedule, ...]
    """By task."""
    lessons: tuple[tuple[tuple[Lesson, Material], ...], ...]
    """By task and shape, with the pool that a lesson draws from."""


class Group(NamedTuple):
    """Networks that run side by side."""

    learners: Learner
    seeds: Any
    """uint32 [network]"""
    rows: slice
    """Where they stand among all of the run."""


@dataclasses.dataclass(frozen=True)
class OverSeeds:
    """What `one` does to a learner, done to the learners of a group."""

    one: Callable
    placement: Placement

    def __call__(self, learners: Learner, per_seed: tuple, *shared: Any) -> Any:
        def one(mine: tuple[Learner, tuple], shared: tuple) -> Any:
            return self.one(mine[0], *mine[1], *shared)

        return over_seeds(one, (learners, per_seed), shared, *self.placement)


class GraphObjective:
    """The loss of `learning`, in steps of all networks of an ensemble."""

    def __init__(
        self,
        plan: TrainingPlan,
        resume_command: str = "algoscope train --resume RUN",
        *,
        executor: Executor | None = None,
        ahead: int = 1,
    ):
        """`ahead` generations are drawn before they are needed, by the executor, else a thread."""
        # Other seeds and problems, or more steps at a constant rate, need no other program.
        graphs = Recipe().graphs
        recipe = dataclasses.replace(plan.config.recipe, graphs=graphs)
        self._config = dataclasses.replace(
            plan.config,
            first_seed=0,
            data_seed=0,
            steps=plan.config.steps if plan.config.warmup else 1,
            teacher=(),
            keep="best",
            test_size=None,
            recipe=recipe,
        )
        self._plan = plan
        self.steps = plan.config.steps
        self.resume_command = resume_command
        fewer = max(1, plan.placement.at_once // 2)
        self.memory_advice = (
            f"go on with fewer networks at once: `{self.resume_command} --at-once {fewer}`"
        )
        self._in_generation = steps_per_generation(plan.config)
        self._executor, self._ahead = executor or ThreadPoolExecutor(1), ahead
        self._coming: dict[int, Future[Generation]] = {}
        self._data: GenerationOnDevice | None = None
        self._programs: dict[Any, Compiled] = {}

    def place(self, learner: Learner) -> list[Group]:
        placement, seeds = self._plan.placement, np.asarray(self._plan.config.all_seeds, np.uint32)
        size = placement.at_once * placement.mesh.size

        def group(rows: slice) -> Group:
            members = jax.tree.map(lambda stacked: stacked[rows], (learner, seeds))
            return Group(*placement.spread(members), rows=rows)

        return [group(slice(start, start + size)) for start in range(0, len(seeds), size)]

    def gather(self, placed: list[Group]) -> Learner:
        each = [group.learners for group in placed]
        return jax.tree.map(lambda *parts: np.concatenate([np.asarray(p) for p in parts]), *each)

    def until(self, step: int) -> int:
        return (step // self._in_generation + 1) * self._in_generation

    def prepare(self, placed: list[Group], step: int) -> None:
        self._generation(step // self._in_generation, placed[0])

    def take(self, placed: list[Group], start: int, stop: int) -> tuple[list[Group], Metrics]:
        data = self._generation(start // self._in_generation, placed[0])
        taken = [self.take_group(data, group, start, stop) for group in placed]
        measured = [metrics for _, metrics in taken]
        loss = np.concatenate([metrics.loss for metrics in measured], 1)
        scores = np.concatenate([metrics.validation for metrics in measured], 1)
        return [group for group, _ in taken], Metrics(loss, measured[0].validation_steps, scores)

    def _generation(self, number: int, group: Group) -> GenerationOnDevice:
        """What a generation learns from, with its programs compiled."""
        first = number * self._in_generation
        if self._data is None or self._data.first != first:
            for coming in range(number, number + 1 + self._ahead):
                if coming * self._in_generation < self.steps and coming not in self._coming:
                    self._coming[coming] = self._draw(coming)
            with progress.job("drawing problems"):
                drawn = self._coming.pop(number).result()
            self._data = self.on_device(drawn, first)
            self.compile(self._data, group)
        return self._data

    def _draw(self, number: int) -> Future[Generation]:
        # A copy, without what was computed of it, goes to other processes.
        config = dataclasses.replace(self._plan.config)
        return self._executor.submit(
            draw_generation, config, self._plan.tasks, number, config.all_seeds
        )

    @functools.cached_property
    def _validations(self) -> dict[Validation, Batch]:
        """By task, with the problems."""
        plan = self._plan
        problems = {
            Validation(self._config, plan.layout, task): compact(
                validation_batch(plan.config, task)
            )
            for task in plan.config.tasks
        }
        return {one: plan.placement.everywhere(batch) for one, batch in problems.items()}

    def on_device(self, drawn: Generation, first: int) -> GenerationOnDevice:
        def lesson(task: str, pool: Material, time: int) -> tuple[Lesson, Material]:
            return Lesson(self._config, self._plan.layout, task, pool.batch.nodes, time), pool

        pools = self._plan.placement.everywhere(drawn.pools)
        lessons = tuple(
            tuple(lesson(plan.task, sizes[size], time) for size, time in plan.branches)
            for plan, sizes in zip(drawn.plans, pools, strict=True)
        )
        return GenerationOnDevice(first, drawn.schedules, lessons)

    def compile(self, data: GenerationOnDevice, group: Group) -> None:
        """All programs that a generation needs and that are not there yet."""
        step, networks = np.int32(0), len(group.seeds)
        batches, scores = np.zeros(networks, np.int32), np.zeros(networks, np.float32)
        wanted: dict[Any, tuple] = {
            lesson: ((group.seeds, batches), step, pool)
            for shapes in data.lessons
            for lesson, pool in shapes
        }
        wanted |= {one: ((group.seeds,), step, batch) for one, batch in self._validations.items()}
        wanted[keep_best] = ((tuple(scores for _ in self._validations),), step)

        def compile_one(one: Callable, arguments: tuple) -> Compiled:
            over_group = OverSeeds(one, self._plan.placement)
            return program_for(over_group, group.learners, *arguments, donate=(0,))

        self._programs = side_by_side(
            {one: functools.partial(compile_one, one, wanted[one]) for one in wanted}
        )

    def take_group(
        self, data: GenerationOnDevice, group: Group, start: int, stop: int
    ) -> tuple[Group, Metrics]:
        """The group after these steps, and what was measured."""
        learners, losses, validated, scores = group.learners, [], [], []
        programs = [
            [(self._programs[lesson], pool) for lesson, pool in shapes] for shapes in data.lessons
        ]
        for step in range(start, stop):
            number, place = np.int32(step), step - data.first
            for schedule, shapes in zip(data.schedules, programs, strict=True):
                program, pool = shapes[int(schedule.branch[place])]
                batches = np.ascontiguousarray(schedule.batch[group.rows, place])
                learners, loss = program(learners, (group.seeds, batches), number, pool)
                losses.append(loss)
            if step % self._config.evaluate_every == 0:
                learners, score = self._validate(learners, group.seeds, number)
                validated.append(step)
                scores.append(score)
        tasks, networks = len(data.schedules), len(group.seeds)
        loss = np.array(jax.device_get(losses)).reshape(-1, tasks, networks).swapaxes(1, 2)
        scored = np.array(jax.device_get(scores), np.float32).reshape(-1, networks, tasks)
        metrics = Metrics(loss, np.array(validated, np.int32), scored)
        return group._replace(learners=learners), metrics

    def _validate(self, learners: Learner, seeds: Any, step: np.int32) -> tuple[Learner, Any]:
        scores = []
        for one, batch in self._validations.items():
            learners, score = self._programs[one](learners, (seeds,), step, batch)
            scores.append(score)
        return self._programs[keep_best](learners, (tuple(scores),), step)
