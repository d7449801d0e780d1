"""What is trained: for each task, with and without traces, small or as in the paper."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.solutions import Plan

TASKS = ("bfs", "bellman_ford", "dfs")
_SEEDS = {"bfs": 128, "bellman_ford": 128, "dfs": 32}
"""Trained together on a GPU."""
_STEPS = 10_000
_RATES = {"bfs": 14_700.0, "bellman_ford": 8_800.0, "dfs": 1_000.0}
"""Seed-steps a second on one H200: of 128 seeds at n = 16 (docs/explanation/performance.md); of
DFS, of 32 seeds in training."""
_COMPILING = 60.0
"""Seconds for each chunk, likewise."""


def plan_of(preset: str, task: str, *, traces: bool = True) -> "Plan":
    from algoscope import networks, tasks, training
    from algoscope.experiments.mind_the_gap.solutions import Plan

    hints = training.hint_options("encoded_decoded" if traces else "none")
    if preset == "smoke":
        config = training.TrainingConfig(
            (task,),
            seeds=2 if task == "dfs" else 4,
            steps=60,
            learning_rate=3e-3,
            evaluate_every=20,
            scored_on=("test",),
            recipe=tasks.Recipe(sizes=(4, 7), count=8),
            network=networks.NetworkConfig(width=16, **hints),
        )
        return Plan(config, chunk=2, sizes=(7, 12), problems=8, compared=4)
    network = networks.NetworkConfig(**hints)
    config = training.TrainingConfig(
        (task,), seeds=_SEEDS[task], steps=_STEPS, scored_on=("test",), network=network
    )
    sizes = (16,) if task == "dfs" else (16, 64)
    return Plan(config, chunk=_SEEDS[task], sizes=sizes, problems=32, compared=8)


def estimate(plans: Sequence["Plan"], out: pathlib.Path) -> str:
    """How long the GPU will take for what is missing, and where that comes from."""
    minutes, parts = 0.0, []
    for plan in plans:
        missing = plan.missing(out)
        seed_steps = sum(config.seeds * config.steps for config in missing)
        minutes += _minutes(plan.task, seed_steps, len(missing))
        parts.append(f"{plan.name} {seed_steps:,} seed-steps at {_RATES[plan.task]:,.0f} a second")
    return (
        f"about {minutes:.0f} GPU minutes on one H200: {'; '.join(parts)}; and "
        f"{_COMPILING:.0f} s for each chunk to compile (docs/explanation/performance.md), "
        "measuring not counted"
    )


def costs(tasks: Sequence[str], variants: int = 1) -> dict[str, str]:
    """What each preset takes, of so many ensembles of each task."""
    minutes = variants * sum(_minutes(task, _SEEDS[task] * _STEPS, 1) for task in tasks)
    seeds = ", ".join(f"{_SEEDS[task]} of {task}" for task in tasks)
    twice = "" if variants == 1 else f", {variants} times"
    return {
        "smoke": "2 or 4 seeds, 60 steps: shows that everything works, and nothing else",
        "full": f"seeds: {seeds}{twice}; {_STEPS:,} steps; about {minutes:.0f} minutes of an H200",
    }


def _minutes(task: str, seed_steps: int, chunks: int) -> float:
    return (seed_steps / _RATES[task] + _COMPILING * chunks) / 60
