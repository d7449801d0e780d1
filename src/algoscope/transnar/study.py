"""The study: reasoner, towers, and the one table that sets all rivals side by side.

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

import dataclasses
import functools
import json
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from algoscope import runs
from algoscope.configuration import TransnarConfig
from algoscope.files import write_bytes
from algoscope.runs.environment import environment
from algoscope.tasks import Kind, Stage
from algoscope.tasks.streams import as_in_training
from algoscope.training import TrainingConfig
from algoscope.training.loop import Evaluations
from algoscope.training.model import Model, start_model
from algoscope.training.progress import Report
from algoscope.transnar import mechanism
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar import tower_training as towers
from algoscope.transnar.background import Coming, Say, coming
from algoscope.transnar.pool import Pool, training_orders
from algoscope.transnar.reasoner import Thought, View
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
from algoscope.transnar.study_tables import loss_curve, summary
from algoscope.transnar.text_dataset import Cell, draw_all, first
from algoscope.transnar.tower import Tower


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
    controls: tuple[str, ...]
    """Which of `CONTROLS` there are."""
    glances: int = 0
    """How often towers are scored on their way, at equal distances."""
    glance_problems: int = 20
    """Test problems of each task and size in scores on the way and with parts taken away."""
    beside: bool = False
    """Whether the reasoner learns in a process of its own, beside towers that do not need it."""


class _Variant(NamedTuple):
    row: str
    config: TransnarConfig


def _variants(study: Study) -> dict[str, _Variant]:
    """The towers by name, in the order of their worth."""
    hybrid = dataclasses.replace(study.tower, seed=study.seeds[0])
    base = _with_tower(hybrid, reads="nothing")

    def seeds(name: str, config: TransnarConfig) -> dict[str, _Variant]:
        each = {f"{name}-{seed}": dataclasses.replace(config, seed=seed) for seed in study.seeds}
        return {own: _Variant(name, with_seed) for own, with_seed in each.items()}

    controls = {name: _Variant(CONTROLS[name], _CHANGES[name](hybrid)) for name in study.controls}
    return seeds("base", base) | seeds("hybrid", hybrid) | controls


def _with_tower(config: TransnarConfig, **changes: Any) -> TransnarConfig:
    return dataclasses.replace(config, tower=dataclasses.replace(config.tower, **changes))


def _untrained(config: TransnarConfig) -> TransnarConfig:
    return dataclasses.replace(config, reasoner_trained=False)


def _hidden(config: TransnarConfig) -> TransnarConfig:
    return dataclasses.replace(config, reads_inputs=False)


RIVALS = {
    "reasoner": "reasoner alone",
    "pipeline": "text to graph to reasoner",
    "solver": "reference algorithm",
    "constant": "one answer for all problems",
}
CONTROLS = {
    "untrained": "hybrid, untrained reasoner",
    "in-order": "hybrid, positions in order",
    "hidden": "hybrid, hidden states alone",
    "hidden-untrained": "the same, untrained reasoner",
}
_CHANGES: dict[str, Callable[[TransnarConfig], TransnarConfig]] = {
    "untrained": _untrained,
    "hidden": _hidden,
    "hidden-untrained": lambda config: _untrained(_hidden(config)),
    "in-order": lambda config: _with_tower(config, random_positions=False),
}
ROWS = ("base", "hybrid", *RIVALS.values(), *CONTROLS.values())


def run_study(study: Study, out: pathlib.Path, say: Say = lambda _: None) -> dict[str, Any]:
    """All that the study finds; if it is stopped, results.json holds what there was by then."""
    path = out / "results.json"
    if path.exists() and json.loads(path.read_text())["complete"]:
        return json.loads(path.read_text())
    (out / "scores").mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    draw = functools.cache(lambda: _draw_cells(study, say))
    if study.beside:
        draw()  # First: the processes that draw compile the algorithms for the reasoner's as well.
    with coming(study.reasoner, out / "reasoner", study.beside, say) as reasoner:
        desk = _Desk(study, out, say, reasoner, draw)
        jobs = _jobs(desk)
        while jobs:
            able = [n for n, job in jobs.items() if not job.needs_reasoner or reasoner.ready()]
            name = able[0] if able else next(iter(jobs))
            jobs.pop(name).do()
            results = _results(desk, complete=not jobs)
            results["seconds_of_last_stretch"] = time.monotonic() - begun
            write_bytes(path, json.dumps(results, indent=1).encode())
    return json.loads(path.read_text())


class _Job(NamedTuple):
    do: Callable[[], Any]
    needs_reasoner: bool


def _jobs(desk: "_Desk") -> dict[str, _Job]:
    """What there is to do, the most important first."""
    towers = {
        name: _Job(lambda name=name, config=variant.config: desk.tower(name, config), True)
        for name, variant in _variants(desk.study).items()
    }
    # These need no trained reasoner; what they compile serves the others, too.
    for name in {*(f"base-{seed}" for seed in desk.study.seeds), "untrained"} & set(towers):
        towers[name] = towers[name]._replace(needs_reasoner=False)
    main = [f"{name}-{seed}" for name in ("base", "hybrid") for seed in desk.study.seeds]
    return {
        **{name: towers.pop(name) for name in main},
        "rivals": _Job(desk.rivals, True),
        "mechanism": _Job(desk.mechanism, True),
        **towers,
    }


def _results(desk: "_Desk", complete: bool) -> dict[str, Any]:
    study, out = desk.study, desk.out

    def read(path: pathlib.Path) -> Any:
        return json.loads(path.read_text())

    rows: dict[str, list] = {}
    owners = {name: v.row for name, v in _variants(study).items()} | RIVALS
    for name, row in owners.items():
        if (path := out / "scores" / f"{name}.json").exists():
            rows.setdefault(row, []).append(read(path))
    finished = [run for run in runs.list_runs(out) if run.finished]
    return {
        "complete": complete,
        "rows": {name: rows[name] for name in ROWS if name in rows},
        "seeds": list(study.seeds),
        "test_sizes": list(study.test_sizes),
        "unseen_sizes": list(study.unseen_sizes),
        "curves": {
            name: {str(s): read(p) for s in _glances(study) if (p := desk.glance(name, s)).exists()}
            for name in _variants(study)
            if (out / name).exists()
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
        "mechanism": read(p) if (p := out / "mechanism.json").exists() else None,
        "config": {"reasoner": study.reasoner.as_json(), "tower": study.tower.as_json()},
        "problems": {"test": study.problems, "on the way": study.glance_problems},
        "environment": environment(),
    }


def _glances(study: Study) -> tuple[int, ...]:
    """The steps after which towers are scored on their way."""
    return tuple(study.tower.steps * k // (study.glances + 1) for k in range(1, study.glances + 1))


class _Cells(NamedTuple):
    learnt: list[Cell]
    """To learn from."""
    test: list[Cell]
    reread: list[Cell]
    """Those of the test, made anew from their prompts."""


_Draw = Callable[[], _Cells]


def _draw_cells(study: Study, say: Say) -> _Cells:
    """All in one go, since each process that draws has to compile its task."""
    given = (study.tower, study.test_sizes, study.problems)
    tests = [held_out_orders(*given, reread=reread) for reread in (False, True)]
    orders = [training_orders(study.tower), *tests]
    say("drawing problems")
    drawn = iter(draw_all([order for some in orders for order in some]))
    return _Cells(*([next(drawn) for _ in some] for some in orders))


class _Desk:
    """What all parts of a study work with: problems, drawn when they are first needed, and what is
    large and shared by towers that follow one another."""

    def __init__(self, study: Study, out: pathlib.Path, say: Say, reasoner: Coming, draw: _Draw):
        self.study, self.out, self.say = study, out, say
        self._reasoner, self._draw = reasoner, draw
        self._pool: tuple[Any, Pool] = ("nothing yet", {})
        self._thoughts: tuple[Any, list[Thought]] = ("nothing yet", [])

    @property
    def cells(self) -> _Cells:
        return self._draw()

    def glance(self, name: str, step: int) -> pathlib.Path:
        return self.out / "scores" / f"{name}-at-{step}.json"

    def tower(self, name: str, config: TransnarConfig) -> None:
        """Trains and scores one."""
        path = self.out / name
        if not (path.exists() and runs.open(path).finished):
            self._train(name, config)
        self._kept(name, lambda: self._scores(towers.load(path).tower, config))

    def _train(self, name: str, config: TransnarConfig) -> None:
        path, model = self.out / name, self._model(config)
        last = 0.0

        def report(progress: Report) -> None:
            nonlocal last
            if time.monotonic() - last >= 10 or progress.step == progress.steps:
                last = time.monotonic()
                self.say(
                    f"{name}: step {progress.step} of {progress.steps}, loss {progress.loss:.4f}"
                )

        def look(step: int, tower: Tower) -> None:
            scores = self._scores(tower, config, self.study.glance_problems)
            write_bytes(
                self.glance(name, step),
                json.dumps(summary(scores, self.study.unseen_sizes)).encode(),
            )
            self.say(f"{name}: step {step}, {self._by_size(scores)}")

        given = {"pool": self._pool_for(config), "report": report}
        looks = Evaluations(_glances(self.study), look)
        self.say(f"{name}: begins")
        if path.exists():
            towers.resume(path, evaluations=looks, **given)
        else:
            towers.train(config, path, reasoner=model, evaluations=looks, **given)

    def _model(self, config: TransnarConfig) -> Model | None:
        """The reasoner that `tower_training.train` is to be given."""
        if config.tower.reads == "nothing":
            return None
        if config.reasoner_trained:
            return self._reasoner.get()
        # Of the same form; `towers.reasoner_for` gives it random weights anew.
        recipe = self.study.reasoner.recipe
        features = {
            cell.task: as_in_training(first(cell, 1).batch, recipe).features
            for cell in self.cells.test
        }
        return start_model(features, self.study.reasoner.network, jax.random.key(0))

    def _pool_for(self, config: TransnarConfig) -> Pool:
        what = _read_by(config)
        if self._pool[0] != what:
            self._pool = ("nothing yet", {})
            self.say("preparing what towers learn from")
            model = towers.reasoner_for(config, self._model(config))
            self._pool = (what, towers.prepare(config, model, self.cells.learnt))
        return self._pool[1]

    def _scores(self, tower: Tower, config: TransnarConfig, problems: int | None = None) -> Scores:
        cells, thoughts = self.cells.test, self._thoughts_for(config)
        if problems is not None:
            cells = [first(cell, problems) for cell in cells]
            thoughts = None if thoughts is None else [_first(t, problems) for t in thoughts]
        answers = tower_answers(tower, cells, thoughts, seed=config.seed)
        return scores_of(cells, answers)

    def _thoughts_for(self, config: TransnarConfig) -> list[Thought] | None:
        what = _read_by(config)
        if what is None:
            return None
        if self._thoughts[0] != what:
            model = towers.reasoner_for(config, self._model(config))
            assert model is not None
            self._thoughts = (what, reasoners.think(model, self.cells.test, towers.view_of(config)))
        return self._thoughts[1]

    def _kept(self, name: str, make: Callable[[], Scores]) -> None:
        path = self.out / "scores" / f"{name}.json"
        if not path.exists():
            write_bytes(path, json.dumps(as_json(make())).encode())
        self.say(f"{name}: {self._by_size(from_json(json.loads(path.read_text())))}")

    def _by_size(self, scores: Scores) -> str:
        sizes = self.study.test_sizes
        return "mean CLRS score by size " + ", ".join(
            f"{size}: {mean_clrs(scores, [size]):.3f}" for size in sizes
        )

    def rivals(self) -> None:
        """Those that are no towers."""
        _, test, reread = self.cells
        model = self._reasoner.get()
        answers = {
            "reasoner": lambda: reasoner_answers(test, reasoners.think(model, test)),
            "pipeline": lambda: pipeline_answers(model, reread),
            "solver": lambda: solver_answers(reread),
            "constant": lambda: constant_answers(test),
        }
        for name, answer in answers.items():
            self._kept(name, lambda answer=answer: scores_of(test, answer()))

    def mechanism(self) -> None:
        path = self.out / "mechanism.json"
        if path.exists():
            return
        trained = towers.load(self.out / f"hybrid-{self.study.seeds[0]}")
        thoughts = self._thoughts_for(trained.config)
        assert thoughts is not None
        (task, size), cells = self.study.mechanism, self.cells.test
        place = next(i for i, c in enumerate(cells) if (c.task, c.size) == (task, size))
        cell, few = cells[place], self.study.glance_problems
        observed = mechanism.record(trained.tower, cell, thoughts[place])
        pointer = next(f for f in cell.batch.at(Stage.OUTPUT) if f.kind is Kind.POINTER)
        read = mechanism.reads(observed, cell.outputs[pointer.name])
        ablated = mechanism.ablations(
            trained.tower,
            [first(cell, few) for cell in cells],
            [_first(thought, few) for thought in thoughts],
            trained.config.seed,
        )
        found = {
            "task": task,
            "size": size,
            "problems": cell.samples,
            "reads": read._asdict(),
            "gates": mechanism.gates(trained.tower),
            "ablations": {name: as_json(scores) for name, scores in ablated.items()},
        }
        write_bytes(path, json.dumps(found, indent=1).encode())
        self.say("mechanism: done")


def _read_by(config: TransnarConfig) -> tuple[bool, bool, View] | None:
    """What of a reasoner there has to be for a tower: the same for those that may share it."""
    if config.tower.reads == "nothing":
        return None
    return config.reasoner_trained, bool(config.trains_reasoner), towers.view_of(config)


def _first(thought: Thought, count: int) -> Thought:
    outputs = {name: array[:count] for name, array in thought.outputs.items()}
    return Thought(thought.nodes[:, :count], thought.edges[:, :count], outputs)
