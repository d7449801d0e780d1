"""What is said about words of trained networks is what results/words has."""

import importlib
import re

import numpy as np
import pytest
from pages import ROOT, one_line, read, table

from algoscope import networks, tasks
from algoscope.measures.thresholds import CRITERIA, RARE
from algoscope.tasks.graph_kinds import graph_options
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


def _taught(members, taught: bool):
    return [one for one in members if ("attention" in one.recipe) == taught]


def _accuracies(members) -> list[str]:
    return [f"{np.mean([one.scores[size] for one in members]):.4f}" for size in ("16", "64", "256")]


def test_the_table_of_128_networks_without_memory(lines):
    shown = table(read("docs/lab/recipes.md"), "taught attention", "accuracy 16", "ms a step")
    assert [row[0] for row in shown.rows] == ["no", "`bfs_locked`"]
    for taught, *rest, _milliseconds in shown.rows:
        members = _taught(lines["memoryless"], taught != "no")
        assert len({one.seed for one in members}) == len(members) == 128
        assert {one.weights for one in members} == {"last"}
        most = 100 * max(one.rate.value for one in members)
        counts = _counts(members, (RUNS, APPROXIMATES))
        assert rest == [*counts, *_accuracies(members), f"{most:.2g} %"]


def test_what_is_said_about_128_networks_without_memory(lines):
    page = one_line(read("docs/lab/recipes.md"))
    members = lines["memoryless"]
    wrong = [sum(wrong for wrong, _ in one.families.values()) for one in members]
    assert f"wrong on more than {max(wrong)} of the {members[0].problems:,} problems" in page
    assert not any(one.families["line"][0] for one in members)
    untaught, taught = _taught(members, False), _taught(members, True)
    assert {one.which for one in untaught} == {"bfs_self"}
    assert {one.which for one in taught} == {"bfs_locked"}
    disagree = [one for one in untaught if one.word != RUNS]
    at_random = [one for one in disagree if one.families["random positions"][0]]
    assert {one.families["random positions"][0] for one in at_random} == {1}
    assert {one.nodes for one in at_random} == {64}
    assert f"Of the {len(disagree)} untaught networks that disagree, {len(at_random)} do so" in page
    runs = [sum(one.word == RUNS for one in part) for part in (taught, untaught)]
    assert f"[{runs[0]} of 128 seeds](#128-seeds)" in page
    readme = one_line(read("README.md"))
    said = (
        f"{runs[1]} of 128 *run* it, and {runs[0]} if attention is taught, too; no search was made"
    )
    assert said in readme
    findings = one_line(read("docs/explanation/findings.md"))
    assert f"{runs[1]} of 128 networks *run* BFS with no program as a teacher" in findings
    assert f"and {runs[0]} of 128 if attention is taught by `bfs_locked`" in findings
    families = f"in {members[0].problems:,} problems of up to 128 nodes"
    assert f"no disagreement {families}, lines included" in findings
    assert f"wrong on at most {max(wrong)} of them" in findings
    usual = [one for one in lines["bfs"] if one.weights == "last"]
    far = f"{_accuracies(members)[2]} (usual training: {_accuracies(usual)[2]}, 128 seeds)"
    assert f"Accuracy at 256 nodes is {far}" in findings


def test_the_table_of_bellman_ford_with_edge_information(lines):
    page = read("docs/lab/recipes.md")
    shown = table(page, "norm", "moves 16", "reads 16")
    assert len(shown.rows) == 3
    usual = [one for one in lines["bellman_ford"] if one.weights == "last"]

    def mean(members, key: str) -> str:
        return f"{np.mean([one.tested[key] for one in members]):.3f}"

    for norm, taught, *rest in shown.rows:
        members = [
            one
            for one in _taught(lines["edge_information"], taught != "no")
            if ("no-norm" in one.recipe) == (norm == "no")
        ]
        assert len({one.seed for one in members}) == len(members) == 16
        measured = [mean(members, key) for key in ("moves_small", "reads_small")]
        rate = _numbers(members)[1]
        counts = _counts(members, (APPROXIMATES, SHORTCUT))
        assert rest == [*counts, *_accuracies(members), rate, *measured]
    near, far, farther = _accuracies(usual)
    said = f"{near}, {far} and {farther} at the three sizes, {_numbers(usual)[1]}"
    moves, reads = (mean(usual, key) for key in ("moves_small", "reads_small"))
    assert f"has 128 *shortcut*, {said}, moves {moves} and reads {reads}" in one_line(page)
    taught = _taught(lines["edge_information"], True)
    assert f"follow both in {mean(taught, 'flips')})" in one_line(page)
    _, at_64, at_256 = _accuracies(taught)
    best = f"at {at_64} instead of {far} at 64 nodes and {at_256} instead of {farther} at 256"
    often = sum(map(_contradicted_by_rate_alone, taught))
    findings = one_line(read("docs/explanation/findings.md"))
    assert {one.word for one in taught} == {SHORTCUT}
    said = f"all 16 seeds are a *shortcut*, {often} of them by their rate of disagreements alone"
    assert f"{said}, {best}" in findings
    assert f"{often} of the 16 are a *shortcut* by the rate" in one_line(page)


def _contradicted_by_rate_alone(one) -> bool:
    return one.rate.value > RARE and not any(
        value < CRITERIA[key].shortcut_below for key, value in one.tested.items()
    )


def test_what_approximates_disagrees_rarely(lines):
    stored = [one for members in lines.values() for one in members]
    assert max(one.rate.value for one in stored if one.word == APPROXIMATES) <= RARE


def test_the_network_whose_weights_are_kept_is_right_on_every_step_of_lines():
    """Deeper than anything in its training, which has graphs of up to 16 nodes."""
    network, _ = networks.load(ROOT / "results/words/bfs-memoryless-0.safetensors")
    batch = tasks.sample("bfs", 32, 4, seed=99, **graph_options(tasks.get("bfs"), "line"))
    assert batch.steps > 16
    recording = networks.run(network, batch)
    assert networks.score(recording, batch)["score"] == 1
    truth = batch.hints["pi_h"][:, 1:]
    within = np.arange(1, truth.shape[1] + 1) < batch.lengths[:, None]
    right = (np.asarray(recording.hints["pi_h"])[:, : truth.shape[1]] == truth).all(-1)
    assert within.sum() > 4 * 16
    assert right[within].all()
