"""An algorithm of one's own on the command line: trained, stopped and resumed, judged, reported.

Each command starts as in a process of its own, in which nothing but CLRS-30 is known by name.
"""

import json
import pathlib
import re
import signal
import sys

import own_algorithm
import pytest

from algoscope import cli, programs, report, runs, tasks
from algoscope.verbs import definitions, train

FILE = own_algorithm.__file__
TRAIN = ["train", FILE, "--steps", "3", "--evaluate-every", "2", "--scored-on", "fresh"]
TRAIN += ["--sizes", "4", "--batch", "4", "--network", "width=4"]
FEW = ("--problems", "60")


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    _forget(monkeypatch)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that nothing interrupted."""
    path = tmp_path_factory.mktemp("runs") / "way_out"
    with pytest.MonkeyPatch.context() as patch:
        _forget(patch)
        patch.setattr(sys, "argv", ["algoscope", *TRAIN, "--out", str(path)])
        cli.main()
    return runs.open(path)


def _forget(patch: pytest.MonkeyPatch) -> None:
    for registry in (programs.registry, tasks.registry):
        patch.setattr(registry, "_registered", {})
    definitions._definitions.cache_clear()


def _contents(path: pathlib.Path) -> dict[str, bytes]:
    """Weights and results."""
    files = [*path.rglob("*.safetensors"), path / "results.json"]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_a_run_names_the_task_and_has_its_features(run):
    assert run.finished
    assert run.tasks == ("way_out",)
    assert run.ensemble()[0].features == own_algorithm.way_out.features
    assert list(run.results["fresh"]["way_out"]) == ["door", "score"]


def test_a_run_that_was_stopped_goes_on_with_the_file(
    algoscope, refused, run, monkeypatch, tmp_path, capsys
):
    stopped = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        interrupt = signal.raise_signal
        patch.setattr(train, "report_progress", lambda _: lambda _: interrupt(signal.SIGINT))
        with pytest.raises(SystemExit) as exit_:
            algoscope(*TRAIN, "--out", str(stopped))
    assert exit_.value.code == 130
    command = f"algoscope train --resume {stopped} --task FILE.py"
    assert f"stopped at step 1 of 3; go on with `{command}`" in capsys.readouterr().err

    _forget(monkeypatch)
    assert "unknown task: 'way_out'" in refused("train", "--resume", str(stopped))
    printed = algoscope("train", "--resume", str(stopped), "--task", FILE)
    assert printed.startswith("way_out: on fresh problems ")
    assert _contents(stopped) == _contents(run.path)


def test_networks_and_the_compiled_program_are_reported(algoscope, refused, run, tmp_path):
    assert "--task FILE.py" in refused("report", str(run.path))
    page = tmp_path / "page.html"
    table = algoscope("report", str(run.path), "--task", FILE, "--out", str(page), *FEW)
    assert re.search(r"seed 0 +fails ", table)
    assert re.search(r"compiled way_out +runs ", table)
    assert "door_h" in page.read_text()
    tasks.register(own_algorithm.way_out)
    programs.register(own_algorithm.program)
    assert report.findings(run, own_algorithm.way_out).words == {"seed 0": "fails"}


def test_networks_are_judged(algoscope, refused, run):
    assert "--task FILE.py" in refused("judge", str(run.path))
    answer = json.loads(algoscope("judge", str(run.path), "--task", FILE, *FEW, "--json"))
    assert answer["task"] == "way_out"
    assert answer["subjects"]["seed 0"]["verdict"]["word"] == "fails"
