"""The study of TransNAR: a reasoner, towers, and rivals, each a row of one table.

Everything lies in one folder and is made once: a study that was stopped goes on where it was.

    reasoner/                 the run of the reasoner
    base-0/, hybrid-0/, …     runs of towers
    scores/NAME.json          of each tower and each rival
    scores/NAME-at-STEP.json  of a tower on its way, on fewer problems
    mechanism.json            what the first hybrid reads, and what breaks without it
    results.json              all that there is so far

What matters most is made first, and whatever does not need the trained reasoner while that is still
learning.
"""

import contextlib
import dataclasses
import functools
import itertools
import json
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from algoscope import runs
from algoscope.configuration import TransnarConfig
from algoscope.experiments.background import PendingReasoner
from algoscope.experiments.experiment import Report, now_and_then
from algoscope.experiments.transnar_rows import MAIN_ROWS, ROWS, Row
from algoscope.experiments.transnar_tables import loss_curve, summary
from algoscope.files import read_json, write_bytes
from algoscope.runs import reservation
from algoscope.runs.comparison import check_same
from algoscope.runs.environment import environment
from algoscope.tasks import Kind, Stage
from algoscope.tasks.streams import as_in_training
from algoscope.training import TrainingConfig
from algoscope.training.loop import Evaluations
from algoscope.training.model import Model, start_model
from algoscope.transnar import exchange, mechanism
from algoscope.transnar import tower_training as towers
from algoscope.transnar.pool import Parts, training_orders
from algoscope.transnar.reasoner import ReasonerStates, View, reason
from algoscope.transnar.scores import (
    Scores,
    as_json,
    fits_context,
    from_json,
    held_out_orders,
    mean_clrs,
    scores_of,
    tower_answers,
)
from algoscope.transnar.text_dataset import TextDataset, draw_all
from algoscope.transnar.tower import Tower


@dataclasses.dataclass(frozen=True)
class Study:
    reasoner: TrainingConfig
    tower: TransnarConfig
    """The hybrid's; the other towers' are small changes of it."""
    seeds: tuple[int, ...]
    test_sizes: tuple[int, ...]
    unseen_sizes: tuple[int, ...]
    """Those of them that no tower learns from."""
    problems: int
    """Test problems of each task and size."""
    mechanism: tuple[str, int]
    """The task and size on which the reading is looked at: one whose answer is pointers."""
    held_out: tuple[str, ...] = ()
    """Tasks that some rows do not learn, though the reasoner does."""
    rows: tuple[Row, ...] = ROWS
    """In the order of the table and of their worth."""
    evaluations: int = 0
    """How often towers are scored on their way, at equal distances."""
    evaluation_problems: int = 20
    """Test problems of each task and size in scores on the way and with parts taken away."""
    evaluation_sizes: tuple[int, ...] | None = None
    """Sizes of these; all test sizes if None."""
    background: bool = False
    """Whether the reasoner learns in a process of its own, beside towers that do not need it."""

    @property
    def evaluation_steps(self) -> tuple[int, ...]:
        parts = self.evaluations + 1
        return tuple(self.tower.steps * part // parts for part in range(1, parts))


_MECHANISM = "mechanism"


class Job(NamedTuple):
    """A part of a study: a tower, a rival, or, without a row, the mechanism."""

    name: str
    row: Row | None
    config: TransnarConfig | None
    """A tower's."""
    needs_reasoner: bool


def jobs_of(study: Study) -> list[Job]:
    """What there is to do, the most important first: one tower of each main row, rivals and
    mechanism, then the other seeds, then controls."""
    stages: list[list[Job]] = [[] for _ in (*study.seeds, "controls")]
    for row in study.rows:
        for stage, seed in enumerate(study.seeds if row.every_seed else study.seeds[:1]):
            stages[stage if row in MAIN_ROWS else -1].append(_job(study, row, seed))
    stages[0].append(Job(_MECHANISM, None, None, needs_reasoner=True))
    return [job for stage in stages for job in stage]


def _job(study: Study, row: Row, seed: int) -> Job:
    if row.tower is None:
        return Job(row.name, row, None, row.needs_reasoner)
    config = row.tower(dataclasses.replace(study.tower, seed=seed))
    if row.without_held_out:
        kept = tuple(task for task in config.tasks if task not in study.held_out)
        config = dataclasses.replace(config, tasks=kept)
    name = f"{row.name}-{seed}" if row.every_seed else row.name
    reads = config.tower.reads != "nothing" and config.reasoner_trained
    return Job(name, row, config, reads or row.taught)


def parts_of(study: Study) -> list[str]:
    """What can be made alone: rows, with all their seeds, and the mechanism."""
    return [*(row.name for row in study.rows), _MECHANISM]


def run_study(
    study: Study,
    out: pathlib.Path,
    report: Report = lambda _: None,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """All that the study finds, or these parts of it alone; if it is stopped, results.json holds
    what there was by then."""
    path = out / "results.json"
    if path.exists():
        results = read_json(path, dict[str, Any])
        settings = _settings(study)
        check_same(out, {name: results.get(name) for name in settings}, settings)
        if results["complete"]:
            return results
    begun = time.monotonic()
    with (
        reservation.for_runs(out, "a study"),
        contextlib.closing(PendingReasoner(study.reasoner, out / "reasoner", report)) as reasoner,
    ):
        (out / "scores").mkdir(exist_ok=True)
        jobs = [job for job in jobs_of(study) if not only or _part_of(job) in only]
        context = StudyContext(study, out, report, reasoner)
        if study.background and any(job.needs_reasoner for job in jobs):
            # First: the processes that draw compile the algorithms for the reasoner's as well.
            _ = context.data
            reasoner.start()
        while jobs:
            able = [job for job in jobs if not job.needs_reasoner or reasoner.ready()]
            job = (able or jobs)[0]
            context.do(job)
            jobs.remove(job)
            results = _results(study, out)
            results["seconds_of_last_stretch"] = time.monotonic() - begun
            write_bytes(path, json.dumps(results, indent=1).encode())
    return _read(path)


def _read(path: pathlib.Path) -> Any:
    return read_json(path, Any)


def _part_of(job: Job) -> str:
    return _MECHANISM if job.row is None else job.row.name


def _path_of(out: pathlib.Path, job: Job) -> pathlib.Path:
    """The file that a job ends with."""
    return out / f"{_MECHANISM}.json" if job.row is None else _scores_path(out, job.name)


def _scores_path(out: pathlib.Path, name: str, step: int | None = None) -> pathlib.Path:
    return out / "scores" / (f"{name}.json" if step is None else f"{name}-at-{step}.json")


def _results(study: Study, out: pathlib.Path) -> dict[str, Any]:
    complete = all(_path_of(out, job).exists() for job in jobs_of(study))
    jobs = [job for job in jobs_of(study) if job.row is not None]
    made = [job for job in jobs if _scores_path(out, job.name).exists()]
    titles = {row: [job.name for job in made if job.row is row] for row in study.rows}
    folders = [out / name for name in ("reasoner", *(job.name for job in jobs))]
    finished = [run for p in folders if runs.has_begun(p) and (run := runs.open(p)).finished]
    return {
        "complete": complete,
        "rows": {
            row.title: [_read(_scores_path(out, name)) for name in names]
            for row, names in titles.items()
            if names
        },
        "seeds": list(study.seeds),
        **_settings(study),
        "canonical": _canonical(out / "reasoner"),
        "curves": {
            job.name: {
                str(step): _read(path)
                for step in study.evaluation_steps
                if (path := _scores_path(out, job.name, step)).exists()
            }
            for job in jobs
            if job.config is not None and runs.has_begun(out / job.name)
        },
        "training": {
            run.name: {
                key: run.results[key]
                for key in ("parameters", "seconds_of_last_stretch", "best_step", "best_validation")
                if key in run.results
            }
            for run in finished
        },
        "loss": {run.name: loss_curve(run.path) for run in finished},
        "mechanism": _read(path) if (path := out / "mechanism.json").exists() else None,
        "environment": environment(),
    }


def _settings(study: Study) -> dict[str, Any]:
    """What all that lies in a folder has been made with."""
    return {
        "test_sizes": list(study.test_sizes),
        "unseen_sizes": list(study.unseen_sizes),
        "evaluation_sizes": list(study.evaluation_sizes or study.test_sizes),
        "held_out": list(study.held_out),
        "config": {"reasoner": study.reasoner.as_json(), "tower": study.tower.as_json()},
        "problems": {"test": study.problems, "on the way": study.evaluation_problems},
    }


def _canonical(path: pathlib.Path) -> dict[str, float]:
    """The reasoner's scores on the canonical tests of CLRS-30 by task, none if it has none."""
    if not runs.has_begun(path) or not (run := runs.open(path)).finished:
        return {}
    return {task: scores["score"][0] for task, scores in run.results.get("test", {}).items()}


class StudyData(NamedTuple):
    training: list[TextDataset]
    test: list[TextDataset]
    reread: list[TextDataset]
    """Those of the test, made anew from their prompts."""


@dataclasses.dataclass
class StudyContext:
    """What all parts of a study work with: problems, drawn when they are first needed, and what is
    large and shared by towers that follow one another."""

    study: Study
    out: pathlib.Path
    report: Report
    reasoner: PendingReasoner
    _parts: tuple[Any, Parts] | None = None
    _states: tuple[Any, list[ReasonerStates]] = ("nothing yet", [])

    @functools.cached_property
    def data(self) -> StudyData:
        """All drawn in one go, since each process that draws has to compile its task."""
        config, sizes, problems = self.study.tower, self.study.test_sizes, self.study.problems
        tests = [held_out_orders(config, sizes, problems, reread) for reread in (False, True)]
        parts = [training_orders(config), *tests]
        self.report("drawing problems")
        drawn = iter(draw_all([order for orders in parts for order in orders]))
        training, *of_test = ([next(drawn) for _ in orders] for orders in parts)
        fits = [fits_context(config.tower, dataset) for dataset in of_test[0]]
        return StudyData(training, *(list(itertools.compress(part, fits)) for part in of_test))

    def do(self, job: Job) -> None:
        """Makes what is not there yet of a job."""
        if job.row is None:
            self._mechanism()
            return
        path = _scores_path(self.out, job.name)
        if not path.exists():
            if job.config is not None:
                self._train(job.name, job.config, job.row.taught)
                scores = self._scores(towers.load(self.out / job.name).tower, job.config)
            else:
                assert job.row.answers is not None
                scores = scores_of(self.data.test, job.row.answers(self))
            write_bytes(path, json.dumps(as_json(scores)).encode())
        self.report(f"{job.name}: {self._by_size(from_json(_read(path)))}")

    def _train(self, name: str, config: TransnarConfig, taught: bool) -> None:
        path = self.out / name
        if runs.has_begun(path):
            check_same(path, runs.open(path).config, config.as_json())
            if runs.open(path).finished:
                return
        teacher = self.hybrid if taught else None
        parts = self._parts_for(config, config if teacher is None else teacher.config)

        def evaluate(step: int, tower: Tower) -> None:
            scores = self._scores(tower, config, few=True)
            content = json.dumps(summary(scores, self.study.unseen_sizes)).encode()
            write_bytes(_scores_path(self.out, name, step), content)
            self.report(f"{name}: step {step}, {self._by_size(scores)}")

        self.report(f"{name}: begins")
        go_on = towers.resume
        if not runs.has_begun(path):
            model = self._model(config)
            go_on = functools.partial(towers.train, config, reasoner=model, teacher=teacher)
        evaluations = Evaluations(self.study.evaluation_steps, evaluate)
        report = now_and_then(name, self.report)
        go_on(path=path, parts=parts, evaluations=evaluations, report=report)

    def _model(self, config: TransnarConfig) -> Model | None:
        """The reasoner that a tower reads."""
        if config.tower.reads == "nothing":
            return None
        if config.reasoner_trained:
            return towers.reasoner_for(config, self.reasoner.get())
        # One of the same form, which is given random weights anew.
        recipe = self.study.reasoner.recipe
        features = {
            dataset.task: as_in_training(dataset.problems.take(slice(1)), recipe).features
            for dataset in self.data.test
        }
        model = start_model(features, self.study.reasoner.network, jax.random.key(0))
        return towers.reasoner_for(config, model)

    @property
    def hybrid(self) -> towers.TrainedTower:
        """The first one, which has to be trained by now."""
        return towers.load(self.out / f"hybrid-{self.study.seeds[0]}")

    def hybrid_answers(
        self, change: Callable[[Sequence[ReasonerStates]], list[ReasonerStates]]
    ) -> list[list[str]]:
        """The first hybrid's answers to the test problems, with changed states."""
        _, tower, _ = trained = self.hybrid
        states = self._states_for(trained.config)
        assert states is not None
        return tower_answers(tower, self.data.test, change(states), seed=trained.config.seed)

    def _parts_for(self, config: TransnarConfig, reader: TransnarConfig) -> Parts:
        """What a tower learns from, with the states that `reader`, it or its teacher, reads."""
        key = (_what_is_read(reader), config.tasks, config.parts)
        if self._parts is None or self._parts[0] != key:
            self._parts = None
            self.report("preparing what towers learn from")
            chosen = [d for d in self.data.training if d.task in config.tasks]
            view = towers.view_of(reader)
            self._parts = key, towers.prepare(config, self._model(reader), chosen, view)
        return self._parts[1]

    def _states_for(self, config: TransnarConfig) -> list[ReasonerStates] | None:
        """The reasoner's, on the test problems."""
        key = _what_is_read(config)
        if self._states[0] != key and (model := self._model(config)) is not None:
            self._states = (key, reason(model, self.data.test, towers.view_of(config)))
        return None if key is None else self._states[1]

    def _scores(self, tower: Tower, config: TransnarConfig, few: bool = False) -> Scores:
        datasets, states = self.data.test, self._states_for(config)
        if few:
            datasets, states = self._few(states)
        return scores_of(datasets, tower_answers(tower, datasets, states, seed=config.seed))

    def _few(
        self, states: Sequence[ReasonerStates] | None
    ) -> tuple[list[TextDataset], list[ReasonerStates] | None]:
        """The test problems of scores on the way, and the states on them."""
        sizes = self.study.evaluation_sizes or self.study.test_sizes
        chosen = [number for number, d in enumerate(self.data.test) if d.size in sizes]
        samples = slice(self.study.evaluation_problems)
        datasets = [self.data.test[number].take(samples) for number in chosen]
        return datasets, None if states is None else [states[n].take(samples) for n in chosen]

    def _by_size(self, scores: Scores) -> str:
        sizes = sorted({size for by_size in scores.values() for size in by_size})
        by_size = (f"{n}: {mean_clrs(scores, [n]):.3f}" for n in sizes)
        return f"mean CLRS score by size {', '.join(by_size)}"

    def _mechanism(self) -> None:
        path = self.out / "mechanism.json"
        if path.exists():
            return
        trained = self.hybrid
        states = self._states_for(trained.config)
        assert states is not None
        task, size = self.study.mechanism
        place = [(d.task, d.size) for d in self.data.test].index((task, size))
        dataset = self.data.test[place]
        recording = mechanism.record(trained.tower, dataset, states[place])
        pointer = next(f for f in dataset.problems.at(Stage.OUTPUT) if f.kind is Kind.POINTER)
        reads = mechanism.reads(recording, dataset.problems.outputs[pointer.name])
        datasets, few = self._few(states)
        assert few is not None
        ablated = mechanism.ablations(trained.tower, datasets, few, trained.config.seed)
        content = {
            "task": task,
            "size": size,
            "problems": len(dataset),
            "reads": reads._asdict(),
            "gates": mechanism.cross_attention_of(recording).gates.tolist(),
            "exchange": exchange.measure(trained, dataset)._asdict(),
            "ablations": {name: as_json(scores) for name, scores in ablated.items()},
        }
        write_bytes(path, json.dumps(content, indent=1).encode())
        self.report("mechanism: done")


def _what_is_read(config: TransnarConfig) -> tuple[bool, bool, View] | None:
    """What of a reasoner there has to be for a tower: the same for those that may share it."""
    if config.tower.reads == "nothing":
        return None
    return config.reasoner_trained, bool(config.trains_reasoner), towers.view_of(config)
