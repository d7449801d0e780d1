"""docs/how-to/train-to-run.md says what results/words has; its pictures are the script's."""

import importlib
import json
import re
from collections import Counter

import numpy as np
import pytest
from pages import ROOT, links, one_line, read, table

from algoscope import programs
from algoscope.report.figures import style
from algoscope.training import TrainingConfig
from algoscope.verdict import APPROXIMATES, RUNS, RUNS_UP_TO

ANEW = "make it anew: python docs/make_train_to_run.py"
WORDS = (RUNS, RUNS_UP_TO, APPROXIMATES)


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("make_train_to_run")


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/how-to/train-to-run.md")


@pytest.fixture(scope="module")
def recipes(script):
    return {recipe.name: recipe.lines for recipe in script.large()}


def test_the_table(page, recipes):
    shown = table(page, "training", "runs")
    assert [row[0] for row in shown.rows] == list(recipes)
    for name, *said in shown.rows:
        lines = recipes[name]
        assert len({line["seed"] for line in lines}) == len(lines) == 128
        counts = Counter(line["word"] for line in lines)
        assert set(counts) <= set(WORDS)
        rates = [100 * line["rate"]["value"] for line in lines]
        accuracy = [
            f"{np.mean([line['scores'][size] for line in lines]):.4f}"
            for size in ("16", "64", "256")
        ]
        wrong = [f"{np.median(rates):.2g} %", f"{max(rates):.2g} %"]
        assert said == [*(str(counts[word]) for word in WORDS), *wrong, *accuracy]


def test_sentences(script, page, recipes):
    text = one_line(page)
    usual, untaught, taught = recipes.values()
    running = sum(line["word"] == RUNS for line in untaught)
    assert f"take that to {running} of 128, without" in text
    assert not any(line["word"] == RUNS for line in usual)
    wrong = {family: f"{100 * share:.1f} %" for family, share in script.wrong(usual).items()}
    said = "wrong on {line} of the lines, {cycle} of the cycles and {ladder} of the ladders"
    assert said.format(**wrong) in text
    assert script.wrong(usual)["complete"] == 0
    for lines, program in ((untaught, "bfs_self"), (taught, "bfs_locked")):
        assert {line["which"] for line in lines} == {program}
        assert programs.get(program)
    others = [line for line in untaught if line["word"] != RUNS]
    each = [sum(wrong for wrong, _ in line["families"].values()) for line in others]
    assert f"Of the {len(others)} networks without a teacher" in text
    assert set(each) == {1, 2}
    placed = sum(line["families"]["random positions"][0] for line in others)
    assert f"of these {sum(each)} problems {placed} have random positions" in text
    (tried,) = {(line["problems"], len(line["families"])) for line in (*usual, *untaught, *taught)}
    assert f"{tried[0]:,} problems of {tried[1]} families with 4 to 128 nodes" in text


def test_small_networks(script, page):
    text = one_line(page)
    small = script.small()
    assert all(len(recipe.lines) == 4 for recipe in small)
    assert {(line["step"], line["problems"]) for r in small for line in r.lines} == {(4000, 4071)}
    assert "width 64, 4,000 steps, 4,071 problems" in text
    assert not any(line["word"] == RUNS for line in small[0].lines)


def test_pictures_of_results_are_what_the_script_makes(script, page):
    """Their words and numbers, the order of them, and how often each colour is drawn in: letters
    have other outlines where other fonts are."""
    drawn = script.drawn()
    shown = {link.rpartition("/")[2] for link in links(page) if link.endswith(".svg")}
    assert shown == set(drawn)
    for name in ("train-to-run-words.svg", "train-to-run-families.svg"):
        kept = (ROOT / "docs/pictures" / name).read_text()
        made = style.image(drawn[name](), "svg").decode()
        for part in (r"<!-- (.*?) -->", r"(?:fill|stroke): (#[0-9a-f]{6})"):
            assert re.findall(part, kept) == re.findall(part, made), f"{name}: {ANEW}"


def test_lines(script, page):
    """One length; the script runs all of them. The network that breaks may break a step earlier or
    later on another processor."""
    shown = table(page, "nodes of the line")
    assert [int(row[0]) for row in shown.rows] == list(script.LENGTHS)
    (said,) = [row for row in shown.rows if row[0] == "16"]
    walked = script.walks([16])
    assert list(walked) == list(script.SUBJECTS)
    (usual,), (faithful,) = walked.values()
    assert abs(100 * usual.answer - float(said[1].removesuffix(" %"))) < 7
    assert abs(usual.steps - int(said[2].partition(" ")[0])) <= 1
    assert said[3:] == [f"{100 * faithful.answer:.0f} %", f"{faithful.steps} of 15"]


def test_the_command_trains_as_the_results_were_trained(page):
    (line,) = re.findall(r"^algoscope train (.*)$", page, re.MULTILINE)
    lines = (ROOT / "results/words/memoryless.jsonl").read_text().splitlines()
    told = [json.loads(line)["about"] for line in lines if "about" in line[:10]]
    (config,) = [one["config"] for one in told if "attention" not in one["recipe"]]
    task, *options = [part.split() for part in re.split(r" --", line)]
    assert task == config["tasks"]
    given = {name: values for name, *values in options}
    network = dict(value.split("=") for value in given.pop("network"))
    assert network.keys() == {"memory", "edge_views", "hint_repred_mode"}
    for name, value in network.items():
        assert str(config["network"][name]).lower() == value
    assert given.pop("graphs") == config["recipe"]["graphs"]
    assert float(*given.pop("learning-rate")) == config["learning_rate"]
    assert int(*given.pop("warmup")) == config["warmup"]
    assert given == {"keep": ["last"]}
    usual = TrainingConfig(("bfs",))
    assert config["steps"] == usual.steps
    assert config["network"]["width"] == usual.network.width
    assert tuple(config["recipe"]["sizes"]) == usual.recipe.sizes
