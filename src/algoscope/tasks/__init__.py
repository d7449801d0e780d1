"""The CLRS-30 benchmark: thirty algorithms with their inputs, step-by-step traces and outputs.

    from algoscope import tasks

    batch = tasks.sample("bfs", size=16, count=32, seed=7)
    batch.inputs["A"], batch.hints["pi_h"], batch.outputs["pi"], batch.lengths
    tasks.text.write(batch, sample=0, traces=True).prompt
    tasks.export.to_rows(batch)

    tasks.sample("bfs", size=1600, count=1, family="delaunay")
    tasks.run("dijkstra", networkx_graph, source="Basel").answer

    tasks.sample(tasks.define("way_out", features, draw, algorithm))  # a task of one's own

The same seed draws the same problems as dm-clrs 2.0.3, bit for bit.
"""

from typing import Any

from algoscope.errors import unknown_name
from algoscope.tasks import export, text
from algoscope.tasks.batch import Batch
from algoscope.tasks.definition import define
from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.given_problems import run
from algoscope.tasks.registry import get, names, register, seed_word
from algoscope.tasks.sampling import sample_task
from algoscope.tasks.streams import Recipe, stream
from algoscope.tasks.task import Task

__all__ = [
    "Batch",
    "Feature",
    "Kind",
    "Location",
    "Recipe",
    "Stage",
    "Task",
    "define",
    "export",
    "get",
    "names",
    "register",
    "run",
    "sample",
    "seed_word",
    "split",
    "stream",
    "text",
]

_SPLITS = {"train": (1000, 16, 1), "val": (32, 16, 2), "test": (32, 64, 3)}
"""Count, size and seed of the canonical splits."""


def sample(
    task: Task | str, size: int = 16, count: int = 32, seed: int = 7, **options: Any
) -> Batch:
    """Draws `count` problems of `size` and traces the reference algorithm on each.

    Equal to dm-clrs's `build_sampler(task, num_samples=count, length=size, seed=seed, **options)`.
    """
    return sample_task(get(task), size, count, seed, options)


def split(task: Task | str, part: str) -> Batch:
    """A canonical split of CLRS-30: "train" (1,000 samples of size 16), "val" (size 16) or "test"
    (size 64); the latter two have 32 samples times the task's `evaluation_multiplier`."""
    if part not in _SPLITS:
        raise ValueError(unknown_name("split", part, _SPLITS))
    count, size, seed = _SPLITS[part]
    task = get(task)
    if part != "train":
        count *= task.evaluation_multiplier
    return sample_task(task, size, count, seed, {})
