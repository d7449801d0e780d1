"""Kinds of input that tell of many runs: specifications and folders of sweeps, the index of a
folder of runs, how far a training is, and what a browser asks the server for."""

import asyncio
import concurrent.futures
import json
import os
import pathlib
import random
import time
import urllib.parse
from typing import Any

from fuzzing.kinds import CONFIG, Draw, Read, finished_run
from fuzzing.mutators import ODD, mutate_bytes, mutate_json, mutate_text, mutate_value
from fuzzing.trials import Kind

from algoscope import serialise, sweeps
from algoscope.report import live_view, server
from algoscope.report.watching import Summary, Watch
from algoscope.runs import index, live, parquet, reservation
from algoscope.runs.words import Words
from algoscope.sweeps.drive import driver_of, read_specification, write_specification
from algoscope.table import Table

_BASE = {"tasks": ["bfs"], "steps": 40, "recipe.sizes": [4, 8], "network.width": 4}
_AXES = {"learning_rate": [1e-3, 1e-2], "network.processor": ["gatv2", "mpnn"]}
_TOML = """\
name = "rates"
seeds = 2
after = "judge"
[base]
tasks = ["bfs"]
steps = 40
recipe.sizes = [4, 8]
[axes]
learning_rate = [1e-3, 1e-2]
network.processor = ["gatv2", "mpnn"]
"""
_YAML = """\
seeds: 2
base:
  tasks: [bfs]
  steps: 40
  recipe: {sizes: [4, 8]}
axes:
  learning_rate: [1.0e-3, 1.0e-2]
  network.processor: &kinds [gatv2, mpnn]
"""
_WORDS = (
    "base",
    "axes",
    "seeds",
    "!!python/object/apply:os.system ['true']",
    "*kinds",
    "hint_mode",
)
_OLD = 10**10
"""Nanoseconds before now: files that changed then are settled."""


def _specifications(scratch: pathlib.Path) -> Draw:
    texts = {".toml": _TOML, ".yaml": _YAML}
    whole = {"name": "rates", "base": _BASE, "axes": _AXES, "seeds": 2, "problems": 50}

    def draw(chance: random.Random) -> Read:
        if chance.random() < 0.4:  # What a Python file may define.
            mutated = mutate_value(chance, whole)
            content = mutated if isinstance(mutated, dict) else {"axes": mutated}
            return lambda: sweeps.plan(
                sweeps.from_content(content), scratch, sweeps.Settings("score")
            )
        suffix = chance.choice(list(texts))
        text = mutate_text(chance, texts[suffix], _WORDS)
        octets = text.encode("utf-8", "surrogatepass")
        path = scratch / f"rates{suffix}"
        path.write_bytes(mutate_bytes(chance, octets) if chance.random() < 0.2 else octets)
        return lambda: sweeps.plan(sweeps.read(path), scratch, sweeps.Settings("score"))

    return draw


def _sweep_folders(scratch: pathlib.Path) -> Draw:
    folder = scratch / "sweep"
    folder.mkdir()
    sweep = sweeps.checked(sweeps.Sweep("rates", _BASE, _AXES))
    write_specification(sweep, folder)
    planned = sweeps.plan(sweep, folder, sweeps.Settings("judge"))
    run = finished_run(pathlib.Path(planned[0].item.path))
    Words(50, {"bfs": ["runs", "fails"]}).write(run.path)
    planned[1].item.error.write_text("out of memory\n")
    (folder / ".driver").write_text('{"host": "here", "pid": 1}')
    paths = [folder / "sweep.json", folder / ".driver", run.path / "verdicts.json"]
    whole = {path: path.read_bytes() for path in (*paths, planned[1].item.error)}

    def draw(chance: random.Random) -> Read:
        for path, octets in whole.items():
            path.write_bytes(octets)
        path = chance.choice(list(whole))
        json_ = path in paths and chance.random() < 0.7
        path.write_bytes(
            mutate_json(chance, json.loads(whole[path]))
            if json_
            else mutate_bytes(chance, whole[path])
        )
        return read

    def read() -> Table:
        driver_of(folder)
        read_specification(folder)
        return sweeps.status_table(folder, sweeps.positions(folder))

    return draw


def _indexes(scratch: pathlib.Path) -> Draw:
    """An index whose stamps are right, so that what it says of the runs is believed."""
    root = scratch / "indexed"
    for name in ("a", "b"):
        run = finished_run(root / name)
        Words(50, {"bfs": ["runs", "fails"]}).write(run.path)
        for path in run.path.iterdir():
            moment = time.time_ns() - _OLD
            os.utime(path, ns=(moment, moment))
    entries = index.entries(root)
    stamps = {entry.name: list(entry.stamp) for entry in entries}
    facts = {entry.name: entry.facts for entry in entries if entry.facts}
    known = index._Index(index._FORMAT, time.time_ns(), stamps, facts)
    content = json.loads(json.dumps(known._asdict()))

    def draw(chance: random.Random) -> Read:
        changed = {**content}
        if chance.random() < 0.5:
            changed["facts"] = mutate_value(chance, content["facts"])
            octets = json.dumps(changed).encode("utf-8", "surrogatepass")
        else:
            octets = mutate_json(chance, content)
        (root / ".index.json").write_bytes(octets)
        return query if chance.random() < 0.05 else read

    def query() -> None:
        parquet.query(root, "select * from verdicts join runs using (run)")

    def read() -> None:
        for entry in index.entries(root):
            if entry.facts:
                sum(entry.facts.test), entry.facts.steps + entry.step
                " ".join(entry.facts.tasks) + entry.facts.device + entry.facts.created

    return draw


def _live(scratch: pathlib.Path) -> Draw:
    run = reservation.create(scratch / "live" / "run", json.loads(json.dumps(CONFIG.as_json())))
    point = live.Point(2, 0.5, 0.25, 0.75)
    whole = live.Live(2, 4, 1.5, 3.0, live.Curves([point, point], [point]))
    content = json.loads(json.dumps(serialise.to_json(whole)))
    path = run.path / live.FILE

    def draw(chance: random.Random) -> Read:
        octets = mutate_json(chance, content)
        if chance.random() < 0.1:
            octets = b"[" * 100_000
        path.write_bytes(octets)
        return read

    def read() -> None:
        live.read(run.path)
        for summary in Watch(scratch / "live").entries().values():
            if isinstance(summary, Summary):
                server._panel(summary).encode()
                live_view.time_left(summary.live)

    return draw


_ADDRESSES = (
    "/", "/run/run", "/report/run", "/compare?a=run&b=run", "/stream?run=run", "/run/../run",
    "/report/%2e%2e%2fetc%2fpasswd", "/static/x.js",
)  # fmt: skip
_METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "x")


def _requests(scratch: pathlib.Path) -> Draw:
    """Addresses, hosts and other headers; what is served is no other file than the report."""
    root = scratch / "served"
    report = finished_run(root / "run").path / "report.html"
    report.write_text("<p>the report</p>")
    application = server.app(root)
    thread = concurrent.futures.ThreadPoolExecutor(1)

    def draw(chance: random.Random) -> Read:
        address = chance.choice(_ADDRESSES).encode()
        if chance.random() < 0.7:
            address = b"/" + mutate_bytes(chance, address)
        raw, _, query = address.partition(b"?")
        host = b"127.0.0.1" if chance.random() < 0.8 else mutate_bytes(chance, b"127.0.0.1:80")
        odd = str(chance.choice(ODD)).encode("utf-8", "replace")
        name = chance.choice((b"range", b"if-range", b"accept", b"content-length", b"cookie"))
        scope = {
            "type": "http",
            "method": chance.choice(_METHODS),
            "path": urllib.parse.unquote(raw.decode("latin-1")),
            "raw_path": raw,
            "query_string": query,
            "headers": [(b"host", host), (name, chance.choice((odd, b"bytes=0-5", b"bytes=9-1")))],
        }
        # In a thread of its own: a browser that another test has open runs a loop in this one.
        return lambda: thread.submit(asyncio.run, asked(scope)).result()

    async def asked(scope: dict[str, Any]) -> None:
        answers: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(answer: dict[str, Any]) -> None:
            answers.append(answer)

        await application(scope, receive, send)
        if answers and answers[0]["status"] >= 400:
            raise ValueError(f"refused with {answers[0]['status']}")
        assert b"root:" not in b"".join(answer.get("body", b"") for answer in answers)

    return draw


KINDS = (
    Kind("specifications", _specifications, 0.02),
    Kind("sweep folders", _sweep_folders, 0.01),
    Kind("indexes", _indexes, 0.015),
    Kind("live", _live, 0.01),
    Kind("requests", _requests, 0.02),
)
