"""The command line, as a user calls it."""

import sys

import pytest

from algoscope import cli


@pytest.fixture
def algoscope(monkeypatch, capsys, tmp_path):
    """Runs the command line in this process and an empty folder; returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["algoscope", *arguments])
        cli.run()
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(algoscope):
    """Runs the command line, which has to refuse; returns its message."""

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as exit_:
            algoscope(*arguments)
        assert isinstance(exit_.value.code, str)
        assert exit_.value.code.startswith("error: ")
        return exit_.value.code

    return run
