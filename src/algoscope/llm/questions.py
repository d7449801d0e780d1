"""Questions that a model is to break on, and the region in which it does not.

A maze is asked about from any start, not from its root alone:

| kind   | the goal is …                                         | answer |
|--------|-------------------------------------------------------|--------|
| below  | where one gets to, so many steps away                 | Yes    |
| apart  | the mirror image of such a node                       | No     |
| above  | where one comes from: arrows lead the other way       | No     |
| beside | elsewhere in the start's own part                     | No     |

Then a search: of the questions with the narrowest answers some words are exchanged, sentences moved
and edges crossed, and what is narrower still is gone on with.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm import forms, mazes
from algoscope.llm.capture import Request
from algoscope.llm.exchange import read
from algoscope.llm.machines import Machine, begun, maze_of
from algoscope.llm.machines import answers as answers_of
from algoscope.llm.prompts import Item, asked, crossed, described
from algoscope.llm.subjects import Subject

KINDS = ("below", "apart", "above", "beside")
_AGAINST = ("above", "beside")
_FEWEST = 40
"""Questions that a region has to hold."""
_ODD = 12
"""Mazes of each odd family."""
_NARROW, _MUTANTS, _ROUNDS = 12, 5, 3


class Asked(NamedTuple):
    item: Item
    kind: str
    root: bool
    """Whether no arrow leads to the start."""
    depth: int
    """Of a goal that can be reached, or whose image can; else 0."""
    single: bool = True
    """Whether there is at most one way from any node to any other."""
    odds: float = 0.0
    """log P(Yes) - log P(No), of the model."""

    @property
    def right(self) -> bool:
        return (self.odds > 0) == self.item.reachable

    @property
    def margin(self) -> float:
        """Below 0 where the answer is wrong."""
        return self.odds if self.item.reachable else -self.odds

    @property
    def nodes(self) -> int:
        """Of one of the two parts."""
        return self.item.nodes // 2


def _question(item: Item, kind: str) -> Asked:
    A = item.adjacency()
    steps = mazes.distances(A, item.source)[[item.goal, item.mirror[item.goal]]]
    root, depth = not A[:, item.source].any(), max(0, *map(int, steps))
    return Asked(item, kind, root, depth, len(item.edges) <= item.nodes - 2)


def drawn(
    families: Sequence[mazes.Family],
    form: str,
    *,
    mazes_each: int = 30,
    directed: bool = True,
    seed: int = 0,
) -> list[tuple[Item, str]]:
    """A question of every kind about each maze, as far as it has such; starts are roots in every
    second one, and depths are as even as can be."""
    rng = np.random.default_rng(seed)
    found = []
    for number, family in itertools.product(range(mazes_each), families):
        item = described(family, form, rng, directed=directed, pair=len(found))
        found += _asked_about(item, number % 2 == 0, rng)
    return found


def _asked_about(item: Item, root: bool, rng: np.random.Generator) -> list[tuple[Item, str]]:
    size = item.nodes // 2
    distances = np.array([mazes.distances(item.adjacency(), node)[:size] for node in range(size)])
    starts = [0] if root else [n for n in range(1, size) if (distances[n] > 0).any()] or [0]
    source = int(rng.choice(starts))
    depth = int(rng.choice(np.unique(distances[source][distances[source] > 0])))
    below = int(rng.choice(np.flatnonzero(distances[source] == depth)))
    asking = {"below": [below], "apart": [item.mirror[below]]}
    if item.directed:
        unreachable = np.flatnonzero(distances[source] < 0)
        above = distances[unreachable, source] > 0
        asking |= {"above": unreachable[above], "beside": unreachable[~above]}
    return [
        (asked(item, source, int(rng.choice(goals))), kind)
        for kind, goals in asking.items()
        if len(goals)
    ]


def ask(subject: Subject, questions: Sequence[tuple[Item, str]]) -> list[Asked]:
    requests = [Request(subject.encode(item.prompt).ids) for item, _ in questions]
    return [
        _question(item, kind)._replace(odds=answered.odds)
        for (item, kind), answered in zip(questions, read(subject, requests), strict=True)
    ]


def search(subject: Subject, found: Sequence[Asked], seed: int = 0) -> list[Asked]:
    """More questions, each a change of one with a narrow answer."""
    rng = np.random.default_rng(seed)
    pool, more = list(found), []
    for _ in range(_ROUNDS):
        narrow = sorted((a for a in pool if a.right), key=lambda a: a.margin)[:_NARROW]
        changed = [(_changed(a.item, rng), a.kind) for a in narrow for _ in range(_MUTANTS)]
        new = ask(subject, changed)
        more += new
        pool += new
    return more


def _changed(item: Item, rng: np.random.Generator) -> Item:
    """Other names, another order of sentences, or an edge that is not on the path crossed."""
    change = rng.integers(3)
    if change == 0:
        names = forms.form(item.form).names
        chosen = rng.permutation(len(names))[: item.nodes]
        item = dataclasses.replace(item, names=tuple(names[i] for i in chosen))
    elif change == 1:
        order = rng.permutation(len(item.edges))
        item = dataclasses.replace(item, edges=tuple(item.edges[i] for i in order))
    else:
        target = item.goal if item.reachable else item.mirror[item.goal]
        on_path = set(itertools.pairwise(asked(item, item.source, target).path()))
        free = [n for n, edge in enumerate(item.edges) if edge not in on_path]
        if free:
            item = crossed(item, [int(rng.choice(free))])
    return asked(item, item.source, item.goal)


class Scope(NamedTuple):
    """A region by rules; everything where none is given."""

    depth: int | None = None
    """At most so many steps."""
    root: bool = False
    """Starts to which no arrow leads."""
    apart: bool = False
    """Goals that cannot be reached have no connection with the start at all."""
    nodes: int | None = None
    """At most so many in a part."""
    single: bool = False
    """Mazes in which no two ways lead to the same node."""

    def holds(self, question: Asked) -> bool:
        return not (
            (self.depth is not None and question.depth > self.depth)
            or (self.root and not question.root)
            or (self.apart and question.kind in _AGAINST)
            or (self.nodes is not None and question.nodes > self.nodes)
            or (self.single and not question.single)
        )

    def __str__(self) -> str:
        rules = [
            f"depth {self.depth}" if self.depth is not None else "",
            "starts that no arrow leads to" if self.root else "",
            "goals below the start or in another part" if self.apart else "",
            f"{self.nodes} nodes a part" if self.nodes is not None else "",
            "one way to each node" if self.single else "",
        ]
        return ", ".join(filter(None, rules))


class Examined(NamedTuple):
    questions: list[Asked]
    scope: Scope | None
    """Where no answer is wrong; None where there is no such region."""
    home: Scope
    """Questions no deeper, of mazes no larger, than those that it was asked to answer."""

    @property
    def around(self) -> Scope:
        """Where the mechanism is looked for."""
        return self.home if self.scope is None else self.scope

    @property
    def inside(self) -> list[Asked]:
        return [q for q in self.questions if self.around.holds(q)]

    @property
    def wrong(self) -> statistics.Estimate:
        """The share of these that is."""
        return statistics.proportion([not q.right for q in self.inside])

    @property
    def worst(self) -> tuple[str, statistics.Estimate]:
        """The kind of questions, or family of mazes, of which most are, and the share there."""
        groups = {name: [] for q in self.inside for name in (q.kind, q.item.family)}
        for q in self.inside:
            groups[q.kind].append(not q.right)
            groups[q.item.family].append(not q.right)
        rates = {name: statistics.proportion(wrong) for name, wrong in groups.items()}
        return max(rates.items(), key=lambda rate: rate[1].low)

    @property
    def against(self) -> statistics.Estimate:
        """How often a goal that cannot be reached, though it is in the start's own part, is said to
        be reached."""
        return statistics.proportion([not q.right for q in self.questions if q.kind in _AGAINST])

    @property
    def tried(self) -> str:
        """How hard it was tried."""
        families = {q.item.family for q in self.questions}
        kinds = [kind for kind in KINDS if any(q.kind == kind for q in self.questions)]
        return (
            f"{len(self.questions)} questions ({', '.join(kinds)}; {', '.join(sorted(families))}), "
            f"up to {max(q.nodes for q in self.questions)} nodes a part, depth to "
            f"{max(q.depth for q in self.questions)}"
        )

    def follows(self, machine: Machine, steps: int) -> tuple[statistics.Estimate, int]:
        """How often the answers are the machine's where that is wrong, and how many such there
        are."""
        said = [
            (bool(answers_of(machine, begun(machine, m), steps)[-1]), q)
            for q in self.questions
            for m in [maze_of(q.item)]
        ]
        wrong = [(a, q) for a, q in said if a != q.item.reachable]
        return statistics.proportion([a == (q.odds > 0) for a, q in wrong]), len(wrong)


def examine(subject: Subject, items: Sequence[Item], seed: int = 0) -> Examined:
    """Questions about mazes like those of the items, larger ones, lines, which are deep, some in
    which several ways lead to a node, and odd ones."""
    form, directed = items[0].form, items[0].directed
    found = ask(subject, drawn(families_asked(items), form, directed=directed, seed=seed))
    odd = drawn(odd_families(items), form, mazes_each=_ODD, directed=directed, seed=seed)
    found += ask(subject, odd)
    found += search(subject, found, seed)
    home = Scope(
        max(item.depth for item in items),
        nodes=max(item.nodes for item in items) // 2,
        single=all(_question(item, "").single for item in items),
    )
    return Examined(found, region(found), home)


def families_of(items: Sequence[Item]) -> list[mazes.Family]:
    """The items' own twice, since a region may be these alone."""
    names = len(forms.form(items[0].form).names)
    sizes = {item.family: item.nodes // 2 for item in items}
    larger = {name: min(names // 2, round(1.5 * size)) for name, size in sizes.items()}
    wanted = dict.fromkeys([*sizes.items(), *larger.items(), ("line", max(larger.values()))])
    return [mazes.family(name, size) for name, size in [*sizes.items(), *wanted]]


def families_asked(items: Sequence[Item]) -> list[mazes.Family]:
    """The same, and one in which several ways lead to a node."""
    families = families_of(items)
    return [*families, mazes.family("random", families[0].size)]


def odd_families(items: Sequence[Item]) -> list[mazes.Family]:
    """In which ways go round in circles, or many nodes are as far from the start; and as large as
    there are names."""
    size, largest = items[0].nodes // 2, len(forms.form(items[0].form).names) // 2
    most = min(largest, 2 * size)
    return [
        mazes.family("circles", size),
        mazes.family("random_tree", most),
        mazes.family("star", size, branching=size - 1),
        mazes.family("star", most, branching=most // 2),
    ]


def paths(
    items: Sequence[Item], scope: Scope, *, deepest: int, count: int, seed: int = 0
) -> list[Item]:
    """So many mazes of the scope whose goal is two to `deepest` steps away, as many of each as can
    be; fewer where such are rare."""
    rng = np.random.default_rng([seed, 1])
    families, form, directed = families_of(items), items[0].form, items[0].directed
    depths = range(2, min(deepest, scope.depth or deepest) + 1)
    room = {depth: -(-count // len(depths)) for depth in depths}
    found: list[Item] = []
    for number in range(20 * count):
        family = families[number % len(families)]
        maze = described(family, form, rng, directed=directed, pair=number)
        for item, kind in _asked_about(maze, number % 2 == 0, rng):
            fits = kind == "below" and scope.holds(_question(item, kind))
            if fits and room.get(item.depth):
                room[item.depth] -= 1
                found.append(item)
        if not any(room.values()):
            break
    return found[:count]


def region(found: Sequence[Asked]) -> Scope | None:
    """The largest region without a wrong answer, if wrong ones are surely more frequent outside;
    the fewer rules the better."""
    if all(q.right for q in found):
        return Scope()
    depths = [None, *range(1, max(q.depth for q in found))]
    sizes = [None, *sorted({q.nodes for q in found})[:-1]]
    candidates = []
    either = (False, True)
    for rules in itertools.product(depths, either, either, sizes, either):
        scope, depth = Scope(*rules), rules[0]
        inside = [q for q in found if scope.holds(q)]
        outside = [q for q in found if not scope.holds(q)]
        answers = {q.item.reachable for q in inside}
        if len(inside) < _FEWEST or not outside or len(answers) < 2 or depth == 1:
            continue
        if all(q.right for q in inside):
            rate = statistics.proportion([not q.right for q in outside])
            if rate.low > statistics.proportion([False] * len(inside)).high:
                candidates.append((len(inside), scope))
    return max(candidates, key=lambda c: c[0])[1] if candidates else None
