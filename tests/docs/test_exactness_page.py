"""The page about exactness has the sizes of the compiled programs."""

from pages import read, table

from algoscope import networks, programs
from algoscope.programs.compiler import compile_program


def test_sizes_of_programs():
    shown = table(read("docs/explanation/exactness.md"), "program", "rounds", "64 nodes, even")
    assert len(shown.rows) == 20
    for name, *sizes, _, _ in shown.rows:
        network = compile_program(programs.get(name)).network
        config = network.config
        parameters = sum(array.size for array in networks.arrays(network).values())
        assert sizes == [*map(str, (config.width, config.heads, config.rounds)), f"{parameters:,}"]
