"""Trained networks of known mechanism, for tests of the verdict.

Each recipe says from which program's traces networks learnt, right or wrong, with which objectives,
from which graphs and for how long; so it is known what they were taught. The seeds of a recipe
are trained as one ensemble. Recipes of one task and objective share their compiled programs.

    python benchmarks/trained_zoo.py list                       # the recipes
    python benchmarks/trained_zoo.py problems PROBLEMS          # draws what they learn from
    python benchmarks/trained_zoo.py train PROBLEMS OUT         # all recipes, or those named
        --seconds 540                                           # begins none after so long
    python benchmarks/trained_zoo.py unpack OUT FOLDER          # a file of weights for each network
    python benchmarks/trained_zoo.py judge OUT RESULTS.json     # the verdict on every network
    python benchmarks/trained_zoo.py report RESULTS.json        # words by what was taught

Problems are drawn once, where numba is; training reads them, and draws what is missing. OUT has one
file for each task, written after every recipe; a second call trains what is missing.
"""

import argparse
import dataclasses
import json
import pathlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np
import safetensors

from algoscope import falsify, files, measures, networks, programs, serialise, tasks
from algoscope.networks import Network, NetworkConfig
from algoscope.runs.environment import keep_compiled_programs
from algoscope.tasks import Batch, Feature, Stage
from algoscope.training import TrainingConfig, pool
from algoscope.training.ensemble import start_learners
from algoscope.training.graph_objective import GenerationOnDevice, GraphObjective, Group
from algoscope.training.optimiser import Learner
from algoscope.training.plan import TrainingPlan, plan_training
from algoscope.verdict import WORDS

SEEDS = 2
WIDTH = 64
SIZES = (8, 16)
COUNT = 16
BATCHES = 600
"""In a pool; networks go through it several times, each in its own order."""
STEPS = 1_200
LEARNING_RATE = 1e-3
USUAL = ("hints", "outputs")
READ = (*USUAL, "attention")
FULL = (*USUAL, "attention", "exchange")
CLRS, MIXED = ("clrs",), ("clrs", "deep", "clrs", "sparse")
EARLY = (50, 100, 200, 400)
_METADATA = "trained_zoo"


@dataclasses.dataclass(frozen=True)
class Recipe:
    task: str
    teacher: str = ""
    """A program; the task's own algorithm if none."""
    objective: tuple[str, ...] = USUAL
    graphs: tuple[str, ...] = CLRS
    stops: tuple[int, ...] = (STEPS,)
    """After how many steps the networks are kept: the last is the end."""

    @property
    def name(self) -> str:
        added = [name for name in self.objective if name not in USUAL]
        graphs = [] if self.graphs in (CLRS, MIXED) else self.graphs
        return "-".join((self.teacher or self.task, *added, *graphs))

    @property
    def problems(self) -> str:
        """What recipes with the same problems have in common."""
        pairs = ("pairs",) if "exchange" in self.objective else ()
        return "-".join((self.task, *self.graphs, *pairs))

    @property
    def config(self) -> TrainingConfig:
        return TrainingConfig(
            (self.task,),
            seeds=SEEDS,
            steps=BATCHES,
            learning_rate=LEARNING_RATE,
            objective=self.objective,
            teacher=(self.teacher,) if self.teacher else (),
            pool_steps=BATCHES,
            evaluate_every=10**6,
            recipe=tasks.Recipe(sizes=SIZES, count=COUNT, graphs=self.graphs),
            network=NetworkConfig(width=WIDTH),
        )


def taught(task: str, teachers: tuple[str, ...], **changes) -> Iterator[Recipe]:
    return (Recipe(task, teacher, **changes) for teacher in teachers)


RECIPES = (
    Recipe("bfs", stops=(*EARLY, STEPS)),
    Recipe("bfs", objective=READ),
    Recipe("bfs", "bfs_locked", FULL, MIXED),
    *taught("bfs", ("bfs_highest", "bfs_late_choice", "bfs_leaping", "bfs_two_hops")),
    *taught("bfs", ("bfs_drifting", "bfs_three_steps")),
    *taught("bfs", ("bfs_highest", "bfs_drifting"), objective=FULL, graphs=MIXED),
    *(Recipe("bfs", graphs=(kind,)) for kind in ("dense", "grid", "tree")),
    Recipe("bellman_ford", stops=(*EARLY[1:3], STEPS)),
    Recipe("bellman_ford", "bellman_ford", FULL, MIXED),
    *taught("bellman_ford", ("bellman_ford_hops", "bellman_ford_tilted", "bellman_ford_leaping")),
    Recipe("bellman_ford", "bellman_ford_hops", FULL, MIXED),
    *(Recipe("bellman_ford", graphs=(kind,)) for kind in ("dense", "tree")),
    Recipe("minimum", stops=(EARLY[1], STEPS)),
    Recipe("minimum", "minimum", FULL),
    *taught("minimum", ("minimum_ahead", "minimum_at_once", "minimum_tilted")),
    Recipe("dijkstra", stops=(EARLY[2], STEPS)),
    Recipe("dijkstra", "dijkstra", (*USUAL, "exchange")),
    *taught("dijkstra", ("dijkstra_relaxing", "dijkstra_tilted")),
    Recipe("dfs", stops=(EARLY[2], STEPS)),
    Recipe("dfs", graphs=("tree",)),
)


class Problems(NamedTuple):
    """The batches of a pool by size, and how they look."""

    plan: pool.TaskPlan
    by_size: list[list[Batch]]


def problems_for(recipe: Recipe, folder: pathlib.Path) -> Problems:
    """What the recipe learns from, drawn and written if nobody did."""
    path = folder / f"{recipe.problems}.npz"
    if not path.exists():
        by_size = pool.draw_batches(recipe.config, recipe.task, 0)
        arrays = {}
        for size, batches in zip(SIZES, by_size, strict=True):
            whole = pool.compact(Batch.join(batches))
            arrays |= {f"{size}/lengths": whole.lengths} | {
                f"{size}/{feature.name}": whole.values(feature.stage)[feature.name]
                for feature in whole.features
            }
        folder.mkdir(parents=True, exist_ok=True)
        files.place(path, lambda unfinished: np.savez_compressed(unfinished, **arrays))
    return _read(recipe, path)


def _read(recipe: Recipe, path: pathlib.Path) -> Problems:
    features = features_of(recipe.task)
    with np.load(path) as arrays:
        pools = [_pool(recipe.task, features, arrays, size) for size in SIZES]
    by_size = [
        [whole.take(slice(start, start + COUNT)) for start in range(0, len(whole), COUNT)]
        for whole in pools
    ]
    return Problems(pool.TaskPlan(recipe.task, features, tuple((p.time,) for p in pools)), by_size)


def _pool(task: str, features: tuple[Feature, ...], arrays: Any, size: int) -> Batch:
    inputs, hints, outputs = (
        {f.name: arrays[f"{size}/{f.name}"] for f in features if f.stage is stage}
        for stage in (Stage.INPUT, Stage.HINT, Stage.OUTPUT)
    )
    return Batch(tasks.get(task), inputs, hints, outputs, arrays[f"{size}/lengths"], features)


def features_of(task: str) -> tuple[Feature, ...]:
    """The task's features as training has them."""
    return next(tasks.stream(task, tasks.Recipe(sizes=(4,), count=1))).features


@dataclasses.dataclass(frozen=True)
class Shared:
    """What recipes of a task have in common."""

    folder: pathlib.Path
    """Where problems are."""
    times: dict[str, tuple[int, ...]]
    """By task, see `longest`."""
    starts: dict[str, Learner] = dataclasses.field(default_factory=dict)
    """By task, all seeds before the first step, on the host."""


class Prepared(NamedTuple):
    """A recipe with its data on the device and its programs compiled."""

    recipe: Recipe
    plan: TrainingPlan
    objective: GraphObjective
    data: GenerationOnDevice
    group: Group


def prepare(recipe: Recipe, shared: Shared) -> Prepared:
    problems = problems_for(recipe, shared.folder)
    buckets = tuple((time,) for time in shared.times[recipe.task])
    task_plan = dataclasses.replace(problems.plan, buckets=buckets)
    plan = plan_training(recipe.config, at_once=SEEDS, plans=(task_plan,))
    objective = GraphObjective(plan)
    drawn = pool.make_generation(plan.config, (task_plan,), (problems.by_size,), 0, range(SEEDS))
    data = objective.on_device(drawn, 0)
    if recipe.task not in shared.starts:
        shared.starts[recipe.task] = jax.device_get(start_learners(plan))
    (group,) = objective.place(shared.starts[recipe.task])
    objective.compile(data, group)
    return Prepared(recipe, plan, objective, data, group)


def longest(recipes: list[Recipe], folder: pathlib.Path) -> dict[str, tuple[int, ...]]:
    """Of each task, the length of time to which all its batches of a size are padded, so that its
    recipes have the same shapes."""
    times: dict[str, list[tuple[int, ...]]] = {}
    for recipe in recipes:
        buckets = problems_for(recipe, folder).plan.buckets
        times.setdefault(recipe.task, []).append(tuple(most for (most,) in buckets))
    return {task: tuple(map(max, zip(*each, strict=True))) for task, each in times.items()}


def learn(prepared: Prepared) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """The steps at which the recipe's networks are kept, with their weights: [seed, …]"""
    recipe, plan, objective, data, group = prepared
    step = 0
    for stop in recipe.stops:
        while step < stop:
            until = min(stop, data.first + BATCHES)
            group, _ = objective.take_group(data, group, step, until)
            step = until
            if step == data.first + BATCHES:
                data = data._replace(first=step)
        model = jax.vmap(plan.layout.unpack)(objective.gather([group]).weights)
        yield stop, networks.arrays(model.network(recipe.task))


def weights_file(out: pathlib.Path, task: str) -> pathlib.Path:
    return out / f"{task}.safetensors"


def contents(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict]:
    """The arrays of a file, and what it says about its recipes; of none, nothing."""
    if not path.exists():
        return {}, {}
    with safetensors.safe_open(path, "numpy") as file:
        about = json.loads(file.metadata()[_METADATA])
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118


def train(folder: pathlib.Path, out: pathlib.Path, names: list[str], seconds: float) -> None:
    keep_compiled_programs()
    begun = time.monotonic()
    chosen = [recipe for recipe in RECIPES if not names or recipe.name in names]
    missing = [r for r in chosen if r.name not in contents(weights_file(out, r.task))[1]]
    of_tasks = [r for r in RECIPES if r.task in {m.task for m in missing}]
    shared = Shared(folder, longest(of_tasks, folder))
    first = {(recipe.task, recipe.objective): recipe for recipe in reversed(missing)}
    # Programs are compiled side by side before any of them runs.
    with ThreadPoolExecutor(4) as executor:
        done = executor.map(lambda recipe: prepare(recipe, shared), first.values())
        ready = dict(zip(first, done, strict=True))
    print(f"compiled after {time.monotonic() - begun:.0f} s", flush=True)
    for recipe in missing:
        if time.monotonic() - begun > seconds:
            print(f"{recipe.name}: not begun, {seconds:.0f} s are over", flush=True)
            break
        prepared = ready[recipe.task, recipe.objective]
        if prepared.recipe != recipe:
            prepared = prepare(recipe, shared)
        arrays, about = contents(weights_file(out, recipe.task))
        for stop, weights in learn(prepared):
            arrays |= {f"{recipe.name}/{stop}/{name}": array for name, array in weights.items()}
        about[recipe.name] = serialise.to_json(recipe)
        out.mkdir(parents=True, exist_ok=True)
        metadata = {_METADATA: json.dumps(about)}
        files.write_arrays(weights_file(out, recipe.task), arrays, metadata)
        print(f"{recipe.name}: trained after {time.monotonic() - begun:.0f} s", flush=True)


class Subject(NamedTuple):
    recipe: Recipe
    steps: int
    seed: int
    network: Network

    @property
    def name(self) -> str:
        return f"{self.recipe.name}-{self.steps}-{self.seed}"


def subjects(out: pathlib.Path) -> Iterator[Subject]:
    """All networks of a folder."""
    for path in sorted(out.glob("*.safetensors")):
        arrays, about = contents(path)
        for name, content in about.items():
            recipe = serialise.from_json(Recipe, content)
            skeleton = networks.skeleton(features_of(recipe.task), recipe.config.network)
            for stop in recipe.stops:
                start = f"{name}/{stop}/"
                own = {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}
                for seed in range(SEEDS):
                    one = {n: array[seed] for n, array in own.items()}
                    yield Subject(recipe, stop, seed, networks.with_arrays(skeleton, one))


def was_taught(recipe: Recipe) -> str:
    """What the networks of a recipe learnt from."""
    if recipe.teacher and programs.get(recipe.teacher).role is programs.Role.WRONG:
        return "a wrong program"
    return "one kind of graph" if recipe.graphs not in (CLRS, MIXED) else "the algorithm"


def judge(out: pathlib.Path, path: pathlib.Path, problems: int) -> None:
    """Judges what is not judged yet, and writes after every network."""
    keep_compiled_programs()
    results = json.loads(path.read_text()) if path.exists() else {}
    for subject in subjects(out):
        if subject.name in results:
            continue
        if subject.network.features != tasks.get(subject.recipe.task).features:
            print(f"{subject.name}: reads other features than the task's programs", flush=True)
            continue
        judgement = measures.judge(subject.network, subject.recipe.task, problems=problems)
        verdict, evidence = judgement.verdict, judgement.evidence
        tried = evidence.falsification
        assert tried is not None
        results[subject.name] = {
            "taught": was_taught(subject.recipe),
            "recipe": subject.recipe.name,
            "task": subject.recipe.task,
            "steps": subject.steps,
            "word": verdict.word,
            "which": verdict.which,
            "scope": verdict.scope,
            "accuracy": evidence.accuracy,
            "tested": evidence.tested,
            "rate": tried.rate.value,
            "smallest": tried.smallest.batch.nodes if tried.smallest else None,
        }
        files.write_bytes(path, json.dumps(results, indent=1).encode())
        print(f"{subject.name}: {verdict}"[:160], flush=True)


def report(path: pathlib.Path) -> None:
    """Words by what was taught, and by recipe, in Markdown."""
    results = list(json.loads(path.read_text()).values())
    for title, key in (("taught", "taught"), ("recipe", "recipe")):
        print(f"| {title} | networks | {' | '.join(WORDS)} |\n|{'---|' * (len(WORDS) + 2)}")
        for value in dict.fromkeys(result[key] for result in results):
            mine = [result["word"] for result in results if result[key] == value]
            counts = " | ".join(str(mine.count(word)) for word in WORDS)
            print(f"| {value} | {len(mine)} | {counts} |")
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("list")
    verbs.add_parser("problems").add_argument("problems", type=pathlib.Path)
    training = verbs.add_parser("train")
    training.add_argument("problems", type=pathlib.Path)
    training.add_argument("out", type=pathlib.Path)
    training.add_argument("--recipes", nargs="+", default=[])
    training.add_argument("--seconds", type=float, default=540.0)
    unpacking = verbs.add_parser("unpack")
    unpacking.add_argument("out", type=pathlib.Path)
    unpacking.add_argument("folder", type=pathlib.Path)
    judging = verbs.add_parser("judge")
    judging.add_argument("out", type=pathlib.Path)
    judging.add_argument("results", type=pathlib.Path)
    judging.add_argument("--problems", type=int, default=falsify.PROBLEMS)
    verbs.add_parser("report").add_argument("results", type=pathlib.Path)
    chosen = parser.parse_args()
    if chosen.verb == "list":
        for recipe in RECIPES:
            role = programs.get(recipe.teacher).role if recipe.teacher else "the algorithm"
            stops = ", ".join(map(str, recipe.stops))
            print(f"{recipe.name}: {role}, {' '.join(recipe.graphs)}, after {stops} steps")
        print(f"{SEEDS * sum(len(recipe.stops) for recipe in RECIPES)} networks")
    elif chosen.verb == "problems":
        for recipe in RECIPES:
            problems_for(recipe, chosen.problems)
    elif chosen.verb == "judge":
        judge(chosen.out, chosen.results, chosen.problems)
    elif chosen.verb == "report":
        report(chosen.results)
    elif chosen.verb == "train":
        train(chosen.problems, chosen.out, chosen.recipes, chosen.seconds)
    else:
        chosen.folder.mkdir(parents=True, exist_ok=True)
        for subject in subjects(chosen.out):
            path = chosen.folder / f"{subject.name}.safetensors"
            networks.save(subject.network, path, subject.recipe.task)


if __name__ == "__main__":
    main()
