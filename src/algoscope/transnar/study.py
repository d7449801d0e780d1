"""The study: reasoner, towers, and the one table that sets all rivals side by side.

Everything lies in one folder and is made once: a study that was stopped goes on where it was.

    reasoner/            the run of the reasoner
    base-0/, hybrid-0/   runs of towers
    scores/NAME.json     of each tower and each rival
    mechanism.json       what the first hybrid reads, and what breaks without it
    results.json         all of it, once it is done
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from algoscope import runs, training
from algoscope.runs.environment import environment
from algoscope.runs.files import read_arrays, write_bytes
from algoscope.tasks import Kind, Stage
from algoscope.tasks.table import Table
from algoscope.training import TrainingConfig
from algoscope.training.model import Model
from algoscope.transnar import loop, mechanism
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.cells import Cell
from algoscope.transnar.config import TransnarConfig
from algoscope.transnar.pool import Bucket, Shape
from algoscope.transnar.reasoner import Thought
from algoscope.transnar.scores import (
    Scores,
    as_json,
    averaged,
    from_json,
    mean_clrs,
    pipeline_answers,
    reasoner_answers,
    scores_of,
    solver_answers,
    test_cells,
    tower_answers,
)

ROWS = (
    "base",
    "hybrid",
    "reasoner alone",
    "text to graph to reasoner",
    "reference algorithm",
    "hybrid, untrained reasoner",
    "hybrid, positions in order",
)
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Study:
    reasoner: TrainingConfig
    tower: TransnarConfig
    """The hybrid's; the base Transformer's is the same but for what it reads."""
    seeds: tuple[int, ...]
    test_sizes: tuple[int, ...]
    unseen_sizes: tuple[int, ...]
    """Those of them that no tower learns from."""
    problems: int
    """Test problems of each task and size."""
    mechanism: tuple[str, int]
    """The task and size on which the reading is looked at: one whose answer is pointers."""


def run_study(study: Study, out: pathlib.Path, say: Say = lambda _: None) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    finished = out / "results.json"
    if finished.exists():
        return json.loads(finished.read_text())
    begun = time.monotonic()
    (out / "scores").mkdir(exist_ok=True)
    reasoner = _reasoner(study, out, say)
    desk = _Desk(study, out, say, test_cells(study.tower, study.test_sizes, study.problems))
    rivals = _rivals(desk, reasoner)
    seconds, towers = _towers(desk, reasoner)
    rows = {
        "base": [towers[f"base-{seed}"] for seed in study.seeds],
        "hybrid": [towers[f"hybrid-{seed}"] for seed in study.seeds],
        **{name: [scores] for name, scores in rivals.items()},
        "hybrid, untrained reasoner": [towers["untrained"]],
        "hybrid, positions in order": [towers["in-order"]],
    }
    results = {
        "rows": {name: [as_json(s) for s in rows[name]] for name in ROWS},
        "seeds": list(study.seeds),
        "test_sizes": list(study.test_sizes),
        "unseen_sizes": list(study.unseen_sizes),
        "training_seconds": seconds,
        "loss": {
            p.parent.name: _curve(p.parent) for p in sorted(out.glob("*/metrics.safetensors"))
        },
        "mechanism": _mechanism(desk, reasoner),
        "config": {"reasoner": study.reasoner.as_json(), "tower": study.tower.as_json()},
        "environment": environment(),
        "seconds_of_last_stretch": time.monotonic() - begun,
    }
    write_bytes(finished, json.dumps(results, indent=1).encode())
    return json.loads(finished.read_text())


class _Desk(NamedTuple):
    """What all parts of a study work with."""

    study: Study
    out: pathlib.Path
    say: Say
    cells: list[Cell]


def _reasoner(study: Study, out: pathlib.Path, say: Say) -> Model:
    path = out / "reasoner"

    def report(progress: training.Report) -> None:
        say(f"reasoner: step {progress.step} of {progress.steps}, score {progress.score:.3f}")

    if path.exists():
        run = training.resume(path, report=report)
    else:
        run = training.train(study.reasoner, path, report=report)
    return reasoners.of_run(runs.open(run.path))


def _kept(desk: _Desk, name: str, make: Callable[[], Scores]) -> Scores:
    """The scores of that name, from their file if they are there."""
    path = desk.out / "scores" / f"{name}.json"
    if not path.exists():
        write_bytes(path, json.dumps(as_json(make())).encode())
    scores = from_json(json.loads(path.read_text()))
    by_size = ", ".join(
        f"{size}: {mean_clrs(scores, [size]):.3f}" for size in desk.study.test_sizes
    )
    desk.say(f"{name}: mean CLRS score by size {by_size}")
    return scores


def _rivals(desk: _Desk, reasoner: Model) -> dict[str, Scores]:
    """Those that are no towers."""
    cells = desk.cells

    def alone() -> Scores:
        return scores_of(cells, reasoner_answers(cells, reasoners.think(reasoner, cells)))

    return {
        "reasoner alone": _kept(desk, "reasoner", alone),
        "text to graph to reasoner": _kept(
            desk, "pipeline", lambda: scores_of(cells, pipeline_answers(reasoner, cells))
        ),
        "reference algorithm": _kept(
            desk, "solver", lambda: scores_of(cells, solver_answers(cells))
        ),
    }


def _variants(study: Study) -> dict[str, TransnarConfig]:
    """The towers by name, those that share a pool one after the other."""
    hybrid = study.tower
    base = _with_tower(hybrid, reads="nothing")
    return {
        **{f"base-{s}": dataclasses.replace(base, seed=s) for s in study.seeds},
        **{f"hybrid-{s}": dataclasses.replace(hybrid, seed=s) for s in study.seeds},
        "in-order": dataclasses.replace(
            _with_tower(hybrid, random_positions=False), seed=study.seeds[0]
        ),
        "untrained": dataclasses.replace(hybrid, seed=study.seeds[0], reasoner_trained=False),
    }


def _with_tower(config: TransnarConfig, **changes: Any) -> TransnarConfig:
    return dataclasses.replace(config, tower=dataclasses.replace(config.tower, **changes))


def _towers(desk: _Desk, reasoner: Model) -> tuple[dict[str, float], dict[str, Scores]]:
    """Seconds of training, and scores, of each tower."""
    seconds, scores = {}, {}
    pool: dict[Shape, Bucket] = {}
    pool_of = None
    for name, config in _variants(desk.study).items():
        path = desk.out / name
        own = loop.reasoner_for(config, reasoner)
        wanted = "untrained" if not config.reasoner_trained else "trained"
        if not (path.exists() and runs.open(path).finished) and pool_of != wanted:
            pool.clear()
            desk.say(f"preparing problems, {wanted} reasoner")
            pool.update(
                loop.prepare(desk.study.tower, loop.reasoner_for(config, reasoner) or reasoner)
            )
            pool_of = wanted
        _train(desk, name, config, reasoner, pool)
        seconds[name] = runs.open(path).results["seconds_of_last_stretch"]
        trained = loop.load(path)

        def make(trained: loop.Trained = trained, own: Model | None = own) -> Scores:
            thoughts = _thoughts(desk, trained.config, own)
            answers = tower_answers(trained.tower, desk.cells, thoughts, seed=trained.config.seed)
            return scores_of(desk.cells, answers)

        scores[name] = _kept(desk, name, make)
    return seconds, scores


def _thoughts(desk: _Desk, config: TransnarConfig, reasoner: Model | None) -> list[Thought] | None:
    if reasoner is None:
        return None
    return reasoners.think(reasoner, desk.cells, loop.stages_of(config))


def _train(
    desk: _Desk, name: str, config: TransnarConfig, reasoner: Model, pool: dict[Shape, Bucket]
) -> None:
    path = desk.out / name
    if config.tower.reads == "nothing":
        pool = {shape: bucket._replace(graph=None) for shape, bucket in pool.items()}
    last = 0.0

    def report(progress: loop.Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= 10 or progress.step == progress.steps:
            last = time.monotonic()
            desk.say(f"{name}: step {progress.step} of {progress.steps}, loss {progress.loss:.4f}")

    if path.exists():
        loop.resume(path, pool=pool, report=report)
    else:
        given = None if config.tower.reads == "nothing" else reasoner
        loop.train(config, path, reasoner=given, pool=pool, report=report)


def _curve(path: pathlib.Path, points: int = 100) -> dict[str, list[float]]:
    """The loss as means over so many equal stretches of steps."""
    loss = read_arrays(path / "metrics.safetensors")["loss"]
    if loss.ndim > 1:
        loss = loss.mean((1, 2))
    parts = np.array_split(loss, min(points, len(loss)))
    ends = np.cumsum([len(part) for part in parts])
    return {"step": ends.tolist(), "loss": [round(float(p.mean()), 5) for p in parts]}


def _mechanism(desk: _Desk, reasoner: Model) -> dict[str, Any]:
    path = desk.out / "mechanism.json"
    if not path.exists():
        trained = loop.load(desk.out / f"hybrid-{desk.study.seeds[0]}")
        thoughts = _thoughts(desk, trained.config, reasoner)
        assert thoughts is not None
        task, size = desk.study.mechanism
        place = next(i for i, c in enumerate(desk.cells) if (c.task, c.size) == (task, size))
        cell = desk.cells[place]
        observed = mechanism.record(trained.tower, cell, thoughts[place])
        pointer = next(f for f in cell.batch.at(Stage.OUTPUT) if f.kind is Kind.POINTER)
        read = mechanism.reads(observed, cell.outputs[pointer.name])
        ablated = mechanism.ablations(trained.tower, desk.cells, thoughts, trained.config.seed)
        found = {
            "task": task,
            "size": size,
            "problems": cell.samples,
            "reads": read._asdict(),
            "gates": mechanism.gates(trained.tower),
            "ablations": {name: as_json(scores) for name, scores in ablated.items()},
        }
        write_bytes(path, json.dumps(found, indent=1).encode())
        desk.say("mechanism: done")
    return json.loads(path.read_text())


def table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores over tasks, by row and size."""
    sizes = results["test_sizes"]
    rows = []
    for name in ROWS:
        each = [from_json(scores) for scores in results["rows"][name]]
        mean = averaged(each)
        cells = [f"{mean_clrs(mean, [size]):.3f}" for size in sizes]
        unseen = [mean_clrs(scores, results["unseen_sizes"]) for scores in each]
        spread = f" ({min(unseen):.3f}–{max(unseen):.3f})" if len(unseen) > 1 else ""
        others = [_mean(mean, field) for field in ("shape", "parse", "exact")]
        rows.append([name, *cells, f"{sum(unseen) / len(unseen):.3f}{spread}", *others])
    return Table(
        "mean CLRS score over tasks, by size; then the mean over unseen sizes, and shape, parse "
        "and exact over all",
        ["", *(f"n = {size}" for size in sizes), "unseen", "shape", "parse", "exact"],
        rows,
    )


def _mean(scores: Scores, field: str) -> str:
    values = [getattr(s, field) for of_task in scores.values() for s in of_task.values()]
    return f"{sum(values) / len(values):.3f}"


def task_table(results: dict[str, Any], rows: Sequence[str] = ROWS) -> Table:
    """CLRS scores by task, means over the unseen sizes."""
    columns = [averaged([from_json(s) for s in results["rows"][name]]) for name in rows]
    sizes = results["unseen_sizes"]
    return Table(
        f"CLRS score by task, mean over n = {', '.join(map(str, sizes))}",
        ["task", *rows],
        [
            [task, *(f"{sum(c[task][s].clrs for s in sizes) / len(sizes):.3f}" for c in columns)]
            for task in columns[0]
        ],
    )
