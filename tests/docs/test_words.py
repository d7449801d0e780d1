"""What is said about words of trained networks is what results/words has."""

import importlib
import re

import numpy as np
import pytest
from pages import ROOT, one_line, read, table

from algoscope.verdict import APPROXIMATES, RUNS, RUNS_UP_TO, SHORTCUT, UNDECIDED

WORDS = (RUNS, RUNS_UP_TO, APPROXIMATES, SHORTCUT)
NAMES = {"BFS": "bfs", "Bellman-Ford": "bellman_ford"}


@pytest.fixture(scope="module")
def words():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return importlib.import_module("words")


@pytest.fixture(scope="module")
def lines(words):
    """By name of the file."""
    return {path.stem: words.read(path) for path in (ROOT / "results/words").glob("*.jsonl")}


def _numbers(members) -> list[str]:
    """The last columns of either table."""
    accuracy = np.mean([one.scores["64"] for one in members])
    rate = np.median([one.rate.value for one in members])
    return [f"{accuracy:.4f}", f"{100 * rate:.2g} %"]


def _counts(members, words) -> list[str]:
    return [str(sum(one.word == word for one in members)) for word in words]


def test_the_table_of_findings(lines):
    shown = table(read("docs/explanation/findings.md"), "weights", "*runs up to*")
    assert len(shown.rows) == 4
    for task, weights, *rest in shown.rows:
        kept = weights.partition(" ")[0]
        members = [one for one in lines[NAMES[task]] if one.weights == kept]
        assert len({one.seed for one in members}) == 128
        assert rest == [*_counts(members, WORDS), *_numbers(members)]
        assert sum(map(int, rest[: len(WORDS)])) == 128


def test_sentences_of_findings(lines):
    page = one_line(read("docs/explanation/findings.md"))
    last = [one for one in lines["bfs"] if one.weights == "last"]
    scopes = [one.region for one in last if one.word == RUNS_UP_TO]
    bounds = [int(bound) for scope in scopes for bound in re.findall(r"steps ≤ (\d+)", scope)]
    assert len(bounds) == len(scopes)
    said = f"all {len(bounds)} scopes have a rule on the number of steps, between"
    assert f"{said} {min(bounds)} and {max(bounds)}" in page
    wrong = {
        name: np.sum([one.families[name] for one in last], axis=0) for name in ("line", "complete")
    }
    share = wrong["line"][0] / wrong["line"][1]
    assert f"lines are wrong in {100 * share:.1f} % of the problems, complete" in page
    assert wrong["complete"][0] == 0
    steps = [one.step for one in lines["bfs"] if one.weights == "best"]
    assert f"keeps weights of step {min(steps)} to {max(steps):,}" in page
    bellman = [one for one in lines["bellman_ford"] if one.weights == "last"]
    reads, moves = (np.mean([o.tested[k] for o in bellman]) for k in ("reads_small", "moves_small"))
    assert f"read most in {reads:.2f} of the rows at 16 nodes" in page
    assert f"entries that change in a step {moves:.2f} are right" in page
    assert not any(one.which for one in lines["bellman_ford"])
    tried = {
        (one.task, f"{one.problems:,} problems of {len(one.families)} families")
        for task in NAMES.values()
        for one in lines[task]
    }
    assert len(tried) == len(NAMES)
    assert all(text in page for _, text in tried)


def test_the_table_of_recipes(lines, words):
    shown = table(read("docs/lab/recipes.md"), "recipe", "approximates")
    named = {(one.task, one.recipe) for one in lines["recipes"]}
    assert {(row[0], row[1]) for row in shown.rows} == named
    for task, recipe, *rest in shown.rows:
        members = [o for o in lines["recipes"] if (o.task, o.recipe) == (task, recipe)]
        assert len(members) == 8
        assert set(recipe.split("+")) <= set(words.PARTS)
        assert rest == [*_counts(members, (APPROXIMATES, SHORTCUT)), *_numbers(members)]


def test_what_is_said_about_reads(lines):
    taught = [one for one in lines["recipes"] if "attention" in one.recipe and one.task == "bfs"]
    reads = [value for one in taught for key, value in one.tested.items() if "reads" in key]
    assert min(reads) > 0.995


def test_the_table_of_networks_that_see_their_own_pointer(lines):
    shown = table(read("docs/lab/recipes.md"), "edges both ways")
    named = {one.recipe for one in lines["own_pointer"]}
    for taught, memory, views, *rest in shown.rows:
        parts = {"deep", "discrete", "rate-1e-3"}
        parts |= {"attention", "locked"} if taught == "`bfs_locked`" else set()
        parts |= {"memoryless"} if memory == "no" else set()
        parts |= {"views"} if views == "yes" else set()
        (recipe,) = [name for name in named if set(name.split("+")) == parts]
        named.remove(recipe)
        members = [one for one in lines["own_pointer"] if one.recipe == recipe]
        assert len({one.seed for one in members}) == len(members) == 4
        accuracy, median = _numbers(members)
        far = np.mean([one.scores["256"] for one in members])
        most = 100 * max(one.rate.value for one in members)
        counts = _counts(members, (RUNS, APPROXIMATES, UNDECIDED))
        assert rest == [*counts, accuracy, f"{far:.4f}", median, f"{most:.2g} %"]
    assert not named


def test_what_is_said_about_networks_that_see_their_own_pointer(lines):
    page = one_line(read("docs/lab/recipes.md"))
    seeing = [one for one in lines["own_pointer"] if "views" in one.recipe]
    running = [one for one in seeing if one.word == RUNS]
    assert f"with them {len(running)} of {len(seeing)} do" in page
    forgetful = [one for one in seeing if "memoryless" in one.recipe]
    assert len(forgetful) == 8
    assert not any(one.families["line"][0] for one in forgetful)
    wrong = sum(families[0] for one in forgetful for families in one.families.values())
    assert wrong == 3
    assert "three disagreements of networks without memory" in page
    runs = [one for one in forgetful if one.word == RUNS]
    untaught = [one for one in runs if "attention" not in one.recipe]
    assert 2 * len(untaught) == len(runs)
    said = f"{len(runs)} of 8 networks *run* BFS on {runs[0].problems:,} problems"
    assert said in one_line(read("docs/explanation/findings.md"))
    alone = [one for one in seeing if "memoryless" in one.recipe and "attention" not in one.recipe]
    assert {one.which for one in alone} == {"bfs_self"}
    reads = [value for one in alone for key, value in one.tested.items() if "reads" in key]
    assert min(reads) > 0.9995
    least = min(one.scores["256"] for one in running)
    assert f"is right on {least:.4f} of the answers at 256" in page
