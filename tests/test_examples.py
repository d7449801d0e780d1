"""The examples run, and show what they promise."""

import pathlib
import runpy

import nbclient
import nbformat
import pytest
import torch

from algoscope import programs, tasks

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def test_an_algorithm_of_ones_own_is_compiled_trained_and_judged(capsys, monkeypatch):
    for registry in (programs.registry, tasks.registry):
        monkeypatch.setattr(registry, "_registered", {})
    path = str(EXAMPLES / "own_algorithm.py")
    example = runpy.run_path(path, run_name="__main__")
    result = example["verification"]
    for exactness in (result.network, result.interpreter, result.compilation):
        assert exactness.exact_traces == exactness.exact_outputs == 1.0
    verdicts = {name: judgement.verdict.word for name, judgement in example["judgements"].items()}
    assert verdicts == {"compiled": "runs", "trained": "fails"}
    printed = capsys.readouterr().out
    assert "way_out: door = kitchen hall landing hall hall" in printed
    assert printed.endswith("compiled: runs way_out\ntrained: fails\n")


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
def test_a_network_of_pytorch_geometric_is_judged(capsys):
    torch.set_num_threads(1)
    path = str(EXAMPLES / "pytorch_geometric.py")
    judgement = runpy.run_path(path, run_name="__main__")["judgement"]
    assert judgement.evidence.accuracy["small"] > 0.8, "it has learned something"
    assert judgement.verdict.word in ("shortcut", "fails"), "and not BFS, in a few seconds"
    assert capsys.readouterr().out.startswith(judgement.verdict.word)
    assert not [reason for reason in judgement.verdict.reasons if "reach_h" in reason]
    assert judgement.evidence.interchange is None


def test_a_checkpoint_of_dm_clrs_is_judged(capsys):
    path = str(EXAMPLES / "dm_clrs_checkpoint.py")
    judgement = runpy.run_path(path, run_name="__main__")["judgement"]
    assert judgement.verdict.word == "approximates", "all is well but for rare disagreements"
    unmet = [c.measure for c in judgement.verdict.conditions if not c.met]
    assert unmet == ["agreement"]
    assert judgement.evidence.probes.same_size > judgement.evidence.untrained_probes.same_size
    assert capsys.readouterr().out.startswith(judgement.verdict.word)


def test_the_notebook_shows_programs_recordings_and_verdicts():
    notebook = nbformat.read(EXAMPLES / "verdict.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is kept without outputs"
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    program, compiled, recording, exact, other, smallest = (
        cell.outputs[-1].data["text/html"] for cell in notebook.cells if cell.cell_type == "code"
    )
    assert "parent = minimum(other.idx, where=other.visit)" in program
    assert "largest uniform size" in compiled
    assert compiled.count("<svg") > 3
    assert "4 × " in recording
    assert "<title>step 1</title>" in recording
    assert "<strong>runs bfs" in exact
    assert "<strong>shortcut (bfs_leaping)</strong>" in other
    assert "what the subject says" in smallest
    assert "tasks.run(&#x27;bfs&#x27;, " in smallest
