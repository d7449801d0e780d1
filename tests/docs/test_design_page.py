"""docs/explanation/design.md names files and layers that are there."""

import json
import re
import tomllib

from pages import ROOT, cell, read, table

SOURCE = ROOT / "src" / "algoscope"


def test_the_answers_name_files():
    shown = table(read("docs/explanation/design.md"), "to change …", "edit")
    subjects = ("a distance", "a processor", "a task", "a threshold", "an objective", "a section")
    subjects += ("what runs in a page",)
    assert len(shown.rows) == len(subjects)
    for subject in subjects:
        paths = re.findall(r"`([\w/]+(?:\.py|/))`", cell(shown, subject, "edit"))
        assert paths
        for path in paths:
            assert (SOURCE / path).exists(), path
            assert not path.endswith("/") or len(list((SOURCE / path).glob("*.*"))) > 3


def test_a_distance_a_processor_and_a_threshold_are_where_it_says():
    assert "kl_nats" in (SOURCE / "measures" / "attention_match.py").read_text()
    assert "class GATv2" in (SOURCE / "networks" / "processors" / "gatv2.py").read_text()
    assert "CRITERIA = {" in (SOURCE / "measures" / "thresholds.py").read_text()
    assert "SECTIONS = " in (SOURCE / "report" / "sections.py").read_text()


def test_layers_are_those_that_are_checked():
    shown = table(read("docs/explanation/design.md"), "layer", "what it holds")
    said = [name for row in shown.rows for name in re.findall(r"`(\w+)`", row[0])]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert said == [layer.removeprefix("algoscope.") for layer in layers]


def test_what_fuzzing_found_is_what_the_page_says():
    records = json.loads((ROOT / "benchmarks" / "fuzz.json").read_text()).values()
    cases = sum(record["cases"] for record in records)
    memory = max(record["peak_memory_mb"] for record in records) / 1000
    said = f"{cases:,} cases, none of which crashed, hung or ran code, in at most {memory:.1f} GB"
    assert said in " ".join(read("docs/explanation/design.md").split())
    assert not any(record[bad] for record in records for bad in ("crashed", "hung", "executed"))
