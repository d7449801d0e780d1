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
from algoscope.experiments.transnar_tables import loss_curve, summary
from algoscope.files import read_json, write_bytes
from algoscope.runs.environment import environment
from algoscope.tasks import Kind, Stage
from algoscope.tasks.streams import as_in_training
from algoscope.training import TrainingConfig
from algoscope.training.loop import Evaluations
from algoscope.training.model import Model, start_model
from algoscope.transnar import mechanism
from algoscope.transnar import tower_training as towers
from algoscope.transnar.pool import Pool, training_orders
from algoscope.transnar.reasoner import ReasonerStates, View, reason
from algoscope.transnar.scores import (
    Scores,
    as_json,
    constant_answers,
    from_json,
    held_out_orders,
    mean_clrs,
    pipeline_answers,
    reasoner_answers,
    scores_of,
    solver_answers,
    tower_answers,
)
from algoscope.transnar.text_dataset import TextDataset, draw_all
from algoscope.transnar.tower import Tower


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of the table: a tower, in one or more seeds, or a rival that is none."""

    name: str
    """Of its runs and files."""
    title: str
    """In tables."""
    tower: Callable[[TransnarConfig], TransnarConfig] | None = None
    """The tower's configuration, from the hybrid's; None for a rival."""
    every_seed: bool = False
    """Whether there is a tower for each of the study's seeds, or for the first alone."""
    answers: "Callable[[StudyContext], list[list[str]]] | None" = None
    """The rival's answers to the test problems; None for a tower."""
    needs_reasoner: bool = False
    """Whether a rival needs the trained reasoner."""


def _with_tower(**changes: Any) -> Callable[[TransnarConfig], TransnarConfig]:
    return lambda c: dataclasses.replace(c, tower=dataclasses.replace(c.tower, **changes))


def _with(**changes: Any) -> Callable[[TransnarConfig], TransnarConfig]:
    return lambda config: dataclasses.replace(config, **changes)


MAIN_ROWS = (
    Row("base", "base", _with_tower(reads="nothing"), every_seed=True),
    Row("hybrid", "hybrid", _with(), every_seed=True),
    Row(
        "reasoner",
        "reasoner alone",
        answers=lambda c: reasoner_answers(c.data.test, reason(c.reasoner.get(), c.data.test)),
        needs_reasoner=True,
    ),
    Row(
        "pipeline",
        "text to graph to reasoner",
        answers=lambda c: pipeline_answers(c.reasoner.get(), c.data.reread),
        needs_reasoner=True,
    ),
    Row("solver", "reference algorithm", answers=lambda c: solver_answers(c.data.reread)),
    Row("constant", "one answer for all problems", answers=lambda c: constant_answers(c.data.test)),
)
CONTROL_ROWS = (
    Row("untrained", "hybrid, untrained reasoner", _with(reasoner_trained=False)),
    Row("in-order", "hybrid, positions in order", _with_tower(random_positions=False)),
    Row("hidden", "hybrid, hidden states alone", _with(reads_inputs=False)),
    Row(
        "hidden-untrained",
        "the same, untrained reasoner",
        _with(reads_inputs=False, reasoner_trained=False),
    ),
)
ROWS = (*MAIN_ROWS, *CONTROL_ROWS)


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
    rows: tuple[Row, ...] = ROWS
    """In the order of the table and of their worth."""
    evaluations: int = 0
    """How often towers are scored on their way, at equal distances."""
    evaluation_problems: int = 20
    """Test problems of each task and size in scores on the way and with parts taken away."""
    background: bool = False
    """Whether the reasoner learns in a process of its own, beside towers that do not need it."""

    @property
    def evaluation_steps(self) -> tuple[int, ...]:
        parts = self.evaluations + 1
        return tuple(self.tower.steps * part // parts for part in range(1, parts))


class Job(NamedTuple):
    """A part of a study: a tower, a rival, or, without a row, the mechanism."""

    name: str
    row: Row | None
    config: TransnarConfig | None
    """A tower's."""
    needs_reasoner: bool


def jobs_of(study: Study) -> list[Job]:
    """What there is to do, the most important first: the mechanism comes after the rivals."""
    jobs = []
    for row in study.rows:
        if row.tower is None:
            jobs.append(Job(row.name, row, None, row.needs_reasoner))
            continue
        for seed in study.seeds if row.every_seed else study.seeds[:1]:
            config = row.tower(dataclasses.replace(study.tower, seed=seed))
            name = f"{row.name}-{seed}" if row.every_seed else row.name
            reads = config.tower.reads != "nothing" and config.reasoner_trained
            jobs.append(Job(name, row, config, reads))
    rivals = [place for place, job in enumerate(jobs) if job.config is None]
    jobs.insert(1 + max(rivals), Job("mechanism", None, None, needs_reasoner=True))
    return jobs


def run_study(study: Study, out: pathlib.Path, report: Report = lambda _: None) -> dict[str, Any]:
    """All that the study finds; if it is stopped, results.json holds what there was by then."""
    path = out / "results.json"
    if path.exists() and (results := _read(path))["complete"]:
        return results
    (out / "scores").mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with contextlib.closing(PendingReasoner(study.reasoner, out / "reasoner", report)) as reasoner:
        context = StudyContext(study, out, report, reasoner)
        if study.background:
            # First: the processes that draw compile the algorithms for the reasoner's as well.
            _ = context.data
            reasoner.start()
        jobs = jobs_of(study)
        while jobs:
            able = [job for job in jobs if not job.needs_reasoner or reasoner.ready()]
            job = (able or jobs)[0]
            context.do(job)
            jobs.remove(job)
            results = _results(study, out, complete=not jobs)
            results["seconds_of_last_stretch"] = time.monotonic() - begun
            write_bytes(path, json.dumps(results, indent=1).encode())
    return _read(path)


def _read(path: pathlib.Path) -> Any:
    return read_json(path, Any)


def _scores_path(out: pathlib.Path, name: str, step: int | None = None) -> pathlib.Path:
    return out / "scores" / (f"{name}.json" if step is None else f"{name}-at-{step}.json")


def _results(study: Study, out: pathlib.Path, complete: bool) -> dict[str, Any]:
    jobs = [job for job in jobs_of(study) if job.row is not None]
    made = [job for job in jobs if _scores_path(out, job.name).exists()]
    titles = {row: [job.name for job in made if job.row is row] for row in study.rows}
    finished = [run for run in runs.list_runs(out) if run.finished]
    return {
        "complete": complete,
        "rows": {
            row.title: [_read(_scores_path(out, name)) for name in names]
            for row, names in titles.items()
            if names
        },
        "seeds": list(study.seeds),
        "test_sizes": list(study.test_sizes),
        "unseen_sizes": list(study.unseen_sizes),
        "curves": {
            job.name: {
                str(step): _read(path)
                for step in study.evaluation_steps
                if (path := _scores_path(out, job.name, step)).exists()
            }
            for job in jobs
            if job.config is not None and (out / job.name).exists()
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
        "config": {"reasoner": study.reasoner.as_json(), "tower": study.tower.as_json()},
        "problems": {"test": study.problems, "on the way": study.evaluation_problems},
        "environment": environment(),
    }


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
    _pool: tuple[Any, Pool] = ("nothing yet", {})
    _states: tuple[Any, list[ReasonerStates]] = ("nothing yet", [])

    @functools.cached_property
    def data(self) -> StudyData:
        """All drawn in one go, since each process that draws has to compile its task."""
        config, sizes, problems = self.study.tower, self.study.test_sizes, self.study.problems
        tests = [held_out_orders(config, sizes, problems, reread) for reread in (False, True)]
        parts = [training_orders(config), *tests]
        self.report("drawing problems")
        drawn = iter(draw_all([order for orders in parts for order in orders]))
        return StudyData(*([next(drawn) for _ in orders] for orders in parts))

    def do(self, job: Job) -> None:
        """Makes what is not there yet of a job."""
        if job.row is None:
            self._mechanism()
            return
        path = _scores_path(self.out, job.name)
        if job.config is not None:
            self._train(job.name, job.config)
        if not path.exists():
            if job.config is not None:
                scores = self._scores(towers.load(self.out / job.name).tower, job.config)
            else:
                assert job.row.answers is not None
                scores = scores_of(self.data.test, job.row.answers(self))
            write_bytes(path, json.dumps(as_json(scores)).encode())
        self.report(f"{job.name}: {self._by_size(from_json(_read(path)))}")

    def _train(self, name: str, config: TransnarConfig) -> None:
        path = self.out / name
        if path.exists() and runs.open(path).finished:
            return
        model, pool = self._model(config), self._pool_for(config)

        def evaluate(step: int, tower: Tower) -> None:
            scores = self._scores(tower, config, slice(self.study.evaluation_problems))
            content = json.dumps(summary(scores, self.study.unseen_sizes)).encode()
            write_bytes(_scores_path(self.out, name, step), content)
            self.report(f"{name}: step {step}, {self._by_size(scores)}")

        self.report(f"{name}: begins")
        go_on = towers.resume
        if not path.exists():
            go_on = functools.partial(towers.train, config, reasoner=model)
        evaluations = Evaluations(self.study.evaluation_steps, evaluate)
        report = now_and_then(name, self.report)
        go_on(path=path, pool=pool, evaluations=evaluations, report=report)

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

    def _pool_for(self, config: TransnarConfig) -> Pool:
        key = _what_is_read(config)
        if self._pool[0] != key:
            self._pool = ("nothing yet", {})
            self.report("preparing what towers learn from")
            self._pool = (key, towers.prepare(config, self._model(config), self.data.training))
        return self._pool[1]

    def _states_for(self, config: TransnarConfig) -> list[ReasonerStates] | None:
        """The reasoner's, on the test problems."""
        key = _what_is_read(config)
        if self._states[0] != key and (model := self._model(config)) is not None:
            self._states = (key, reason(model, self.data.test, towers.view_of(config)))
        return None if key is None else self._states[1]

    def _scores(self, tower: Tower, config: TransnarConfig, samples: slice = slice(None)) -> Scores:
        datasets, states = self._test(self._states_for(config), samples)
        return scores_of(datasets, tower_answers(tower, datasets, states, seed=config.seed))

    def _test(
        self, states: Sequence[ReasonerStates] | None, samples: slice
    ) -> tuple[list[TextDataset], list[ReasonerStates] | None]:
        """These samples of all test problems, and the states on them."""
        datasets = [dataset.take(samples) for dataset in self.data.test]
        return datasets, None if states is None else [s.take(samples) for s in states]

    def _by_size(self, scores: Scores) -> str:
        by_size = (f"{n}: {mean_clrs(scores, [n]):.3f}" for n in self.study.test_sizes)
        return f"mean CLRS score by size {', '.join(by_size)}"

    def _mechanism(self) -> None:
        path = self.out / "mechanism.json"
        if path.exists():
            return
        trained = towers.load(self.out / f"hybrid-{self.study.seeds[0]}")
        states = self._states_for(trained.config)
        assert states is not None
        task, size = self.study.mechanism
        place = [(d.task, d.size) for d in self.data.test].index((task, size))
        dataset = self.data.test[place]
        recording = mechanism.record(trained.tower, dataset, states[place])
        pointer = next(f for f in dataset.problems.at(Stage.OUTPUT) if f.kind is Kind.POINTER)
        reads = mechanism.reads(recording, dataset.problems.outputs[pointer.name])
        datasets, few = self._test(states, slice(self.study.evaluation_problems))
        assert few is not None
        ablated = mechanism.ablations(trained.tower, datasets, few, trained.config.seed)
        content = {
            "task": task,
            "size": size,
            "problems": len(dataset),
            "reads": reads._asdict(),
            "gates": mechanism.cross_attention_of(recording).gates.tolist(),
            "ablations": {name: as_json(scores) for name, scores in ablated.items()},
        }
        write_bytes(path, json.dumps(content, indent=1).encode())
        self.report("mechanism: done")


def _what_is_read(config: TransnarConfig) -> tuple[bool, bool, View] | None:
    """What of a reasoner there has to be for a tower: the same for those that may share it."""
    if config.tower.reads == "nothing":
        return None
    return config.reasoner_trained, bool(config.trains_reasoner), towers.view_of(config)
