"""The search for a recipe by which towers learn: one change at a time, for base and hybrid alike.

Every recipe is the usual one but for one thing. Towers are trained for a part of a study's steps
and scored on validation problems of their own, which neither training nor test has.

    FOLDER/reasoner/             the study's, which trains it if it is not there
    FOLDER/recipes/NAME/         runs of towers, such as base-rate-1e-4
    FOLDER/recipes/NAME.json     their scores
    FOLDER/recipes.json          all that there is so far
"""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from algoscope.experiments.experiment import Claim, Experiment, Report, Result, now_and_then
from algoscope.experiments.transnar_scores import EARLIER_TASKS, study_of
from algoscope.files import read_json, write_bytes
from algoscope.statistics import beside
from algoscope.table import Table

if TYPE_CHECKING:
    from algoscope.configuration import TransnarConfig
    from algoscope.transnar.scores import Scores
    from algoscope.transnar.text_dataset import TextDataset

USUAL = "usual"
RECIPES: dict[str, dict[str, Any]] = {
    USUAL: {},
    "rate-1e-4": {"learning_rate": 1e-4},
    "rate-4e-4": {"learning_rate": 4e-4},
    "rate-1e-3": {"learning_rate": 1e-3},
    "whole-texts": {"loss": "texts"},
    "batch-128": {"batch": 128},
    "warm-up-2000": {"warmup": 2_000},
    "decay-0.1": {"weight_decay": 0.1},
    "rate-5e-5": {"learning_rate": 5e-5},
}
"""What each recipe changes of the usual one, in the order of what there is to learn from it."""
TOWERS = ("base", "hybrid")


@dataclasses.dataclass(frozen=True)
class Search:
    tower: "TransnarConfig"
    """The hybrid's, with the usual recipe."""
    recipes: tuple[str, ...]
    sizes: tuple[int, ...]
    """Of the validation problems."""
    problems: int
    """Validation problems of each task and size."""


def search_of(preset: str) -> Search:
    tower = study_of(preset).tower
    if preset == "smoke":
        form = dataclasses.replace(tower.tower, width=16, layers=1)
        small = dataclasses.replace(
            tower, tasks=("bfs",), sizes=(4,), samples=64, steps=20, batch=8, tower=form
        )
        return Search(small, (USUAL, "decay-0.1"), (4,), 4)
    shorter = dataclasses.replace(tower, tasks=EARLIER_TASKS, samples=4_000, steps=8_000)
    return Search(shorter, tuple(RECIPES), (10, 12, 14), 50)


def config_of(search: Search, name: str, recipe: str) -> "TransnarConfig":
    """The tower's of this name with this recipe. A smaller batch takes more steps, so that all
    towers see as many texts."""
    config = dataclasses.replace(search.tower, **RECIPES[recipe])
    steps = config.steps * search.tower.batch // config.batch
    reads = "nothing" if name == "base" else config.tower.reads
    form = dataclasses.replace(config.tower, reads=reads)
    return dataclasses.replace(config, steps=steps, tower=form)


def _parts(preset: str) -> list[str]:
    return [_title(*job) for job in _jobs(search_of(preset))]


def _jobs(search: Search) -> list[tuple[str, str]]:
    return [(name, recipe) for name in TOWERS for recipe in search.recipes]


def _title(name: str, recipe: str) -> str:
    return f"{name}-{recipe}"


def reproduce(preset: str, out: pathlib.Path, report: Report, only: Sequence[str]) -> Result:
    import contextlib

    from algoscope.experiments.background import PendingReasoner
    from algoscope.runs import reservation
    from algoscope.transnar.text_dataset import VALIDATION, Order, draw_all

    search, study = search_of(preset), study_of(preset)
    tower = search.tower
    path = out / "recipes.json"
    if path.exists() and (results := read_json(path, Any))["complete"]:
        return result_of(results)
    orders = [
        Order(task, size, search.problems, tower.data_seed, VALIDATION, tower.decimals)
        for task in tower.tasks
        for size in search.sizes
    ]
    pending = PendingReasoner(study.reasoner, out / "reasoner", report)
    with reservation.for_runs(out, "a study"), contextlib.closing(pending) as reasoner:
        (out / "recipes").mkdir(exist_ok=True)
        validation = draw_all(orders)
        jobs = [job for job in _jobs(search) if _title(*job) in only]
        if study.background and any(name != "base" for name, _ in jobs):
            reasoner.start()
        for name, recipe in jobs:
            scores = out / "recipes" / f"{_title(name, recipe)}.json"
            if not scores.exists():
                found = _trained(search, name, recipe, out, reasoner, validation, report)
                write_bytes(scores, json.dumps(found).encode())
            results = _results(search, out)
            write_bytes(path, json.dumps(results, indent=1).encode())
    return result_of(read_json(path, Any))


def _trained(
    search: Search,
    name: str,
    recipe: str,
    out: pathlib.Path,
    reasoner: Any,
    validation: "list[TextDataset]",
    report: Report,
) -> dict[str, Any]:
    """Loss and scores of a tower, which is trained or gone on with."""
    from algoscope import runs
    from algoscope.runs.comparison import check_same
    from algoscope.transnar import tower_training as towers
    from algoscope.transnar.reasoner import reason
    from algoscope.transnar.scores import as_json, scores_of, tower_answers

    title, config = _title(name, recipe), config_of(search, name, recipe)
    path, progress = out / "recipes" / title, now_and_then(title, report)
    if runs.has_begun(path):
        check_same(path, runs.open(path).config, config.as_json())
        run = towers.resume(path, report=progress)
    else:
        model = None if name == "base" else reasoner.get()
        run = towers.train(config, path, reasoner=model, report=progress)
    trained = towers.load(path)
    states = None
    if trained.reasoner is not None:
        states = reason(trained.reasoner, validation, towers.view_of(config))
    answers = tower_answers(trained.tower, validation, states, seed=config.seed)
    return {"loss": run.results["loss"], "scores": as_json(scores_of(validation, answers))}


def _results(search: Search, out: pathlib.Path) -> dict[str, Any]:
    from algoscope.runs.environment import environment

    made = {
        name: {
            recipe: read_json(path, Any)
            for recipe in search.recipes
            if (path := out / "recipes" / f"{_title(name, recipe)}.json").exists()
        }
        for name in TOWERS
    }
    return {
        "complete": all(len(by_recipe) == len(search.recipes) for by_recipe in made.values()),
        "recipes": made,
        "sizes": list(search.sizes),
        "problems": search.problems,
        "config": search.tower.as_json(),
        "environment": environment(),
    }


def result_of(results: dict[str, Any]) -> Result:
    from algoscope.transnar.scores import from_json, mean_clrs

    found: dict[str, dict[str, Scores]] = {
        name: {recipe: from_json(content["scores"]) for recipe, content in by_recipe.items()}
        for name, by_recipe in results["recipes"].items()
    }
    sizes, made = results["sizes"], results["recipes"]
    rows = []
    for recipe in dict.fromkeys(r for by_recipe in found.values() for r in by_recipe):
        cells = []
        for name in TOWERS:
            if recipe in found[name]:
                by_size = [f"{mean_clrs(found[name][recipe], [n]):.3f}" for n in sizes]
                cells += [*by_size, f"{made[name][recipe]['loss']:.3f}"]
            else:
                cells += ["–"] * (len(sizes) + 1)
        rows.append([recipe, *cells])
    columns = [f"{name}, {what}" for name in TOWERS for what in (*_sizes(sizes), "loss")]
    problems = results["problems"]
    table = Table(
        f"mean CLRS score over tasks on validation problems ({problems} of each task and size) "
        f"after {results['config']['steps']:,} steps of {results['config']['batch']}, and loss",
        ["recipe", *columns],
        rows,
    )
    return Result((table,), (_best(found, sizes),), {"recipe_search": results})


def _sizes(sizes: list[int]) -> list[str]:
    return [f"n = {size}" for size in sizes]


def _best(found: "dict[str, dict[str, Scores]]", sizes: list[int]) -> Claim:
    from algoscope.transnar.scores import mean_clrs

    both = [r for r in found["base"] if r in found["hybrid"]]
    means = {r: sum(mean_clrs(found[n][r], sizes) for n in TOWERS) / len(TOWERS) for r in both}
    text = "no recipe is better than the usual one, in the mean of base and hybrid"
    if USUAL not in means or len(means) < 2:
        return Claim(text, None, f"{len(means)} recipes are trained for both")
    best = max(means, key=lambda recipe: means[recipe])
    usual = beside(means[USUAL], means[best])
    evidence = f"{USUAL} {usual}, best {best} {means[best]:.3f}, {len(means)} recipes"
    return Claim(text, means[USUAL] >= means[best], evidence)


def summary(path: pathlib.Path) -> Result | None:
    """What a search wrote says: recipes.json in its folder or among committed results."""
    written = path / "recipes.json" if path.is_dir() else path
    results = read_json(written, Any) if written.is_file() and written.suffix == ".json" else {}
    return result_of(results) if isinstance(results, dict) and "recipes" in results else None


EXPERIMENTS = (
    Experiment(
        "transnar-recipe",
        "learning rate, warm-up, weight decay, batch and loss of base and hybrid, one change at a "
        "time, on validation problems",
        "Bounsi et al. 2024 (arXiv 2406.09308), section 4: Adam at 1e-4",
        {
            "smoke": "one task, n = 4, four towers of 0.1 M weights; a minute on two cores",
            "full": "14 tasks, 18 towers of 12 and 19 M weights; about 40 minutes on one H200, and "
            "the reasoner of transnar-scores",
        },
        reproduce,
        shared="transnar",
        parts=_parts,
    ),
)
