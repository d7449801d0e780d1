"""What 10, 100 and 1,000 GPUs mean: device hours, hours by the clock, files, bytes of two studies.

Steps are those that were measured on an H200 (results/training/h200.jsonl): of BFS, Bellman-Ford
and DFS with 128 seeds at once, of BFS with fewer seeds too. A task that was not measured takes what
BFS does for each hint step; a processor that was not, what GATv2 does. Runs are handed out the
longest first.

    python benchmarks/scale_plan.py                 # prints the tables of docs/explanation/scale.md
"""

import heapq
import json
import pathlib
import statistics
from collections.abc import Iterable
from typing import NamedTuple

from algoscope import programs
from algoscope.capacity import readable

STEPS_FILE = pathlib.Path(__file__).parents[1] / "results" / "training" / "h200.jsonl"
JUDGING_FILE = pathlib.Path(__file__).parent / "judging_time.json"
GPUS = (1, 10, 100, 1000)
SEEDS = 128
SEEDS_A_RUN = (128, 32, 8, 1)
STEPS = 10_000
"""Of a training: the default."""
PROCESSORS = 8
HINT_STEPS = {
    "activity_selector": 17, "articulation_points": 60, "bellman_ford": 7, "bfs": 6,
    "binary_search": 5, "bridges": 60, "bubble_sort": 121, "dag_shortest_paths": 46, "dfs": 48,
    "dijkstra": 17, "find_maximum_subarray_kadane": 16, "floyd_warshall": 16, "graham_scan": 29,
    "heapsort": 90, "insertion_sort": 16, "jarvis_march": 154, "kmp_matcher": 19,
    "lcs_length": 11, "matrix_chain_order": 15, "minimum": 16, "mst_kruskal": 23, "mst_prim": 17,
    "naive_string_matcher": 18, "optimal_bst": 17, "quickselect": 70, "quicksort": 75,
    "segments_intersect": 5, "strongly_connected_components": 95, "task_scheduling": 17,
    "topological_sort": 40,
}  # fmt: skip
"""Of the longest trace of 32 problems of size 16, drawn with seed 0, which takes half a minute."""
PARAMETERS = 397_316
"""Of GATv2 of width 128 for BFS; the mean over all tasks is 2 % less."""
CHECKPOINT_SECONDS = 60
COPIES = 4
"""Of the weights in a checkpoint: the network, Adam's two moments, and the best so far."""
FILES_OF_RUN = 9
"""run.json, results.json, verdicts.json, metrics.safetensors, three tables, lock and log: what a
judged run has whatever its seeds."""
FILES_OF_SEED = 3
"""The best weights, the last weights, and a judgement."""
JUDGEMENT_BYTES, LOSS_BYTES = 25_000, 11
"""Of a judgement; of a network's step: 4 in metrics.safetensors, 7 in metrics.parquet. Both were
measured on runs of a sweep."""


class Measured(NamedTuple):
    step_ms: dict[str, float]
    """Of 128 seeds at once, by task."""
    hint_step_ms: float
    """Of BFS, 128 seeds at once."""
    growth_ms: dict[int, float]
    """Of BFS, by seeds at once."""
    compiling: float
    """Seconds, the mean over tasks."""


class Study(NamedTuple):
    name: str
    tasks: tuple[str, ...]
    processors: int

    @property
    def networks(self) -> int:
        return len(self.tasks) * self.processors * SEEDS


STUDIES = (
    Study("paper", ("bfs", "bellman_ford", "dfs"), 1),
    Study("all", tuple(HINT_STEPS), PROCESSORS),
)


class Plan(NamedTuple):
    """A study on so many GPUs."""

    study: str
    gpus: int
    seeds_a_run: int
    runs: int
    files: int
    device_hours: float
    hours: float
    """By the clock."""
    busy: float
    """The share of the GPUs' time in which they train."""
    checkpoint_bytes_a_second: float
    """Of all GPUs together, at one checkpoint a minute."""


def measured() -> Measured:
    """The first line of each kind, of problems of size 16."""
    lines = [json.loads(line) for line in STEPS_FILE.read_text().splitlines()]
    lines = [line for line in reversed(lines) if line["size"] == 16]
    whole = {line["task"]: line for line in lines if line["seeds"] == SEEDS}
    growth = [line for line in lines if "--seeds 1 8 32 128 512" in line["command"]]
    step = "ours, ms per step"
    return Measured(
        {task: line[step] for task, line in whole.items()},
        whole["bfs"][step] / whole["bfs"]["hint steps"],
        {line["seeds"]: line[step] for line in growth},
        sum(line["compiling, s"] for line in whole.values()) / len(whole),
    )


def run_seconds(known: Measured, task: str, seeds: int) -> float:
    """Of one training, compiling included."""
    whole = known.step_ms.get(task, known.hint_step_ms * HINT_STEPS[task])
    share = known.growth_ms[seeds] / known.growth_ms[SEEDS]
    return known.compiling + STEPS * whole * share / 1000


def makespan(seconds: Iterable[float], gpus: int) -> float:
    """Until the last is done, when each GPU takes the longest run that is left."""
    free = [0.0] * gpus
    for one in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + one)
    return max(free)


def plan(known: Measured, study: Study, gpus: int, seeds: int) -> Plan:
    of_each = study.processors * SEEDS // seeds
    every = [run_seconds(known, task, seeds) for task in study.tasks for _ in range(of_each)]
    whole, clock = sum(every), makespan(every, gpus)
    written = min(gpus, len(every)) * seeds * COPIES * 4 * PARAMETERS
    return Plan(
        study.name,
        gpus,
        seeds,
        len(every),
        len(every) * (FILES_OF_RUN + FILES_OF_SEED * seeds),
        whole / 3600,
        clock / 3600,
        whole / clock / gpus,
        written / CHECKPOINT_SECONDS,
    )


def fastest(known: Measured, study: Study, gpus: int) -> Plan:
    """The plan that ends first; of equals, the one with the fewest runs."""
    plans = [plan(known, study, gpus, seeds) for seeds in SEEDS_A_RUN]
    return min(plans, key=lambda one: (one.hours, one.runs))


def plan_rows() -> list[list[str]]:
    known = measured()
    plans = [fastest(known, study, gpus) for study in STUDIES for gpus in GPUS]
    return [
        [f"*{one.study}*", f"{one.gpus:,}", str(one.seeds_a_run), f"{one.runs:,}",
         f"{one.device_hours:,.1f}", f"{one.hours:,.2f}", f"{100 * one.busy:.0f} %",
         f"{one.files:,}", f"{readable(one.checkpoint_bytes_a_second)}/s"]
        for one in plans
    ]  # fmt: skip


def stored_rows() -> list[list[str]]:
    """Bytes of a finished study: weights, metrics and judgements of all its networks."""
    of_network = (2 * 4 * PARAMETERS, STEPS * LOSS_BYTES, JUDGEMENT_BYTES)
    return [
        [f"*{study.name}*", f"{study.networks:,}",
         *(readable(study.networks * octets) for octets in of_network),
         f"{judged(study):,}", f"{judging_hours(study):,.0f}"]
        for study in STUDIES
    ]  # fmt: skip


def judged(study: Study) -> int:
    """Networks of tasks for which the library has an exact program: of others there is no
    verdict."""
    known = set(programs.tasks_with_references()).intersection(study.tasks)
    return study.networks * len(known) // len(study.tasks)


def judging_seconds() -> tuple[float, float]:
    """Of the processor, for the first network of a run and for each other: means over the tasks
    that were measured (benchmarks/judging_time.py)."""
    measured = json.loads(JUDGING_FILE.read_text())["measured"]
    firsts, others = zip(*(one["processor_seconds"] for one in measured), strict=True)
    return statistics.fmean(firsts), statistics.fmean(others)


def judging_hours(study: Study) -> float:
    """Of one core, with 128 seeds in each run."""
    (first, other), networks = judging_seconds(), judged(study)
    return (networks * other + networks // SEEDS * (first - other)) / 3600


def main() -> None:
    for rows in (plan_rows(), stored_rows()):
        print("\n".join(f"| {' | '.join(row)} |" for row in rows), end="\n\n")


if __name__ == "__main__":
    main()
