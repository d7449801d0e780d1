"""What is trained: an ensemble for each arm of a table, small or as in the paper.

An arm is a small difference from the paper's Table 8, whose settings are `TrainingConfig`'s own.
"""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from algoscope.experiments.mind_the_gap.depth import STEPS
from algoscope.experiments.mind_the_gap.soft import Start

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.solutions import Plan

TASKS = ("bfs", "bellman_ford", "dfs")
_STEPS = 10_000
_RATES = {"bfs": 14_700.0, "bellman_ford": 8_800.0, "dfs": 1_000.0}
"""Seed-steps a second on one H200: of 128 seeds at n = 16 (docs/explanation/performance.md); of
DFS, of 32 seeds in training."""
_COMPILING = 60.0
"""Seconds for each chunk, likewise."""


@dataclasses.dataclass(frozen=True)
class Arm:
    """An ensemble: in what it differs from the baseline of its task."""

    task: str
    variant: str = ""
    seeds: int = 128
    sizes: tuple[int, ...] = ()
    """On whose problems faithfulness is measured; without, scores alone."""
    chunk: int = 128
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    recipe: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    network: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    start: Start | None = None

    @property
    def name(self) -> str:
        """That of `Plan`."""
        return f"{self.task}-{self.variant}" if self.variant else self.task

    @property
    def steps(self) -> int:
        return self.training.get("steps", _STEPS)


BASELINES = {
    "bfs": Arm("bfs", sizes=(16, 64)),
    "bellman_ford": Arm("bellman_ford", sizes=(16, 64)),
    "dfs": Arm("dfs", sizes=(16,), chunk=32),
}
"""Of tables 1 and 10."""
WITHOUT_TRACES = {
    task: dataclasses.replace(
        arm, variant="without-traces", network={"encode_hints": False, "decode_hints": False}
    )
    for task, arm in BASELINES.items()
}
"""Of table 14."""


_TINY_WIDTH = 8
_SMOKE = {
    "training": {"steps": 60, "learning_rate": 3e-3, "evaluate_every": 20},
    "recipe": {"sizes": (4, 7), "count": 8},
    "network": {"width": 16},
}
_TINY = {
    "training": {"steps": 4, "evaluate_every": 2, "test_size": 4},
    "recipe": {"sizes": (4,), "count": 2, "length_needle": None},
    "network": {"width": _TINY_WIDTH},
}
"""For the many ensembles of tables that show scores alone; needles are as long as the sampler's,
which fit into so short texts."""
_SHRUNK = {
    "test_size": 4,
    "attention_bias": 4,
    "sizes": (4,),
    "steps": 6,
    "heads": 2,
    "learning_rate": 1e-3,
}
"""What becomes of an arm's options."""


def plan_of(preset: str, arm: Arm) -> "Plan":
    if preset == "smoke":
        baseline = arm in (*BASELINES.values(), *WITHOUT_TRACES.values())
        return _small(arm, _SMOKE, (7, 12)) if baseline else _small(arm, _TINY, (4,))
    options = {"training": arm.training, "recipe": arm.recipe, "network": arm.network}
    return _plan(arm, options, arm.seeds, arm.chunk, arm.sizes, problems=32, compared=8)


def _small(arm: Arm, base: Mapping[str, dict[str, Any]], sizes: tuple[int, ...]) -> "Plan":
    options = {
        part: named
        | {
            name: _SHRUNK.get(name, value)
            for name, value in getattr(arm, part).items()
            # Narrow networks stay so; all others have one width here.
            if name != "width" or value < _TINY_WIDTH
        }
        for part, named in base.items()
    }
    seeds = 2 if arm.task == "dfs" or base is _TINY else 4
    smaller = dataclasses.replace(arm, start=arm.start and arm.start._replace(width=_TINY_WIDTH))
    return _plan(smaller, options, seeds, 2, sizes if arm.sizes else (), problems=8, compared=4)


def _plan(
    arm: Arm,
    options: Mapping[str, Mapping[str, Any]],
    seeds: int,
    chunk: int,
    sizes: tuple[int, ...],
    *,
    problems: int,
    compared: int,
) -> "Plan":
    from algoscope import networks, tasks, training
    from algoscope.experiments.mind_the_gap.solutions import Plan

    network = networks.NetworkConfig(**options["network"])
    if arm.start is not None:
        network = arm.start.compiled().network.config
    config = training.TrainingConfig(
        (arm.task,),
        seeds=seeds,
        scored_on=("test",),
        recipe=tasks.Recipe(**options["recipe"]),
        network=network,
        **{"steps": _STEPS, **options["training"]},
    )
    both = ("best", "last")
    return Plan(config, chunk, sizes, problems, compared, both, arm.variant, arm.start)


def estimate(arms: Sequence[Arm], plans: Sequence["Plan"], out: pathlib.Path) -> str:
    """How long the GPU will take for what is missing, and where that comes from."""
    minutes, parts = 0.0, []
    for arm, plan in zip(arms, plans, strict=True):
        missing = plan.missing(out)
        seed_steps = sum(config.seeds * config.steps for config in missing)
        minutes += (seed_steps / rate(arm) + _COMPILING * len(missing)) / 60
        parts.append(f"{plan.name} {seed_steps:,} seed-steps at {rate(arm):,.0f} a second")
    return (
        f"about {minutes:.0f} GPU minutes on one H200: {'; '.join(parts)}; and "
        f"{_COMPILING:.0f} s for each chunk to compile (docs/explanation/performance.md), "
        "measuring not counted"
    )


def rate(arm: Arm) -> float:
    """Seed-steps a second."""
    if arm.task in _RATES:
        return _RATES[arm.task]
    # A DFS seed's step takes 1 ms for 30.6 steps of trace in the mean of its sizes; BFS's, of 3.6,
    # 0.07 ms, so this is a bound for short traces.
    return _RATES["dfs"] * STEPS["dfs"].learnt / STEPS[arm.task].learnt


def gpu_minutes(arms: Sequence[Arm]) -> float:
    """On one H200, nothing done yet."""
    seconds = (
        arm.seeds * arm.steps / rate(arm) + _COMPILING * -(-arm.seeds // arm.chunk) for arm in arms
    )
    return sum(seconds) / 60


def costs(arms: Sequence[Arm]) -> dict[str, str]:
    """What each preset takes."""
    seeds = ", ".join(f"{arm.seeds} of {arm.name}" for arm in arms[:3])
    more = f" and {len(arms) - 3} more ensembles" if len(arms) > 3 else ""
    return {
        "smoke": "2 or 4 seeds, few steps: shows that everything works, and nothing else",
        "full": f"seeds: {seeds}{more}; about {gpu_minutes(arms):.0f} minutes of an H200",
    }
