"""The page of a user's own models, which may lack parts: made by the command line, from files."""

import json
import sys

import pytest

from algoscope import cli

START = """
from algoscope import programs
from algoscope.programs.interpreter import interpret
from algoscope.recording import Recording

def run(batch):
    return interpret(programs.get("bfs"), batch)
"""
FILES = {
    "whole.py": "record = run",
    "silent.py": """
def record(batch):
    whole = run(batch)
    return Recording.from_arrays(outputs=whole.outputs, hints={"pi_h": whole.hints["pi_h"]},
                                 lengths=whole.lengths)
""",
    "box.py": """
def answer(batch):
    return run(batch).outputs
""",
}


def algoscope(*arguments: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["algoscope", *arguments])
        cli.main()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    for name, text in FILES.items():
        (folder / name).write_text(f"{START}\n{text}\n")
    return folder


@pytest.fixture(scope="module")
def made(files):
    """The page of all three, and what was printed."""
    with (files / "printed.json").open("w") as printed, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", printed)
        paths = [str(files / name) for name in FILES]
        algoscope("report", *paths, "--task", "bfs", "--problems", "60", "--json")
    return files / "whole-bfs.html", json.loads((files / "printed.json").read_text())


def test_each_has_a_word_and_what_is_missing(made):
    path, printed = made
    assert printed["report"] == str(path)
    assert printed["verdicts"] == {
        "whole.py": "runs",
        "silent.py": "undecided",
        "box.py": "undecided",
    }
    text = path.read_text()
    for reason in ("the hint reach_h was not recorded", "reads small was not measured"):
        assert reason in text
    assert "algoscope report" in text
    assert "--task bfs --problems 60" in text
    assert (path.parent / "whole-bfs-figures" / "attention.svg").is_file()


def test_the_page_opens_like_any_other(made, visit):
    path, _ = made
    for width in (1280, 390):
        shown, troubles = visit(path.as_uri(), width=width)
        shown.wait_for_selector(".explorer[data-ready]")
        assert not troubles
        subjects = shown.locator(".explorer option").all_inner_texts()
        assert any("silent.py" in subject for subject in subjects)
        assert not any("box.py" in subject for subject in subjects), "there is nothing to see"
        wide, inner = shown.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner


def test_files_and_runs_are_not_mixed(files, tmp_path, capsys):
    with pytest.raises(SystemExit, match="needed one kind on a page"):
        algoscope("report", str(files / "box.py"), str(tmp_path), "--task", "bfs")
    with pytest.raises(SystemExit, match="needed the task that"):
        algoscope("report", str(files / "box.py"))
    with pytest.raises(SystemExit, match="needed one task"):
        algoscope("report", str(files / "box.py"), "--task", "bfs", "dfs")
