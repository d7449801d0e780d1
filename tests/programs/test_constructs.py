"""Every construct of the language means what the reference says, interpreted and compiled."""

import pathlib
import re
import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from programs.comparing import from_interpreter

from algoscope import networks, tasks
from algoscope.programs.compiler import CompileError, compile_program
from algoscope.programs.interpreter import interpret
from algoscope.programs.language import GraphProgram
from algoscope.programs.parser import ProgramError, parse
from algoscope.programs.verification import verify
from algoscope.tasks.features import parse_features

PAGE = (pathlib.Path(__file__).parents[2] / "docs/reference/constructs.md").read_text()
EXAMPLES = dict(re.findall(r"### ([^\n]+)\n\n```\n(.*?)```", PAGE, re.DOTALL))
NODES, STEPS, COUNT = 6, 3, 8
FEATURES = """
    key      input   node   scalar
    letter   input   node   categorical 3
    target   input   graph  scalar
    A        input   edge   scalar
    link     input   edge   mask
    prev     hint    node   pointer
    at       hint    node   mask_one
    value    hint    node   scalar
    colour   hint    node   categorical 2
    sum      hint    graph  scalar
    over     hint    graph  mask
    phase    hint    graph  categorical 2
    joined   hint    edge   mask
    length   hint    edge   scalar
    kind     hint    edge   categorical 2
    found    output  node   mask
    return   output  node   mask
    """
LINE = "line output node permutation"
VIA = "via output edge pointer"
SHOWN = {
    "hint.prev": "idx",
    "hint.at": "idx",
    "hint.value": "idx",
    "hint.colour": "0, 1",
    "hint.sum": "0.5",
    "hint.over": "0",
    "hint.phase": "0, 1",
    "hint.joined": "edge.hint.joined",
    "hint.length": "edge.A",
    "hint.kind": "0, 1",
    "output.found": "0",
    "output.return_": "0",
}
"""What a program below shows where it does not say."""


def draw(random, key, letter, target, A, link):
    key[:] = random.permutation(len(key)) / 8
    letter[:] = random.integers(0, 3, len(key))
    target[0] = random.integers(1, 6) / 8 - 1 / 16
    link[:] = random.random(link.shape) < 0.5
    A[:] = link * random.integers(1, 9, link.shape) / 8


def trace(
    record, key, prev, at, value, colour, sum, over, phase, joined, length, kind, found, return_
):
    prev[:] = np.maximum(np.arange(len(key)) - 1, 0)
    for step in range(STEPS + 1):
        at[0] = step
        record()


def trace_line(
    record, prev, at, value, colour, sum, over, phase, joined, length, kind, found, return_, line
):
    for _ in range(STEPS + 1):
        record()


def trace_via(
    record, prev, at, value, colour, sum, over, phase, joined, length, kind, found, return_, via
):
    for _ in range(STEPS + 1):
        record()


TASKS = {
    "": tasks.define("constructs", FEATURES, draw, trace),
    "output.line": tasks.define("constructs_in_line", f"{FEATURES}\n{LINE}", draw, trace_line),
    "output.via": tasks.define("constructs_of_pairs", f"{FEATURES}\n{VIA}", draw, trace_via),
}
"""By what a program has to show for it."""
DRAWN = {task.name: tasks.sample(task, NODES, COUNT, seed=3) for task in TASKS.values()}
PROBLEMS = DRAWN["constructs"]
IDX = PROBLEMS.inputs["pos"]
KEY, A, LINK, LETTER = (PROBLEMS.inputs[name] for name in ("key", "A", "link", "letter"))


def program(text: str) -> GraphProgram:
    said = [f"{name} = {value}" for name, value in SHOWN.items() if f"{name} =" not in text]
    text = textwrap.dedent(text) + "\n".join(["", *said])
    task = [task for shown, task in TASKS.items() if shown in text][-1]
    return parse("construct", task, text, fully_connected=True)


def shown(text: str, feature: str) -> np.ndarray:
    """The feature after the last step, interpreted; compiled it is the same, as is all else."""
    said = program(text)
    batch = DRAWN[said.task.name]
    interpreted = interpret(said, batch)
    recording = networks.run(compile_program(said).network, batch)
    assert from_interpreter(recording, interpreted, batch) == []
    found = verify(said, batch)
    assert found.compilation.exact_traces == found.compilation.exact_outputs == 1
    assert found.below_margin == 0
    assert found.followed == (COUNT if found.bounded else 0)
    if feature in interpreted.hints:
        return np.asarray(interpreted.hints[feature])[:, -1]
    return np.asarray(interpreted.outputs[feature])


def one_hot(places: np.ndarray) -> np.ndarray:
    return np.eye(NODES)[places]


def _at(held: np.ndarray, score: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """What the node with the least score holds, of those that are allowed or else of all: the last
    axis is theirs."""
    best = np.argmin(score + 64 * (1 - allowed), -1)
    return np.stack([of_sample[chosen] for of_sample, chosen in zip(held, best, strict=True)])


BELOW = (PROBLEMS.inputs["target"][:, None] > KEY).sum(1)
MEANINGS: dict[str, tuple[str, Callable[[], np.ndarray]]] = {
    "A brief variable is 0 unless it is updated": (
        "value",
        lambda: np.full((COUNT, NODES), 2 * STEPS),
    ),
    "Names of nodes that are no positions": (
        "prev",
        lambda: np.argmin(IDX + LETTER[..., 0], 1)[:, None].repeat(NODES, 1),
    ),
    "The smallest score among those that meet a condition": (
        "prev",
        lambda: np.argmin(KEY + 2 * (1 - LETTER[..., 0]), 1)[:, None].repeat(NODES, 1),
    ),
    "A score with a cut at zero: the nearest to a number": (
        "prev",
        lambda: np.argmin(np.abs(KEY - 0.3), 1)[:, None].repeat(NODES, 1),
    ),
    "Only those to whom an edge leads": (
        "value",
        lambda: np.where(A.any(-1), np.where(A > 0, A, 9).min(-1), 0),
    ),
    "Only those that are below, by a strict order": (
        "prev",
        # Nobody is below the least key: it misses the condition by least itself.
        lambda: np.array(
            [[np.argmax(np.where((k < x) | (k + x == 0), k, -1)) for x in k] for k in KEY]
        ),
    ),
    "A feature of the graph, in a condition": (
        "prev",
        lambda: np.argmax(BELOW[:, None] == KEY * 8, 1)[:, None].repeat(NODES, 1),
    ),
    "A class of an input": ("found", lambda: (LETTER * LETTER[:, :1]).sum(-1)),
    "A class of a hint": ("value", lambda: np.full((COUNT, NODES), STEPS // 2)),
    "A pointer as a feature of edges": ("at", lambda: one_hot(np.full(COUNT, STEPS))),
    "A hint of edges is read": ("joined", lambda: LINK),
    "An edge that leads back": ("sum", lambda: A[:, 0].max(1)),
    "A pointer that leads back": ("found", lambda: one_hot(np.full(COUNT, NODES - 2))),
    "A node's own edge": ("found", lambda: np.diagonal(LINK, axis1=1, axis2=2)),
    "A value that is written once": ("value", lambda: KEY),
    "Cases": ("value", lambda: np.where(LETTER[..., 0] > 0, KEY[:, :1], KEY)),
    "A part that is cut at zero": ("value", lambda: np.maximum(KEY - KEY[:, :1], 0)),
    "Several rounds in a step": ("value", lambda: (KEY[:, :1] + KEY[:, -1:]).repeat(NODES, 1)),
    "A comparison by itself": ("found", lambda: one_hot(np.full(COUNT, NODES - 1))),
    "Sameness, and a Bool from what is almost one": ("found", lambda: (KEY == 0).astype(float)),
    "How far apart two numbers are, as a condition": ("found", lambda: (KEY == 0).astype(float)),
    "A number above another, as a condition": ("value", lambda: KEY * (KEY[:, :1] >= KEY)),
    "A number at least another, as a condition": ("value", lambda: KEY * (KEY[:, :1] > KEY)),
    "A scalar of edges": ("length", lambda: A + 0.5 * KEY[:, None]),
    "A class of edges": ("kind", lambda: np.stack([1 - LINK, LINK], -1)),
    "A mask of edges, from their ends": (
        "joined",
        lambda: LINK[:, :, :1] * LINK[:, None, :, 0] * LINK * (1 - np.eye(NODES)),
    ),
    "A mask of the graph": ("over", lambda: LINK[:, :, 0].any(1) * LETTER[:, 0, 0]),
    "A class of the graph": ("phase", lambda: np.stack([1 - (c := LETTER[:, 0, 0]), c], -1)),
    "Of those that meet a condition, the largest of each value": (
        "value",
        lambda: (KEY * LETTER[..., 0]).max(1)[:, None].repeat(NODES, 1),
    ),
    "A sum over both ends and the edge, cut at zero": (
        "length",
        lambda: np.maximum(A + KEY.max(1)[:, None, None] - 2 * KEY[:, None], 0),
    ),
    "Whom a pair selects as a third node says Bools of itself": (
        "joined",
        lambda: _at(
            LETTER[..., 1],
            A[:, :, None] + 2 * A.swapaxes(1, 2)[:, None] + 4 * IDX[:, None, None],
            LINK[:, :, None],
        ),
    ),
    "What a node selects by a score says Bools of itself, too": (
        "joined",
        lambda: (odd := _at(LETTER[..., 1], KEY[:, None], LINK))[:, :, None] * odd[:, None],
    ),
    "A pointer of edges": (
        "via",
        lambda: np.where(LINK > 0, np.arange(NODES)[:, None], np.arange(NODES)),
    ),
    "A feature whose name is a word of Python's": ("return", lambda: LINK[:, :, 0]),
    "A permutation: the line closed to a cycle, and its first node": (
        "line",
        lambda: np.array([[np.argmax(k == max(x - 1 / 8, 0)) for x in k] for k in KEY]),
    ),
}


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_of_the_reference_means_what_it_says(title):
    feature, meaning = MEANINGS[title]
    np.testing.assert_allclose(shown(EXAMPLES[title], feature), meaning(), atol=1e-6)


def test_the_features_are_those_of_the_reference():
    table = PAGE.partition("```\n")[2].partition("```")[0]
    assert parse_features(table) == parse_features(f"{FEATURES}\n{LINE}\n{VIA}")


FAULTS = [
    ("x = input.target", "a feature of the graph reaches scores and conditions alone"),
    ("x = input.letter[3]", "unknown node input of constructs: 'letter[3]'"),
    ("x = first.edge.back.B", "unknown edge input of constructs: 'B'"),
    ("x = first.edge.hint.link", "unknown edge hint of constructs: 'link'"),
    ("x = 1 if off else 0", "off: a Miss is a condition only as `not off`"),
    ("x = 1 if not off else 2", "an `else` needs a condition of one Bool"),
    ("near = not off", "near: a sum with off, a Miss, is no Bool; declare `near: Bool`"),
    ("edge: Bool", "edge: a word of the language"),
    ("hint.joined = 1 if x else 0", "what is shown of an edge is a sum"),
    ("hint.joined = pair.low", "unknown variable of pairs: 'low'"),
    ("x = via.idx", "via.idx: cannot be read here"),
    ("pair.x: Bool", "x: declared twice"),
    ("pair.low: Bool", "pair.low: declared and never updated"),
    ("all_ = among(other.idx)", "needed among(where=condition)"),
    ("output.line = idx", "line: got 1 values, needed two"),
]


@pytest.mark.parametrize(("line", "reason"), FAULTS)
def test_a_construct_in_the_wrong_place_is_refused(line, reason):
    lines = ["x: Float(8)", "off: Miss(1)", "first = minimum(other.idx)"]
    lines += [line] + ["off = 0"] + (["x = 0"] if not line.startswith("x =") else [])
    with pytest.raises(ProgramError) as error:
        program("\n".join(lines))
    assert reason in str(error.value)


def test_a_pointer_of_edges_is_not_shown():
    task = tasks.define(
        "edge_pointer",
        "A input edge scalar\nover output edge pointer",
        lambda random, A: None,
        lambda record, over: record(),
    )
    said = parse("shows", task, "first = minimum(other.idx)\noutput.over = edge.A")
    with pytest.raises(CompileError, match="over: a pointer of an edge cannot be shown"):
        compile_program(said)


REFUSED = [
    ("those = among()\nx = those.idx", "", r"those: got among\(…\) in a program without variables"),
    ("a = minimum(other.idx)\nx = a.idx", "pair", "a.input.pos: got something that is no variable"),
    ("a = minimum(other.idx, where=other.b)\nx = a.b", "pair", "a: got a condition that is a var"),
    ("a = minimum(positive(other.idx))\nx = a.b", "pair", r"a: got positive\(…\) or a comparison"),
]


@pytest.mark.parametrize(("lines", "pair", "reason"), REFUSED)
def test_what_maxima_cannot_tell_is_refused(lines, pair, reason):
    text = f"x: Float(8)\nb: Bool\n{lines}\nb = 1\n"
    text += "pair.p: Bool\npair.p = edge.link\n" if pair else ""
    with pytest.raises(CompileError, match=reason):
        compile_program(program(text))


def test_a_round_after_pairs_is_refused():
    with pytest.raises(ProgramError, match="then: got a round after what pairs compute"):
        program("pair.p: Bool\npair.p = edge.link\nthen\nx: Bool\nx = 1")
