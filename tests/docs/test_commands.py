"""Commands, files and targets that pages name are there."""

import re

import pytest
from pages import PAGES, ROOT

_COMMAND = re.compile(r"(?:^|`|\$ )(algoscope [a-z][^`#\n]*)", re.MULTILINE)
_PATH = re.compile(
    r"(?<![\w/])((?:benchmarks|docs|examples|results|src|tests)/[\w./-]+\.(?:py|jsonl?|md|ipynb)\b)"
)
_TARGET = re.compile(r"(?:^|`)make ([a-z]+)", re.MULTILINE)
_HAND_WRITTEN = [page for page in PAGES if page.name not in ("commands.md", "api.md")]


@pytest.fixture(scope="module")
def verbs() -> dict[str, str]:
    """The help of each verb."""
    text = (ROOT / "docs" / "reference" / "commands.md").read_text()
    sections = re.split(r"^##+ algoscope ", text, flags=re.MULTILINE)[1:]
    return {title: body for title, _, body in (section.partition("\n") for section in sections)}


def _faults(command: str, verbs: dict[str, str]) -> list[str]:
    _, *words = command.split()
    # `algoscope sweep FILE` is short for `algoscope sweep run FILE`.
    names = (" ".join(words[:2]), f"{words[0]} run", words[0])
    known = [name for name in names if name in verbs]
    if not known:
        return [f"{command}: no such verb"]
    options = [word for word in words if word.startswith("--")]
    return [f"{command}: no {option}" for option in options if option not in verbs[known[0]]]


@pytest.mark.parametrize("page", _HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_verbs_and_options_exist(page, verbs):
    commands = _COMMAND.findall(page.read_text())
    assert [fault for command in commands for fault in _faults(command, verbs)] == []


@pytest.mark.parametrize("page", _HAND_WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_exist(page):
    assert [path for path in _PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []


def test_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = {target for page in PAGES for target in _TARGET.findall(page.read_text())}
    assert "demo" in targets
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_there_are_commands_to_check(verbs):
    commands = [command for page in _HAND_WRITTEN for command in _COMMAND.findall(page.read_text())]
    assert len(commands) > 30
    assert _faults("algoscope train bfs --sedes 3", verbs) == [
        "algoscope train bfs --sedes 3: no --sedes"
    ]
    assert _faults("algoscope paint bfs", verbs) == ["algoscope paint bfs: no such verb"]
