"""The page of architectures is what its script makes of the installed transformers."""

import importlib.util
import pathlib
import re

import pytest
import transformers

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "make_architectures", DOCS / "make_architectures.py"
    )
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_is_what_the_script_makes(script):
    """Another version of transformers has other architectures: what the page says of those that
    both have is compared."""
    page, text = script.PAGE.read_text(), script.text()
    if f"transformers {transformers.__version__}," in page:
        assert page == text
    shown, made = dict(_rows(page)), dict(_rows(text))
    both = shown.keys() & made.keys()
    assert len(both) > 100
    assert {name: shown[name] for name in both} == {name: made[name] for name in both}


def _rows(text):
    for names, said in re.findall(r"^\| (.*) \| ((?:yes|no: ).*) \|$", text, re.MULTILINE):
        for name in names.split(", "):
            yield name, said
