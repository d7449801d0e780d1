"""Runs are seen as they are: a training in another process, verdicts, and in the end the report."""

import contextlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import numpy as np
import pytest
from browsing import NARROWEST, askew, cut_on_paper, obstacles, too_wide
from finished import finished_run
from serving import serving

from algoscope import runs
from algoscope.measures import Evidence, Judgement
from algoscope.report import kept, server
from algoscope.report.findings import read_judgements
from algoscope.report.verdicts import headline
from algoscope.report.watching import Watch
from algoscope.runs import live, lock, reservation
from algoscope.runs.live import Curves, Live, Point
from algoscope.serialise import to_json
from algoscope.verdict import SHORTCUT, Verdict

SMALL = [
    *("--steps", "300", "--seeds", "2", "--sizes", "8", "--batch", "16", "--network", "width=64"),
    *("--learning-rate", "0.001", "--evaluate-every", "50", "--scored-on", "fresh"),
]
"""Networks as the demo has them."""
EVIL = "<img src=x onerror=window.owned=1>"


def _address(port: int, path: str = "") -> str:
    return f"http://{server.HOST}:{port}/{path}"


def _judge(run, seed: int, word: str) -> None:
    """Keeps a judgement of the network, as `algoscope judge` does."""
    judgement = Judgement(Verdict(word, None, []), Evidence({"large": 0.5}, {}), {})
    path = run.path / "findings" / "bfs" / f"seed-{seed:05d}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_json(kept.Kept(0, 4, "digest", judgement))))


_WATCH = """() => {
  window.seen = [];
  new MutationObserver(() => seen.push(document.querySelector("main").innerText))
    .observe(document.querySelector("[data-stream]"), { childList: true, subtree: true,
      characterData: true });
}"""


@contextlib.contextmanager
def _held(process: subprocess.Popen) -> Iterator[None]:
    """The process waits meanwhile: a browser on a busy machine may be slower than a training."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def test_a_training_is_watched_until_it_is_its_report(demo, tmp_path, visit):
    """In a browser, which never loads the page again: `train --report` in another process, all that
    comes on the way, and at the end the report, in which networks run. What was compiled for the
    demo is not compiled again."""
    path = tmp_path / "runs" / EVIL
    path.parent.mkdir()
    few = kept.problems_kept(demo[0], "bfs")
    start = f"from algoscope import cli, falsify; falsify.PROBLEMS = {few}; cli.main()"
    command = [sys.executable, "-c", start, "train", "bfs", "--report", "--out", str(path), *SMALL]
    environment = os.environ | {"XDG_CACHE_HOME": str(demo[0].path.parents[1] / "cache")}
    with serving(server.app(path.parent)) as port:
        listed, _ = visit(_address(port))
        with subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            row = listed.locator("tr[data-run]")
            row.locator("a:text-is('watch')").wait_for()
            with _held(process):
                page, _ = visit(_address(port, row.locator("a").get_attribute("href").lstrip("/")))
                page.evaluate(_WATCH)
            page.locator("svg.chart polyline").first.wait_for()
            assert process.wait(timeout=1500) == 0
        report = page.frame_locator("iframe")
        report.locator(".explorer[data-ready]").wait_for()
        report.locator(".modes .own").click()
        report.locator(".differs").nth(1).filter(
            has_text=re.compile("algorithm|differs")
        ).wait_for()
        row.locator("a:text-is('report')").wait_for()
        seen = "\n".join(page.evaluate("seen"))
        assert page.evaluate("window.owned === undefined")
        assert listed.evaluate("window.owned === undefined")
        findings = read_judgements(runs.open(path), "bfs")
        assert report.locator("h1").inner_text().rstrip(".") == headline("bfs", findings)
    assert "\ntraining\n" in seen
    assert re.search(r"time left\s+\d+:\d\d:\d\d", seen), "while it is trained"
    assert re.search(r"validation\s+0\.\d{4}", seen)
    assert re.search(r"\d of 2 networks judged", seen)
    word = findings["seed 0"].verdict.word
    assert re.search(rf"seed 0\W+{word}", seen), "verdicts come before the report"
    assert not (path / live.FILE).exists()


@pytest.fixture
def running(tmp_path):
    """A run that this process pretends to train."""
    folder = tmp_path / "runs"
    config = {"tasks": ["bfs"], "seeds": 2, "first_seed": 0, "steps": 90}
    run = reservation.create(folder / "one", config)
    finished_run(folder / "two")
    with reservation.held(run):
        yield folder, run


def _publish(run, step: int) -> None:
    points = [Point(k, 1 / k, 0.5 / k, 2 / k) for k in range(1, step + 1)]
    live.Publisher(run.path).publish(Live(step, 90, 2.0, 45.0, Curves(points, points[:1])))


def _events(stream) -> Iterator[dict]:
    """What is told of each run, after which there are."""
    assert stream.headers["content-type"].startswith("text/event-stream")
    names = None
    for line in stream:
        if line == b"event: runs\n":
            names = json.loads(next(stream).removeprefix(b"data: "))
        elif line.startswith(b"data: "):
            assert names is not None
            yield json.loads(line.removeprefix(b"data: "))


def _first_event(port: int, path: str = "stream") -> dict:
    with urllib.request.urlopen(_address(port, path), timeout=60) as stream:
        return next(_events(stream))


def test_many_and_slow_listeners_keep_nobody_waiting(running):
    folder, run = running
    _publish(run, 3)
    with serving(server.app(folder)) as port, contextlib.ExitStack() as listeners:
        for number in range(60):
            slow = socket.create_connection((server.HOST, port), timeout=60)
            listeners.enter_context(slow)
            path = "/stream" if number % 2 else "/stream?run=one"
            slow.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for step in (10, 20, 30):
            _publish(run, step)
            time.sleep(0.4)
        time.sleep(1)
        assert "30 of 90" in _first_event(port)["html"]
        with urllib.request.urlopen(_address(port), timeout=60) as answer:
            assert b"2 runs" in answer.read()


def test_more_than_enough_listeners_are_refused_and_the_pages_are_not(running):
    folder, _ = running
    with serving(server.app(folder)) as port, contextlib.ExitStack() as listeners:
        for _ in range(server.MOST_STREAMS):
            listener = urllib.request.urlopen(_address(port, "stream"), timeout=60)
            listeners.enter_context(listener)
            assert listener.readline()
        with pytest.raises(urllib.error.HTTPError, match="503"):
            _first_event(port)
        with urllib.request.urlopen(_address(port), timeout=60) as answer:
            assert answer.status == 200


def test_what_changes_is_sent_and_what_does_not_is_not(running):
    folder, run = running
    _publish(run, 3)
    with serving(server.app(folder)) as port:
        with urllib.request.urlopen(_address(port, "stream"), timeout=60) as stream:
            told = _events(stream)
            events = [next(told), next(told)]
            assert [event["run"] for event in events] == ["one", "two"]
            assert "3 of 90, 0:00:45 left" in events[0]["html"]
            _publish(run, 4)
            event = next(told)
            assert event["run"] == "one"
            assert "4 of 90" in event["html"]
        event = _first_event(port, "stream?run=one")
        assert "loss over steps: 0.25 at step 4" in event["html"]
        assert event["html"].count("data-run") == 1


_SEEN = """isSeen => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => !isSeen });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_what_the_reader_chose_stays_as_runs_go_on(running, visit):
    """Rows that are filtered out stay so, and so do choices in them."""
    folder, run = running
    _publish(run, 3)
    with serving(server.app(folder)) as port:
        page, troubles = visit(_address(port))
        one, two = (page.locator(f"tr[data-run='{name}']") for name in ("one", "two"))
        one.locator("text='3 of 90, 0:00:45 left'").wait_for()
        one.locator("input[name='a']").check()
        page.fill("input[type=search]", "two")
        one.wait_for(state="hidden")
        _publish(run, 4)
        one.locator("text='4 of 90, 0:00:45 left'").wait_for(state="attached")
        # The filter is applied once more before the next picture.
        page.evaluate("() => new Promise(requestAnimationFrame)")
        assert one.is_hidden()
        assert two.is_visible()
        page.fill("input[type=search]", "")
        one.wait_for()
        assert one.locator("input[name='a']").is_checked()
        assert {*troubles} == {_address(port, "stream")}


def test_a_run_that_went_while_nobody_looked_is_gone(running, visit):
    folder, _ = running
    with serving(server.app(folder)) as port:
        page, troubles = visit(_address(port))
        page.evaluate(_SEEN, False)
        shutil.rmtree(folder / "two")
        page.evaluate(_SEEN, True)
        page.wait_for_selector("h1:text-is('1 run')")
        assert page.locator("tr[data-run]").count() == 1
        assert {*troubles} == {_address(port, "stream")}


def test_a_training_that_prepares_is_no_broken_run(running):
    """Its description comes when everything else is there, which takes a while."""
    folder, _ = running
    (folder / "later").mkdir()

    def row() -> str:
        watched = Watch(folder).entries()["later"]
        assert isinstance(watched, str)
        return watched

    with lock.hold(folder / "later"):
        assert row() == "being prepared"
    assert row().startswith("unreadable: ")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", NARROWEST)])
def test_nothing_keeps_a_keyboard_or_a_screen_reader_from_watching(
    running, visit, axe, theme, width
):
    folder, run = running
    _publish(run, 30)
    _judge(run, 0, SHORTCUT)
    with serving(server.app(folder)) as port:
        page, _ = visit(_address(port, "run/one"), theme=theme, width=width)
        page.locator("svg.chart polyline").first.wait_for()
        assert page.locator("td:has-text('shortcut')").count() == 1
        assert obstacles(page, axe) == []
        assert too_wide(page, "DejaVu Sans") == []
        assert askew(page) == {}
        assert cut_on_paper(page) == []


def test_a_damaged_or_hostile_file_of_progress_is_no_progress(running):
    folder, run = running
    for text in ("", "[]", "{", '{"step": "<script>"}', '{"step": 1, "steps": 1e999}'):
        (run.path / live.FILE).write_text(text)
        assert live.read(run.path) is None
    with serving(server.app(folder)) as port:
        assert "0 of 90" in _first_event(port)["html"]


def test_curves_are_short_and_end_where_the_metrics_do():
    losses = np.linspace(1, 0.1, 1001, dtype=np.float32).reshape(-1, 1, 1) * np.ones((1, 2, 1))
    scores = np.linspace(0, 1, 701, dtype=np.float32).reshape(-1, 1, 1) * np.ones((1, 2, 1))
    steps = np.arange(701) * 50
    curves = live.curves(losses, steps, scores)
    assert len(curves.loss) <= 240
    assert len(curves.validation) <= 240
    assert curves.loss[-1].step == 1001
    assert curves.validation[-1] == Point(35_000, 1, 1, 1)
    means = [point.mean for point in curves.loss]
    assert means == sorted(means, reverse=True)
    assert math.isclose(means[0], losses[:5].mean(), rel_tol=1e-4)


def test_what_is_published_is_read_back(tmp_path):
    told = Live(3, 9, math.nan, math.nan, Curves([Point(1, 0.5, 0.25, 1)], []))
    live.Publisher(tmp_path).publish(told)
    again = live.read(tmp_path)
    assert math.isnan(again.seconds_left)
    assert again._replace(seconds_left=0, steps_per_second=0) == told._replace(
        seconds_left=0, steps_per_second=0
    )
