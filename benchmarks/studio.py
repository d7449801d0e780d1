"""Do networks give in a page what they give in Python, and how soon is a drawn edge seen?

In Chromium, into benchmarks/studio.json:

    python benchmarks/studio.py equal     # trained networks of docs/gallery, 200 graphs a family
    python benchmarks/studio.py compiled  # programs of all tasks that one can draw, likewise
    python benchmarks/studio.py time      # 16 nodes, width 128; where other work is done, as
                                          # `chrt --rr 1 python …`, so that it comes first
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from algoscope import networks, programs, tasks
from algoscope.files import write_bytes
from algoscope.networks import NetworkConfig
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.report import live
from algoscope.report.rounding import that_may_be_rounded
from algoscope.runs.environment import environment
from algoscope.tasks import Kind

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
from in_page import explored, logits_in_python, told_by, write, write_studio  # noqa: E402

FILE = pathlib.Path(__file__).with_suffix(".json")
GRAPHS = 200
"""Of each family of the page."""
NODES = {"bfs": 8, "dijkstra": 8, "dfs": 6}
PROGRAM_NODES = 5
OTHERWISE_TRACED = {("mst_kruskal", "with ties")}
"""Where the page has another trace than Python: numpy's order of equal keys is its own."""
WIDTH, LARGE = 128, 16
_EDGES = ((0, 5), (2, 9), (1, 12), (3, 14), (0, 8), (4, 10), (6, 13), (7, 15), (2, 11), (5, 12))
_READY = "() => document.querySelector('.explorer').ariaBusy === 'false'"
_TRACED = ["devtools.timeline", "blink.user_timing", "toplevel", "v8"]


def differences(page: Page, task: str) -> dict[str, Any]:
    """Of logits and decisions of the trained network, over graphs of every family."""
    network, _ = networks.load(ROOT / "docs" / "gallery" / "networks" / f"{task}.safetensors")
    may_round = bool(that_may_be_rounded({task: network}, task, 0))
    kinds = {f.name: f.kind for f in network.features}
    by_family = {}
    for family in page.evaluate("Families.names"):
        batch, values = told_by(page, task, [family], NODES[task], GRAPHS, network)
        rounded = told_by(page, task, [family], NODES[task], GRAPHS, network, "float16").values
        logits = jax.device_get(networks.run(network, batch).logits)
        largest, other, other_rounded = 0.0, 0, 0
        for sample, (named, halved) in enumerate(zip(values, rounded, strict=True)):
            truths = logits_in_python(network, batch, sample, logits)
            pairs = [(kinds[name], named[name], truth) for name, truth in truths.items()]
            largest = max(largest, *(float(np.abs(a - b).max()) for _, a, b in pairs))
            other += any(differ(*pair) for pair in pairs)
            other_rounded += any(differ(kinds[name], halved[name], named[name]) for name in named)
        by_family[family] = {
            "graphs": len(batch),
            "steps": int(np.maximum(batch.lengths - 1, 1).sum()),
            "largest difference of logits": largest,
            "graphs with another decision": other,
            "graphs with another decision in float16": other_rounded,
        }
        print(task, family, by_family[family], flush=True)
    return {"nodes": NODES[task], "float16 is chosen": may_round, "families": by_family}


def decisions(page: Page, task: str) -> dict[str, Any]:
    """Of the compiled program, over graphs of every family. Where lengths are equal, or closer than
    float32 tells, a program that compares them has no rule: such graphs are counted apart."""
    compiled = compile_program(programs.of_task(task, Role.REFERENCE)[0])
    network, by_family = compiled.network, {}
    kinds = {f.name: f.kind for f in network.features}
    for family in page.evaluate("Families.names"):
        if (task, family) in OTHERWISE_TRACED:
            continue
        batch, values = told_by(page, task, [family], PROGRAM_NODES, GRAPHS, network)
        certain = np.asarray(compiled.certified(batch))
        logits = jax.device_get(networks.run(network, batch).logits)
        other = np.zeros(len(batch), bool)
        for sample, named in enumerate(values):
            truths = logits_in_python(network, batch, sample, logits)
            other[sample] = any(differ(kinds[n], named[n], truth) for n, truth in truths.items())
        by_family[family] = {
            "graphs": len(batch),
            "certain": int(certain.sum()),
            "certain graphs with another decision": int((other & certain).sum()),
            "other graphs with another decision": int((other & ~certain).sum()),
        }
        print(task, family, by_family[family], flush=True)
    return {"nodes": PROGRAM_NODES, "families": by_family}


def differ(kind: Kind, a: np.ndarray, b: np.ndarray) -> bool:
    if kind is Kind.SCALAR:
        return False
    if kind is Kind.MASK:
        return not np.array_equal(a > 0, b > 0)
    return not np.array_equal(a.argmax(-1), b.argmax(-1))


def times(browser: Browser, folder: pathlib.Path, task: str) -> dict[str, Any]:
    """From the key that joins two nodes until graph and algorithm are painted, until subjects at
    the step that is looked at are, and until all steps are made: a line, to which edges are
    added."""
    compiled = compile_program(programs.of_task(task, Role.REFERENCE)[0]).network
    config = NetworkConfig(width=WIDTH)
    subjects = {
        "compiled": compiled,
        "trained": networks.build(task, config, key=jax.random.key(3)),
    }
    path = folder / f"{task}.html"
    write_studio(path, explored(task, subjects, "compiled"))
    found = {}
    for step, key in (("first", "Home"), ("last", "End")):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        page.click(".modes .own")
        page.wait_for_function(_READY)
        page.locator(".as-text").evaluate("folded => folded.open = true")
        line = ", ".join(f"{k}-{k + 1}" for k in range(LARGE - 1))
        page.fill(".as-text textarea", f"{LARGE} nodes, source 0: {line}")
        page.click("text=Use this text")
        page.wait_for_timeout(500)
        page.wait_for_function(_READY)
        page.locator(".explorer").focus()
        page.keyboard.press(key)
        browser.start_tracing(page=page, categories=_TRACED)
        steps = []
        for a, b in _EDGES:
            for node in (a, b):
                page.locator(f".canvas [data-node='{node}']").press("Enter")
            page.wait_for_timeout(200)
            page.wait_for_function(_READY)
            steps.append(int(page.inner_text(".step").split()[-1]))
        page.wait_for_timeout(100)
        trace = json.loads(browser.stop_tracing())["traceEvents"]
        found[step] = {"steps": [min(steps), max(steps)]} | {
            what: durations(trace, f"algoscope: from a change until {what}")
            for what in ("drawn", "shown", "done")
        }
        print(task, step, found[step], flush=True)
        page.close()
    return found


def durations(trace: list[dict[str, Any]], name: str) -> dict[str, dict[str, int]]:
    """Milliseconds from the last key before each measure of this name to its end: by the clock, and
    of the processor's time that the page's thread took, which does not depend on what else runs."""
    starts = [e for e in trace if e["name"] == name and e["ph"] == "b"]
    ends = [e["ts"] for e in trace if e["name"] == name and e["ph"] == "e"]
    assert len(starts) == len(ends) == len(_EDGES), "every edge was measured"
    thread = {(e["pid"], e["tid"]) for e in starts}
    own = [e for e in trace if "tts" in e and (e["pid"], e["tid"]) in thread]
    pressed = [
        e for e in own
        if e["name"] == "EventDispatch" and e["args"]["data"]["type"] == "keydown"
    ]  # fmt: skip
    moments = sorted(
        [(e["ts"], e["tts"]) for e in own]
        + [(e["ts"] + e["dur"], e["tts"] + e["tdur"]) for e in own if "tdur" in e]
    )
    clock, processor = [], []
    for end in ends:
        key = max((e for e in pressed if e["ts"] <= end), key=lambda e: e["ts"])
        last = max(moment for moment in moments if moment[0] <= end)
        clock.append((end - key["ts"]) / 1e3)
        processor.append((last[1] - key["tts"]) / 1e3)
    return {
        kind: {"median": round(float(np.median(each))), "longest": round(max(each))}
        for kind, each in (("clock", clock), ("processor", processor))
    }


def with_programs() -> list[str]:
    """Tasks that one can draw, and that have a program."""
    return [
        name
        for name in tasks.names(variants=True)
        if live.runs_in_page(tasks.get(name)) and programs.of_task(name, Role.REFERENCE)
    ]


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def made(browser: Browser) -> dict[str, Any]:
    """By what, and where."""
    known = environment()
    return {
        "commit": known["commit"],
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "chromium": browser.version,
        "graphs of a family": f"seeds 0 to {GRAPHS - 1}",
        "edges that are drawn": len(_EDGES),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("equal", "compiled", "time"))
    parser.add_argument("tasks", nargs="*", help="all if none is given")
    arguments = parser.parse_args()
    content = json.loads(FILE.read_text()) if FILE.exists() else {"equal": {}, "time": {}}
    with chromium() as browser, tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        if arguments.what in ("equal", "compiled"):
            write(folder / "page.html")
            page = browser.new_page()
            page.goto((folder / "page.html").as_uri())
            page.set_default_timeout(0)
            compare = differences if arguments.what == "equal" else decisions
            drawn = NODES if arguments.what == "equal" else with_programs()
            kept = content.setdefault(arguments.what, {})
            for task in arguments.tasks or drawn:
                kept[task] = compare(page, task)
                write_bytes(FILE, (json.dumps(content, indent=1) + "\n").encode())
        else:
            for task in arguments.tasks or ("bfs", "bellman_ford", "dfs", "bridges"):
                content["time"][task] = times(browser, folder, task)
        content.setdefault("made", {})[arguments.what] = made(browser)
    write_bytes(FILE, (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
