"""A local server over a folder of runs: list, filter, compare two, watch one, open reports.

It listens on this machine alone and answers to the name of this machine alone, so that no website
can reach it through the reader's browser. What is served is looked up among the runs that are
there, never made from a path that was asked for. Reports come from folders that others may have
written: they are shown in a sandbox, without access to anything here.

Pages are kept as the runs are by one stream of server-sent events, which nothing can be said to:
which runs there are, then an event for each that has changed, with its HTML. A client that reads
slowly gets the latest state and not all of them.
"""

import asyncio
import datetime
import json
import pathlib
import socket
import time
from collections.abc import AsyncIterator, Iterator
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from algoscope.markup import element, escape
from algoscope.report import html, live_view, verdicts
from algoscope.report.html import Section
from algoscope.report.watching import Entries, Page, Summary, Watch
from algoscope.runs import State
from algoscope.runs.comparison import differences
from algoscope.table import Table

HOST = "127.0.0.1"
_SANDBOX = "sandbox allow-scripts"
_COLUMNS = (
    "compare", "run", "verdicts", "test score", "page", "tasks", "seeds", "steps", "learning rate",
    "processor", "created",
)  # fmt: skip
"""What tells most comes first: a telephone shows the first few."""
_EVERY = 1.0
"""Seconds from one look at the runs to the next, whoever listens."""
_STILL_HERE = 15.0
"""Seconds without news after which a stream says so, or notices that nobody is there."""
MOST_STREAMS = 64
"""Pages that are kept up to date at once."""
_STREAM_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def app(root: pathlib.Path) -> Starlette:
    """The server over the runs in a folder, or over the one run that the folder is."""
    watch = Watch(root)
    streams: set[object] = set()

    # No coroutines: each request has a thread, so that nobody waits while another's runs are read.
    def index(request: Request) -> Response:
        return _page(f"Runs in {root}", _list(root, watch.entries()), live=True)

    def compare(request: Request) -> Response:
        entries = watch.entries()
        chosen = [entries.get(request.query_params.get(side, "")) for side in ("a", "b")]
        summaries = [entry for entry in chosen if isinstance(entry, Summary)]
        if len(summaries) < len(chosen):
            return _refused("Choose two runs", "A comparison needs two runs of the list, a and b.")
        return _page("Comparison", _comparison(summaries))

    def run(request: Request) -> Response:
        entry = watch.entries().get(request.path_params["name"])
        if not isinstance(entry, Summary):
            return _refused("Not found", "No such run.")
        address = f"/stream?{_query(entry.name)}"
        back = '<p><a href="/">All runs</a></p>'
        body = element("div", _panel(entry), data_stream=address)
        return _page(entry.name, back + body, live=True)

    def report(request: Request) -> Response:
        entry = watch.entries().get(request.path_params["name"])
        found = entry.page if isinstance(entry, Summary) else entry
        if not isinstance(found, Page):
            return _refused("Not found", "No such report; make it with: algoscope report RUN")
        return FileResponse(found.path, headers={"Content-Security-Policy": _SANDBOX})

    async def stream(request: Request) -> Response:
        if len(streams) >= MOST_STREAMS:
            return Response("too many pages are open", 503, {"Retry-After": "10"})
        if request.method == "HEAD":
            return Response(headers=_STREAM_HEADERS, media_type="text/event-stream")
        return StreamingResponse(
            _events(watch, request.query_params.get("run"), streams),
            headers=_STREAM_HEADERS,
            media_type="text/event-stream",
        )

    routes = {
        "/": index,
        "/compare": compare,
        "/run/{name:path}": run,
        "/report/{name:path}": report,
        "/stream": stream,
    }
    return Starlette(
        routes=[Route(path, answer) for path, answer in routes.items()],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
    )


def listening(port: int) -> socket.socket:
    """A socket for this machine alone, on that port."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise ValueError(
            f"--port: got {port}, which is not to be had ({error.strerror}); needed another, or 0 "
            "for any that is free"
        ) from None
    return listener


async def _events(watch: Watch, name: str | None, streams: set[object]) -> AsyncIterator[str]:
    """All runs of the list, or one run: their names, what they are, and then what changes."""
    token = object()
    streams.add(token)
    try:
        sent: dict[str, str] | None = None
        entries, spoken = None, time.monotonic()
        while True:
            latest = await run_in_threadpool(watch.entries, _EVERY)
            if latest is not entries:
                entries = latest
                now = _shown(entries, name)
                for event in _news(now, sent):
                    yield event
                    spoken = time.monotonic()
                sent = now
            if time.monotonic() - spoken > _STILL_HERE:
                yield ": still here\n\n"
                spoken = time.monotonic()
            await asyncio.sleep(_EVERY)
    finally:
        streams.discard(token)


def _shown(entries: Entries, name: str | None) -> dict[str, str]:
    """The HTML of every run of the list, or of one run."""
    if name is None:
        return {run: _row(run, entry) for run, entry in entries.items()}
    entry = entries.get(name)
    return {name: _panel(entry)} if isinstance(entry, Summary) else {}


def _news(now: dict[str, str], sent: dict[str, str] | None) -> Iterator[str]:
    """Events for what differs from what was sent; if nothing was, which runs there are, before."""
    if sent is None:
        yield f"event: runs\ndata: {json.dumps(list(now))}\n\n"
        sent = {}
    for run in [*now, *(sent.keys() - now.keys())]:
        if sent.get(run) != now.get(run):
            yield f"data: {json.dumps({'run': run, 'html': now.get(run, '')})}\n\n"


def _query(name: str) -> str:
    return f"run={quote(name, safe='')}"


def _panel(entry: Summary) -> str:
    version = entry.page.version if entry.page else None
    return live_view.panel(entry.name, entry.run, entry.live, entry.test, entry.words, version)


def _page(title: str, body: str, status: int = 200, live: bool = False) -> HTMLResponse:
    headers = {
        "Content-Security-Policy": "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
    scripts = ("page.js", "live.js") if live else ("page.js",)
    allowed = ("connect-src 'self'", "frame-src 'self'") if live else ()
    content = html.page(title, [Section("runs", "", body)], scripts=scripts, allowed=allowed)
    return HTMLResponse(content, status, headers)


def _refused(title: str, reason: str) -> HTMLResponse:
    body = f'<h1>{title}</h1><p>{escape(reason)}</p><p><a href="/">All runs</a></p>'
    return _page(title, body, status=404)


def _list(root: pathlib.Path, entries: Entries) -> str:
    heads = [element("th", name, scope="col", class_=_class(name)) for name in _COLUMNS]
    rows = [_row(name, entry) for name, entry in entries.items()]
    return (
        f"<h1 data-count>{len(entries)} run{'' if len(entries) == 1 else 's'}</h1>"
        f'<p class="muted">in <code>{escape(root)}</code></p>'
        '<form action="/compare" id="runs-table" data-stream="/stream">'
        '<div class="filters"><input type="search" data-filters="runs-table" '
        'placeholder="Filter by name, task, verdict" aria-label="filter">'
        '<button type="submit">Compare a with b</button></div>'
        f"{html.table_of_elements(heads, rows, 'runs', dense=True)}</form>"
    )


def _row(name: str, entry: Summary | Page | str) -> str:
    if isinstance(entry, str):
        fault = element("td", escape(entry), colspan=str(len(_COLUMNS) - 2))
        cells = ("<td></td>", element("td", escape(name)), fault)
        return element("tr", *cells, class_="unreadable", data_run=name)
    texts = {"run": name} | (_texts(entry) if isinstance(entry, Summary) else {})
    cells = dict.fromkeys(_COLUMNS, "") | {column: escape(text) for column, text in texts.items()}
    address = escape(quote(name, safe=""))
    if isinstance(entry, Page):
        cells["page"] = f'<a href="/report/{address}">page</a>'
    else:
        cells |= {
            "compare": "".join(
                f'<label><input type="radio" name="{side}" value="{escape(name)}"> {side}</label> '
                for side in ("a", "b")
            ),
            "verdicts": _counted(entry),
            "page": f'<a href="/report/{address}">report</a>'
            if entry.page
            else f'<a href="/run/{address}">'
            f"{'watch' if entry.state is State.RUNNING else 'curves'}</a>",
        }
    filled = (element("td", cell, class_=_class(column)) for column, cell in cells.items())
    return element("tr", *filled, data_run=name)


def _texts(entry: Summary) -> dict[str, str]:
    """By column, what is only text."""
    options = entry.run.options
    created = datetime.datetime.fromisoformat(entry.run.created)
    left = live_view.time_left(entry.live) if entry.state is State.RUNNING else ""
    return {
        "test score": entry.test,
        "tasks": " ".join(entry.run.tasks),
        "seeds": str(len(entry.run.seeds)),
        "steps": f"{entry.steps}, {left} left" if left else entry.steps,
        "learning rate": options.get("learning_rate", "–"),
        "processor": options.get("network.processor", "–"),
        "created": f"{created:%Y-%m-%d %H:%M}",
    }


def _counted(entry: Summary) -> str:
    """How many networks have which word. HTML."""
    words = ", ".join(
        f"{count}&nbsp;×&nbsp;{verdicts.word(word)}" for word, count in entry.counts.items()
    )
    # What is no graph network is not examined by a verb of its own.
    return words or ("–" if entry.run.kind else '<span class="muted">not examined</span>')


def _class(column: str) -> str | None:
    return "number" if column in ("seeds", "steps", "test score", "learning rate") else None


def _comparison(summaries: list[Summary]) -> str:
    names = [summary.name for summary in summaries]
    described = [
        {
            "test score": summary.test,
            "steps": summary.steps,
            **{f"networks: {word}": str(count) for word, count in summary.counts.items()},
            **summary.means,
            **{name: json.dumps(value) for name, value in summary.run.options.items()},
        }
        for summary in summaries
    ]
    values = differences(described)
    rows = [[label, *(value or "–" for value in row)] for label, row in values.items()]
    title = f"{len(rows)} differences" if rows else "No difference"
    return f'<h1>{escape(" and ".join(names))}</h1><p><a href="/">All runs</a></p>' + html.table(
        Table(title, ["what", *names], rows)
    )
