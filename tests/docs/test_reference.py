"""The generated pages of the reference are what the command line and the docstrings say now."""

import importlib.util
import pathlib
import types

import pytest
from pages import ROOT


@pytest.fixture(scope="module")
def generator() -> types.ModuleType:
    path = ROOT / "docs" / "make_reference.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["commands.md", "api.md", "subjects.md"])
def test_pages_are_up_to_date(generator, name):
    page: pathlib.Path = ROOT / "docs" / "reference" / name
    assert page.read_text() == generator.PAGES[name](), "run python docs/make_reference.py"


def test_every_verb_has_its_options(generator):
    commands = generator.commands()
    for verb in ("sample", "train", "report", "runs query", "llm navigate", "transnar train"):
        assert f"algoscope {verb}\n" in commands
    assert "--learning-rate" in commands
