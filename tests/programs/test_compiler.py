"""Compiled networks do what the interpreter says and the reference algorithm does, exactly."""

import dataclasses
import functools

import hypothesis
import jax
import numpy as np
import pytest
from hypothesis import strategies as st
from programs import random_programs
from programs.comparing import (
    EXACT,
    QUICK,
    QUICK_WRONG,
    from_interpreter,
    from_reference,
    problems,
    valid_steps,
)

from algoscope import networks, programs, tasks
from algoscope.networks import dm_clrs
from algoscope.programs.compiler import CompileError, compile_program
from algoscope.programs.interpreter import interpret
from algoscope.programs.language import POSITION, Atom, GraphProgram
from algoscope.programs.lowering import lower
from algoscope.programs.parser import parse
from algoscope.programs.precision import FLOAT32, FLOAT64
from algoscope.programs.running_errors import certain
from algoscope.recording import Recording
from algoscope.tasks import Batch

every_exact_program = pytest.mark.parametrize("program", EXACT, ids=lambda program: program.name)
every_quick_program = pytest.mark.parametrize("program", QUICK, ids=lambda program: program.name)
problems = functools.cache(problems)


def assert_exact(recording: Recording, program: GraphProgram, batch: Batch) -> None:
    interpreted = interpret(program, batch)
    assert from_reference(recording, batch) == []
    assert from_interpreter(recording, interpreted, batch) == []
    assert_same_attention(recording, program, interpreted, batch)


def assert_same_attention(
    recording: Recording,
    program: GraphProgram,
    interpreted: Recording,
    batch: Batch,
    ties: bool = True,
) -> None:
    """Where several senders score the same, the network attends to all of them; a program that has
    such `ties` does not use what it then reads. Of a round with fewer selections than another, the
    network has heads that are not used."""
    attention = np.asarray(recording.attention)
    heads = attention.shape[2] // len(program.rounds)
    used = [
        number * heads + head
        for number, round_ in enumerate(program.rounds)
        for head in range(len(round_.selections))
    ]
    valid = valid_steps(batch)
    compiled = attention[:, : valid.shape[1], used][valid]
    exact = np.asarray(interpreted.attention)[:, : valid.shape[1]][valid]
    if ties:
        decided = compiled.max(-1) > 0.9
        compiled, exact = compiled[decided], exact[decided]
    np.testing.assert_allclose(compiled, exact, atol=1e-6)


@every_exact_program
def test_a_compiled_network_equals_interpreter_and_reference(program):
    batch = problems(program.task.name, 7)
    assert_exact(networks.run(compile_program(program).network, batch), program, batch)


@pytest.mark.parametrize("program", QUICK_WRONG, ids=lambda program: program.name)
def test_a_compiled_wrong_program_equals_the_interpreter(program):
    batch = problems(program.task.name, 7)
    interpreted = interpret(program, batch)
    recording = networks.run(compile_program(program).network, batch)
    assert from_interpreter(recording, interpreted, batch) == []
    assert_same_attention(recording, program, interpreted, batch)


@every_quick_program
def test_a_wider_network_does_the_same(program):
    smallest = compile_program(program).network.config.width
    wider = compile_program(program, smallest + 5).network
    assert wider.config.width == smallest + 5
    batch = problems(program.task.name, 7)
    assert_exact(networks.run(wider, batch), program, batch)


@every_quick_program
def test_a_compiled_network_is_exact_in_float64(program):
    batch = problems(program.task.name, 7)
    with jax.enable_x64(True):
        network = compile_program(program).network
        assert network.dtype == np.float64
        assert_exact(networks.run(network, batch), program, batch)


@every_exact_program
def test_a_network_that_is_too_narrow_is_refused(program):
    smallest = compile_program(program).network.config.width
    reason = f"width: got {smallest - 1}, needed at least {smallest} for {program.name}"
    with pytest.raises(CompileError, match=reason):
        compile_program(program, smallest - 1)


@pytest.mark.parametrize(
    ("name", "count"),
    [("bfs", 310), ("bfs_locked", 310), ("bfs_self", 310), ("bellman_ford", 335)],
)
def test_the_smallest_network_has_few_parameters(name, count):
    network = compile_program(programs.get(name)).network
    assert sum(array.size for array in networks.arrays(network).values()) == count


def test_compiled_bfs_is_a_network_of_dm_clrs():
    config = networks.NetworkConfig(width=3, layer_norm=False)
    ordinary = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
    compiled = compile_program(programs.get("bfs")).network
    assert _shapes(dm_clrs.to_parameters(compiled)) == _shapes(dm_clrs.to_parameters(ordinary))
    returned = dm_clrs.from_parameters(ordinary, dm_clrs.to_parameters(compiled))
    batch = problems("bfs", 7)
    assert_exact(networks.run(returned, batch), programs.get("bfs"), batch)


def _shapes(parameters: dict) -> dict:
    return {
        module: {name: array.shape for name, array in arrays.items()}
        for module, arrays in parameters.items()
    }


def test_a_case_where_the_decoder_is_linear_is_refused():
    program = parse(
        "shows_a_case",
        "bfs",
        """
        first = minimum(other.idx)
        hint.reach_h = input.s if input.s else idx
        hint.pi_h = output.pi = idx
        """,
    )
    with pytest.raises(CompileError, match="make the case a variable and show that"):
        compile_program(program)


def rivals(task: str, gap: float) -> Batch:
    """A square: the source 0 reaches 1 and 2, between which node 3 then has to choose. The scores
    of the two differ by `gap`, in positions or in the lengths of their paths. Node 4, apart from
    them, stands close to 1 in position."""
    batch = tasks.sample(task, 5, 1)
    linked = np.zeros((5, 5))
    linked[[0, 0, 1, 2], [1, 2, 3, 3]] = 1
    linked += linked.T
    positions = np.array([0.0, 0.25, 0.875, 0.9375, 0.25 + 2.0**-13])
    lengths = np.full((5, 5), 0.0625)
    if task == "bfs":
        positions[2] = 0.25 + gap
    else:
        lengths[3, 2] = lengths[2, 3] = 0.0625 + gap
    hints = {name: np.repeat(hint[:, :1], 3, axis=1) for name, hint in batch.hints.items()}
    source = np.eye(5)[:1]
    mask = "reach_h" if task == "bfs" else "msk"
    return dataclasses.replace(
        batch,
        inputs={
            "pos": positions[None],
            "s": source,
            "A": (linked * (1 if task == "bfs" else lengths))[None],
            "adj": (linked + np.eye(5))[None],
        },
        hints=hints | {mask: np.repeat(source[:, None], 3, axis=1)},
        lengths=np.array([3]),
    )


def recorded(program: GraphProgram, sharpness: float, batch: Batch) -> Recording:
    return networks.run(compile_program(program, sharpness=sharpness).network, batch)


def test_half_of_the_certified_sharpness_shows_a_wrong_parent():
    """Paths that differ by 18 / sharpness: half of it gives the worse one a weight of e^-9, enough
    to move the parent that node 3 shows from 1 to 4."""
    program = programs.get("bellman_ford")
    sharpness = compile_program(program).certificate.sharpness
    batch = rivals(program.task.name, 18 / sharpness)
    assert certain(program, batch, sharpness).all()
    assert np.asarray(recorded(program, sharpness, batch).outputs["pi"])[0, 3] == 1
    assert not certain(program, batch, sharpness / 2).any()
    assert np.asarray(recorded(program, sharpness / 2, batch).outputs["pi"])[0, 3] == 4


@pytest.mark.parametrize("name", ["bellman_ford", "dijkstra"])
@pytest.mark.parametrize("factor", [1.0, 1e30, 1e39, 1e300])
@pytest.mark.filterwarnings("error")
def test_nothing_is_certain_of_weights_that_float32_cannot_hold(name, factor):
    program = programs.get(name)
    batch = tasks.sample(program.task.name, 6, 4, seed=1)
    batch = dataclasses.replace(batch, inputs=batch.inputs | {"A": batch.inputs["A"] * factor})
    sure = certain(program, batch, compile_program(program).certificate.sharpness)
    assert sure.all() if factor == 1.0 else not sure.any()


def test_half_of_the_certified_sharpness_leaks_attention():
    """Positions that differ by 24 / sharpness, three steps of float32: no weight that float32 sees
    beside 1, and at half of the sharpness one that it does."""
    program = programs.get("bfs")
    sharpness = compile_program(program).certificate.sharpness
    batch = rivals(program.task.name, 24 / sharpness)
    leaks = [
        float(np.asarray(recorded(program, c, batch).attention)[0, -1, 0, 3, 2])
        for c in (sharpness, sharpness / 2)
    ]
    assert leaks[0] < 2.0**-24 < leaks[1]


@pytest.mark.parametrize(
    "program", [programs.get("bfs"), programs.get("bellman_ford")], ids=["bfs", "bellman_ford"]
)
def test_a_sharper_network_needs_a_smaller_margin(program):
    margins = [compile_program(program, sharpness=2.0**k).certificate.margin for k in (10, 16, 22)]
    assert margins == sorted(margins, reverse=True)


def test_a_scalar_hint_above_one_is_read_exactly():
    """Under a guard that is not met, a large value has to vanish as a small one does."""
    program = parse(
        "reads_distance",
        "bellman_ford",
        """
        count: Float(32)
        copy: Float(32)
        first = minimum(other.idx)
        count = count + 2
        copy = first.hint.d if input.s else 0
        hint.msk = input.s
        hint.d = count + copy
        hint.pi_h = output.pi = idx
        """,
    )
    batch = random_programs.problems(0)
    recording = networks.run(compile_program(program).network, batch)
    assert from_interpreter(recording, interpret(program, batch), batch) == []


@pytest.mark.parametrize(("bound", "sharpness"), [(8, 2.0**24), (64, 2.0**21), (4096, 2.0**15)])
def test_no_score_outweighs_a_missing_edge(bound, sharpness):
    """Logits of non-neighbours are 1e9 lower: the sharpness falls until no score can make up for
    that, and the network still does what the program says."""
    program = parse(
        "wide_range",
        "bfs",
        f"""
        far: Float({bound})
        near = minimum(other.far, where=other.input.s)
        far = near.input.s
        hint.reach_h = far
        hint.pi_h = output.pi = idx
        """,
    )
    compiled = compile_program(program)
    assert compiled.certificate.sharpness == sharpness
    (head,) = lower(program).rounds[0].heads
    assert 0.4 * FLOAT32.mask < sharpness * head.worst < FLOAT32.mask
    batch = problems("bfs", 7)
    recording = networks.run(compiled.network, batch)
    assert from_interpreter(recording, interpret(program, batch), batch) == []


@hypothesis.given(text=random_programs.texts(), seed=st.integers(0, 99))
@hypothesis.settings(
    max_examples=200, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
)
def test_a_random_program_does_the_same_interpreted_and_compiled(text, seed):
    program = parse("random", random_programs.TASK, text)
    compiled = compile_program(program, 32)
    assert compiled.certificate.margin < random_programs.LEAST_MARGIN
    batch = random_programs.problems(seed)
    interpreted = interpret(program, batch)
    recording = networks.run(compiled.network, batch)
    assert from_interpreter(recording, interpreted, batch) == []
    assert_same_attention(recording, program, interpreted, batch, ties=False)


def test_a_program_is_lowered_for_the_n_of_a_precision():
    program = programs.get("dijkstra")
    for precision in (FLOAT32, FLOAT64):
        units = lower(program, precision.resolution).rounds[0].units
        before = next(unit for unit in units if unit.variable == "before")
        assert before.form.terms[Atom("nearest", POSITION)] == 2 * precision.resolution
        certificate = compile_program(program, precision=precision).certificate
        assert certificate.position_gap == 1 / precision.resolution


def test_a_variable_that_is_set_to_0_has_a_certificate():
    text = programs.get("bfs").text.replace("pi: Node", "pi: Node\nspare: Bool")
    program = programs.parse("spare", "bfs", text.replace("found = ", "spare = 0\nfound = ", 1))
    assert compile_program(program).certified(tasks.sample("bfs", 5, 4, seed=1)).all()
