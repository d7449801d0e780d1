"""Every construct of the language means what the reference says, interpreted and compiled."""

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
    sum      hint    graph  scalar
    over     hint    graph  mask
    phase    hint    graph  categorical 2
    joined   hint    edge   mask
    length   hint    edge   scalar
    kind     hint    edge   categorical 2
    found    output  node   mask
    """
LINE = "line output node permutation"
SHOWN = {
    "hint.prev": "idx",
    "hint.at": "idx",
    "hint.value": "idx",
    "hint.sum": "0.5",
    "hint.over": "0",
    "hint.phase": "0, 1",
    "hint.joined": "edge.hint.joined",
    "hint.length": "edge.A",
    "hint.kind": "0, 1",
    "output.found": "0",
}
"""What a program below shows where it does not say."""


def draw(random, key, letter, target, A, link):
    key[:] = random.permutation(len(key)) / 8
    letter[:] = random.integers(0, 3, len(key))
    target[0] = random.integers(1, 6) / 8 - 1 / 16
    link[:] = random.random(link.shape) < 0.5
    A[:] = link * random.integers(1, 9, link.shape) / 8


def trace(record, key, prev, at, value, sum, over, phase, joined, length, kind, found):
    prev[:] = np.maximum(np.arange(len(key)) - 1, 0)
    for step in range(STEPS + 1):
        at[0] = step
        record()


def trace_line(record, prev, at, value, sum, over, phase, joined, length, kind, found, line):
    for _ in range(STEPS + 1):
        record()


TASK = tasks.define("constructs", FEATURES, draw, trace)
LINE_TASK = tasks.define("constructs_in_line", f"{FEATURES}\n{LINE}", draw, trace_line)
PROBLEMS, LINE_PROBLEMS = (tasks.sample(t, NODES, COUNT, seed=3) for t in (TASK, LINE_TASK))
IDX = PROBLEMS.inputs["pos"]
KEY, A, LINK = (PROBLEMS.inputs[name] for name in ("key", "A", "link"))


def program(text: str) -> GraphProgram:
    said = [f"{name} = {value}" for name, value in SHOWN.items() if f"{name} =" not in text]
    text = textwrap.dedent(text) + "\n".join(["", *said])
    task = LINE_TASK if "output.line" in text else TASK
    return parse("construct", task, text, fully_connected=True)


def shown(text: str, feature: str) -> np.ndarray:
    """The feature after the last step, interpreted; compiled it is the same, as is all else."""
    said = program(text)
    batch = PROBLEMS if said.task is TASK else LINE_PROBLEMS
    interpreted = interpret(said, batch)
    recording = networks.run(compile_program(said).network, batch)
    assert from_interpreter(recording, interpreted, batch) == []
    assert verify(said, batch).below_margin == 0
    if feature in interpreted.hints:
        return np.asarray(interpreted.hints[feature])[:, -1]
    return np.asarray(interpreted.outputs[feature])


def one_hot(places: np.ndarray) -> np.ndarray:
    return np.eye(NODES)[places]


BELOW = (PROBLEMS.inputs["target"][:, None] > KEY).sum(1)
CONSTRUCTS: list[tuple[str, str, str, Callable[[], np.ndarray]]] = [
    (
        "a feature of the graph, in a condition",
        """
        place: Node
        least = minimum(other.input.key, where=N * input.target <= N * other.input.key)
        place = least.idx
        hint.prev = place
        """,
        "prev",
        lambda: np.argmax(BELOW[:, None] == KEY * 8, 1)[:, None].repeat(NODES, 1),
    ),
    (
        "a class of an input",
        """
        same: Bool
        first = minimum(other.idx)
        same = (
            (input.letter[0] and first.input.letter[0])
            or (input.letter[1] and first.input.letter[1])
            or (input.letter[2] and first.input.letter[2])
        )
        output.found = same
        """,
        "found",
        lambda: (PROBLEMS.inputs["letter"] * PROBLEMS.inputs["letter"][:, :1]).sum(-1),
    ),
    (
        "a pointer as a feature of edges",
        """
        moved: Bool
        before = maximum(edge.hint.prev)
        moved = before.hint.at and not hint.at
        place: Node
        place = before.idx
        hint.prev = place
        hint.at = moved
        """,
        "at",
        lambda: one_hot(np.full(COUNT, STEPS)),
    ),
    (
        "an edge that leads back",
        """
        length: Float(2)
        first = minimum(other.idx)
        length = first.edge.back.A
        hint.sum = length
        """,
        "sum",
        lambda: A[:, 0].max(1),
    ),
    (
        "a pointer that leads back",
        """
        leads: Bool
        place: Node
        before = maximum(edge.hint.prev)
        last = maximum(other.idx)
        place = before.idx
        leads = last.edge.back.hint.prev
        hint.prev = place
        output.found = leads
        """,
        "found",
        lambda: one_hot(np.full(COUNT, NODES - 2)),
    ),
    (
        "a node's own edge",
        """
        loop: Bool
        self_ = maximum(edge.own.link)
        loop = self_.edge.own.link
        output.found = loop
        """,
        "found",
        lambda: np.diagonal(LINK, axis1=1, axis2=2),
    ),
    (
        "names of nodes that are no positions",
        """
        idx: Node
        least = minimum(other.input.key)
        idx = 0.5 * input.pos + 0.5 * input.letter[0]
        place: Node
        then
        lowest = minimum(other.idx)
        place = lowest.idx
        hint.prev = place
        """,
        "prev",
        lambda: np.argmin(IDX + PROBLEMS.inputs["letter"][..., 0], 1)[:, None].repeat(NODES, 1),
    ),
    (
        "a mask of edges, from their ends",
        """
        low: Bool
        first = minimum(other.idx)
        low = first.edge.link
        hint.joined = self.low + other.low + edge.link - edge.own.link - 2
        """,
        "joined",
        lambda: LINK[:, :, :1] * LINK[:, None, :, 0] * LINK * (1 - np.eye(NODES)),
    ),
    (
        "a scalar of edges",
        """
        low: Bool
        first = minimum(other.idx)
        low = first.edge.link
        hint.length = edge.A + 0.5 * other.input.key
        """,
        "length",
        lambda: A + 0.5 * KEY[:, None],
    ),
    (
        "a class of edges",
        """
        low: Bool
        first = minimum(other.idx)
        low = first.edge.link
        hint.kind = 1 - edge.link, edge.link
        """,
        "kind",
        lambda: np.stack([1 - LINK, LINK], -1),
    ),
    (
        "a hint of edges is read",
        """
        low: Bool
        first = minimum(other.idx)
        low = first.edge.link
        hint.joined = 2 * edge.hint.joined + edge.link
        """,
        "joined",
        lambda: LINK,
    ),
    (
        "a mask of the graph",
        """
        loop: Bool
        first = minimum(other.idx)
        loop = first.edge.link and first.input.letter[0]
        hint.over = loop
        """,
        "over",
        lambda: LINK[:, :, 0].any(1) * PROBLEMS.inputs["letter"][:, 0, 0],
    ),
    (
        "a class of the graph",
        """
        second: Bool
        first = minimum(other.idx)
        second = first.input.letter[0]
        hint.phase = 1 - second, second
        """,
        "phase",
        lambda: np.stack([1 - (c := PROBLEMS.inputs["letter"][:, 0, 0]), c], -1),
    ),
    (
        "a permutation: the line closed to a cycle, and its first node",
        """
        before: Node
        last: Node
        first: Bool
        off: Miss(1) = 0
        smaller = maximum(other.input.key, where=N * other.input.key + 1 <= N * input.key)
        largest = maximum(other.input.key)
        smallest = minimum(other.input.key)
        before = smaller.idx
        last = largest.idx
        off = apart(idx, smallest.idx)
        then
        first = not off
        output.line = (last if first else before), first
        """,
        "line",
        lambda: np.array([[np.argmax(k == max(x - 1 / 8, 0)) for x in k] for k in KEY]),
    ),
    (
        "how far apart two numbers are, as a condition",
        """
        off: Miss(1) = 0
        smallest = minimum(other.input.key)
        off = apart(idx, smallest.idx)
        then
        mine: Bool
        mine = not off
        output.found = mine
        """,
        "found",
        lambda: (KEY == 0).astype(float),
    ),
    (
        "a number above another, as a condition",
        """
        late: Miss(1) = 0
        first = minimum(other.idx)
        late = above(input.key, first.input.key)
        then
        place: Float(1)
        place = input.key if not late else 0
        hint.value = place
        """,
        "value",
        lambda: KEY * (KEY[:, :1] >= KEY),
    ),
    (
        "a number at least another, as a condition",
        """
        late: Miss(1) = 0
        first = minimum(other.idx)
        late = atleast(input.key, first.input.key)
        then
        place: Float(1)
        place = input.key if not late else 0
        hint.value = place
        """,
        "value",
        lambda: KEY * (KEY[:, :1] > KEY),
    ),
    (
        "a brief variable is 0 unless it is updated",
        """
        once_: Bool = 0
        kept: Bool
        first = minimum(other.idx)
        once_ = 1
        kept = 1
        then
        count: Float(8)
        count = count + once_ + kept
        then
        hint.value = count + once_
        """,
        "value",
        lambda: np.full((COUNT, NODES), 2 * STEPS),
    ),
]


@pytest.mark.parametrize(
    ("text", "feature", "meaning"), [c[1:] for c in CONSTRUCTS], ids=[c[0] for c in CONSTRUCTS]
)
def test_a_construct_means_what_the_reference_says(text, feature, meaning):
    np.testing.assert_allclose(shown(text, feature), meaning(), atol=1e-6)


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
