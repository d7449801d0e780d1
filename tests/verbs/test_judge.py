"""`algoscope judge` and `algoscope falsify`, as a user calls them."""

import json
import re
import shutil

import numpy as np
import pytest

from algoscope import measures, networks, programs
from algoscope.falsify import PROBLEMS, Counterexample
from algoscope.measures import Evidence, Judgement
from algoscope.programs.compiler import compile_program, recompiled
from algoscope.programs.interpreter import interpret
from algoscope.report import kept
from algoscope.runs import Metrics, folder, reservation
from algoscope.serialise import from_json
from algoscope.verdict import Verdict

FEW = ("--problems", "120")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "bfs.safetensors"
    networks.save(compile_program(programs.get("bfs")).network, path, "bfs")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder with two seeds, of which one found BFS and one something else."""
    members = [compile_program(programs.get(name)).network for name in ("bfs", "bfs_highest")]
    config = {"tasks": ["bfs"], "first_seed": 4, "seeds": 2, "steps": 1}
    started = reservation.create(tmp_path_factory.mktemp("runs") / "two", config)
    metrics = Metrics(np.zeros((1, 2, 1)), np.zeros(1, np.int32), np.zeros((1, 2, 1)))
    return folder.finish(started, networks.Ensemble.of(members, "bfs", (4, 5)), metrics, {}).path


def test_compiled_bfs_runs_bfs(algoscope, weights):
    """As JSON and as a table; every bar of a compiled network against its own reference."""
    content = json.loads(algoscope("judge", str(weights), "--task", "bfs", *FEW, "--json"))
    (subject,) = content["subjects"].values()
    assert subject["verdict"]["word"] == "runs"
    assert subject["verdict"]["which"] == "bfs"
    assert subject["tested"]["agreement"] == 1
    evidence = from_json(Evidence, subject["evidence"])
    gaps = {gap.reference: gap.eq24 for gap in evidence.internal}
    assert gaps["bfs"] < 1e-6
    assert gaps["bfs_locked"] > 0.01
    assert evidence.external["large"].eq25 == 1
    assert evidence.interchange.state == 1
    assert evidence.state.owners[0] == "bfs"
    assert evidence.probes.same_size > evidence.untrained_probes.same_size + 0.3
    table = algoscope("gap", str(weights), *FEW)
    for row in (
        "accuracy small",
        "accuracy large",
        "internal eq24",
        "probes large",
        "effect",
        "interchange",
        "state of",
        "agreement",
    ):
        assert row in table
    assert "bfs.safetensors: runs bfs\n  no disagreement in " in table
    assert "counterexample" not in table


def test_every_seed_of_a_run_gets_its_word(algoscope, run):
    table = algoscope("judge", str(run), *FEW)
    assert "seed 4: runs bfs" in table
    assert "seed 5: fails (bfs_highest) (accuracy" in table
    only = algoscope("judge", str(run), "--seeds", "5", *FEW)
    assert "seed 4: " not in only
    with pytest.raises(SystemExit) as exit_:
        algoscope("judge", str(run), "--task", "dfs")
    assert "--task: got dfs, needed one of bfs" in str(exit_.value.code)


def test_what_was_judged_before_is_taken_and_the_rest_is_added(
    algoscope, run, monkeypatch, tmp_path
):
    """Network by network; a damaged file, other problems, other weights and what another version
    said are judged anew."""
    path = tmp_path / "copy"
    shutil.copytree(run, path, ignore=shutil.ignore_patterns("findings"))
    judged = []
    judgement = Judgement(
        Verdict("undecided", None, []), Evidence({"small": 1, "large": 1}, {}), {}
    )

    def counted(network, task, seed, *, problems, report):
        judged.append((seed, problems))
        return judgement

    monkeypatch.setattr(measures, "judge", counted)
    first = algoscope("judge", str(path), "--seeds", "4", *FEW)
    count = int(FEW[-1])
    judged.clear()
    again = algoscope("judge", str(path), "--seeds", "4")
    assert again == first, "as many problems as in the folder"
    assert not judged
    algoscope("judge", str(path), *FEW)
    assert judged == [(0, count)], "seed 5 alone"
    judged.clear()
    algoscope("judge", str(path), "--problem-seed", "1")
    assert judged == [(1, count)] * 2
    judged.clear()
    (path / "findings" / "bfs" / "seed-00004.json").write_text("{")
    algoscope("judge", str(path), "--problem-seed", "1")
    assert judged == [(1, count)]
    judged.clear()
    weights = path / "weights" / "bfs"
    shutil.copy(weights / "seed-00005.safetensors", weights / "seed-00004.safetensors")
    algoscope("judge", str(path), "--problem-seed", "1")
    assert judged == [(1, count)]
    judged.clear()
    algoscope("judge", str(path), "--problem-seed", "1", "--remeasure", "--seeds", "5")
    assert judged == [(1, count)]
    judged.clear()
    monkeypatch.setattr(kept, "basis", lambda task: "of another version")
    algoscope("judge", str(path), "--problem-seed", "1", "--seeds", "5")
    assert judged == [(1, count)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--task", "dfs"), "holds weights for bfs"),
        (("--seeds", "1"), "which holds one network"),
    ],
)
def test_what_does_not_fit_the_weights_is_refused(algoscope, weights, arguments, message):
    with pytest.raises(SystemExit) as exit_:
        algoscope("judge", str(weights), *arguments)
    assert message in str(exit_.value.code)


def test_a_python_file_brings_its_own_subject(algoscope, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from algoscope import programs\n"
        "from algoscope.programs.interpreter import interpret\n"
        "def record(batch):\n"
        "    return interpret(programs.get('bfs_locked'), batch)\n"
    )
    table = algoscope("judge", str(path), "--task", "bfs", *FEW)
    assert "mine.py: runs bfs_locked" in table
    assert "on the scale 0 = untrained" not in table, "nobody knows its shape"


def test_what_is_no_subject_is_refused(algoscope, tmp_path):
    empty = tmp_path / "empty.py"
    empty.write_text("")
    for arguments, message in (
        ([tmp_path / "nothing"], "needed a run folder, a .safetensors file"),
        ([tmp_path], "needed one that holds a run.json"),
        ([empty], "--task: got none, needed the task"),
        ([empty, "--task", "bfs"], "defines neither `record`"),
    ):
        with pytest.raises(SystemExit) as exit_:
            algoscope("judge", *map(str, arguments))
        assert message in str(exit_.value.code)


def test_the_smallest_counterexample_is_drawn_and_reproduced(algoscope, run, capsys):
    """By both verbs: the edges, the trace, what the subject says, and Python that gives it."""
    for verb in ("judge", "falsify"):
        printed = algoscope(verb, str(run), "--seeds", "5", *FEW)
        (heading,) = re.findall(r"seed 5, smallest counterexample: (.*)", printed)
        assert re.fullmatch(r"\d nodes; source \d; edges \d-\d(, \d-\d)*", heading)
        assert "the algorithm, bfs: pi = " in printed
        assert re.search(r"what the subject says: \d nodes \(.+\): the (trace|answer)", printed)
        code = "\n".join(re.findall(r"^    (from .*|batch = .*)", printed, re.MULTILINE))
        names: dict = {}
        exec(code, names)
        batch = names["batch"]
        wrong = interpret(programs.get("bfs_highest"), batch)
        assert not np.array_equal(wrong.outputs["pi"], batch.outputs["pi"])


def test_falsify_says_where_and_how_often(algoscope, run, capsys):
    printed = algoscope("falsify", str(run), *FEW, "--seed", "3")
    assert re.search(r"seed 4: no disagreement in \d+ problems of \d+ families", printed)
    assert re.search(r"line +\d+ +\d+ +\d+ +\d\.\d+ \[\d\.\d+, \d\.\d+\]", printed)
    assert "without any disagreement: " in printed
    result = json.loads(algoscope("falsify", str(run), "--seeds", "5", *FEW, "--json"))
    smallest = from_json(Counterexample, result["subjects"]["seed 5"]["smallest"])
    assert smallest.wrong_nodes
    algoscope("falsify", str(run), "--seeds", "4", *FEW, "--quiet")
    assert capsys.readouterr().err == ""


def test_programs_are_compiled_and_judged_inside_their_certificate(algoscope, tmp_path, capsys):
    """From a file of their own, and from weights that say what they were compiled from."""
    text = programs.get("bellman_ford").text
    path = tmp_path / "mine.program"
    path.write_text(f"# task: bellman_ford\n{text}")
    weights = tmp_path / "mine.safetensors"
    algoscope("compile", str(path), "--out", str(weights))
    for file in (path, weights):
        printed = algoscope("falsify", str(file), *FEW)
        assert "no disagreement in " in printed
        assert "beyond the certificate left out" in printed
    network, task = networks.load(weights)
    assert recompiled(network, task, networks.load_source(weights)) is not None
    arrays = networks.arrays(network)
    name, array = next((n, a) for n, a in arrays.items() if np.any(a))
    changed = networks.with_arrays(network, arrays | {name: 2 * array})
    assert recompiled(changed, task, networks.load_source(weights)) is None
    assert recompiled(network, task, None) is None


def test_a_black_box_is_judged_by_its_answers(algoscope, tmp_path):
    path = tmp_path / "box.py"
    path.write_text(
        "from algoscope import programs\n"
        "from algoscope.programs.interpreter import interpret\n"
        "def answer(batch):\n"
        "    return interpret(programs.get('bfs'), batch).outputs\n"
    )
    printed = algoscope("judge", str(path), "--task", "bfs", *FEW)
    assert "box.py: undecided (moves small was not measured" in printed
    assert "\n  no disagreement in " in printed
    assert "no disagreement in " in algoscope("falsify", str(path), "--task", "bfs", *FEW)


def test_a_number_of_problems_has_to_be_one(refused, weights):
    assert "--problems: got 0" in refused("falsify", str(weights), "--problems", "0")


@pytest.mark.parametrize("verb", ["judge", "falsify", "report", "demo"])
def test_the_help_says_how_many_problems_are_tried(algoscope, capsys, verb):
    with pytest.raises(SystemExit):
        algoscope(verb, "--help")
    assert f" {PROBLEMS:,}" in capsys.readouterr().out


def test_a_trained_sort_is_judged(algoscope, tmp_path):
    """A task whose programs are newer than the measures: what is asked of it and its families come
    with the task. After two steps of training, it fails, and the smallest problem says on what."""
    path = tmp_path / "sort"
    little = "--steps 2 --sizes 4 --batch 2 --test-size 4 --scored-on fresh"
    network = ("--network", "width=8", "processor=gatv2_full")
    algoscope("train", "insertion_sort", *little.split(), *network, "--out", str(path))
    content = json.loads(algoscope("judge", str(path), "--problems", "60", "--json"))
    (subject,) = content["subjects"].values()
    assert subject["verdict"]["word"] == "fails"
    evidence = from_json(Evidence, subject["evidence"])
    assert {gap.reference for gap in evidence.internal} == {
        "insertion_sort",
        "insertion_sort_by_keys",
    }
    families = {family.family for family in evidence.falsification.families}
    assert {"sampler", "ascending", "few values"} <= families
    smallest = evidence.falsification.smallest
    assert set(smallest.problem) == {"key"}
    assert len(smallest.problem["key"]) <= 4
