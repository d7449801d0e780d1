"""Solutions: many seeds of one network, trained and measured by chunks.

    bfs/seeds-00000-00127/               the chunk's run folder, with the weights of two seeds
    bfs/seeds-00000-00127.json           configuration, environment, and the numbers of each seed
    bfs/seeds-00000-00127.safetensors    what each seed attends to on a few problems

The two small files are all that tables and figures need, and the first of them all that most need.
A chunk that has the first is done; one that was stopped goes on where it was. Each network has two
sets of weights, those that were best on validation (dm-clrs's rule) and the last ones: `views`.
"""

import dataclasses
import functools
import json
import pathlib
import time
from typing import Any

import numpy as np

from algoscope import runs, serialise, training
from algoscope.experiments.experiment import Report, now_and_then
from algoscope.experiments.mind_the_gap.measure_seeds import BEST, measure, problems
from algoscope.experiments.mind_the_gap.soft import Start
from algoscope.files import read_arrays, read_json, write_arrays, write_bytes
from algoscope.recording import Recording
from algoscope.runs import Run, RunError
from algoscope.runs.comparison import check_same
from algoscope.tasks import Batch
from algoscope.training import TrainingConfig
from algoscope.training.config import from_json


@dataclasses.dataclass(frozen=True)
class Plan:
    training: TrainingConfig
    """Of all seeds and one task."""
    chunk: int
    """Seeds that are trained together, few enough to end in ten minutes on a GPU."""
    sizes: tuple[int, ...]
    """Numbers of nodes of the problems on which every seed is measured; the first is that of the
    attention that is kept."""
    problems: int
    """Of each size."""
    compared: int
    """So many of the first size's problems have their attention kept."""
    weights: tuple[str, ...] = (BEST,)
    """Which are measured."""
    variant: str = ""
    """In what the ensemble differs from the task's baseline."""
    start: Start | None = None
    """The compiled network that training begins from; random weights if None."""

    @property
    def task(self) -> str:
        return self.training.tasks[0]

    @property
    def name(self) -> str:
        """That of the ensemble's folder."""
        return f"{self.task}-{self.variant}" if self.variant else self.task

    @property
    def chunks(self) -> list[TrainingConfig]:
        config, seeds = self.training, self.training.all_seeds
        parts = (seeds[start : start + self.chunk] for start in range(0, len(seeds), self.chunk))
        return [dataclasses.replace(config, first_seed=p[0], seeds=len(p)) for p in parts]

    def missing(self, out: pathlib.Path) -> list[TrainingConfig]:
        """The chunks that are not done in the folder."""
        return [c for c in self.chunks if not (out / self.name / f"{_stem(c)}.json").exists()]

    def as_json(self, chunk: TrainingConfig) -> dict[str, Any]:
        """What a chunk's numbers depend on."""
        measured = {name: getattr(self, name) for name in ("sizes", "problems", "compared")}
        if self.weights != (BEST,):  # Measured so before there were others.
            measured["weights"] = list(self.weights)
        if self.start is not None:
            measured["start"] = serialise.to_json(self.start)
        return {"training": chunk.as_json(), **measured}


@dataclasses.dataclass(frozen=True, eq=False)
class Solutions:
    plan: Plan
    measured: list[dict[str, Any]]
    """The content of each chunk's JSON file; see `measure_seeds` for the numbers of a seed."""
    folder: pathlib.Path
    weights: str = BEST

    @property
    def label(self) -> str:
        return self.plan.name if self.weights == BEST else f"{self.plan.name}, {self.weights}"

    @functools.cached_property
    def views(self) -> list["Solutions"]:
        """The same networks with each of the weights that were measured."""
        return [dataclasses.replace(self, weights=weights) for weights in self.plan.weights]

    @functools.cached_property
    def seeds(self) -> list[dict[str, Any]]:
        """The numbers of each seed."""
        seeds = [seed for chunk in self.measured for seed in chunk["seeds"]]
        return seeds if self.weights == BEST else [seed | seed[self.weights] for seed in seeds]

    @property
    def _attention_files(self) -> list[pathlib.Path]:
        return [self.folder / f"{_stem(chunk)}.safetensors" for chunk in self.plan.chunks]

    @property
    def comparable(self) -> bool:
        """Whether there are several seeds, and the second small file of every chunk."""
        files = self._attention_files
        return bool(self.plan.sizes and len(self.seeds) > 1) and all(p.exists() for p in files)

    @functools.cached_property
    def attention(self) -> np.ndarray:
        """On the problems compared: [seed, problem, step, receiver, sender]"""
        missing = ", ".join(str(path) for path in self._attention_files if not path.exists())
        if missing:
            raise RunError(f"{missing}: not there, and needed to compare what seeds attend to")
        name = "attention" if self.weights == BEST else f"attention_{self.weights}"
        arrays = [read_arrays(path)[name] for path in self._attention_files]
        return np.concatenate(arrays).astype(np.float32)

    @property
    def batch(self) -> Batch:
        """The problems on which attention was kept, the first of those measured at that size."""
        measured = problems(self.plan.task, self.plan.sizes[0], self.plan.problems)
        return measured.take(slice(0, self.plan.compared))

    def recordings(self) -> list[Recording]:
        """Of each seed the attention on those problems, as one head, and nothing else."""
        hidden = np.zeros((*self.attention.shape[1:4], 0), np.float32)
        lengths = self.batch.lengths
        return [
            Recording.from_arrays(attention=attention[:, :, None], hidden=hidden, lengths=lengths)
            for attention in self.attention
        ]

    @property
    def traced(self) -> bool:
        return self.plan.training.hint_mode == "encoded_decoded"

    @property
    def test(self) -> np.ndarray:
        """Scores on the canonical test problems: [seed]"""
        return np.array([seed["test"] for seed in self.seeds])

    @property
    def log_steps(self) -> np.ndarray:
        """The logarithm of one more than the step whose weights were best on validation: [seed]"""
        return np.log1p([seed["best_step"] for seed in self.seeds])

    def external(self, size: int, number: str = "eq25") -> np.ndarray:
        """A number of `measures.trace_match` about predicted traces: [seed]"""
        return np.array([seed["sizes"][str(size)]["external"][number] for seed in self.seeds])

    def trace_per_step(self, size: int) -> dict[str, np.ndarray]:
        """eq. 25 of each hint, NaN where no problem has come so far: [seed, step]"""
        curves = [seed["sizes"][str(size)]["external"]["per_step"] for seed in self.seeds]
        return {hint: np.array([curve[hint] for curve in curves], float) for hint in curves[0]}

    def references(self, size: int) -> list[str]:
        return list(self.seeds[0]["sizes"][str(size)]["internal"])

    def internal(self, size: int, number: str, reference: str | None = None) -> np.ndarray:
        """A distance from a reference, or from the one nearest to each seed: [seed] or
        [seed, step]"""
        places = [seed["sizes"][str(size)] for seed in self.seeds]
        return np.array(
            [place["internal"][reference or place["nearest"]][number] for place in places], float
        )

    def as_json(self) -> dict[str, Any]:
        shared = ("plan", "seeds")
        chunks = [{k: v for k, v in chunk.items() if k not in shared} for chunk in self.measured]
        plan = self.plan.as_json(self.plan.training)
        return {"plan": plan, "chunks": chunks, "seeds": self.seeds}


def solve(plan: Plan, out: pathlib.Path, report: Report) -> Solutions:
    """The plan's seeds; those that are in the folder are not trained again."""
    folder = out / plan.name
    folder.mkdir(parents=True, exist_ok=True)
    measured = [_measured(plan, config, folder, report) for config in plan.chunks]
    return Solutions(plan, measured, folder)


def ensembles_in(out: pathlib.Path) -> dict[str, Solutions]:
    """The ensembles in a folder, as far as they are done, by name; nothing is trained."""
    ensembles = {}
    for folder in sorted({path.parent for path in out.glob("*/seeds-*.json")}):
        files = sorted(folder.glob("seeds-*.json"))
        measured = [read_json(path, dict[str, Any]) for path in files]
        configs = [from_json(TrainingConfig, chunk["plan"]["training"]) for chunk in measured]
        config = dataclasses.replace(configs[0], seeds=sum(config.seeds for config in configs))
        first = {"weights": (BEST,), "start": None} | measured[0]["plan"]
        first |= {"training": config, "chunk": configs[0].seeds}
        first |= {name: tuple(first[name]) for name in ("sizes", "weights")}
        first["start"] = first["start"] and serialise.from_json(Start, first["start"])
        plan = Plan(**first, variant=folder.name.removeprefix(config.tasks[0]).removeprefix("-"))
        for path, chunk, part in zip(files, measured, plan.chunks, strict=True):
            check_same(path, chunk["plan"], plan.as_json(part))
        ensembles[plan.name] = Solutions(plan, measured, folder)
    return ensembles


def _measured(
    plan: Plan, config: TrainingConfig, folder: pathlib.Path, report: Report
) -> dict[str, Any]:
    """The content of the chunk's JSON file, which is made if it is missing."""
    path, wanted = folder / _stem(config), plan.as_json(config)
    file = folder / f"{path.name}.json"
    if not file.exists():
        name = f"{plan.name}, {path.name}"
        if runs.has_begun(path):
            check_same(path, runs.open(path).config, config.as_json())
            run = training.resume(path, report=now_and_then(name, report))
        else:
            start = None if plan.start is None else plan.start.compiled().network
            run = training.train(config, path, start=start, report=now_and_then(name, report))
        begun = time.monotonic()
        seeds, attention = measure(run, plan.sizes, plan.problems, plan.compared, plan.weights)
        content = {
            "plan": wanted,
            "environment": run.description["environment"],
            "notes": run.notes,
            "training_seconds": run.seconds,
            "measuring_seconds": time.monotonic() - begun,
            **({} if plan.start is None else {"start": plan.start.measured()}),
            "seeds": seeds,
        }
        if attention:
            write_arrays(folder / f"{path.name}.safetensors", attention)
        write_bytes(file, _a_seed_a_line(content).encode())
        report(f"{name}: measured in {content['measuring_seconds']:.0f} s")
    content = read_json(file, dict[str, Any])
    check_same(file, content["plan"], wanted)
    if runs.has_begun(path):
        _keep_two(runs.open(path), content["seeds"])
    return content


def _keep_two(run: Run, seeds: list[dict[str, Any]]) -> None:
    """Removes the weights of all seeds but the one with the best test score and the one nearest to
    a reference, or the one with the worst test score where no distance was measured."""

    def distance(seed: dict[str, Any]) -> float:
        first = next(iter(seed["sizes"].values()), None)
        return first["internal"][first["nearest"]]["eq24"] if first else seed["test"]

    kept = {max(seeds, key=lambda seed: seed["test"])["seed"], min(seeds, key=distance)["seed"]}
    for seed in set(run.seeds_with_weights) - kept:
        for path in run.path.glob(f"weights*/*/seed-{seed:05d}.safetensors"):
            path.unlink()


def _a_seed_a_line(content: dict[str, Any]) -> str:
    *head, (last, seeds) = content.items()
    lines = [f'"{name}": {json.dumps(value)},' for name, value in head]
    lines += [f'"{last}": [', ",\n".join(json.dumps(seed) for seed in seeds), "]"]
    return "\n".join(["{", *lines, "}", ""])


def _stem(config: TrainingConfig) -> str:
    return f"seeds-{config.all_seeds[0]:05d}-{config.all_seeds[-1]:05d}"
