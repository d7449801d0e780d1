"""Programs with pairs, compiled into a Triplet-GMPNN: Floyd and Warshall's algorithm."""

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


def test_the_page_has_its_size():
    network = compile_program(PROGRAM).network
    parameters = sum(array.size for array in networks.arrays(network).values())
    config = network.config
    said = (
        f"width {config.width}, {config.triplet_width} channels of triplets, {config.rounds} "
        f"rounds, {parameters:,} parameters"
    )
    assert said in one_line(read("docs/explanation/exactness.md"))
