"""Figures 12, 13 and 16 to 18: the loss around compiled, initial and trained weights.

Trained are the seeds of the baselines whose weights were kept. All are held against the same
problems, near (a tenth of the filters' lengths) and wide, with the largest eigenvalue of the
Hessian. The eigenvalue depends on the scale of weights; the picture and the rise of the loss in it
do not, so that the claims are about the rise.
"""

import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from algoscope.experiments.experiment import Claim, Experiment, Report, Result
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.experiments.mind_the_gap.presets import BASELINES, costs, estimate, plan_of
from algoscope.files import RunError, read_arrays, read_json, write_arrays, write_bytes
from algoscope.table import Table

if TYPE_CHECKING:
    from algoscope.experiments.mind_the_gap.solutions import Solutions
    from algoscope.networks import Network
    from algoscope.report.findings import Surroundings

_FOLDER, _SIZE, _SEED, _MASKS = "landscapes", 16, 3, 2.0**10
_RADII = {"local": 0.1, "wide": 1.0}
_FEWEST = 4
"""Planes below which nothing is decided."""
_LEARNT, _COMPILED = "best", ("compiled", "soft-wide")


class _Effort(NamedTuple):
    tasks: tuple[str, ...]
    width: int
    problems: int
    resolution: int
    iterations: int
    planes: int
    """On so many the rise is measured; the first one is drawn."""


_EFFORTS = {
    "smoke": _Effort(("bfs",), 16, 2, 3, 3, 2),
    "full": _Effort(("bfs", "bellman_ford", "dfs"), 128, 32, 25, 40, 8),
}


def _reproduce(preset: str, out: pathlib.Path, report: Report, only: Sequence[str]) -> Result:
    from algoscope.experiments.mind_the_gap.solutions import solve

    effort = _EFFORTS[preset]
    arms = [BASELINES[task] for task in only]
    plans = [plan_of(preset, arm) for arm in arms]
    if preset == "full":
        report(estimate(arms, plans, out))
    for plan in plans:
        solutions = solve(plan, out, report)
        for name, network in _networks(solutions, effort):
            path = out / _FOLDER / f"{plan.task}-{name}"
            if not path.with_suffix(".json").exists():
                _survey(path, network, plan.task, effort)
                report(f"{plan.task}, {name}: surveyed")
    _draw(out, report)
    result = summary(out)
    assert result is not None
    return result


def _networks(solutions: "Solutions", effort: _Effort) -> "Iterator[tuple[str, Network]]":
    """The initial, trained and compiled networks of a task, by name."""
    import jax

    from algoscope import programs, runs
    from algoscope.programs.compiler import compile_program
    from algoscope.programs.soft_start import compile_soft
    from algoscope.training.model import start_model

    task, config = solutions.plan.task, solutions.plan.training.network
    chunks = [path for path in sorted(solutions.folder.glob("seeds-*")) if path.is_dir()]
    if not chunks:
        raise RunError(
            f"{solutions.folder}: got results without weights, needed the run folder of a chunk, "
            "such as a pack holds; train it again into another folder"
        )
    run = runs.open(chunks[0])
    seed = run.seeds_with_weights[0]
    features = {task: run.ensemble([seed]).member(0).features}
    yield "initial", start_model(features, config, jax.random.key(seed)).network(task)
    for weights in solutions.plan.weights:
        yield weights, run.ensemble([seed], weights).member(0)
    program = programs.get(task)
    width = max(effort.width, compile_program(program).network.config.width)
    yield "compiled", compile_program(program, width).network
    yield "soft-wide", compile_soft(program, width, masks=_MASKS).network


def _survey(path: pathlib.Path, network: "Network", task: str, effort: _Effort) -> None:
    """Writes the landscapes and the numbers of a network, the latter last."""
    from algoscope import tasks
    from algoscope.measures.landscape import landscape, sharpness

    batch = tasks.sample(task, _SIZE, effort.problems, _SEED)
    numbers: dict[str, Any] = sharpness(network, batch, effort.iterations)._asdict()
    arrays = {}
    for name, radius in _RADII.items():
        drawn = landscape(network, batch, radius, effort.resolution)
        arrays |= {f"{name}_{part}": array for part, array in drawn._asdict().items()}
        planes = [landscape(network, batch, radius, 3, seed) for seed in range(effort.planes)]
        numbers[name] = [_rise(plane.losses) for plane in planes]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_arrays(path.with_suffix(".safetensors"), arrays)
    write_bytes(path.with_suffix(".json"), json.dumps(numbers).encode())


def _rise(losses: np.ndarray) -> float:
    """How much higher the loss is on the rim of the picture than in its middle, in the mean."""
    rim = np.concatenate([losses[0], losses[-1], losses[1:-1, 0], losses[1:-1, -1]])
    return float(rim.mean() - losses[len(losses) // 2, len(losses) // 2])


def _draw(out: pathlib.Path, report: Report) -> None:
    from algoscope.report.figures import landscape, style

    folder = out / "figures"
    folder.mkdir(exist_ok=True)
    for task in BASELINES:
        for radius in _RADII:
            around = [
                _surroundings(path, radius)
                for path in sorted((out / _FOLDER).glob(f"{task}-*.json"))
            ]
            if around:
                drawn = landscape.draw(around)
                style.save(drawn._replace(name=f"landscape-{task}-{radius}"), folder)
    report(f"figures 12, 13 and 16 to 18: {folder}")


def _surroundings(path: pathlib.Path, radius: str) -> "Surroundings":
    from algoscope.measures.landscape import Landscape, Sharpness
    from algoscope.report.findings import Surroundings

    numbers = read_json(path, dict[str, Any])
    arrays = read_arrays(path.with_suffix(".safetensors"))
    scape = Landscape(*(arrays[f"{radius}_{part}"] for part in Landscape._fields))
    sharp = Sharpness(*(numbers[name] for name in Sharpness._fields))
    return Surroundings(path.stem, scape, sharp)


def summary(folder: pathlib.Path) -> Result | None:
    """What is in a folder, None if there is nothing."""
    paths = sorted((folder / _FOLDER).glob("*.json"))
    if not paths:
        return None
    found = {path.stem: read_json(path, dict[str, Any]) for path in paths}
    columns = ["loss", "largest_eigenvalue", "residual"]
    rows = [
        [
            name,
            *(f"{numbers[column]:.3g}" for column in columns),
            *(f"{np.mean(numbers[radius]):.3g}" for radius in _RADII),
        ]
        for name, numbers in found.items()
    ]
    shown = ["network", "loss", "largest eigenvalue", "residual", "rise, local", "rise, wide"]
    claims = [
        _sharper(found, task, compiled, radius)
        for task in BASELINES
        for compiled in _COMPILED
        for radius in _RADII
        if {f"{task}-{compiled}", f"{task}-{_LEARNT}"} <= found.keys()
    ]
    title = (
        "Figures 12, 13 and 16 to 18: the loss at the weights, and how much it rises around them"
    )
    return Result([Table(title, shown, rows)], claims, {"landscapes": found})


def _sharper(found: dict[str, dict[str, Any]], task: str, compiled: str, radius: str) -> Claim:
    ours, learnt = (np.array(found[f"{task}-{name}"][radius]) for name in (compiled, _LEARNT))
    text = f"{task}: the loss rises more around {compiled} than around learned weights ({radius})"
    # The same directions, drawn anew for each network's filters, so planes are not pairs.
    difference = float(ours.mean() - learnt.mean())
    error = float(np.hypot(*(rises.std() / np.sqrt(len(rises)) for rises in (ours, learnt))))
    decided = len(ours) >= _FEWEST and abs(difference) > 2 * error
    evidence = (
        f"{ours.mean():.3g} and {learnt.mean():.3g}, difference {difference:.3g} ± {error:.2g} "
        f"(standard error), N = {len(ours)} planes, one network each"
    )
    return Claim(text, difference > 0 if decided else None, evidence)


EXPERIMENT = Experiment(
    "mind-the-gap-landscapes",
    "are compiled minima sharp, and learned ones flat? Initial, trained, compiled and soft weights",
    SOURCE,
    costs(list(BASELINES.values())),
    _reproduce,
    "mind-the-gap",
    tuple(f"figure {number}" for number in (12, 13, 16, 17, 18)),
    lambda preset: _EFFORTS[preset].tasks,
)
