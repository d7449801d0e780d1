"""A local server over a folder of runs: list, filter, compare two, open reports.

It listens on this machine alone and answers to the name of this machine alone, so that no website
can reach it through the reader's browser. What is served is looked up among the runs that are
there, never made from a path that was asked for. Reports come from folders that others may have
written: they are shown in a sandbox, without access to anything here.
"""

import json
import pathlib
from typing import Any, NamedTuple
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
from algoscope.report.html import Section
from algoscope.report.wording import LABELS
from algoscope.runs import Run, RunError
from algoscope.runs.comparison import differences
from algoscope.table import Table

HOST = "127.0.0.1"
_REPORT = "report.html"
_SANDBOX = "sandbox allow-scripts"


class Entry(NamedTuple):
    """A folder that should be a run."""

    name: str
    run: Run | None
    fault: str
    """Why it cannot be read; empty if it can."""
    summary: dict[str, Any]

    @property
    def report(self) -> pathlib.Path | None:
        if self.run is None:
            return None
        path = self.run.path / _REPORT
        return path if path.is_file() and not path.is_symlink() else None


def app(root: pathlib.Path) -> Starlette:
    """The server over the runs in a folder, or over the one run that the folder is."""
    places = _Places(root)

    async def index(request: Request) -> Response:
        return _page(f"Runs in {root}", _list(root, places.entries()))

    async def compare(request: Request) -> Response:
        chosen = [places.find(request.query_params.get(side, "")) for side in ("a", "b")]
        if any(entry is None or entry.run is None for entry in chosen):
            return _refused("compare: needed two runs of the list, as a and b")
        return _page("Comparison", _comparison([e for e in chosen if e is not None]))

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
        return [_entry(path) for path in inside if path.is_dir() and self._is_own(path)]

    def find(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries() if entry.name == name), None)

    def _is_own(self, path: pathlib.Path) -> bool:
        """Whether it lies here, and is no link to elsewhere."""
        return path.resolve().parent == self.root


def _entry(path: pathlib.Path) -> Entry:
    try:
        run = runs.open(path)
        return Entry(path.name, run, "", _summary(run))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return Entry(path.name, None, str(error) or repr(error), {})


def _summary(run: Run) -> dict[str, Any]:
    scores = run.results.get("test", {}) if run.finished else {}
    means = [sum(of["score"]) / len(of["score"]) for of in scores.values() if of.get("score")]
    return {
        "tasks": " ".join(run.tasks),
        "seeds": len(run.seeds),
        "steps": f"{run.step:,} of {run.config['steps']:,}",
        "test": f"{sum(means) / len(means):.4f}" if means else "–",
        **_found(run),
        "created": str(run.description.get("created", "")),
    }


def _found(run: Run) -> dict[str, dict[str, Any]]:
    """Of the findings in the folder: how many networks have which verdict, and the means over
    networks of what was measured."""
    counted: dict[str, int] = {}
    values: dict[str, list[float]] = {}
    for task in run.tasks:
        path = run.path / "findings" / f"{task}.json"
        judgements = json.loads(path.read_text())["judgements"] if path.is_file() else {}
        for judgement in judgements.values():
            word = judgement["verdict"] or "not judged"
            counted[word] = counted.get(word, 0) + 1
            accuracy = {f"accuracy, {n}": v for n, v in judgement.get("accuracy", {}).items()}
            for name, value in (accuracy | judgement.get("tested", {})).items():
                if value is not None:
                    values.setdefault(f"{task}: {LABELS.get(name, name)}", []).append(value)
    means = {name: f"{sum(of) / len(of):.3f}" for name, of in values.items()}
    return {"verdicts": counted, "means": means}


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
    columns = [
        "compare",
        "run",
        "tasks",
        "seeds",
        "steps",
        "test score",
        "verdicts",
        "created",
        "page",
    ]
    right = ("seeds", "steps", "test score")
    head = element(
        "tr",
        *(
            element("th", name, scope="col", class_="number" if name in right else None)
            for name in columns
        ),
    )
    table = element(
        "table", element("thead", head), element("tbody", *map(_row, entries)), class_="sortable"
    )
    return (
        f"<h1>{len(entries)} run{'' if len(entries) == 1 else 's'}</h1>"
        f'<p class="muted">in <code>{escape(root)}</code></p>'
        '<form action="/compare" id="runs-table">'
        '<div class="filters"><input type="search" data-filters="runs-table" '
        'placeholder="Filter by name, task, verdict" aria-label="filter">'
        '<button type="submit">Compare a with b</button></div>'
        f"{html.scrolled(table, 'runs')}</form>"
    )


def _row(entry: Entry) -> str:
    if entry.run is None:
        cells = [element("td"), element("td", escape(entry.name))]
        fault = f"unreadable: {escape(entry.fault)}"
        return element("tr", *cells, element("td", fault, colspan="7"), class_="unreadable")
    of = entry.summary
    words = " ".join(
        f"{count}&nbsp;×&nbsp;{verdicts.word(word if word in verdicts.SIGNS else None)}"
        for word, count in of["verdicts"].items()
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
    return element(
        "tr",
        element("td", choice),
        element("td", escape(entry.name)),
        element("td", escape(of["tasks"])),
        element("td", str(of["seeds"]), class_="number"),
        element("td", escape(of["steps"]), class_="number"),
        element("td", escape(of["test"]), class_="number"),
        element("td", words or '<span class="muted">not examined</span>'),
        element("td", escape(of["created"])),
        element("td", link),
    )


def _comparison(entries: list[Entry]) -> str:
    values = differences([_described(entry) for entry in entries])
    rows = [[name, *(value or "–" for value in row)] for name, row in values.items()]
    title = f"{len(rows)} differences" if rows else "No difference"
    return (
        f"<h1>{escape(entries[0].name)} and {escape(entries[1].name)}</h1>"
        '<p><a href="/">All runs</a></p>'
        + html.table(Table(title, ["", *(entry.name for entry in entries)], rows))
    )


def _described(entry: Entry) -> dict[str, str]:
    """Configuration, outcome and verdicts, by name."""
    run, of = entry.run, entry.summary
    words = {f"networks: {word}": str(count) for word, count in of["verdicts"].items()}
    config = {name: json.dumps(value) for name, value in run.options.items()} if run else {}
    return {"test score": of["test"], "steps": of["steps"], **words, **of["means"], **config}
