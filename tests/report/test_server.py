"""`algoscope serve`: lists what is there, and gives out nothing else."""

import concurrent.futures
import contextlib
import json
import math
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide
from finished import finished_run
from serving import serving
from starlette.testclient import TestClient

from algoscope.files import write_arrays
from algoscope.measures import Evidence, Judgement
from algoscope.report import report, server
from algoscope.report.findings import FORMAT
from algoscope.runs import RunError, reservation
from algoscope.runs import folder as folder_of_run
from algoscope.runs.abilities import Abilities, Found
from algoscope.serialise import to_json
from algoscope.verdict import NOT_JUDGED, Verdict

EVIL = "<script>window.owned=1<script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs that are as they should be, and others."""
    root = tmp_path_factory.mktemp("all") / "runs"
    first = finished_run(root / "first")
    (first.path / "report.html").write_text("<h1>the report</h1>")
    finished_run(root / EVIL, learning_rate=0.5)
    judgements = {
        "seed 3": Judgement(Verdict("shortcut", None, []), Evidence({"large": 0.5}, {}), {}),
        "seed 4": Judgement(Verdict(NOT_JUDGED, None, []), Evidence({"large": 1.0}, {}), {}),
    }
    (first.path / "findings").mkdir()
    content = {"format": FORMAT, "judgements": to_json(judgements)}
    (first.path / "findings" / "bfs.json").write_text(json.dumps(content))
    for name, text in {"broken": "{", "odd": "[]", "bare": '{"format": 1}'}.items():
        (root / name).mkdir()
        (root / name / "run.json").write_text(text)
    outside = finished_run(root.parent / "outside")
    (outside.path / "report.html").write_text("secret")
    (root / "link").symlink_to(outside.path)
    (root / EVIL / "report.html").symlink_to(outside.path / "report.html")
    return root


@pytest.fixture(scope="module")
def client(folder):
    with TestClient(server.app(folder), base_url=f"http://{server.HOST}") as opened:
        yield opened


def test_it_lists_runs_and_says_which_cannot_be_read(client):
    page = client.get("/").text
    assert "5 runs" in page

    def row(name: str) -> str:
        return next(part for part in page.split("<tr") if f">{name}<" in part)

    for text in ("0.6250", "4 of 4", "shortcut", "not judged"):
        assert text in row("first")
    for name in ("broken", "odd", "bare"):
        assert "unreadable: " in row(name)
    assert "&lt;script&gt;window.owned=1&lt;script&gt;" in page
    assert EVIL not in page


def test_runs_of_a_sweep_are_listed_by_their_paths(tmp_path):
    """And can be looked at, compared and read."""
    paths = [tmp_path / "runs" / "rates" / name for name in ("a", "b c")]
    for path in paths:
        finished_run(path, sweep="rates")
    (paths[0] / "report.html").write_text("<h1>the report</h1>")
    (tmp_path / "runs" / "rates" / "sweep.json").write_text("{}")
    with TestClient(server.app(tmp_path / "runs"), base_url=f"http://{server.HOST}") as client:
        page = client.get("/").text
        assert "2 runs" in page
        assert "unreadable: " not in page
        assert ">rates/a<" in page
        assert ">rates/b c<" in page
        (link,) = re.findall(r'href="(/run/[^"]+)"', page)
        assert "finished; verdicts come" in client.get(link).text
        (link,) = re.findall(r'href="(/report/[^"]+)"', page)
        assert "the report" in client.get(link).text
        compared = client.get("/compare", params={"a": "rates/a", "b": "rates/b c"}).text
        assert "rates/a and rates/b c" in compared
        for outside in ("/run/rates", "/run/rates/../../runs/rates/a", "/report/rates/b%20c"):
            assert client.get(outside).status_code == 404


ABOUT = {"seeds": 1, "first_seed": 0, "steps": 1}


def study(path, word="runs"):
    """What `algoscope llm navigate` leaves, as far as a list tells of it."""
    run = reservation.create(path, ABOUT | {"tasks": ["navigation"]}, kind=folder_of_run.STUDY)
    heard = Found("m", "primitive", "copy", "looks only", [], 0.0, 0.0, 0.1, 0.4, "40 tasks")
    row = Found("m", "algorithm", "backward search", word, [], 0.9, 0.8, 1.0, math.nan, "60 items")
    Abilities([row, heard]).write(path)
    (path / folder_of_run.STUDY_PAGE).write_text("<h1>the study</h1>")
    return folder_of_run.seal(run, {"test": {"navigation": {"score": [0.75]}}})


def test_studies_of_language_models_are_listed_with_word_and_page(tmp_path):
    """And prompts that were described, of which there is a page and no run."""
    made = study(tmp_path / "runs" / "navigate-m")
    described = tmp_path / "runs" / "describe-m"
    described.mkdir()
    (described / "page.html").write_text("<h1>prompts</h1>")
    (tmp_path / "runs" / "linked").mkdir()
    (tmp_path / "runs" / "linked" / "page.html").symlink_to(made.path / "page.html")
    with TestClient(server.app(tmp_path / "runs"), base_url="http://localhost") as client:
        page = client.get("/").text
        (row,) = re.findall(r'<tr data-run="navigate-m">.*?</tr>', page)
        assert "✓ runs</span>" in row
        assert "0.7500" in row
        assert "1 of 1" not in row, "a study takes no steps"
        (link,) = re.findall(r'href="([^"]+)"', row)
        assert client.get(link).text == "<h1>the study</h1>"
        watched = client.get("/run/navigate-m").text
        assert "finished; this is its report" in watched
        assert re.search(r'<iframe src="/report/navigate-m\?\d+"', watched)
        answer = client.get("/report/describe-m")
        assert answer.text == "<h1>prompts</h1>"
        assert answer.headers["content-security-policy"] == "sandbox allow-scripts"
        assert client.get("/run/describe-m").status_code == 404
        assert client.get("/report/linked").status_code == 404
        assert "unreadable: " in page.split('data-run="linked"')[1].split("</tr>")[0]
    with pytest.raises(RunError, match=r"got a run of kind llm.*its page is .*page\.html"):
        report([made])


def test_a_tower_has_its_loss_and_waits_for_no_verdict(tmp_path):
    run = reservation.create(
        tmp_path / "runs" / "tower", ABOUT | {"tasks": ["bfs"]}, kind="transnar"
    )
    write_arrays(run.path / folder_of_run.METRICS, {"loss": np.array([0.5, 0.25], np.float32)})
    with TestClient(server.app(tmp_path / "runs"), base_url="http://localhost") as client:
        assert "Networks are judged" not in client.get("/run/tower").text
        folder_of_run.seal(run, {"loss": 0.25})
        page = client.get("/run/tower").text
    assert "loss over steps: 0.25 at step 2" in page
    assert ">finished<" in page
    assert "algoscope report" not in page


def test_a_word_that_is_none_leaves_the_list_whole(tmp_path):
    study(tmp_path / "runs" / "one", word=EVIL)
    study(tmp_path / "runs" / "two")
    with TestClient(server.app(tmp_path / "runs"), base_url="http://localhost") as client:
        page = client.get("/").text
    assert "unreadable: verdict: got " in page.split('data-run="one"')[1].split("</tr>")[0]
    assert "✓ runs</span>" in page.split('data-run="two"')[1].split("</tr>")[0]
    assert EVIL not in page


def test_reports_are_given_in_a_sandbox(client):
    answer = client.get("/report/first")
    assert answer.text == "<h1>the report</h1>"
    assert answer.headers["content-security-policy"] == "sandbox allow-scripts"


@pytest.mark.parametrize(
    "path",
    [
        "/report/nothing",
        "/run/nothing",
        "/run/link",
        "/run/broken",
        "/run/..%2Foutside",
        "/report/link",
        "/report/..%2Foutside",
        "/report/../outside",
        "/report/%2e%2e%2foutside%2freport.html",
        "/report/first%2F..%2F..%2Foutside",
        "/report/%2Fetc%2Fpasswd",
        "/report/%3Cscript%3Ewindow.owned=1%3Cscript%3E",
        "/../../etc/passwd",
        "/compare?a=first&b=../outside",
        "/compare?a=first&b=link",
        "/compare?a=first&b=broken",
        "/compare",
    ],
)
def test_what_is_not_a_run_of_the_folder_is_refused(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example#localhost",
        "evil.example@localhost",
        "0.0.0.0",
        "[::1]",
        "",
    ],
)
def test_other_names_of_this_machine_are_refused(client, host):
    assert client.get("/", headers={"host": host}).status_code == 400
    for path in ("/report/first", "/run/first", "/stream", "/stream?run=first"):
        assert client.get(path, headers={"host": host}).status_code == 400


def test_this_machine_is_reached_by_its_names(client):
    for host in ("localhost:8765", "127.0.0.1", "127.0.0.1:80"):
        assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/compare?a=first&b=first", "/run/first", "/report/first", "/stream"]
)
def test_nothing_can_be_done_but_read(client, path):
    assert client.head(path).status_code == 200
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "SPAM"):
        assert client.request(method, path).status_code == 405, method


def test_a_comparison_without_a_choice_says_what_to_choose(client):
    page = client.get("/compare?a=first").text
    assert "<h1>Choose two runs</h1>" in page
    assert "Not found" not in page


def test_slow_clients_keep_nobody_waiting(folder):
    """Half a request each, and answers that are not read."""
    with serving(server.app(folder)) as port, contextlib.ExitStack() as open_sockets:
        for start in (b"", b"GET", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ") * 20:
            slow = socket.create_connection((server.HOST, port), timeout=60)
            open_sockets.enter_context(slow)
            slow.sendall(start)
        unread = socket.create_connection((server.HOST, port), timeout=60)
        open_sockets.enter_context(unread)
        unread.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
        with urllib.request.urlopen(f"http://{server.HOST}:{port}/", timeout=60) as answer:
            assert b"5 runs" in answer.read()


def test_many_clients_at_once_are_all_answered(folder):
    with serving(server.app(folder)) as port:

        def read(number: int) -> str:
            path = ("", "report/first", "compare?a=first&b=first")[number % 3]
            with urllib.request.urlopen(
                f"http://{server.HOST}:{port}/{path}", timeout=60
            ) as answer:
                return answer.read().decode()

        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            pages = list(pool.map(read, range(60)))
    assert len(set(pages)) == 3
    assert all(page for page in pages)


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET  /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + 100_000 * b"x" + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ],
    ids=["no host", "two hosts", "version", "no path", "long header", "TLS"],
)
def test_what_is_no_request_is_refused(folder, request_text):
    with serving(server.app(folder)) as port:
        with socket.create_connection((server.HOST, port), timeout=60) as sent:
            with contextlib.suppress(ConnectionError):
                sent.sendall(request_text)
            sent.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while octets := sent.recv(65536):
                    answer += octets
        assert not answer or answer.split()[1].startswith(b"4")
        with urllib.request.urlopen(f"http://{server.HOST}:{port}/", timeout=60) as page:
            assert page.status == 200


def test_a_run_itself_can_be_looked_at(folder):
    with TestClient(server.app(folder / "first"), base_url="http://localhost") as opened:
        assert "1 run<" in opened.get("/").text
        assert opened.get("/report/first").status_code == 200


def test_there_has_to_be_a_folder(tmp_path):
    with pytest.raises(RunError, match="needed one that holds runs"):
        server.app(tmp_path / "nothing")


def test_the_verb_serves_on_this_machine(folder):
    with socket.socket() as free:
        free.bind((server.HOST, 0))
        port = free.getsockname()[1]
    start = "from algoscope import cli; cli.main()"
    command = [sys.executable, "-c", start, "serve", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()[0]
            assert address == f"http://{server.HOST}:{port}/"
            assert "5 runs" in _read(address, process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _read(address: str, process) -> str:
    """Asks again while the server is still starting."""
    while process.poll() is None:
        unreachable = contextlib.suppress(urllib.error.URLError)
        with unreachable, urllib.request.urlopen(address) as answer:
            return answer.read().decode()
        time.sleep(0.1)
    raise AssertionError("the server ended")


def test_two_are_compared_in_a_browser(folder, visit):
    """Filter, choose two, compare; names are shown and not run."""
    with serving(server.app(folder)) as port:
        page, troubles = visit(f"http://{server.HOST}:{port}/")
        page.fill("input[type=search]", "FIRST")
        assert page.locator("tbody tr:visible").count() == 1
        page.check("input[name=a][value=first]")
        page.fill("input[type=search]", "")
        assert page.locator("tbody tr:visible").count() == 5
        page.check(f"input[name=b][value={json.dumps(EVIL)}]")
        page.click("button[type=submit]")
        page.wait_for_selector("h1:has-text('first and')")
        assert EVIL in page.inner_text("h1")
        assert page.evaluate("window.owned === undefined")
        rows = page.locator("tbody tr").all_inner_texts()
        assert any(row.split() == ["learning_rate", "0.1", "0.5"] for row in rows)
        assert any(row.split()[-2:] == ["0.750", "–"] for row in rows), "the mean accuracy"
        asked = ("/compare?", "/stream")
        assert [t for t in troubles if not any(path in t for path in asked)] == []


@pytest.mark.parametrize("font", FONTS)
def test_its_pages_never_scroll_sideways(folder, visit, font):
    names = urllib.parse.urlencode({"a": "first", "b": EVIL})
    with serving(server.app(folder)) as port:
        for path in ("", f"compare?{names}", "report/nothing", "run/first"):
            page, _ = visit(f"http://{server.HOST}:{port}/{path}", width=NARROWEST)
            assert too_wide(page, font) == [], path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_a_keyboard_or_a_screen_reader_out(folder, visit, axe, theme):
    with serving(server.app(folder)) as port:
        for path in ("", "compare?a=first&b=first", "run/first", "report/nothing"):
            page, _ = visit(f"http://{server.HOST}:{port}/{path}", theme=theme)
            assert obstacles(page, axe) == [], path
            assert askew(page) == {}, path
            assert cut_on_paper(page) == [], path
