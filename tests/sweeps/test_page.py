"""The page of a sweep: in a real browser, with the numbers that its runs have."""

import csv
import dataclasses
import pathlib
import shutil
import statistics

import duckdb
import numpy as np
import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide

from algoscope import sweeps
from algoscope.files import RunError
from algoscope.report.figures import style
from algoscope.sweeps import harvest as harvests
from algoscope.sweeps.figures import along, multiples, parallel, words
from algoscope.sweeps.harvest import Curve, Harvest, Row

AXES = {
    "tasks": ["bfs", "bellman_ford"],
    "network.processor": ["gatv2", "deepsets"],
    "learning_rate": [1e-3, 1e-2],
    "network.width": [64],
    "data_seed": [0, 1],
}
FAILED = "<script>window.owned=1</script> out of memory"
FIGURES = {"along", "parallel", "verdicts", "multiples", "cost"}


@pytest.fixture(scope="module")
def swept(scale, tmp_path_factory) -> pathlib.Path:
    """A sweep of 16 runs, as if they had been trained: one failed, and one is waiting."""
    folder = tmp_path_factory.mktemp("sweep") / "rates"
    sweep = sweeps.Sweep("rates", {"steps": 1000}, AXES, seeds=2, after="judge", problems=100)
    scale.make(folder, sweeps.checked(sweep))
    *_, failed, waiting = sweeps.positions(folder)
    for place in (failed, waiting):
        shutil.rmtree(place.planned.item.path)
    failed.planned.item.error.write_text(FAILED)
    return folder


@pytest.fixture(scope="module")
def page_path(swept) -> pathlib.Path:
    return sweeps.page(swept)


@pytest.fixture(scope="module")
def harvest(swept) -> Harvest:
    return sweeps.gather(swept)


def rows_of(path: pathlib.Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def parquet_of(path: pathlib.Path) -> tuple[list[str], int]:
    """The columns, and how many rows there are."""
    with duckdb.connect() as connection:
        read = connection.sql(f"from '{path}'")
        return read.columns, len(read.fetchall())


def number(text: str) -> float:
    return float(text) if text else np.nan


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_from_a_file_alone(visit, page_path, harvest, theme, width):
    shown, troubles = visit(page_path.as_uri(), theme=theme, width=width)
    assert not troubles
    assert shown.evaluate("window.owned === undefined")
    assert f"Of {len(harvest.words)} networks, " in shown.inner_text("h1")
    variant = "full" if width > 640 else "narrow"
    drawn = shown.locator(f"figure svg.{variant}:visible")
    assert drawn.count() == len(FIGURES)
    assert all(drawn.nth(k).get_attribute("aria-label") for k in range(drawn.count()))
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert shown.locator("main h1").count() == 1


def test_boxes_stay_in_the_column_on_every_screen(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    assert askew(shown) == {}


@pytest.mark.parametrize("font", FONTS)
def test_it_never_scrolls_sideways(visit, page_path, font):
    shown, _ = visit(page_path.as_uri(), width=NARROWEST)
    assert too_wide(shown, font) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_a_keyboard_or_a_screen_reader_out(visit, page_path, axe, theme):
    shown, _ = visit(page_path.as_uri(), theme=theme)
    assert obstacles(shown, axe) == []


def test_paper_shows_all_of_it(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    assert cut_on_paper(shown) == []


def test_a_search_leaves_the_runs_that_have_the_value(visit, page_path, harvest):
    shown, _ = visit(page_path.as_uri())
    rows = shown.locator("#runs tbody tr")
    assert rows.count() == len(harvest.places) == 16
    shown.locator("#runs input").fill("deepsets bellman_ford")
    visible = shown.locator("#runs tbody tr:visible")
    assert visible.count() == 4
    assert all("deepsets" in text for text in visible.all_inner_texts())


def test_the_best_come_first_and_failures_say_why(visit, page_path, harvest):
    shown, _ = visit(page_path.as_uri())
    best = shown.locator("#overview table.sortable").last.locator("tbody tr").all_inner_texts()
    by_task = {task: max(r.score for r in harvest.rows if r.task == task) for task in harvest.tasks}
    for task, score in by_task.items():
        first = next(text for text in best if text.startswith(task))
        assert f"{score:.4f}" in first
    assert FAILED in shown.locator("#overview").inner_text()
    assert "14 done, 1 failed, 1 waiting" in shown.inner_text(".lead")
    assert "Shares overlap where combinations are missing" in shown.inner_text(".lead")


def test_every_number_is_in_the_tables(page_path, swept, scale):
    folder = swept / "sweep-tables"
    names = {"networks", "runs", "values"}
    assert {path.name for path in folder.iterdir()} == {
        f"{n}.{s}" for n in names for s in ("csv", "parquet")
    }
    networks = rows_of(folder / "networks.csv")
    assert len(networks) == 28
    for row in networks:
        axes = {name: number(row[name]) for name in ("learning_rate", "data_seed")}
        axes |= {"network.width": 64, "network.processor": row["network.processor"]}
        score = scale.score_of(axes | {"tasks": [row["task"]]}, int(row["seed"]))
        assert float(row["test"]) == pytest.approx(score)
        assert row["word"] == scale.word_of(score)
    stages = {row["run"]: row["stage"] for row in rows_of(folder / "runs.csv")}
    assert sorted(stages.values()) == ["done"] * 14 + ["failed", "waiting"]
    for name in names:
        table = rows_of(folder / f"{name}.csv")
        assert parquet_of(folder / f"{name}.parquet") == (list(table[0]), len(table))


def test_every_figure_is_saved_with_its_numbers(page_path, swept):
    folder = swept / "sweep-figures"
    assert {path.stem for path in folder.iterdir()} == FIGURES
    for name in FIGURES:
        for suffix in ("svg", "pdf", "png"):
            assert (folder / f"{name}.{suffix}").stat().st_size > 0
        table = rows_of(folder / f"{name}.csv")
        columns, count = parquet_of(folder / f"{name}.parquet")
        assert (columns, count) == (list(table[0]), len(table))


def test_what_a_value_came_to(harvest, swept, page_path):
    values = {(v.axis, v.value): v for v in harvests.values_of(harvest)}
    chosen = [row for row in harvest.rows if row.values["network.processor"] == "gatv2"]
    found = values["network.processor", "gatv2"]
    assert found.score == pytest.approx(statistics.fmean(row.score for row in chosen))
    assert found.networks == 2 * len(chosen) == found.judged
    assert found.running == sum(word.startswith("runs") for row in chosen for word in row.words)
    assert found.total_seconds == pytest.approx(sum(row.seconds for row in chosen))
    assert ("network.width", "64") not in values, "an axis with one value is none"


def made_of(scores: dict[tuple[str, str], float], **changes) -> Harvest:
    """A harvest of two axes with these scores."""
    firsts, seconds = (list(dict.fromkeys(keys)) for keys in zip(*scores, strict=True))
    sweep = sweeps.Sweep("made", {}, {"hint_mode": firsts, "keep": seconds})
    rows = [
        Row(f"{a}-{b}", "bfs", {"hint_mode": a, "keep": b}, np.array([score]), score, [], 1.0)
        for (a, b), score in scores.items()
    ]
    curves = {
        (row.run, "bfs"): Curve(np.arange(length), np.full(length, row.score))
        for length, row in enumerate(rows, 1)
    }
    made = Harvest(pathlib.Path("made"), sweep, [], "test", rows, curves)
    return dataclasses.replace(made, **changes)


def test_networks_of_which_there_is_no_verdict_are_not_judged():
    made = made_of({("a", "x"): 0.2, ("b", "x"): 0.8})
    given = (["not judged"] * 3, ["fails", "runs up to", "not judged"])
    rows = [row._replace(words=w) for row, w in zip(made.rows, given, strict=True)]
    values = harvests.values_of(dataclasses.replace(made, rows=rows))
    assert [(v.judged, v.running) for v in values] == [(0, 0), (2, 1)]


def test_an_axis_that_decides_alone_explains_everything():
    made = made_of({("a", "x"): 0.2, ("a", "y"): 0.2, ("b", "x"): 0.8, ("b", "y"): 0.8})
    assert made.explained == pytest.approx({"hint_mode": 1.0, "keep": 0.0})
    both = made_of({("a", "x"): 0.2, ("a", "y"): 0.3, ("b", "x"): 0.5, ("b", "y"): 0.6})
    assert both.explained == pytest.approx({"hint_mode": 0.9, "keep": 0.1})
    neither = made_of({("a", "x"): 0.2, ("a", "y"): 0.8, ("b", "x"): 0.8, ("b", "y"): 0.2})
    assert neither.explained == pytest.approx({"hint_mode": 0.0, "keep": 0.0})
    same = made_of({("a", "x"): 0.5, ("b", "x"): 0.5})
    assert same.explained == {"hint_mode": 0.0}


@pytest.mark.parametrize("width", [style.FULL, style.NARROW])
def test_numbers_have_room_in_their_parts_of_a_bar(width):
    counts = {"runs up to": 8, "approximates": 164, "shortcut": 1238, "fails": 590}
    made = made_of({("a long name of a value", "x"): 0.2})
    given = [word for word, count in counts.items() for _ in range(count)]
    row = made.rows[0]._replace(words=given)
    figure = words.draw(dataclasses.replace(made, rows=[row]), width).figure
    figure.canvas.draw()
    (panel,) = figure.axes
    numbers = {text.get_text(): text for text in panel.texts}
    assert "1,238" in numbers
    assert "8" not in numbers
    parts = [bar.get_window_extent() for bar in panel.patches]
    for number in numbers.keys() & {f"{count:,}" for count in counts.values()}:
        extent = numbers[number].get_window_extent()
        assert any(part.x0 < extent.x0 and extent.x1 < part.x1 for part in parts), number


def test_many_runs_are_bands_and_a_sample_of_lines():
    few = made_of({(f"v{k}", "x"): k / 10 for k in range(10)})
    many = made_of({(f"v{k}", f"w{j}"): (k + j) / 100 for k in range(30) for j in range(20)})

    def lines(drawn) -> int:
        return sum(len(panel.lines) for panel in drawn.figure.axes)

    assert lines(along.scores(few)) == 10 + 1
    assert lines(along.scores(many)) == 2
    assert "band" in along.scores(many).caption
    assert "band" not in along.scores(few).caption
    assert lines(parallel.draw(many)) < 270 + 3
    assert "lines are left out" in parallel.draw(many).caption
    assert "left out" not in parallel.draw(few).caption
    assert len(parallel.draw(many).rows) == 600, "its data are those of all"
    assert len(multiples.draw(many).figure.axes) == 16
    for width in (style.FULL, style.NARROW):
        panels = multiples.draw(few, width).figure.axes
        assert len({panel.get_xlim() for panel in panels}) == 1
        assert multiples.draw(many, width).rows == multiples.draw(many).rows


def test_a_sweep_that_is_only_scored_has_a_page(scale, swept, tmp_path, visit):
    folder = tmp_path / "rates"
    shutil.copytree(swept, folder, ignore=shutil.ignore_patterns("verdicts.json", "sweep*.html"))
    shown, troubles = visit(sweeps.page(folder).as_uri())
    assert not troubles
    assert shown.inner_text("h1").startswith("Runs have test scores from 0.")
    assert shown.locator("#verdicts").count() == 0
    assert "14 trained" in shown.inner_text(".lead")


def test_a_sweep_that_has_not_begun_is_refused(algoscope, refused, tmp_path):
    folder = tmp_path / "none"
    folder.mkdir()
    assert "needed a folder that holds a sweep.json" in refused("sweep", "report", str(folder))
    sweep = sweeps.checked(sweeps.Sweep("none", {"tasks": ["bfs"]}, {"keep": ["best", "last"]}))
    sweeps.write_specification(sweep, folder)
    with pytest.raises(RunError, match="without any run yet"):
        sweeps.gather(folder)
    assert "without any run yet" in refused("sweep", "report", str(folder))
    assert {path.name for path in folder.iterdir()} == {"sweep.json"}


def test_the_verb_says_where_the_page_is(algoscope, swept):
    printed = algoscope("sweep", "report", str(swept))
    assert printed.strip() == f"report: {swept / 'sweep.html'}"
