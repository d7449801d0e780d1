"""docs/reference/measures.md has every number that decides, under the name it has in the code."""

import re

from pages import ROOT, read, tables

from algoscope.measures.thresholds import CRITERIA

PAGE = "docs/reference/measures.md"


def _names() -> list[str]:
    return [
        n for made in tables(read(PAGE)) for row in made.rows for n in re.findall("`(.+)`", row[0])
    ]


def test_names_are_those_of_the_code():
    folders = (ROOT / "src" / "algoscope" / name for name in ("measures", "falsify"))
    code = "\n".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    names = _names()
    assert len(names) > 20
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_every_number_that_decides_is_defined():
    roots = {key.partition("_")[0] for key in CRITERIA}
    assert roots <= set(_names())
    assert "## Exchanged states: interchange" in read(PAGE)


def test_every_measure_has_a_range():
    for made in tables(read(PAGE)):
        if "equation" in made.columns:
            assert made.columns[-1] == "range"
            assert all(row[-1] for row in made.rows)
