"""The verbs for graph programs, as a user calls them."""

import json
import pathlib

import jax
import pytest
from pages import ROOT

from algoscope import networks, programs

LIBRARY = pathlib.Path(programs.__file__).parent / "library"
DRAWN = ("--size", "7", "--count", "40", "--json", "--draw")


def test_programs_lists_every_program_with_its_certificate(algoscope):
    described = json.loads(algoscope("programs", "--json"))
    assert list(described) == programs.names()
    assert described["bfs"]["task"] == "bfs"
    assert described["bfs"]["parameters"] == 310
    certificate = described["bfs"]["certificate"]
    assert 0 < certificate["margin"] < 1
    assert certificate["largest_uniform_size"] >= 64
    table = algoscope("programs")
    assert f"{len(described)} programs" in table
    for name in described:
        assert f" {name} " in table
    assert described["bellman_ford"]["printed"]["broken"]
    assert "bfs as Mind The Gap prints it" in table
    assert "made for 16 nodes" in table


def test_compile_writes_a_network_of_the_width_asked_for(algoscope, tmp_path):
    path = tmp_path / "bfs.safetensors"
    assert str(path) in algoscope("compile", "bfs", "--width", "16", "--out", str(path))
    network, task = networks.load(path)
    assert (network.config.width, task) == (16, "bfs")


def test_compile_without_a_width_writes_the_smallest(algoscope, tmp_path):
    path = tmp_path / "bfs.safetensors"
    algoscope("compile", "bfs", "--out", str(path))
    assert networks.load(path)[0].config.width == 3


@pytest.fixture
def own_program(tmp_path):
    """A file with a program for a task of one's own."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import own_algorithm as example\n"
        "from algoscope.programs.parser import parse\n"
        "program = parse('finds_a_way_out', example.way_out, example.program.text)\n"
    )
    return path


def test_a_program_in_a_file_is_compiled_and_verified(algoscope, own_program, tmp_path):
    path = tmp_path / "mine.safetensors"
    printed = algoscope("compile", str(own_program), "--out", str(path))
    assert printed.startswith("finds_a_way_out, width")
    assert networks.load(path)[1] == "way_out"
    command = f"verify {own_program} --size 6 --count 4 --json"
    result = json.loads(algoscope(*command.split()))
    assert result["exact_traces"] == result["compilation"]["exact_outputs"] == 1.0
    assert list(result["hints"]) == ["safe_h", "door_h"]


def test_verify_as_json_has_the_shares_at_the_top(algoscope):
    command = "verify bfs --size 6 --count 4 --seed 3 --random-positions --json"
    result = json.loads(algoscope(*command.split()))
    assert result["exact_traces"] == result["exact_outputs"] == 1.0
    assert result["hints"] == {"reach_h": 1.0, "pi_h": 1.0}
    assert result["outputs"] == {"pi": 1.0}
    assert result["interpreter"] == result["compilation"]
    assert (result["samples"], result["nodes"]) == (4, 6)


def test_verify_on_families_notices_what_the_sampler_hardly_draws(algoscope):
    """Graphs of more than three steps."""
    exact = {
        draw: json.loads(algoscope("verify", "bfs_three_steps", *DRAWN, draw))["exact_traces"]
        for draw in ("sampler", "families")
    }
    assert exact["families"] < exact["sampler"] - 0.1
    told = json.loads(algoscope("verify", "bfs", *DRAWN, "families"))
    assert told["exact_traces"] == told["exact_outputs"] == 1.0


def test_verify_on_small_problems_notices_a_changed_constant(algoscope, tmp_path):
    """One that decides on keys that are nearly equal, which the sampler never draws."""
    text = (LIBRARY / "insertion_sort.program").read_text()
    changed = text.replace(
        "(cursor.input.key - input.key) + 1", "(cursor.input.key - input.key) + 2"
    )
    assert changed != text
    path = tmp_path / "changed.program"
    path.write_text(changed)
    sampled = json.loads(algoscope("verify", str(path), *DRAWN, "sampler"))
    assert sampled["exact_traces"] == 1.0
    of_changed, of_own = (
        json.loads(algoscope("verify", name, *DRAWN, "small"))["interpreter"]["exact_traces"]
        for name in (str(path), "insertion_sort")
    )
    assert of_changed < of_own


def test_verify_in_float64_tells_closer_numbers_apart(algoscope):
    """Of keys that are nearly equal."""
    single, double = (
        json.loads(algoscope("verify", "insertion_sort", *DRAWN, "families", "--precision", name))
        for name in ("float32", "float64")
    )
    assert double["certificate"]["margin"] < 1e-5 * single["certificate"]["margin"]
    assert double["below_margin"] == 0 < single["below_margin"]
    assert double["exact_traces"] == double["exact_outputs"] == 1.0
    assert not jax.config.read("jax_enable_x64")


def test_verify_counts_broken_promises_beyond_the_sampler(algoscope):
    """Of segments_intersect: no point lies on the line through the other segment."""
    told = json.loads(algoscope("verify", "segments_intersect", *DRAWN, "families"))
    assert told["broken_promises"] > 0
    assert told["exact_above_margin"] == 1.0
    said = algoscope("verify", "segments_intersect", *DRAWN[:-2], "--draw", "families")
    assert f"a promise is broken on {told['broken_promises']} samples; first: " in said


def test_verify_fails_where_pairs_compute_otherwise_than_the_program(algoscope, capsys):
    """Of pairs rounding is not bounded, so that it excuses nothing: ways nearly as long."""
    path = str(ROOT / "examples/floyd_warshall.program")
    with pytest.raises(SystemExit) as exit_:
        algoscope("verify", path, "--size", "6", "--count", "100", "--draw", "families", "--json")
    told = json.loads(capsys.readouterr().out)
    assert exit_.value.code == 1
    assert 0 < told["differing"] < told["samples"]
    assert not told["rounding_bounded"]
    assert told["exact_above_margin"] == 1.0
    said = algoscope("verify", path, "--size", "6", "--count", "4")
    assert "network = program on 4 of 4 samples; rounding is not bounded" in said


def test_verify_refuses_more_nodes_than_a_program_is_for(refused):
    path = str(ROOT / "examples/floyd_warshall.program")
    assert "got problems of 65 nodes, needed at most 64" in refused(
        "verify", path, "--size", "65", "--count", "1"
    )


def test_verify_prints_a_row_for_each_feature(algoscope):
    table = algoscope("verify", "bfs", "--size", "6", "--count", "4")
    assert "4 samples of 6 nodes" in table
    for row in ("exact traces", "exact outputs", "hint reach_h", "hint pi_h", "output pi"):
        assert row in table
    assert "100.00%" in table


def test_draw_writes_pictures_as_svg_and_png(algoscope, tmp_path):
    printed = algoscope("draw", "bfs", "--out", str(tmp_path)).split()
    parts = ("encoders", "processor", "decoders")
    names = {f"bfs-{part}.{suffix}" for part in parts for suffix in ("svg", "png")}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert sorted(printed) == sorted(str(path) for path in tmp_path.iterdir())
    assert (tmp_path / "bfs-processor.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "bfs-processor.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("verify bsf", "unknown program: 'bsf'; did you mean bfs"),
        ("compile bfs --out bfs.npz", "needed a name that ends in .safetensors"),
        ("compile bfs --width 2 --out bfs.safetensors", "width: got 2, needed at least 3"),
        ("draw bfs --out nowhere", "--out: got nowhere, needed a folder that exists"),
        ("verify bfs --count 0", "count: got 0, needed an integer of at least 1"),
        ("verify bfs --count 0 --draw families", "count: got 0, needed an integer of at least 1"),
        ("verify bfs --variant printed --draw small", "needed sampler or families"),
        ("verify bfs --variant printed --precision float64", "got float64 with --variant printed"),
    ],
)
def test_bad_arguments_are_refused_with_what_is_needed(refused, arguments, message, tmp_path):
    assert message in refused(*arguments.split())
    assert not list(tmp_path.iterdir())
