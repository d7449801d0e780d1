"""The Python of pages that are complete by themselves runs, and gives what they show."""

import re

import pytest
from pages import read

from algoscope.programs import registry


def _blocks(page: str, language: str) -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    return [body for written, body in blocks if written == language]


@pytest.fixture
def no_registered_programs(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.usefixtures("no_registered_programs")
def test_an_algorithm_of_ones_own(capsys):
    page = "docs/how-to/own-algorithm.md"
    names: dict = {}
    blocks = _blocks(page, "python")
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    shown, _ = _blocks(page, "")
    assert capsys.readouterr().out == shown
    assert names["result"].network.exact_traces == 1
    assert names["result"].interpreter.exact_outputs == 1


def test_the_tutorial(capsys):
    page = "docs/tutorial.md"
    names: dict = {}
    blocks = _blocks(page, "python")
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    trace = _blocks(page, "")[0]
    assert capsys.readouterr().out == trace
    assert names["networks"].score(names["recording"], names["trace"])["score"] == 1
