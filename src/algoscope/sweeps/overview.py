"""The page of a sweep: what came of it first, then along its axes, then run by run.

SWEEP/sweep.html             the page
SWEEP/sweep-figures/         each figure as SVG, PDF and PNG, with its numbers as CSV and Parquet
SWEEP/sweep-tables/          networks, runs and values of axes, as CSV and Parquet
"""

import contextlib
import gc
import json
import pathlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from algoscope import progress
from algoscope.files import make_room, place, write_bytes
from algoscope.markup import element, escape
from algoscope.report import html, verdicts
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.html import Section
from algoscope.runs import parquet
from algoscope.serialise import to_json
from algoscope.sweeps.drive import read_specification
from algoscope.sweeps.figures import along, multiples, parallel, words
from algoscope.sweeps.harvest import Harvest, Row, count_judged, gather, values_of
from algoscope.sweeps.status import Position, Stage, counts, span_text, value_text
from algoscope.table import Table

PAGE = "sweep.html"
_MOST_RUNS = 200
"""In the table of the page; files have all."""
_BEST = 8
_SPACE = "\N{NO-BREAK SPACE}"


def write(folder: pathlib.Path, report: Callable[[str], None]) -> pathlib.Path:
    """The page of what the sweep in a folder has come to so far; returns its path."""
    with _uncollected():
        return _written(folder, report)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Rows of thousands of runs stay until the page is written: to look for cycles among them
    again and again would take a tenth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _written(folder: pathlib.Path, report: Callable[[str], None]) -> pathlib.Path:
    read_specification(folder)
    path = folder / PAGE
    figures, tables = path.with_name("sweep-figures"), path.with_name("sweep-tables")
    make_room(path)
    kept: list[Harvest] = []
    with progress.job("gathering"):
        place(tables, lambda into: kept.append(gather(folder, into)))
    report(f"drawing into {figures}")
    with progress.job("drawing"):
        album = Album()
        text = _render(kept[0], album)

        def fill(into: pathlib.Path) -> None:
            into.mkdir()
            for drawn in album.drawn:
                style.save(drawn, into)
                parquet.write_rows(into / f"{drawn.name}.parquet", drawn.columns, drawn.rows)

        place(figures, fill)
        write_bytes(path, text.encode())
    return path


def _render(harvest: Harvest, album: Album) -> str:
    sections = [Section("overview", "Overview", _overview(harvest))]
    if harvest.rows and harvest.axes:
        sections.append(Section("axes", "Axes", _axes(harvest, album)))
        sections.append(Section("lines", "All at once", _parallel(harvest, album)))
    if harvest.words:
        heading = "<h2>What the networks do</h2>"
        sections.append(Section("verdicts", "Verdicts", heading + album.show(words.draw, harvest)))
    if harvest.curves:
        text = "<h2>How training went</h2>" + album.show(multiples.draw, harvest)
        sections.append(Section("training", "Training", text))
    if harvest.rows and harvest.axes:
        text = "<h2>What it cost</h2>" + album.show(along.costs, harvest)
        sections.append(Section("cost", "Cost", text))
    sections.append(Section("runs", "Runs", _runs(harvest)))
    sections.append(Section("made", "Made by", _made(harvest)))
    names = ", ".join(drawn.name for drawn in album.drawn)
    files = (
        "<footer><p>Every number is in <code>sweep-tables/</code> beside this page: "
        "<code>networks</code>, <code>runs</code> and <code>values</code>, each as CSV and "
        "Parquet. Every figure is in <code>sweep-figures/</code>, as SVG, PDF and PNG, with its "
        f"numbers as CSV and Parquet: {escape(names)}.</p></footer>"
    )
    title = f"Sweep {harvest.sweep.name}: {headline(harvest)}"
    return html.page(title, [*sections, Section("files", "", files)])


def headline(harvest: Harvest) -> str:
    """One sentence on what came of the sweep so far."""
    if harvest.words:
        task = harvest.tasks[0] if len(harvest.tasks) == 1 else "their task"
        return verdicts.headline_of(task, harvest.words)
    if not harvest.rows:
        return "No run is trained yet"
    ranked = harvest.ranked
    low, high = f"{ranked[-1].score:.3f}", f"{ranked[0].score:.3f}"
    if low == high:
        return f"All runs have a {harvest.measure} score of {high}"
    return f"Runs have {harvest.measure} scores from {low} to {high}"


def _overview(harvest: Harvest) -> str:
    stages = counts(harvest.places)
    said = ", ".join(f"{count:,} {stage}" for stage, count in stages.items())
    question = f"What came of the {len(harvest.places):,} runs of {harvest.sweep.name}?"
    cards = {"runs trained": f"{len(harvest.trained):,}<small>of {len(harvest.places):,}</small>"}
    sentences = [f"{_plural(len(harvest.places), 'run')}: {said}."]
    best = ""
    if harvest.rows:
        top = harvest.ranked[0]
        cards["networks judged" if harvest.words else "networks"] = (
            f"{count_judged(harvest.words):,}<small>of {harvest.networks:,}</small>"
            if harvest.words
            else f"{harvest.networks:,}"
        )
        cards[f"best {harvest.measure} score"] = f"{top.score:.3f}<small>{escape(top.task)}</small>"
        cards["computed"] = span_text(harvest.seconds)
        sentences += _what_matters(harvest)
        of_each = " of each task" if len(harvest.tasks) > 1 else ""
        best = f"<h2>The best configurations{of_each}</h2>" + _best(harvest)
    return (
        element("p", escape(question), class_="question")
        + element("h1", escape(headline(harvest)) + ".")
        + element("p", " ".join(sentences), class_="lead")
        + html.cards(cards)
        + _failed(harvest)
        + best
    )


def _what_matters(harvest: Harvest) -> list[str]:
    shares = [(axis, share) for axis, share in harvest.explained.items() if share >= 0.005]
    if not shares or len(harvest.rows) < 3:
        return []
    (first, share), *others = shares[:3]
    rest = ", ".join(f"<em>{escape(a)}</em> {verdicts.percent(s)}" for a, s in others)
    also = f"; {rest}" if rest else ""
    said = (
        f"Of the differences between the {harvest.measure} scores of runs, <em>{escape(first)}</em>"
        f" accounts for {verdicts.percent(share)}{also}."
    )
    if not rest or len(harvest.trained) == len(harvest.places):
        return [said]
    return [said, "Shares overlap where combinations are missing."]


def _best(harvest: Harvest) -> str:
    """The best rows of each task, where there are few tasks."""
    groups = [[row for row in harvest.ranked if row.task == task] for task in harvest.tasks]
    many = len(groups) > 1
    most = _BEST if not many else max(1, min(3, 2 * _BEST // len(groups)))
    chosen = [row for group in groups for row in group[:most]]
    title = f"the best {most} of each task" if many else f"the best {len(chosen)}"
    return _table_of_rows(harvest, chosen[: 3 * _BEST], title)


def _table_of_rows(harvest: Harvest, rows: list[Row], label: str) -> str:
    axes = [axis for axis in harvest.axes if axis != "tasks"]
    several = len(harvest.tasks) > 1
    columns = (["task"] if several else []) + axes
    heads = [element("th", escape(name), scope="col") for name in columns]
    heads += [
        element("th", escape(name), scope="col", class_="number")
        for name in (f"{harvest.measure} score", "from", "to")
    ]
    if harvest.words:
        heads.append(element("th", "verdicts", scope="col"))
    made = []
    for row in rows:
        cells = [element("td", escape(row.task))] if several else []
        cells += [element("td", escape(row.values[axis])) for axis in axes]
        numbers = (row.score, row.scores.min(), row.scores.max())
        cells += [element("td", f"{number:.4f}", class_="number") for number in numbers]
        if harvest.words:
            cells.append(element("td", _words(row.words)))
        made.append(element("tr", *cells))
    return html.table_of_elements(heads, made, label)


def _words(given: list[str]) -> str:
    counted = Counter(given)
    ordered = [word for word in style.WORDS if counted[word]]
    return "<br>".join(f"{verdicts.word(word)}{_SPACE}{counted[word]}" for word in ordered) or "–"


def _axes(harvest: Harvest, album: Album) -> str:
    judged = bool(harvest.words)
    columns = ["axis", "value", "runs", "score", "from", "to"]
    columns += ["run their task", "of"] if judged else []
    columns += ["s a run", "total"]
    rows = [
        [
            v.axis, v.value, f"{v.runs:,}", *(f"{x:.4f}" for x in (v.score, v.least, v.most)),
            *((f"{v.running:,}", f"{v.judged:,}") if judged else ()),
            f"{v.seconds:,.0f}", span_text(v.total_seconds),
        ]
        for v in values_of(harvest)
    ]  # fmt: skip
    return (
        "<h2>Along every axis</h2>"
        + album.show(along.scores, harvest)
        + element(
            "details",
            element("summary", "The same as a table: scores, verdicts and cost of every value"),
            html.table(Table("", columns, rows)),
        )
    )


def _parallel(harvest: Harvest, album: Album) -> str:
    return "<h2>What the best have in common</h2>" + album.show(parallel.draw, harvest)


def _failed(harvest: Harvest) -> str:
    failed = [place for place in harvest.places if place.stage is Stage.FAILED]
    if not failed:
        return ""
    rows = [[p.planned.item.name, p.error] for p in failed[:_MOST_RUNS]]
    title = f"{_plural(len(failed), 'run')} failed; the log beside each has the whole error"
    return html.table(Table(title, ["run", "last line of its error"], rows))


def _runs(harvest: Harvest) -> str:
    rows = {}
    for row in harvest.rows:
        rows.setdefault(row.run, []).append(row)
    order = {row.run: number for number, row in enumerate(harvest.ranked)}
    places = sorted(
        harvest.places, key=lambda p: order.get(p.planned.item.name, len(order))
    )  # Stable: those without a score stay in the order of the sweep.
    shown = places[:_MOST_RUNS]
    columns = ["run", *harvest.axes]
    heads = [element("th", escape(name), scope="col") for name in (*columns, "stage")]
    heads += [element("th", n, scope="col", class_="number") for n in ("step", "score", "seconds")]
    if harvest.words:
        heads.append(element("th", "verdicts", scope="col"))
    made = [_run(harvest, place, rows.get(place.planned.item.name, [])) for place in shown]
    left = len(places) - len(shown)
    more = (
        f"<p>The best {len(shown)} of {len(places):,}; <code>sweep-tables/runs.csv</code> has all."
        "</p>"
        if left
        else ""
    )
    return (
        "<h2>Every run</h2>"
        + more
        + '<div class="filters"><input type="search" data-filters="runs" '
        'placeholder="Filter by any value" aria-label="filter runs"></div>'
        + html.table_of_elements(heads, made, "runs", dense=True)
    )


def _run(harvest: Harvest, place: Position, rows: list[Row]) -> str:
    item = place.planned.item
    has_page = (pathlib.Path(item.path) / "report.html").is_file()
    name = escape(item.name)
    texts = {axis: value_text(value) for axis, value in place.planned.axes.items()}
    score = f"{np.mean([row.score for row in rows]):.4f}" if rows else "–"
    seconds = f"{place.facts.computed_seconds:,.0f}" if place.facts and rows else "–"
    cells = [
        element("td", element("a", name, href=f"{item.name}/report.html") if has_page else name),
        *(element("td", escape(texts[axis])) for axis in harvest.axes),
        element("td", escape(place.stage)),
        element("td", f"{place.step:,}", class_="number"),
        element("td", score, class_="number"),
        element("td", seconds, class_="number"),
    ]
    if harvest.words:
        cells.append(element("td", _words([word for row in rows for word in row.words])))
    return element("tr", *cells)


def _made(harvest: Harvest) -> str:
    sweep, folder = harvest.sweep, shlex.quote(str(harvest.folder))
    known = [place.facts for place in harvest.places if place.facts]
    moments = [facts.created for facts in known]
    rows = [[name, json.dumps(to_json(value))] for name, value in sweep.base.items()]
    rows += [[f"axis {name}", json.dumps(to_json(v))] for name, v in sweep.axes.items()]
    question = (
        "select task, word, count(*) as networks from verdicts group by all order by all"
        if harvest.words
        else "select task, avg(value) from results where name = 'test' and output = 'score' "
        "group by task"
    )
    commands = [
        f"algoscope sweep {folder}            # what is missing",
        f"algoscope sweep report {folder}     # this page anew",
        f"algoscope runs query {shlex.quote(question)} --root {folder}",
    ]
    return (
        "<h2>How this was made</h2>"
        + html.facts(
            {
                "sweep": sweep.name,
                "seeds": f"{sweep.first_seed} to {sweep.first_seed + sweep.seeds - 1}",
                "after training": sweep.after,
                "problems to break each network": f"about {sweep.problems:,}"
                if sweep.after != "score"
                else "",
                "begun": f"{min(moments)} to {max(moments)}",
                "devices": ", ".join(
                    f"{d} ({n:,} runs)" for d, n in _tally(f.device for f in known)
                ),
                "commits": ", ".join(
                    f"{c or 'unknown'} ({n:,} runs)" for c, n in _tally(f.commit for f in known)
                ),
            }
        )
        + element("pre", escape("\n".join(commands)), tabindex="0")
        + element(
            "details",
            element("summary", "The whole specification"),
            html.table(Table("", ["field", "value"], rows)),
        )
    )


def _tally(values: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(values).most_common()


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
