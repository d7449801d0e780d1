"""Every experiment's `smoke` preset, as `algoscope reproduce` runs it.

Experiments of one paper share a folder here as they do for a user, in the order of the list: each
trains only what those before it have not.
"""

import functools
import json
import pathlib
import sys
from typing import NamedTuple

import pytest

from algoscope import cli, experiments, runs
from algoscope.experiments.mind_the_gap import paper, presets
from algoscope.experiments.mind_the_gap.solutions import ensembles_in
from algoscope.experiments.transnar_rows import MAIN_ROWS

_N = {"bfs": 4, "bellman_ford": 4, "dfs": 2}
_ENDS = ("", ", last")
"""Of the labels of either weights."""

_LONG = (
    "mind-the-gap-architectures",
    "mind-the-gap-landscapes",
    "mind-the-gap-parallel",
    "mind-the-gap-table-9",
    "mind-the-gap-table-15",
    "mind-the-gap-table-17",
)
"""They train as the others do, and take minutes to compile. What they make of what was trained is
tested in `test_mind_the_gap`."""


class Made(NamedTuple):
    result: experiments.Result
    folder: pathlib.Path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("smoke")

    @functools.cache
    def make(name: str) -> Made:
        experiment = experiments.get(name)
        folder = root / experiment.folder("smoke").name
        return Made(experiment.run("smoke", folder), folder)

    return make


@pytest.mark.parametrize("name", [name for name in experiments.names() if name not in _LONG])
def test_everything_is_made_once(made, name):
    result, folder = made(name)
    assert result.tables
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)
    assert result.claims
    assert all(claim.text and claim.evidence for claim in result.claims)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    assert before or name == "mind-the-gap-settings"
    said = []
    again = experiments.get(name).run("smoke", folder, said.append)
    assert not [text for text in said if "step" in text]
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")} == before
    assert again.tables == result.tables
    assert again.claims == result.claims
    assert json.loads(json.dumps(again.numbers)) == json.loads(json.dumps(result.numbers))


def test_table_1_has_both_kinds_of_faithfulness_beside_the_papers(made):
    result, _ = made("mind-the-gap-table-1")
    table, held, last = result.tables
    assert "bfs, last" in last.title
    assert [row[0] for row in held.rows[:-1]] == [row[0] for row in table.rows]
    kinds = ["external", "internal, nearest reference"]
    kinds += [f"internal, {program}" for program in ("bfs", "bfs_locked", "bfs_self")]
    assert [row[0] for row in table.rows] == [f"{kind}, n = {n}" for n in (7, 12) for kind in kinds]
    numbers = result.numbers["correlations"]
    assert numbers.keys() == {label + end for label in (r[0] for r in table.rows) for end in _ENDS}
    for row in table.rows:
        published = paper.CORRELATIONS[row[0].partition(",")[0]]
        ours = numbers[row[0]]
        assert row[1] == "{:+.3f} (p {:.3f})".format(*published["pearson"])
        assert row[3] == f"{ours['pearson'] - published['pearson'][0]:+.3f}"
        assert row[6] == f"{ours['spearman'] - published['spearman'][0]:+.3f}"
        assert row[7] == str(_N["bfs"])
        significant = min(ours["pearson_p"], ours["spearman_p"]) < 0.05
        assert row[8] == ("no" if significant else "too few")


@pytest.mark.parametrize(
    ("name", "published"),
    [("mind-the-gap-table-10", paper.BASELINES), ("mind-the-gap-table-14", paper.WITHOUT_TRACES)],
)
def test_tables_of_scores_have_a_row_for_each_of_the_papers(made, name, published):
    result, _ = made(name)
    (table,) = result.tables
    assert [row[0] for row in table.rows] == [task + end for task in presets.TASKS for end in _ENDS]
    assert len(result.claims) == len(table.rows)
    for row, claim in zip(table.rows, result.claims, strict=True):
        task, _, last = row[0].partition(", ")
        ensemble = task if name.endswith("10") else f"{task}-without-traces"
        seeds = result.numbers["ensembles"][ensemble]["seeds"]
        scores = [(seed["last"] if last else seed)["test"] for seed in seeds]
        assert row[1] == str(published[task])
        assert row[3] == str(len(scores)) == str(_N[task])
        apart = 100 * sum(scores) / len(scores) - published[task].mean
        assert row[4] == f"{apart:+.2f}"
        assert row[-1] == {True: "yes", False: "no", None: "too few"}[claim.holds]


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("mind-the-gap-bfs", ("1", "2", "3", "4", "5", "15")),
        ("mind-the-gap-bellman-ford", ("10", "11", "14")),
    ],
)
def test_figures_are_drawn_with_their_data(made, name, numbers):
    result, folder = made(name)
    task = name.removeprefix("mind-the-gap-").replace("-", "_")
    for name in (f"figure-{number}-{task}{end}" for number in numbers for end in ("", "-last")):
        stem = folder / "figures" / name
        assert stem.with_suffix(".svg").read_text().startswith("<")
        assert len(stem.with_suffix(".csv").read_text().splitlines()) > _N[task]
    assert 0 < result.numbers["between_solutions"] < 1
    assert 0 < result.numbers["closest_to_a_reference"] < 1
    assert len(result.claims) == 16


def test_even_so_short_a_training_teaches_something_and_not_all(made):
    result, _ = made("mind-the-gap-table-10")
    assert not any(claim.holds for claim in result.claims)
    _, folder = made("mind-the-gap-table-14")
    found = ensembles_in(folder)
    assert {t + s for t in presets.TASKS for s in ("", "-without-traces")} <= set(found)
    bfs, silent = found["bfs"], found["bfs-without-traces"]
    assert bfs.test.mean() > 0.3, "the best guess without the graph is below 0.1"
    assert bfs.external(7).mean() > 0.5
    first = bfs.trace_per_step(7)["reach_h"][:, 0].mean()
    assert first > 0.9, "one step from the source is the first thing that is learnt"
    assert all(seed["sizes"]["7"]["external"] is None for seed in silent.seeds)
    for solutions in (one for one in found.values() if 7 in one.plan.sizes):
        nearest = solutions.internal(7, "eq24")
        for reference in solutions.references(7):
            assert (nearest <= solutions.internal(7, "eq24", reference)).all()


def test_few_weights_stay_and_the_small_files_are_enough(made, tmp_path):
    _, folder = made("mind-the-gap-table-10")
    chunks = list(folder.glob("*/seeds-*/"))
    assert len(chunks) >= len(_N)
    for path in chunks:
        assert 1 <= len(runs.open(path).seeds_with_weights) <= 2
    for path in [*folder.glob("*/*.json"), *folder.glob("*/*.safetensors")]:
        copy = tmp_path / path.relative_to(folder)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(path.read_bytes())
    again = experiments.get("mind-the-gap-table-10").run("smoke", tmp_path)
    assert again.tables == made("mind-the-gap-table-10").result.tables


def test_the_command_prints_the_same_rows(made, monkeypatch, capsys):
    """Training, and from what was trained; as Markdown and as JSON."""
    result, folder = made("mind-the-gap-table-10")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

    def printed(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["algoscope", "reproduce", *arguments])
        cli.main()
        return capsys.readouterr().out

    command = ("mind-the-gap-table-10", "--out", str(folder))
    for text in (printed(*command, "--markdown"), printed("--from", str(folder), "--markdown")):
        for row in result.tables[0].rows:
            assert f"| {' | '.join(row)} |" in text
        assert all(f"- {claim}\n" in text for claim in result.claims)
    assert json.loads(printed(*command, "--json")).keys() == result.numbers.keys()
    assert all(str(claim) in printed(*command) for claim in result.claims)


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--from: got"):
        experiments.from_results(tmp_path)


def test_transnar_has_a_row_for_each_rival(made):
    result, _ = made("transnar-scores")
    table, of_tasks, of_classes, learnt, of_answers, ablated, exchanged, conditions = result.tables
    rows = [row.title for row in MAIN_ROWS]
    assert [row[0] for row in table.rows] == rows
    assert set(table.rows[rows.index("reference algorithm")][1:]) == {"1.000"}
    assert [row[0] for row in of_tasks.rows] == ["bfs", "dfs"]
    assert [row[0] for row in of_answers.rows] == rows
    assert [row[:2] for row in of_classes.rows] == [["graphs", "2"]]
    assert [row[0] for row in learnt.rows] == ["base", "hybrid"]
    assert ablated.rows[0][0] == "as it is"
    assert len(exchanged.rows) == 4
    (claim,) = result.claims
    assert claim.holds, "a hybrid learns more from the same problems, even from so few"
    base, hybrid = (table.rows[rows.index(name)][-4] for name in ("base", "hybrid"))
    assert float(hybrid.split()[0]) > float(base.split()[0])
    ablations = result.numbers["mechanism"]["ablations"]
    assert {"gates shut", "another problem's states"} <= set(ablations)
    assert conditions.title == "the hybrid, verdict: not judged", "so few steps teach too little"
    assert result.numbers["verdict"]["word"] == "not judged"
