"""What a sweep came to, as far as its runs are done: scores, verdicts and cost along its axes.

A row is one task of one run, with its networks. Scores of one run's networks are averaged before
runs are compared: seeds of one configuration are no configurations of their own.
"""

import dataclasses
import functools
import pathlib
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np

from algoscope.files import RunError
from algoscope.runs import index, parquet
from algoscope.sweeps.drive import read_specification
from algoscope.sweeps.spec import Sweep
from algoscope.sweeps.status import Position, positions, value_text
from algoscope.verdict import NOT_JUDGED

_SCORES = ("test", "fresh", "seen")
_MOST_STEPS = 60
"""Of a curve of validation, which is thinned to so many."""
_NETWORKS = """
create table networks as
with scores as (
    select run, seed, task,
        max(value) filter (name = 'test') as test,
        max(value) filter (name = 'fresh') as fresh,
        max(value) filter (name = 'seen') as seen
    from results where output = 'score' group by all
), trained as (
    select run, seed,
        max(value) filter (name = 'best_validation') as validation,
        max(value) filter (name = 'best_step') as best_step
    from results where task = '' group by all
), pairs as (
    select distinct run, seed, unnest(planned.task_list) as task from trained
    join planned using (run)
)
select planned.number, pairs.run, planned.* exclude (number, run, task_list), seed, task,
    test, fresh, seen, validation, best_step, word
from pairs join planned using (run) join trained using (run, seed)
left join scores using (run, seed, task) left join verdicts using (run, seed, task)
order by number, seed, task
"""


class Row(NamedTuple):
    """One task of one run."""

    run: str
    task: str
    values: dict[str, str]
    """Of the axes, as text."""
    scores: np.ndarray
    """[network]"""
    score: float
    """Their mean."""
    words: list[str]
    """Of the verdicts, one a network; empty if there are none."""
    seconds: float
    """In which the whole run was trained and scored, without pauses."""


class Curve(NamedTuple):
    """The mean validation score of one row's networks."""

    steps: np.ndarray
    scores: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Harvest:
    folder: pathlib.Path
    sweep: Sweep
    places: list[Position]
    measure: str
    """What scores are: test, fresh, seen or validation."""
    rows: list[Row]
    curves: dict[tuple[str, str], Curve]
    """By run and task."""

    @functools.cached_property
    def axes(self) -> dict[str, list[str]]:
        """The values of the axes that have more than one, as text."""
        axes = {name: list(map(value_text, values)) for name, values in self.sweep.axes.items()}
        return {name: values for name, values in axes.items() if len(values) > 1}

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(row.task for row in self.rows))

    @property
    def networks(self) -> int:
        return sum(len(row.scores) for row in self.rows)

    @functools.cached_property
    def words(self) -> list[str]:
        return [word for row in self.rows for word in row.words]

    @property
    def seconds(self) -> float:
        """Of all runs that are trained, one after the other, without pauses."""
        return sum(place.facts.computed_seconds for place in self.trained if place.facts)

    @property
    def trained(self) -> list[Position]:
        return [place for place in self.places if place.facts and place.facts.finished]

    @functools.cached_property
    def ranked(self) -> list[Row]:
        """The best first."""
        return sorted(self.rows, key=lambda row: -row.score)

    def along(self, axis: str) -> dict[str, list[Row]]:
        """The rows by the value of an axis."""
        rows: dict[str, list[Row]] = {value: [] for value in self.axes[axis]}
        for row in self.rows:
            rows[row.values[axis]].append(row)
        return rows

    @functools.cached_property
    def explained(self) -> dict[str, float]:
        """The share of the variance of scores over rows that lies between the values of each axis,
        the largest first: 1 if the axis alone decides, 0 if its values have the same mean."""
        scores = [row.score for row in self.rows]
        if len(scores) < 2 or np.ptp(scores) < 1e-12:
            return dict.fromkeys(self.axes, 0.0)
        mean, whole = statistics.fmean(scores), len(scores) * statistics.pvariance(scores)
        shares = {}
        for axis in self.axes:
            groups = [[row.score for row in rows] for rows in self.along(axis).values() if rows]
            between = sum(len(group) * (statistics.fmean(group) - mean) ** 2 for group in groups)
            shares[axis] = between / whole
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


def count_judged(words: Sequence[str]) -> int:
    """Networks of which there is a verdict: of some tasks there cannot be one."""
    return len(words) - words.count(NOT_JUDGED)


def gather(folder: pathlib.Path, tables: pathlib.Path | None = None) -> Harvest:
    """What is there now; writes it as tables (networks, runs and values of axes, as CSV and
    Parquet) into a folder too, if one is given."""
    sweep = read_specification(folder)
    found = index.find(folder)
    places = positions(folder, found)
    if not any(place.facts for place in places):
        raise RunError(f"{folder}: got a sweep without any run yet, needed one that has begun")
    tables_read = ("results", "validation", "verdicts")
    with parquet.connected(folder, tables_read, found=found) as connection:
        made = {name for (name,) in connection.execute("show tables").fetchall()}
        if "results" not in made:
            return Harvest(folder, sweep, places, "validation", [], {})
        connection.register("planned_columns", _planned(sweep, places))
        connection.execute(
            "create table planned as select * exclude (tasks_text), "
            "string_split(tasks_text, ' ') as task_list from planned_columns"
        )
        connection.execute(_NETWORKS)
        measure, rows = _rows(connection, places)
        harvest = Harvest(folder, sweep, places, measure, rows, _curves(connection))
        if tables is not None:
            _write(connection, harvest, tables)
    return harvest


def _planned(sweep: Sweep, places: list[Position]) -> dict[str, np.ndarray]:
    columns: dict[str, np.ndarray] = {
        "number": np.arange(len(places)),
        "run": np.array([place.planned.item.name for place in places], object),
        "tasks_text": np.array([" ".join(p.planned.item.config.tasks) for p in places], object),
    }
    return columns | _axis_columns(sweep, places)


def _axis_columns(sweep: Sweep, places: list[Position]) -> dict[str, np.ndarray]:
    """The values of each axis: numbers where all are, else texts."""
    columns = {}
    for axis, choices in sweep.axes.items():
        values = [place.planned.axes[axis] for place in places]
        kind = next((k for k in (int, float) if all(type(v) is k for v in choices)), None)
        texts = [value_text(value) for value in values]
        columns[f"axis {axis}"] = np.array(values, kind) if kind else np.array(texts, object)
    return columns


def _rows(connection: duckdb.DuckDBPyConnection, places: list[Position]) -> tuple[str, list[Row]]:
    selected = connection.execute(
        "select number, task, test, fresh, seen, validation, word from networks"
    ).fetchnumpy()
    arrays = {name: np.ma.filled(column, np.nan) if name in (*_SCORES, "validation")
              else np.ma.filled(column, "") if name == "word" else np.asarray(column)
              for name, column in selected.items()}  # fmt: skip
    complete = (name for name in _SCORES if np.isfinite(arrays[name].astype(float)).all())
    measure = next(complete, "validation")
    scores, words = arrays[measure].astype(float), arrays["word"]
    places_of: dict[tuple[int, str], list[int]] = {}
    for network, (number, task) in enumerate(zip(arrays["number"], arrays["task"], strict=True)):
        places_of.setdefault((int(number), str(task)), []).append(network)
    rows = []
    for (number, task), networks in places_of.items():
        place = places[number]
        given = [str(words[network]) for network in networks]
        texts = {axis: value_text(value) for axis, value in place.planned.axes.items()}
        seconds = place.facts.computed_seconds if place.facts else 0.0
        name, own = place.planned.item.name, scores[networks]
        judged = given if all(given) else []
        rows.append(Row(name, task, texts, own, float(own.mean()), judged, seconds))
    return measure, rows


def _curves(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], Curve]:
    tables = {name for (name,) in connection.execute("show tables").fetchall()}
    if "validation" not in tables:
        return {}
    steps = [step for (step,) in connection.execute(
        "select distinct step from validation order by step").fetchall()]  # fmt: skip
    chosen = steps[:: -(-len(steps) // _MOST_STEPS)] if steps else []
    connection.register("chosen", {"step": np.array([*{*chosen, *steps[-1:]}], np.int64)})
    found = connection.execute(
        "select run, task, list(step order by step), list(score order by step) from "
        "(select run, task, step, avg(score) as score from validation semi join chosen using "
        "(step) semi join planned using (run) group by all) group by run, task"
    ).fetchall()
    return {(run, task): Curve(np.array(s), np.array(v)) for run, task, s, v in found}


def _write(connection: duckdb.DuckDBPyConnection, harvest: Harvest, folder: pathlib.Path) -> None:
    """networks, runs and values, as CSV and Parquet."""
    folder.mkdir()
    connection.register("stage_columns", _stages(harvest))
    connection.register("value_rows", dict(_value_columns(harvest)))
    names = [f"axis {axis}" for axis in harvest.sweep.axes]
    plain = ", ".join(f'"{name}" as "{name.removeprefix("axis ")}"' for name in names)
    axes = f"{plain}, " if plain else ""
    words = (
        f"select run, count(word) filter (word <> '{NOT_JUDGED}') as judged, "
        "count(*) filter (word in ('runs', 'runs up to')) as running from networks group by run"
    )
    queries = {
        "networks": f"select run, {axes} seed, task, test, fresh, seen, validation, best_step, "
        "word from networks order by number, seed, task",
        "runs": f"select run, {axes} stage_columns.* exclude (run), score, least, most, judged, "
        "running from planned join stage_columns using (run) left join (select run, "
        f"avg({harvest.measure}) as score, min({harvest.measure}) as least, "
        f"max({harvest.measure}) as most from networks group by run) using (run) left join "
        f"({words}) using (run) order by number",
        "values": "select * from value_rows",
    }
    for name, query in queries.items():
        for suffix in ("csv", "parquet"):
            connection.execute(
                f"copy ({query}) to $path (format {suffix})",
                {"path": str(folder / f"{name}.{suffix}")},
            )


def _stages(harvest: Harvest) -> dict[str, np.ndarray]:
    def texts(values: list[Any]) -> np.ndarray:
        return np.array(values, object)

    places, facts = harvest.places, [place.facts for place in harvest.places]
    items = [place.planned.item for place in places]
    return {
        "run": texts([item.name for item in items]),
        "stage": texts([str(place.stage) for place in places]),
        "seeds": np.array([item.config.seeds for item in items]),
        "step": np.array([place.step for place in places]),
        "planned_steps": np.array([item.config.steps for item in items]),
        "computed_seconds": np.array([f.computed_seconds if f else np.nan for f in facts]),
        "seconds": np.array([fact.seconds if fact else np.nan for fact in facts]),
        "device": texts([fact.device if fact else "" for fact in facts]),
        "created": texts([fact.created if fact else "" for fact in facts]),
        "error": texts([place.error for place in places]),
    }


class Value(NamedTuple):
    """What one value of an axis came to."""

    axis: str
    value: str
    runs: int
    networks: int
    score: float
    """The mean over rows."""
    least: float
    most: float
    judged: int
    running: int
    """Networks that run their algorithm, or do within a scope."""
    seconds: float
    """Of a run, in the mean, without pauses."""
    total_seconds: float


def values_of(harvest: Harvest) -> Iterator[Value]:
    """A row for each value of each axis that some run has."""
    for axis in harvest.axes:
        for value, rows in harvest.along(axis).items():
            if not rows:
                continue
            scores, words = [row.score for row in rows], [w for row in rows for w in row.words]
            by_run = {row.run: row.seconds for row in rows}
            yield Value(
                axis, value, len(by_run), sum(len(row.scores) for row in rows),
                statistics.fmean(scores), min(scores), max(scores),
                count_judged(words), sum(word.startswith("runs") for word in words),
                statistics.fmean(by_run.values()), sum(by_run.values()),
            )  # fmt: skip


def _value_columns(harvest: Harvest) -> Mapping[str, np.ndarray]:
    values = list(values_of(harvest))
    kinds = Value.__annotations__
    return {
        name: np.array([getattr(value, name) for value in values], object if kind is str else kind)
        for name, kind in kinds.items()
    }
