"""Programs with pairs, compiled into a Triplet-GMPNN: Floyd and Warshall's algorithm, and the
longest common subsequence."""

import numpy as np
import pytest
from pages import ROOT, one_line, read

from algoscope import networks, programs, tasks
from algoscope.networks.running import PLAIN
from algoscope.programs.compiler import compile_program, recompiled
from algoscope.programs.interpreter import show
from algoscope.programs.panels import panels
from algoscope.programs.triplets import turned
from algoscope.programs.verification import agreement, verify
from algoscope.verbs.definitions import find_program

LCS = find_program(str(ROOT / "examples/lcs_length.py"))
PROGRAM = programs.load(ROOT / "examples/floyd_warshall.program")


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 12, 33, 64])
def test_interpreted_it_is_the_algorithm(nodes):
    batch = tasks.sample(PROGRAM.task, nodes, 4, seed=nodes)
    shown = show(PROGRAM, batch)
    assert not shown.broken.any(), shown.reason
    assert all(same.all() for same in agreement(shown.account, batch).values())


def test_compiled_it_is_the_algorithm_at_every_step():
    said = verify(PROGRAM, tasks.sample(PROGRAM.task, 9, 16, seed=4))
    assert said.network.exact_traces == said.network.exact_outputs == 1
    assert said.compilation.exact_traces == said.compilation.exact_outputs == 1


def table_of_strings(x: int, y: int, count: int):
    return tasks.sample("lcs_length", x, count, seed=x + y, length_2=y)


@pytest.mark.parametrize(("x", "y"), [(2, 1), (2, 5), (5, 1), (4, 9), (12, 11), (32, 32)])
def test_rows_that_nodes_keep_give_the_longest_common_subsequence(x, y):
    batch = table_of_strings(x, y, 1 if x == 32 else 8)
    shown = show(LCS, batch)
    assert not shown.broken.any(), shown.reason
    assert all(same.all() for same in agreement(shown.account, batch).values())


def test_compiled_rows_are_right_at_every_step():
    for x, y in ((2, 3), (6, 5)):
        said = verify(LCS, table_of_strings(x, y, 16))
        assert said.network.exact_traces == said.network.exact_outputs == 1
        assert said.compilation.exact_traces == said.compilation.exact_outputs == 1


def test_the_answer_is_of_the_table_after_the_last_hint():
    """With the arrows of the last hint, other problems would be wrong."""
    batch = table_of_strings(6, 5, 64)
    last = batch.hints["b_h"][np.arange(64), batch.lengths - 1]
    assert not (last == batch.outputs["b"]).all()
    text = LCS.text.replace("0.5, pair.left_after, 0", "0.5, pair.left, 0")
    shown = show(programs.parse("early", LCS.task, text), batch)
    agreed = agreement(shown.account, batch)
    assert agreed["b_h"].all()
    assert not agreed["b"].all()


def test_a_changed_program_is_noticed():
    text = PROGRAM.text.replace(
        "pair.longer = atleast(self.start", "pair.longer = above(self.start"
    )
    changed = programs.parse("changed", PROGRAM.task, text)
    said = verify(changed, tasks.sample(PROGRAM.task, 9, 16, seed=4))
    assert said.network.exact_traces < 1


def test_all_paths_show_the_same():
    batch = tasks.sample(PROGRAM.task, 5, 4, seed=6)
    network = compile_program(PROGRAM).network
    lean = networks.Showing.of(network, batch)
    account = lean.part(np.arange(len(batch)))
    for recording in (networks.run(network, batch), networks.run(network, batch, path=PLAIN)):
        for name, values in {**recording.hints, **recording.outputs}.items():
            np.testing.assert_array_equal(np.asarray(values), account[name], err_msg=name)


def test_weights_are_known_again_and_named():
    compiled = compile_program(PROGRAM)
    assert recompiled(compiled.network, PROGRAM.task, compiled.source) is not None
    pictures = panels(PROGRAM)
    out = next(p for p in pictures["processor.9"] if p.title == "triplet_out")
    assert "length 1" in out.columns
    assert "triplet 1" in out.rows


def test_no_sample_is_certified():
    """Rounding is not followed through maxima."""
    batch = tasks.sample(PROGRAM.task, 4, 2)
    assert not compile_program(PROGRAM).certified(batch).any()


def test_an_edge_is_turned():
    names = ["input.A", "back.input.A", "own.input.A", "not hint.msk", "not back.hint.msk"]
    assert [turned(name) for name in names] == [
        "back.input.A",
        "input.A",
        "own.input.A",
        "not back.hint.msk",
        "not hint.msk",
    ]


@pytest.mark.parametrize("program", [PROGRAM, LCS], ids=lambda program: program.name)
def test_the_page_has_its_size(program):
    network = compile_program(program).network
    parameters = sum(array.size for array in networks.arrays(network).values())
    config = network.config
    said = (
        f"width {config.width}, {config.triplet_width} channels of triplets, {config.rounds} "
        f"rounds, {parameters:,} parameters"
    )
    assert said in one_line(read("docs/explanation/exactness.md"))
