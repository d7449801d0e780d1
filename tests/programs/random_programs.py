"""Random programs that keep the promises of the language, and problems on which no scores tie.

Every choice among alternatives keeps one promise: cases of a Bool exclude each other, Floats stay
below their bounds for a few steps, and comparisons are never below 0. So that a selection is never
a tie, positions are multiples of 1/8 and weights have a different remainder modulo 1/8 for every
sender; scores add whole numbers to those, and 0.3 times a multiple of 1/8.
"""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from algoscope import tasks
from algoscope.tasks import Batch

NODES, STEPS, COUNT = 5, 4, 8
LEAST_MARGIN = 0.01
TASK = "bellman_ford"
_OWN_BOOLS = ("flag", "done", "first", "visit", "input.s", "hint.msk")
_BOOLS = ("flag", "other_flag", "done", "first")


def problems(seed: int) -> Batch:
    """Graphs of all densities, with self-loops, and with weights of their own in each direction."""
    random = np.random.default_rng(seed)
    batch = tasks.sample(TASK, NODES, COUNT, seed)
    shape = (COUNT, NODES, NODES)
    drawn = random.random(shape) < np.linspace(0, 1, COUNT)[:, None, None]
    linked = drawn | np.swapaxes(drawn, 1, 2)
    weights = (8 * random.integers(1, 7, shape) + np.arange(1, NODES + 1)) / 64
    hints = {name: hint[:, :1] for name, hint in batch.hints.items()}
    return dataclasses.replace(
        batch,
        inputs=batch.inputs
        | {
            "pos": np.tile(np.arange(NODES) / 8, (COUNT, 1)),
            "A": weights * linked,
            "adj": (linked | np.eye(NODES, dtype=bool)).astype(float),
        },
        hints={name: np.repeat(hint, STEPS + 1, axis=1) for name, hint in hints.items()},
        lengths=np.full(COUNT, STEPS + 1),
    )


@st.composite
def texts(draw) -> str:
    """The text of a program for `TASK`: five kinds of variables, one or two rounds."""
    rounds = draw(st.integers(1, 2), "rounds")
    lines = ["flag: Bool", "other_flag: Bool", "done: Bool", "first: Bool"]
    lines += ["node: Node", "kept: Node"]
    lines += ["count: Float(8)", "dist: Float(8)", "visit = done or input.s"]
    for number in range(rounds):
        lines += ["then"] * (number > 0)
        lines += _Round(draw, number).lines()
    flag, pointer = draw(st.sampled_from(_BOOLS)), draw(st.sampled_from(["node", "kept", "idx"]))
    lines += [f"hint.msk = {flag}"]
    lines += [f"hint.d = {draw(st.sampled_from(['dist', 'count', 'dist + count - flag + 1']))}"]
    lines += [f"hint.pi_h = output.pi = {pointer} if {flag} else idx"]
    return "\n".join(lines)


class _Round:
    """Two selections, one by position and one by weight; then updates that may read both."""

    def __init__(self, draw, number: int):
        self.draw = draw
        self.near, self.best = f"near_{number}", f"best_{number}"
        self.selections = (self.near, self.best)

    def one(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def lines(self) -> list[str]:
        return [
            self._by_position(),
            self._by_weight(),
            f"flag = {self._bool('flag')}",
            f"other_flag = {self._bool('other_flag')}",
            f"first = {self.comparison or 'flag'}",
            *self._settled(),
            f"node = {self._node()}",
            f"count = {self._count()}",
            f"dist = {self._dist()}",
        ]

    def _by_position(self) -> str:
        self.comparison = None
        kind = self.one("minimum", "maximum")
        if self.one("plain", "scored") == "plain":
            a, b = ("idx", f"{self.near}.idx")[:: 1 if kind == "minimum" else -1]
            self.comparison = f"{a} <= {b}"
            return f"{self.near} = {kind}(other.idx)"
        pull = self.one("", *(f" {s} 0.3 * positive({v} - other.idx)" for s in "+-" for v in
                              ("idx", "node", "kept + visit - 1")))  # fmt: skip
        score = self.one("", "-") + "other.idx" + self._whole() + pull
        return f"{self.near} = {kind}({score}, where={self._condition(selecting=True)})"

    def _by_weight(self) -> str:
        kind = self.one("minimum", "maximum")
        score = f"{self.one('', '-')}edge.A {self.one('+', '-')} other.idx{self._whole()}"
        condition = f"{self._condition(selecting=True)} and edge.A > 0"
        return f"{self.best} = {kind}({score}, where={condition})"

    def _whole(self) -> str:
        return self.one("", " + other.count", " - 2 * other.flag", " + other.count - count")

    def _literal(self, selecting: bool = False) -> str:
        places = ("other.",) if selecting else ("", *(f"{s}." for s in self.selections))
        return self.one("", "not ") + self.one(*places) + self.one(*_OWN_BOOLS)

    def _condition(self, selecting: bool = False) -> str:
        parts = [self._literal(selecting) for _ in range(self.draw(st.integers(1, 3)))]
        return " and ".join(parts)

    def _bool(self, name: str) -> str:
        way = self.one("condition", "cases", "choice", "settles")
        if way == "condition":
            return self._condition()
        if way == "cases":
            positive = f"{self.one('', *(f'{s}.' for s in self.selections))}flag"
            yes, no = self._condition(), self._condition()
            return f"({positive} and {yes}) or (not {positive} and {no})"
        if way == "choice":
            return f"{self._read('flag')} if {self._literal()} else {self._read('done')}"
        return f"{name} or (not {name} and {self._condition()})"

    def _settled(self) -> list[str]:
        now = f"{self._condition()} and not visit"
        kept = f"{self.one(*self.selections)}.{self.one('idx', 'node')}"
        return [f"done = done or ({now})", f"kept = once({kept}, when={now})"]

    def _read(self, name: str) -> str:
        return self.one("", *(f"{s}." for s in self.selections)) + name

    def _node(self) -> str:
        a, b = (self._read(self.one("idx", "node", "kept")) for _ in range(2))
        return self.one(
            a, f"{a} if {self._condition()} else 0", f"{a} if {self._literal()} else {b}"
        )

    def _count(self) -> str:
        other = f"{self.one(*self.selections)}.count"
        return self.one(
            f"{other} + 1 if {self._condition()} else 0",
            f"count + positive({other} - count)",
            f"positive({other} - count) + flag",
            f"({other} if {self._condition()} else 0) + 1 - input.s",
        )

    def _dist(self) -> str:
        length = f"{self.best}.dist + {self.best}.edge.A"
        return self.one(
            f"{length} if {self._condition()} else 0",
            f"0.5 * positive({self.near}.dist - dist) + {self.best}.edge.A",
            f"({length} if flag else {self.near}.dist) - positive(dist - 8)",
        )
