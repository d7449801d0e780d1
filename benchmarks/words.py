"""What word does each seed of an ensemble get? Networks are trained and judged in one program.

    python benchmarks/words.py prepare problems.npz bfs bellman_ford dfs
    python benchmarks/words.py run words.jsonl bfs bellman_ford --problems-from problems.npz
    python benchmarks/words.py run words.jsonl dfs --seeds 32 --problems-from problems.npz
    python benchmarks/words.py report results/words/bfs.jsonl results/words/bellman_ford.jsonl

The weights of hundreds of networks are not kept: of each seed's best weights in validation and of
its last ones remains a line of JSON with the word and the numbers behind it. Seeds of a task and
recipe whose lines are there are not done again; `--first-seed` does a part of them. With
`--trained-in` all weights lie in a folder once they are trained, hundreds of megabytes, so that a
command which was stopped while it judged goes on there. Where numba is
missing, problems are drawn and traced in plain Python, which takes minutes for large ones:
`prepare` makes those of the examination, the falsifier and the scores beforehand, and `--processes`
draws what is learnt from.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import itertools
import json
import multiprocessing
import pathlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import falsify, networks, tasks, training
from algoscope.falsify import PROBLEMS
from algoscope.falsify.cover import Group
from algoscope.files import read_bytes, unpacked, write_arrays
from algoscope.measures import Judgement, judge_all
from algoscope.measures.counterfactual import Changed
from algoscope.measures.examination import Examination, examination
from algoscope.measures.thresholds import CRITERIA
from algoscope.networks import Network
from algoscope.networks.objective import scores_inside
from algoscope.runs.environment import environment
from algoscope.serialise import from_json, to_json
from algoscope.statistics import Estimate
from algoscope.table import Table
from algoscope.tasks import Batch, Task
from algoscope.training.ensemble import start_learners
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.optimiser import Learner
from algoscope.training.plan import TrainingPlan, plan_training
from algoscope.training.pool import TaskPlan, make_plan
from algoscope.verdict import WORDS

Part = Callable[[training.TrainingConfig], training.TrainingConfig]


def with_objective(*names: str) -> Part:
    return lambda c: dataclasses.replace(c, objective=(*c.objective, *names))


def with_network(**options: Any) -> Part:
    return lambda c: dataclasses.replace(c, network=dataclasses.replace(c.network, **options))


def with_problems(**options: Any) -> Part:
    return lambda c: dataclasses.replace(c, recipe=dataclasses.replace(c.recipe, **options))


def with_training(**options: Any) -> Part:
    return lambda c: dataclasses.replace(c, **options)


PARTS: dict[str, Part] = {
    "usual": lambda c: c,
    "attention": with_objective("attention"),
    "locked": with_training(teacher=("bfs_locked",)),
    "exchange": with_objective("exchange"),
    "hints-first": with_training(objective=("hints", "outputs=0:1@2000")),
    "mixed": with_problems(graphs=("clrs", "deep", "clrs", "sparse")),
    "deep": with_problems(graphs=("clrs", "line", "tree", "deep", "sparse", "grid")),
    "large": with_problems(sizes=(4, 7, 11, 13, 16, 32, 64)),
    "scheduled": with_training(warmup=500),
    "discrete": with_network(hint_repred_mode="hard"),
    "decided": with_network(hint_repred_mode="hard_on_eval"),
    "memoryless": with_network(memory=False),
    "two-rounds": with_network(rounds=2, shared_rounds=False),
    "views": with_network(edge_views=True),
    "edges": with_network(edge_information=True),
    "dropout": with_network(dropout=0.1),
    "long": lambda c: dataclasses.replace(c, steps=3 * c.steps),
    "no-norm": with_network(layer_norm=False),
    "precise": with_network(matrix_precision="highest"),
    "rate-3e-4": with_training(learning_rate=3e-4),
    "rate-1e-3": with_training(learning_rate=1e-3),
}
"""What can be changed in `algoscope train`'s defaults; a recipe is some of these, joined by +."""
SCORED = {16: 64, 64: 32, 256: 8}
"""Sizes of the problems whose answers are scored, and how many there are."""
STRETCH = 250
NAMES = {Task: tasks.get}
BEST, LAST = "best", "last"


class StoredGroup(NamedTuple):
    names: list[str]
    batch: Batch
    coordinates: dict[str, np.ndarray]


class StoredExamination(NamedTuple):
    small: Batch
    large: Batch
    parts: dict[str, tuple[int, int]]
    changed: dict[str, Changed]


class Problems(NamedTuple):
    """All that takes long to draw for a task, but for what is learnt from."""

    plans: dict[str, TaskPlan]
    """By recipe."""
    covers: list[list[StoredGroup]]
    exam: StoredExamination
    scored: dict[int, Batch]
    """By size."""


class Line(NamedTuple):
    """What is kept of one network."""

    task: str
    recipe: str
    weights: str
    """`BEST` or `LAST`."""
    seed: int
    step: int
    """At which the weights were so."""
    word: str
    which: str | None
    scope: str
    tested: dict[str, float]
    """The values of `thresholds.CRITERIA`."""
    accuracy: dict[str, float]
    """On the examination, by place."""
    scores: dict[str, float]
    """By size."""
    rate: Estimate
    """Of disagreements over the falsifier's families."""
    families: dict[str, tuple[int, int]]
    """Disagreements and problems of each."""
    problems: int
    nodes: int | None
    """Of the smallest counterexample."""
    family: str | None
    region: str | None


def configuration(task: str, recipe: str, options: argparse.Namespace) -> training.TrainingConfig:
    config = training.TrainingConfig(
        (task,),
        seeds=options.seeds,
        first_seed=options.first_seed,
        steps=options.steps,
        # Judged are networks of the task's own features.
        recipe=tasks.Recipe(predecessors_as_inputs=False),
        network=networks.NetworkConfig(width=options.width),
    )
    for part in recipe.split("+"):
        config = PARTS[part](config)
    return config


def draw_problems(task: str, options: argparse.Namespace) -> Problems:
    exam = examination(task)
    covers = falsify.covers_of(task, problems=options.problems)
    return Problems(
        {
            recipe: make_plan(configuration(task, recipe, options), task)
            for recipe in options.recipes
        },
        [
            [StoredGroup(g.names.tolist(), g.batch, g.coordinates) for g in groups]
            for groups in covers
        ],
        StoredExamination(
            exam.small,
            exam.large,
            {name: (part.start, part.stop) for name, part in exam.parts.items()},
            exam.changed,
        ),
        {size: tasks.sample(task, size, count, seed=4) for size, count in SCORED.items()},
    )


def prepare(path: pathlib.Path, names: Sequence[str], options: argparse.Namespace) -> None:
    arrays: dict[str, np.ndarray] = {}
    drawn = {}
    for task in names:
        begun = time.perf_counter()
        drawn[task] = draw_problems(task, options)
        print(f"{task}: {time.perf_counter() - begun:.0f} s", flush=True)
    described = json.dumps(to_json(drawn, arrays, NAMES))
    # A network reads the numbers of these in single precision.
    for name, values in arrays.items():
        if values.dtype == np.float64 and (".batch." in name or ".scored." in name):
            arrays[name] = values.astype(np.float32)
    np.savez_compressed(path, allow_pickle=False, described=np.array(described), **arrays)
    print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


def read_problems(path: pathlib.Path) -> dict[str, Problems]:
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    described = json.loads(str(arrays.pop("described")))
    for name, values in arrays.items():
        if values.dtype == np.float32:
            arrays[name] = values.astype(np.float64)
    return from_json(dict[str, Problems], described, arrays, NAMES)


def train(
    plan: TrainingPlan, processes: int, report: Callable[[str], None]
) -> tuple[Learner, float]:
    """The learners of all seeds, on the host, and seconds for a step without compilation."""
    with executor(processes) as drawing:
        objective = GraphObjective(plan, executor=drawing, ahead=max(1, processes))
        placed = objective.place(start_learners(plan))
        step, begun, first = 0, time.perf_counter(), 0
        while step < objective.steps:
            stop = min(step + STRETCH, objective.until(step), objective.steps)
            placed, metrics = objective.take(placed, step, stop)
            if not first:
                first, begun = stop, time.perf_counter()
            step = stop
            report(f"step {step}, loss {metrics.loss[-20:].mean():.4f}")
        taken = time.perf_counter() - begun
        return objective.gather(placed), taken / max(1, step - first)


class Trained(NamedTuple):
    """The weights of all seeds."""

    last: Mapping[str, Any]
    """As `training.model.Vectors`."""
    best: Mapping[str, Any]
    best_steps: np.ndarray
    """int32 [seed]"""
    seconds: np.ndarray
    """Of all the training, and of a step without compilation."""


def trained(plan: TrainingPlan, recipe: str, options: argparse.Namespace) -> Trained:
    """The plan's networks, from the folder of what was trained if they are there."""
    config, path = plan.config, None
    (task,), about = config.tasks, {"config": json.dumps(config.as_json())}
    if options.trained_in is not None:
        name = f"{task}-{recipe}-{config.all_seeds[0]}-{config.all_seeds[-1]}-{config.steps}"
        path = options.trained_in / f"{name}.safetensors"
    shapes = jax.eval_shape(functools.partial(start_learners, plan)).weights
    if path is not None and path.exists():
        arrays, metadata = unpacked(read_bytes(path))
        if metadata != about:
            raise ValueError(f"{path}: got networks of another configuration; remove it")
        vectors = {
            name: {part: arrays[f"{name}.{part}"] for part in shapes} for name in (LAST, BEST)
        }
        return Trained(vectors[LAST], vectors[BEST], arrays["best_steps"], arrays["seconds"])
    begun = time.perf_counter()
    learners, step_seconds = train(plan, options.processes, progress(task, recipe))
    assert learners.best is not None
    seconds = np.array([time.perf_counter() - begun, step_seconds])
    steps = np.asarray(learners.best.step)
    made = Trained(learners.weights, learners.best.weights, steps, seconds)
    if path is not None:
        named = {f"{LAST}.{part}": made.last[part] for part in shapes}
        named |= {f"{BEST}.{part}": made.best[part] for part in shapes}
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, named | {"best_steps": steps, "seconds": seconds}, about)
    return made


def executor(processes: int) -> concurrent.futures.Executor:
    if processes < 1:
        return concurrent.futures.ThreadPoolExecutor(1)
    context = multiprocessing.get_context("spawn")
    return concurrent.futures.ProcessPoolExecutor(processes, context, stay_on_host)


def stay_on_host() -> None:
    """The device is the training's alone."""
    jax.config.update("jax_platforms", "cpu")


def scores(stacked: Network, batch: Batch) -> np.ndarray:
    """The mean score of the outputs of each network: [network]"""
    batch = networks.to_device(stacked, batch)
    return np.asarray(_scores(stacked, batch, networks.side_by_side(stacked, batch)))


@functools.partial(jax.jit, static_argnames="at_once")
def _scores(stacked: Network, batch: Batch, at_once: int) -> jax.Array:
    def one(network: Network) -> jax.Array:
        each = scores_inside(network, batch, most_at_once=8)
        return jnp.stack(list(each.values())).mean()

    return jax.lax.map(one, stacked, batch_size=at_once)


def line(
    named: tuple[str, str, str], seed: int, step: int, judgement: Judgement, by_size: dict
) -> Line:
    verdict, evidence = judgement.verdict, judgement.evidence
    tried = evidence.falsification
    assert tried is not None
    smallest = tried.smallest
    return Line(
        *named,
        seed,
        step,
        verdict.word,
        verdict.which,
        verdict.scope,
        evidence.tested,
        evidence.accuracy,
        by_size,
        tried.rate,
        {family.family: (family.wrong, family.problems) for family in tried.families},
        tried.problems,
        smallest and smallest.batch.nodes,
        smallest and smallest.family,
        tried.region and str(tried.region),
    )


class Test(NamedTuple):
    """Problems, ready to judge by."""

    exam: Examination
    covers: list[list[Group]]
    scored: dict[int, Batch]

    @staticmethod
    def of(problems: Problems) -> "Test":
        stored = problems.exam
        parts = {name: slice(*ends) for name, ends in stored.parts.items()}
        return Test(
            Examination(stored.small, stored.large, parts, stored.changed, None),
            [
                [Group.of_batch(np.array(g.names), g.batch, g.coordinates) for g in groups]
                for groups in problems.covers
            ],
            problems.scored,
        )


def judged(
    named: tuple[str, str, str],
    stacked: Network,
    test: Test,
    steps: Sequence[int],
    options: argparse.Namespace,
) -> Iterator[Line]:
    """The lines of all seeds."""
    judgements = judge_all(
        stacked,
        named[0],
        problems=options.problems,
        exam=test.exam,
        covers=test.covers,
        searched=not options.no_search,
        shrunk=options.shrunk,
        report=progress(*named),
    )
    by_size = {str(size): scores(stacked, batch) for size, batch in test.scored.items()}
    for k, judgement in enumerate(judgements):
        mine = {size: float(values[k]) for size, values in by_size.items()}
        yield line(named, options.first_seed + k, steps[k], judgement, mine)


def progress(*named: str) -> Callable[[str], None]:
    begun = time.perf_counter()
    return lambda text: print(
        f"{time.perf_counter() - begun:6.0f} s  {' '.join(named)}: {text}", flush=True
    )


def run(path: pathlib.Path, names: Sequence[str], options: argparse.Namespace) -> None:
    stored = read_problems(options.problems_from) if options.problems_from else {}
    for task in names:
        for recipe in options.recipes:
            config = configuration(task, recipe, options)
            lines = [one for one in read(path) if (one.task, one.recipe) == (task, recipe)]
            there = {(one.weights, one.seed) for one in lines}
            if there.issuperset(itertools.product(options.weights, config.all_seeds)):
                print(f"{task}, {recipe}: in {path} already")
                continue
            problems = stored.get(task) or draw_problems(task, options)
            plan = plan_training(config, plans=(problems.plans[recipe],))
            made = trained(plan, recipe, options)
            judging, test = time.perf_counter(), Test.of(problems)
            last_steps = [config.steps] * options.seeds
            # The last weights first, and each written as it comes: a stop costs the others alone.
            kept = {LAST: (made.last, last_steps), BEST: (made.best, made.best_steps.tolist())}
            for name in options.weights:
                if there.issuperset((name, seed) for seed in config.all_seeds):
                    continue
                vectors, steps = kept[name]
                stacked = jax.vmap(plan.layout.unpack)(vectors).network(task)
                named = (task, recipe, name)
                keep(stacked, "-".join(named), options)
                append(path, map(to_json, judged(named, stacked, test, steps, options)))
            about = {
                "task": task,
                "recipe": recipe,
                "config": config.as_json(),
                "problems": options.problems,
                "environment": environment()
                | ({"commit": options.commit} if options.commit else {}),
                "seconds": {
                    "training": made.seconds[0],
                    "a step": made.seconds[1],
                    "judging": time.perf_counter() - judging,
                },
            }
            append(path, [{"about": to_json(about)}])
            print(table(read(path)), flush=True)


def keep(stacked: Network, name: str, options: argparse.Namespace) -> None:
    """Writes the weights of the first seeds."""
    for k in range(options.kept if options.keep_in else 0):
        network = jax.tree.map(lambda array, k=k: array[k], stacked)
        path = options.keep_in / f"{name}-{options.first_seed + k}.safetensors"
        networks.save(network, path, name.partition("-")[0])


def append(path: pathlib.Path, contents: Iterable[Any]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps(content) + "\n" for content in contents)


def read(path: pathlib.Path) -> list[Line]:
    if not path.exists():
        return []
    contents = map(json.loads, path.read_text().splitlines())
    return [from_json(Line, content) for content in contents if "about" not in content]


def table(lines: Sequence[Line]) -> Table:
    """How many seeds have each word."""
    rows = []
    for named in dict.fromkeys((one.task, one.recipe, one.weights) for one in lines):
        members = [one for one in lines if (one.task, one.recipe, one.weights) == named]
        words = Counter(one.word for one in members)
        means = [np.mean([one.scores[str(size)] for one in members]) for size in SCORED]
        rate = np.median([one.rate.value for one in members])
        failing = Counter(
            key
            for one in members
            for key, value in one.tested.items()
            if value < CRITERIA[key].runs_from
        )
        rows.append(
            [
                *named,
                str(len(members)),
                *(str(words[word]) for word in WORDS),
                *(f"{mean:.4f}" for mean in means),
                f"{100 * rate:.2g} %",
                ", ".join(f"{CRITERIA[key].label} {n}" for key, n in failing.most_common(3)),
            ]
        )
    sizes = [f"accuracy {size}" for size in SCORED]
    columns = ["task", "recipe", "weights", "seeds", *WORDS, *sizes, "median rate", "below"]
    return Table("words of trained networks", columns, rows)


def recipe_name(text: str) -> str:
    if unknown := [part for part in text.split("+") if part not in PARTS]:
        raise argparse.ArgumentTypeError(f"got {unknown[0]}, needed some of {', '.join(PARTS)}")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("prepare", "run"):
        verb = verbs.add_parser(name)
        verb.add_argument("path", type=pathlib.Path)
        verb.add_argument("names", nargs="+", metavar="task")
        verb.add_argument(
            "--recipes",
            nargs="+",
            type=recipe_name,
            default=["usual", "attention+exchange+mixed"],
            help=f"parts joined by +: {', '.join(PARTS)}",
        )
        verb.add_argument("--seeds", type=int, default=128)
        verb.add_argument("--first-seed", type=int, default=0)
        verb.add_argument("--steps", type=int, default=10_000)
        verb.add_argument("--width", type=int, default=128)
        verb.add_argument("--problems", type=int, default=PROBLEMS)
    verb.add_argument("--problems-from", type=pathlib.Path)
    verb.add_argument("--weights", nargs="+", choices=(LAST, BEST), default=[LAST, BEST])
    verb.add_argument("--processes", type=int, default=0)
    verb.add_argument("--trained-in", type=pathlib.Path, help="folder for all weights, to go on")
    verb.add_argument("--keep-in", type=pathlib.Path, help="folder for weights of the first seeds")
    verb.add_argument("--kept", type=int, default=2, help="how many seeds' weights are kept")
    verb.add_argument("--no-search", action="store_true")
    verb.add_argument("--shrunk", type=int, default=falsify.SHRUNK)
    verb.add_argument("--commit", help="of the source, where there is no repository")
    verbs.add_parser("report").add_argument("paths", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    match options.verb:
        case "prepare":
            prepare(options.path, options.names, options)
        case "run":
            run(options.path, options.names, options)
        case "report":
            lines = [one for path in options.paths for one in read(path)]
            print(table(lines).markdown())


if __name__ == "__main__":
    main()
