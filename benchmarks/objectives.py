"""What further objectives cost: a step of a training with them against one of an ordinary training.

    python benchmarks/objectives.py                                # BFS, width 64, one seed
    python benchmarks/objectives.py --task bellman_ford --seeds 8 --width 128
    python benchmarks/objectives.py --graphs clrs deep clrs sparse # a mixture, in all trainings

All trainings of a call have the same sizes, graphs, batches and lengths of time. Everything is
compiled first; then they take turns, and the best time of each counts, since a machine is only
ever slowed down by others. What the host needs to draw a batch, and to have the teacher
demonstrate it, is measured beside: it is done while the device works.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Callable
from typing import NamedTuple

import jax

from algoscope import networks, tasks, training
from algoscope.training import pool
from algoscope.training.ensemble import start_learners
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.plan import plan_training

USUAL = ("hints", "outputs")
OBJECTIVES = {
    "usual": USUAL,
    "attention": (*USUAL, "attention"),
    "exchange": (*USUAL, "exchange"),
    "attention and exchange": (*USUAL, "attention", "exchange"),
}


class Side(NamedTuple):
    run: Callable[[], None]
    """Takes all steps, with all seeds."""
    drawing: float
    """Seconds of the host for a batch."""


def prepare(config: training.TrainingConfig, plans: tuple[pool.TaskPlan, ...]) -> Side:
    plan = plan_training(config, plans=plans)
    objective = GraphObjective(plan)
    begun = time.perf_counter()
    drawn = pool.draw_generation(config, plans, 0, config.all_seeds)
    drawing = (time.perf_counter() - begun) / config.steps
    data = objective.on_device(drawn, 0)
    groups = objective.place(start_learners(plan))
    objective.compile(data, groups[0])

    def run() -> None:
        for number, group in enumerate(groups):
            groups[number], _ = objective.take_group(data, group, 1, config.steps)

    run()
    return Side(run, drawing)


def seconds(run: Callable[[], None]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="bfs")
    parser.add_argument("--sizes", nargs="+", type=int, default=[16])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--graphs", nargs="+", default=["clrs"])
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    recipe = tasks.Recipe(
        sizes=tuple(chosen.sizes), count=chosen.batch, graphs=tuple(chosen.graphs)
    )
    config = training.TrainingConfig(
        (chosen.task,),
        seeds=chosen.seeds,
        steps=chosen.steps,
        evaluate_every=10**6,
        recipe=recipe,
        network=networks.NetworkConfig(width=chosen.width),
    )
    configs = {
        name: dataclasses.replace(config, objective=texts) for name, texts in OBJECTIVES.items()
    }
    # The plan of paired batches has room for all.
    made = [pool.make_plan(config, chosen.task) for config in configs.values()]
    times = [max(plan.buckets[size][-1] for plan in made) for size in range(len(made[0].buckets))]
    plans = (dataclasses.replace(made[0], buckets=tuple((time,) for time in times)),)
    sides = {name: prepare(each, plans) for name, each in configs.items()}
    taken = [[seconds(side.run) for side in sides.values()] for _ in range(chosen.turns)]
    best = dict(zip(sides, map(min, zip(*taken, strict=True)), strict=True))
    for name, side in sides.items():
        result = vars(chosen) | {
            "objective": name,
            "device": jax.local_devices()[0].device_kind,
            "ms per step": round(1e3 * best[name] / (chosen.steps - 1), 3),
            "ratio": round(best[name] / best["usual"], 2),
            "host, ms per batch": round(1e3 * side.drawing, 2),
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
