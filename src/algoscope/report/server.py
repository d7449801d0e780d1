"""A local server over a folder of runs: list, filter, compare two, open reports.

It listens on this machine alone and answers to the name of this machine alone, so that no website
can reach it through the reader's browser. What is served is looked up among the runs that are
there, never made from a path that was asked for. Reports come from folders that others may have
written: they are shown in a sandbox, without access to anything here.
"""

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
_REPORT = "report.html"
_SANDBOX = "sandbox allow-scripts"
_COLUMNS = (
    "compare", "run", "tasks", "seeds", "steps", "test score", "verdicts", "created", "page",
)  # fmt: skip
_NUMBERS = ("seeds", "steps", "test score")


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


class Entry(NamedTuple):
    """A folder that should be a run."""

    name: str
    summary: Summary | None
    fault: str
    """Why it cannot be read; empty if it can."""

    @property
    def report(self) -> pathlib.Path | None:
        if self.summary is None:
            return None
        path = self.summary.run.path / _REPORT
        return path if path.is_file() and not path.is_symlink() else None


def app(root: pathlib.Path) -> Starlette:
    """The server over the runs in a folder, or over the one run that the folder is."""
    places = _Places(root)

    async def index(request: Request) -> Response:
        return _page(f"Runs in {root}", _list(root, places.entries()))

    async def compare(request: Request) -> Response:
        chosen = [places.find(request.query_params.get(side, "")) for side in ("a", "b")]
        summaries = [e.summary for e in chosen if e is not None and e.summary is not None]
        if len(summaries) < len(chosen):
            return _refused("compare: needed two runs of the list, as a and b")
        return _page("Comparison", _comparison(summaries))

    async def report(request: Request) -> Response:
        entry = places.find(request.path_params["name"])
        if entry is None or entry.report is None:
            return _refused("no such report; make it with: algoscope report RUN")
        return FileResponse(entry.report, headers={"Content-Security-Policy": _SANDBOX})

    return Starlette(
        routes=[
            Route("/", index),
            Route("/compare", compare),
            Route("/report/{name}", report),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
    )


class _Places:
    """The runs of a folder, looked at anew each time."""

    def __init__(self, root: pathlib.Path):
        self.root = root.resolve()
        if not self.root.is_dir():
            raise RunError(f"{root}: got no folder, needed one that holds runs, or a run")

    def entries(self) -> list[Entry]:
        if (self.root / "run.json").is_file():
            return [_entry(self.root)]
        inside = sorted(path for path in self.root.iterdir() if not path.name.startswith("."))
        return [_entry(path) for path in inside if path.is_dir() and self._lies_here(path)]

    def find(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries() if entry.name == name), None)

    def _lies_here(self, path: pathlib.Path) -> bool:
        """Whether it lies here, and is no link to elsewhere."""
        return path.resolve().parent == self.root


def _entry(path: pathlib.Path) -> Entry:
    try:
        return Entry(path.name, _summary(runs.open(path)), "")
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return Entry(path.name, None, str(error) or repr(error))


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


def _page(title: str, body: str) -> HTMLResponse:
    return HTMLResponse(html.page(title, [Section("runs", "", body)]), headers=_headers())


def _refused(reason: str) -> HTMLResponse:
    body = f"<h1>Not found</h1><p>{escape(reason)}</p>" + '<p><a href="/">All runs</a></p>'
    page = html.page("Not found", [Section("refused", "", body)])
    return HTMLResponse(page, status_code=404, headers=_headers())


def _headers() -> dict[str, str]:
    return {
        "Content-Security-Policy": "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


def _list(root: pathlib.Path, entries: list[Entry]) -> str:
    heads = [
        element("th", name, scope="col", class_="number" if name in _NUMBERS else None)
        for name in _COLUMNS
    ]
    content = element("thead", element("tr", *heads)) + element("tbody", *map(_row, entries))
    return (
        f"<h1>{len(entries)} run{'' if len(entries) == 1 else 's'}</h1>"
        f'<p class="muted">in <code>{escape(root)}</code></p>'
        '<form action="/compare" id="runs-table">'
        '<div class="filters"><input type="search" data-filters="runs-table" '
        'placeholder="Filter by name, task, verdict" aria-label="filter">'
        '<button type="submit">Compare a with b</button></div>'
        f"{html.scrolled(element('table', content, class_='sortable'), 'runs')}</form>"
    )


def _row(entry: Entry) -> str:
    if entry.summary is None:
        cells = [element("td"), element("td", escape(entry.name))]
        fault = f"unreadable: {escape(entry.fault)}"
        return element("tr", *cells, element("td", fault, colspan="7"), class_="unreadable")
    summary = entry.summary
    words = " ".join(
        f"{count}&nbsp;×&nbsp;{verdicts.word(word)}" for word, count in summary.verdicts.items()
    )
    choice = "".join(
        f'<label><input type="radio" name="{side}" value="{escape(entry.name)}"> {side}</label> '
        for side in ("a", "b")
    )
    link = (
        f'<a href="/report/{escape(quote(entry.name, safe=""))}">report</a>'
        if entry.report
        else '<span class="muted">no report yet</span>'
    )
    cells = {
        "compare": choice,
        "run": escape(entry.name),
        "tasks": escape(" ".join(summary.run.tasks)),
        "seeds": str(len(summary.run.seeds)),
        "steps": escape(summary.steps),
        "test score": escape(summary.test),
        "verdicts": words or '<span class="muted">not examined</span>',
        "created": escape(summary.run.created),
        "page": link,
    }
    return element(
        "tr",
        *(
            element("td", cells[name], class_="number" if name in _NUMBERS else None)
            for name in _COLUMNS
        ),
    )


def _comparison(summaries: list[Summary]) -> str:
    names = [summary.run.name for summary in summaries]
    values = differences([_described(summary) for summary in summaries])
    rows = [[label, *(value or "–" for value in row)] for label, row in values.items()]
    title = f"{len(rows)} differences" if rows else "No difference"
    return f'<h1>{escape(" and ".join(names))}</h1><p><a href="/">All runs</a></p>' + html.table(
        Table(title, ["", *names], rows)
    )


def _described(summary: Summary) -> dict[str, str]:
    """Configuration, outcome and verdicts, by label."""
    return {
        "test score": summary.test,
        "steps": summary.steps,
        **{f"networks: {word}": str(count) for word, count in summary.verdicts.items()},
        **summary.means,
        **{name: json.dumps(value) for name, value in summary.run.options.items()},
    }
