"""Animated pictures: what subjects do on one problem, step by step, as SVG without scripts.

The numbers are those of the report's explorer. A picture loops by CSS, stands still at its last
step for who asks for less motion or cannot animate, and has its own ground, light or dark.
"""

import base64
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope.markup import element, escape
from algoscope.recording import Recording
from algoscope.report import explorer
from algoscope.report.findings import Shown
from algoscope.report.graph_layout import places
from algoscope.tasks import Batch

_WIDE, _RADIUS = 330, 13
_HIGH, _FLAT = 250, 130
"""Of a drawing, and of one in which nodes stand in a line."""
_HEAD, _FOOT, _MARGIN = 34, 54, 34
_SECONDS, _REST = 1.1, 2
"""A step takes so long, and the last one so many times longer."""
_LEAST = 0.15
"""Attention from which an arrow is drawn."""
_STYLE = """
svg { --paper: #ffffff; --ink: #1c2530; --muted: #5b6675; --rule: #d3d9e0; --on: #0a6fb0;
  --half: #9cc9e6; --read: #c8500a; --wrong: #b00020; font-family: Helvetica, Arial, sans-serif; }
@media (prefers-color-scheme: dark) { svg { --paper: #12171e; --ink: #e4e8ee; --muted: #9aa6b5;
  --rule: #3a4553; --on: #6cb8ec; --half: #28567a; --read: #f0914e; --wrong: #ff8095; } }
text { font-size: 11px; fill: var(--ink); text-anchor: middle; }
.ground { fill: var(--paper); }
.title { font-size: 13px; font-weight: 600; text-anchor: start; }
.note, .legend, .under { fill: var(--muted); }
.note, .legend { text-anchor: start; }
.note.end { text-anchor: end; }
.edge { fill: none; stroke: var(--rule); stroke-width: 1.3; }
.weight { font-size: 9px; fill: var(--muted); paint-order: stroke; stroke: var(--paper);
  stroke-width: 3px; }
.node { fill: var(--paper); stroke: var(--ink); stroke-width: 1.2; }
.on { fill: var(--on); }
.half { fill: var(--half); }
.name.light { fill: var(--paper); }
.tree { fill: none; stroke: var(--on); stroke-width: 4; stroke-opacity: .45; }
.read { fill: none; stroke: var(--read); }
.letter { font-weight: 600; font-style: italic; fill: var(--ink); paint-order: stroke;
  stroke: var(--paper); stroke-width: 3px; }
.wrong { fill: none; stroke: var(--wrong); stroke-width: 2.2; stroke-dasharray: 3 2; }
.cross { fill: var(--wrong); font-weight: 700; font-size: 13px; }
.frame { visibility: hidden; }
.frame.last { visibility: visible; }
@media (prefers-reduced-motion: no-preference) {
  .frame { animation: show CYCLEs step-end infinite; }
  .frame.last { animation-name: last; } }
@keyframes show { 0% { visibility: visible } SHARE% { visibility: hidden } }
@keyframes last { 0% { visibility: visible } REST% { visibility: hidden } }
"""


class Look(NamedTuple):
    """Which variables of a task are drawn, and how."""

    fill: str = ""
    """Nodes are full where it is 1; of a class, half where it is 1 and full where it is 2."""
    pointer: str = ""
    """Drawn as thick lines."""
    letters: Sequence[str] = ()
    """Written beside the node that each points to."""
    under: str = ""
    """An input of nodes that is written below them."""

    @property
    def drawn(self) -> list[str]:
        return [name for name in (self.fill, self.pointer, *self.letters) if name]


class Problem(NamedTuple):
    batch: Batch
    """Of one problem."""
    look: Look

    @property
    def adjacency(self) -> np.ndarray | None:
        """Weights of edges, if nodes are joined by some."""
        given = self.batch.inputs.get("A", self.batch.inputs.get("adj"))
        return None if given is None or given.ndim != 3 else np.asarray(given)[0]

    @property
    def directed(self) -> bool:
        joined = self.adjacency is not None and self.adjacency != 0
        return not np.array_equal(joined, np.transpose(joined))

    @property
    def in_line(self) -> bool:
        return self.adjacency is None and "x" not in self.batch.inputs

    @property
    def high(self) -> int:
        return _FLAT if self.in_line else _HIGH

    def bend(self, start: int, end: int, below: bool = False) -> float:
        """How far a line is bent to its right: in a row, all above it or all below."""
        if not self.in_line:
            return 0.0 if below else 12.0
        apart = 14.0 + 9 * abs(int(start) - int(end))
        return apart if (start < end) == below else -apart

    def spots(self) -> np.ndarray:
        """Where nodes are drawn: in the plane if they are points, else as a graph or in a line."""
        nodes = self.batch.nodes
        if self.adjacency is not None:
            unit = places(self.adjacency)
        elif not self.in_line:
            unit = np.stack([np.asarray(self.batch.inputs[axis])[0] for axis in "xy"], -1)
            unit = (unit - unit.min(0)) / np.ptp(unit, 0)
            unit[:, 1] = 1 - unit[:, 1]
        else:
            unit = np.stack([(np.arange(nodes) + 0.5) / nodes, np.full(nodes, 0.55)], -1)
        low = np.array([_MARGIN, _HEAD + _MARGIN])
        return low + unit * (np.array([_WIDE - _MARGIN, self.high + _HEAD - 22]) - low)


def draw(problem: Problem, subjects: dict[str, Recording], title: str) -> str:
    """The subjects side by side, each with a name; `title` is for those who do not see it."""
    shown = Shown([title], problem.batch, subjects)
    data = explorer.data(shown, {})
    steps = data["samples"][0]["steps"]
    spots = problem.spots()
    wide, high = _WIDE * len(subjects), _HEAD + problem.high + _FOOT
    parts = [element("rect", class_="ground", width=str(wide), height=str(high), rx="10")]
    for place, subject in enumerate(data["subjects"]):
        still = [element("text", escape(subject["name"]), class_="title", x="16", y="24")]
        still += _edges(problem, spots) + _nodes(problem, data, spots)
        moving = [_frame(problem, data, subject, spots, step) for step in range(steps)]
        frames = [element("g", drawn, **_timing(step, steps)) for step, drawn in enumerate(moving)]
        parts.append(element("g", *still, *frames, transform=f"translate({_WIDE * place} 0)"))
    parts += _legend(problem, data, wide)
    cycle = steps - 1 + _REST
    style = _STYLE.replace("CYCLE", f"{_SECONDS * cycle:.1f}")
    for name, length in (("SHARE", 1), ("REST", _REST)):
        # A little less, so that a frame is gone when the next one comes.
        style = style.replace(name, f"{100 * length / cycle - 0.01:.2f}")
    size = {"viewBox": f"0 0 {wide} {high}", "width": str(wide), "height": str(high)}
    head = element("title", escape(title)) + element("style", style)
    body = element("svg", head, *parts, xmlns="http://www.w3.org/2000/svg", role="img", **size)
    return body + "\n"


def _timing(step: int, steps: int) -> dict[str, str]:
    """Each frame has its own moment of the cycle, in which all of them already are."""
    delay = _SECONDS * (step - (steps - 1 + _REST))
    name = "frame last" if step == steps - 1 else "frame"
    return {"class_": name, "style": f"animation-delay:{delay:.1f}s"}


def _edges(problem: Problem, spots: np.ndarray) -> list[str]:
    return [
        element("path", class_="edge", d=_path(spots[a], spots[b], bend, problem.directed))
        for a, b, bend in _joined(problem)
    ]


def _weights(problem: Problem, spots: np.ndarray) -> list[str]:
    """Beside the edges, where they are not all alike."""
    adjacency = problem.adjacency
    if adjacency is None or len(np.unique(adjacency)) < 3:
        return []
    drawn = []
    for a, b, _ in _joined(problem):
        across = (spots[b] - spots[a])[::-1] * [1, -1]
        x, y = (spots[a] + spots[b]) / 2 + 9 * across / np.linalg.norm(across)
        drawn.append(_text("weight", x, y + 3, f"{adjacency[a, b]:.1f}".lstrip("0")))
    return drawn


def _joined(problem: Problem) -> list[tuple[int, int, float]]:
    """Both ends of each edge, and how far it is bent: only where another leads back."""
    adjacency = problem.adjacency
    if adjacency is None:
        return []
    return [
        (int(a), int(b), 10.0 if problem.directed and adjacency[b, a] else 0.0)
        for a, b in np.argwhere(adjacency)
        if a != b and (problem.directed or a < b)
    ]


def _nodes(problem: Problem, data: dict, spots: np.ndarray) -> list[str]:
    under = data["samples"][0]["inputs"].get(problem.look.under)
    drawn = []
    for node, (x, y) in enumerate(spots):
        drawn.append(_circle("node", x, y, _RADIUS))
        drawn.append(_text("name", x, y + 4, str(node)))
        if under is not None:
            drawn.append(_text("under", x, y + _RADIUS + 15, _short(under[node])))
    return drawn


def _short(value: float) -> str:
    """A number without the zero before its point; the letter of a class."""
    if isinstance(value, int):
        return "abcd"[value]
    return f"{value:.2f}".replace("0.", ".", 1)


def _frame(problem: Problem, data: dict, subject: dict, spots: np.ndarray, step: int) -> str:
    look, run = problem.look, subject["runs"][0]
    said = {name: values[step] for name, values in run["said"].items()}
    steps = data["samples"][0]["steps"]
    parts = [_text("note end", _WIDE - 16, 24, f"step {step + 1} of {steps}")]
    for node, target in enumerate(said.get(look.pointer, [])):
        if target != node:
            line = _path(spots[node], spots[target], problem.bend(node, target, below=True), False)
            parts.append(element("path", class_="tree", d=line))
    parts += _weights(problem, spots)
    reads = _reads(problem, data, subject, step)
    changed = _changed(problem, run, step)
    for reader, read in np.argwhere((reads >= _LEAST) & changed[:, None]):
        if reader != read:
            share = reads[reader, read]
            line = _path(spots[reader], spots[read], problem.bend(reader, read), True)
            look_of_line = {"stroke_width": f"{0.8 + 1.4 * share:.1f}", "opacity": f"{share:.2f}"}
            parts.append(element("path", class_="read", d=line, **look_of_line))
    return "".join(parts + _states(problem, data, run, spots, step))


def _reads(problem: Problem, data: dict, subject: dict, step: int) -> np.ndarray:
    """How much each node reads of each, by the head that reads most of it."""
    attention = np.frombuffer(base64.b64decode(subject["runs"][0]["attention"]), np.uint8)
    nodes = problem.batch.nodes
    by_head = attention.reshape(-1, subject["heads"], nodes, nodes)[step]
    return by_head.max(0) / data["levels"]


def _changed(problem: Problem, run: dict, step: int) -> np.ndarray:
    """Nodes of which a variable that is drawn is another than a step ago."""
    different = np.zeros(problem.batch.nodes, bool)
    for name in problem.look.drawn:
        if step:
            before = np.array(run["said"][name][step - 1])
        else:
            before = np.asarray(problem.batch.hints[name])[0, 0]
            before = before.argmax(-1) if before.ndim > 1 else before
        different |= np.array(run["said"][name][step]) != before
    return different


def _states(problem: Problem, data: dict, run: dict, spots: np.ndarray, step: int) -> list[str]:
    """Full and half nodes, letters beside them, and where something is wrong."""
    look, nodes = problem.look, problem.batch.nodes
    said = {name: values[step] for name, values in run["said"].items()}
    full = 2 if _classes(data, look.fill) else 1
    fill = said.get(look.fill, [0] * nodes)
    letters: dict[int, list[str]] = {}
    for name in look.letters:
        letters.setdefault(int(np.argmax(said[name])), []).append(name.removeprefix("best_"))
    wrong = np.any([run["wrong"][name][step] for name in look.drawn], 0)
    parts = []
    for node, (x, y) in enumerate(spots):
        if fill[node]:
            light = fill[node] >= full
            parts.append(_circle("node on" if light else "node half", x, y, _RADIUS))
            parts.append(_text("name light" if light else "name", x, y + 4, str(node)))
        if node in letters:
            parts.append(_text("letter", x, y - _RADIUS - 5, ", ".join(letters[node])))
        if wrong[node]:
            parts.append(_circle("wrong", x, y, _RADIUS + 4))
            parts.append(_text("cross", x + _RADIUS + 4, y - _RADIUS, "✗"))
    return parts


def _path(start: np.ndarray, end: np.ndarray, bend: float, tip: bool) -> str:
    """From rim to rim, bent to its right by so much, with a tip at the end."""
    (ax, ay), (bx, by) = start, end
    length = math.hypot(bx - ax, by - ay)
    ux, uy = (bx - ax) / length, (by - ay) / length
    mx, my = (ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend
    ex, ey = _rim(bx, by, mx, my)
    sx, sy = _rim(ax, ay, mx, my)
    line = f"M{sx:.1f} {sy:.1f}Q{mx:.1f} {my:.1f} {ex:.1f} {ey:.1f}"
    if not tip:
        return line
    reach = math.hypot(ex - mx, ey - my)
    vx, vy = (ex - mx) / reach, (ey - my) / reach
    left = f"{ex - 6 * vx - 3 * vy:.1f} {ey - 6 * vy + 3 * vx:.1f}"
    right = f"{ex - 6 * vx + 3 * vy:.1f} {ey - 6 * vy - 3 * vx:.1f}"
    return f"{line}M{left}L{ex:.1f} {ey:.1f}L{right}"


def _rim(x: float, y: float, towards_x: float, towards_y: float) -> tuple[float, float]:
    length = math.hypot(towards_x - x, towards_y - y)
    share = (_RADIUS + 2) / length
    return x + share * (towards_x - x), y + share * (towards_y - y)


def _circle(class_: str, x: float, y: float, radius: float) -> str:
    return element("circle", class_=class_, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{radius:g}")


def _text(class_: str, x: float, y: float, words: str) -> str:
    return element("text", escape(words), class_=class_, x=f"{x:.1f}", y=f"{y:.1f}")


def _legend(problem: Problem, data: dict, wide: int) -> list[str]:
    top = _HEAD + problem.high + 24
    drawn, x = [], 16.0
    for shape, words in _explained(problem, data):
        if x > 16 and x + 26 + 6.2 * len(words) > wide:
            x, top = 16.0, top + 20
        drawn.append(element("g", shape, transform=f"translate({x + 9:.0f} {top - 4})"))
        drawn.append(element("text", words, class_="legend", x=f"{x + 24:.0f}", y=str(top)))
        x += 40 + 5.6 * len(words)
    return drawn


def _explained(problem: Problem, data: dict) -> list[tuple[str, str]]:
    look = problem.look
    arrow = element("path", class_="read", d="M-9 0H9M3 -3L9 0L3 3", stroke_width="2")
    parts = [(arrow, "reads")]
    if _classes(data, look.fill):
        parts.append((_circle("node half", 0, 0, 6), f"{look.fill} 1"))
        parts.append((_circle("node on", 0, 0, 6), f"{look.fill} 2"))
    elif look.fill:
        parts.append((_circle("node on", 0, 0, 6), look.fill))
    if look.pointer:
        parts.append((element("path", class_="tree", d="M-9 0H9"), look.pointer))
    return [*parts, (_circle("wrong", 0, 0, 6), "not as the algorithm")]


def _classes(data: dict, name: str) -> bool:
    """Whether a variable is one of several classes."""
    kinds = {variable["name"]: variable["kind"] for variable in data["variables"]}
    return kinds.get(name) == "categorical"
