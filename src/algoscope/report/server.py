"""A local server over a folder of runs: list, filter, compare two, open reports.

It listens on this machine alone and answers to the name of this machine alone, so that no website
can reach it through the reader's browser. What is served is looked up among the runs that are
there, never made from a path that was asked for. Reports come from folders that others may have
written: they are shown in a sandbox, without access to anything here.
"""

import datetime
import json
import math
import pathlib
from collections import Counter
from typing import NamedTuple
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from algoscope import runs
from algoscope.markup import element, escape
from algoscope.report import html, verdicts
from algoscope.report.findings import read_judgements
from algoscope.report.html import Section
from algoscope.runs import Run, RunError
from algoscope.runs.comparison import differences
from algoscope.table import Table

HOST = "127.0.0.1"
_SANDBOX = "sandbox allow-scripts"
_COLUMNS = (
    "compare", "run", "verdicts", "test score", "page", "tasks", "seeds", "steps", "learning rate",
    "processor", "created",
)  # fmt: skip
"""What tells most comes first: a telephone shows the first few."""


class Summary(NamedTuple):
    """What the list and a comparison say of a run."""

    run: Run
    steps: str
    test: str
    """The mean test score."""
    verdicts: dict[str, int]
    """How many networks have which word."""
    means: dict[str, str]
    """Over networks, of what was measured."""

    @property
    def report(self) -> pathlib.Path | None:
        path = self.run.path / "report.html"
        return path if path.is_file() and not path.is_symlink() else None


Entries = dict[str, Summary | str]
"""Folders that should be runs, by name: what is in them, or why that cannot be read."""


def app(root: pathlib.Path) -> Starlette:
    """The server over the runs in a folder, or over the one run that the folder is."""
    if not root.is_dir():
        raise RunError(f"{root}: got no folder, needed one that holds runs, or a run")

    # No coroutines: each request has a thread, so that nobody waits while another's runs are read.
    def index(request: Request) -> Response:
        return _page(f"Runs in {root}", _list(root, _entries(root)))

    def compare(request: Request) -> Response:
        entries = _entries(root)
        chosen = [entries.get(request.query_params.get(side, "")) for side in ("a", "b")]
        summaries = [entry for entry in chosen if isinstance(entry, Summary)]
        if len(summaries) < len(chosen):
            return _refused("Choose two runs", "A comparison needs two runs of the list, a and b.")
        return _page("Comparison", _comparison(summaries))

    def report(request: Request) -> Response:
        entry = _entries(root).get(request.path_params["name"])
        path = entry.report if isinstance(entry, Summary) else None
        if path is None:
            return _refused("Not found", "No such report; make it with: algoscope report RUN")
        return FileResponse(path, headers={"Content-Security-Policy": _SANDBOX})

    routes = {"/": index, "/compare": compare, "/report/{name}": report}
    return Starlette(
        routes=[Route(path, answer) for path, answer in routes.items()],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
    )


def _entries(root: pathlib.Path) -> Entries:
    """The runs of the folder, looked at anew each time; links to elsewhere are left out."""
    root = root.resolve()
    if (root / "run.json").is_file():
        return {root.name: _entry(root)}
    inside = sorted(path for path in root.iterdir() if not path.name.startswith("."))
    folders = [path for path in inside if path.is_dir() and path.resolve().parent == root]
    return {path.name: _entry(path) for path in folders}


def _entry(path: pathlib.Path) -> Summary | str:
    try:
        return _summary(runs.open(path))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return str(error) or repr(error)


def _summary(run: Run) -> Summary:
    scores = run.results.get("test", {}) if run.finished else {}
    means = [sum(s["score"]) / len(s["score"]) for s in scores.values() if s.get("score")]
    words: Counter[str] = Counter()
    values: dict[str, list[float]] = {}
    for task in run.tasks:
        for judgement in read_judgements(run, task).values():
            words[judgement.verdict.word] += 1
            for label, value in judgement.numbers.items():
                if not math.isnan(value):
                    values.setdefault(f"{task}: {label}", []).append(value)
    return Summary(
        run,
        f"{run.step:,} of {run.config['steps']:,}",
        f"{sum(means) / len(means):.4f}" if means else "–",
        words,
        {label: f"{sum(numbers) / len(numbers):.3f}" for label, numbers in values.items()},
    )


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    headers = {
        "Content-Security-Policy": "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    return HTMLResponse(html.page(title, [Section("runs", "", body)]), status, headers)


def _refused(title: str, reason: str) -> HTMLResponse:
    body = f'<h1>{title}</h1><p>{escape(reason)}</p><p><a href="/">All runs</a></p>'
    return _page(title, body, status=404)


def _list(root: pathlib.Path, entries: Entries) -> str:
    heads = [element("th", name, scope="col", class_=_class(name)) for name in _COLUMNS]
    rows = [_row(name, entry) for name, entry in entries.items()]
    return (
        f"<h1>{len(entries)} run{'' if len(entries) == 1 else 's'}</h1>"
        f'<p class="muted">in <code>{escape(root)}</code></p>'
        '<form action="/compare" id="runs-table">'
        '<div class="filters"><input type="search" data-filters="runs-table" '
        'placeholder="Filter by name, task, verdict" aria-label="filter">'
        '<button type="submit">Compare a with b</button></div>'
        f"{html.table_of_elements(heads, rows, 'runs')}</form>"
    )


def _row(name: str, entry: Summary | str) -> str:
    if isinstance(entry, str):
        fault = element("td", f"unreadable: {escape(entry)}", colspan=str(len(_COLUMNS) - 2))
        return element("tr", "<td></td>", element("td", escape(name)), fault, class_="unreadable")
    options = entry.run.options
    created = datetime.datetime.fromisoformat(entry.run.created)
    choice = "".join(
        f'<label><input type="radio" name="{side}" value="{escape(name)}"> {side}</label> '
        for side in ("a", "b")
    )
    words = " ".join(
        f"{count}&nbsp;×&nbsp;{verdicts.word(word)}" for word, count in entry.verdicts.items()
    )
    link = (
        f'<a href="/report/{escape(quote(name, safe=""))}">report</a>'
        if entry.report
        else '<span class="muted">no report yet</span>'
    )
    cells = (
        choice,
        escape(name),
        words or '<span class="muted">not examined</span>',
        escape(entry.test),
        link,
        escape(" ".join(entry.run.tasks)),
        str(len(entry.run.seeds)),
        escape(entry.steps),
        escape(options.get("learning_rate", "–")),
        escape(options.get("network.processor", "–")),
        escape(f"{created:%Y-%m-%d %H:%M}"),
    )
    named = zip(_COLUMNS, cells, strict=True)
    return element("tr", *(element("td", cell, class_=_class(column)) for column, cell in named))


def _class(column: str) -> str | None:
    return "number" if column in ("seeds", "steps", "test score", "learning rate") else None


def _comparison(summaries: list[Summary]) -> str:
    names = [summary.run.name for summary in summaries]
    described = [
        {
            "test score": summary.test,
            "steps": summary.steps,
            **{f"networks: {word}": str(count) for word, count in summary.verdicts.items()},
            **summary.means,
            **{name: json.dumps(value) for name, value in summary.run.options.items()},
        }
        for summary in summaries
    ]
    values = differences(described)
    rows = [[label, *(value or "–" for value in row)] for label, row in values.items()]
    title = f"{len(rows)} differences" if rows else "No difference"
    return f'<h1>{escape(" and ".join(names))}</h1><p><a href="/">All runs</a></p>' + html.table(
        Table(title, ["", *names], rows)
    )
