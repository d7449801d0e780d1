"""Candidate algorithms as machines: what they know after each step, and where they keep it.

A causal model reads the description before the question, so what it knows after a layer is in two
parts, each in tokens of its own:

    told   in the tokens of the description, which cannot know what will be asked:
           the graph, and what follows from it
    asked  in the tokens of the question and of the answer: what follows from the question

A machine says what the parts are at first, and what a step makes of them:

    told_0  = told(maze)              told_t  = merge(told_{t-1})
    asked_0 = asked(maze)             asked_t = search(asked_{t-1}, told_{t-1})

So it predicts what follows if, after t steps, one part is taken from another maze
(`exchanged`): that is what exchanges in a model are compared with. Machines of one name are ways to
run one algorithm; they differ in what they keep. `candidates.MACHINES` has those that are tried.

Those here search mazes. Machines of other problems (`llm.domains`) are of the same type: whatever
they read stands in the place of the maze, and what they answer is the number of an option.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from algoscope.llm.prompts import Item

Part = tuple[np.ndarray, ...]
"""What a machine keeps in the tokens of one part; arrays over nodes, or over sentences."""


class Maze(NamedTuple):
    A: np.ndarray
    """bool [node, node]: one can go from row to column."""
    order: np.ndarray
    """The number of the sentence that says so, int [node, node]; as many as sentences where none
    does."""
    source: int
    goal: int


def maze_of(item: Item) -> Maze:
    order = np.full((item.nodes, item.nodes), len(item.edges))
    for number, (a, b) in reversed(list(enumerate(item.edges))):
        order[a, b] = number
        if not item.directed:
            order[b, a] = number
    return Maze(item.adjacency(), order, item.source, item.goal)


def _same(told: Part) -> Part:
    return told


class Machine(NamedTuple):
    name: str
    """Of the algorithm."""
    keeps: str
    """What makes it another than the others of the same name."""
    asked: Callable[[Any], Part]
    search: Callable[[Part, Part], Part]
    answer: Callable[[Part], int]
    told: Callable[[Any], Part] = lambda maze: (maze.A,)
    merge: Callable[[Part], Part] = _same
    algorithm: bool = True
    """Whether it is right on every maze, given steps enough."""
    visited: Callable[[Part], np.ndarray] = lambda asked: asked[0]
    """Whom the question's part names: bool [node]."""
    once: bool = False
    """Whether all of its work is one step."""

    @property
    def rests(self) -> bool:
        """Whether the description's part stays the graph."""
        return self.merge is _same


class State(NamedTuple):
    asked: Part
    told: Part


def begun(machine: Machine, maze: Any) -> State:
    return State(machine.asked(maze), machine.told(maze))


def after(machine: Machine, state: State) -> State:
    return State(machine.search(state.asked, state.told), machine.merge(state.told))


def states(machine: Machine, maze: Any, steps: int) -> list[State]:
    """After 0 to so many steps."""
    reached = [begun(machine, maze)]
    for _ in range(steps):
        reached.append(after(machine, reached[-1]))
    return reached


def answers(machine: Machine, state: State, steps: int) -> np.ndarray:
    """What is answered 0 to so many steps later: [step]."""
    said = [machine.answer(state.asked)]
    for _ in range(steps):
        following = after(machine, state)
        if _equal(following, state):
            break
        state = following
        said.append(machine.answer(state.asked))
    return np.array(said + said[-1:] * (steps + 1 - len(said)))


def _equal(a: State, b: State) -> bool:
    pairs = zip((*a.asked, *a.told), (*b.asked, *b.told), strict=True)
    return all(x is y or np.array_equal(x, y) for x, y in pairs)


# Searches: asked is (visited, whom to go on from, who is looked for), told is the graph.


def one(maze: Maze, node: int) -> np.ndarray:
    return np.arange(len(maze.A)) == node


def from_source(maze: Maze) -> Part:
    start = one(maze, maze.source)
    return start, start, one(maze, maze.goal)


def from_goal(maze: Maze) -> Part:
    start = one(maze, maze.goal)
    return start, start, one(maze, maze.source)


def found(asked: Part) -> bool:
    return bool((asked[0] & asked[-1]).any())


def along(A: np.ndarray) -> np.ndarray:
    return A


def against(A: np.ndarray) -> np.ndarray:
    return A.T


def both_ways(A: np.ndarray) -> np.ndarray:
    return A | A.T


def _next_level(way: Callable, asked: Part, told: Part) -> Part:
    visited, frontier, wanted = asked
    new = way(told[0])[frontier].any(0) & ~visited
    return visited | new, new, wanted


def _from_all_visited(way: Callable, asked: Part, told: Part) -> Part:
    visited, _, wanted = asked
    new = visited | way(told[0])[visited].any(0)
    return new, new, wanted


_EXPANSIONS = {"the last level": _next_level, "all visited": _from_all_visited}


def searches(name: str, begin: Callable, way: Callable, algorithm: bool = True) -> list[Machine]:
    """A level a step."""
    return [
        Machine(name, keeps, begin, functools.partial(step, way), found, algorithm=algorithm)
        for keeps, step in _EXPANSIONS.items()
    ]


# One node a step: asked is (when each was visited, 0 for not yet; who is looked for).


def _first_visit(maze: Maze) -> Part:
    return one(maze, maze.source).astype(int), one(maze, maze.goal)


def _with_order(maze: Maze) -> Part:
    return maze.A, maze.order


def _next_node(recent: bool, last_first: bool, asked: Part, told: Part) -> Part:
    """Who is next to the one that was visited last (or first); among several, first in text (or
    last)."""
    when, wanted = asked
    A, order = told
    senders, receivers = np.nonzero(A & (when > 0)[:, None] & (when == 0))
    if not len(senders):
        return asked
    age = when[senders] if recent else -when[senders]
    text = order[senders, receivers]
    best = np.lexsort((-text if last_first else text, -age))[0]
    when = when.copy()
    when[receivers[best]] = when.max() + 1
    return when, wanted


def one_by_one(name: str, recent: bool, last_first: bool = False) -> Machine:
    return Machine(
        name,
        "a node a step",
        _first_visit,
        functools.partial(_next_node, recent, last_first),
        lambda asked: bool(((asked[0] > 0) & asked[1]).any()),
        _with_order,
        visited=lambda asked: asked[0] > 0,
    )


# From both ends: asked is (visited and whom to go on from, of the source; the same of the goal;
# whose turn it is).


def _two_ends(first: int, maze: Maze) -> Part:
    source, goal = one(maze, maze.source), one(maze, maze.goal)
    return source, source, goal, goal, np.array(first)


def _meet(expand: Callable, turns: bool, asked: Part, told: Part) -> Part:
    source, goal, turn = asked[:2], asked[2:4], asked[4]
    if not turns or turn == 0:
        source = expand(along, (*source, None), told)[:2]
    if not turns or turn == 1:
        goal = expand(against, (*goal, None), told)[:2]
    return *source, *goal, np.array(1 - turn) if turns else turn


def bidirectional() -> list[Machine]:
    turns = {"both ends a step": None, "in turn, source first": 0, "in turn, goal first": 1}
    return [
        Machine(
            "bidirectional search",
            f"{keeps}, {turn}",
            functools.partial(_two_ends, first or 0),
            functools.partial(_meet, expand, first is not None),
            lambda asked: bool((asked[0] & asked[2]).any()),
            visited=lambda asked: asked[0] | asked[2],
        )
        for keeps, expand in _EXPANSIONS.items()
        for turn, first in turns.items()
    ]


def side_by_side() -> list[Machine]:
    """Both searches to their ends; one may be enough, or both may be needed."""

    def arrived(asked: Part) -> tuple[bool, bool]:
        return bool((asked[0] & asked[5]).any()), bool((asked[2] & asked[6]).any())

    def begin(maze: Maze) -> Part:
        return *_two_ends(0, maze), one(maze, maze.goal), one(maze, maze.source)

    def step(asked: Part, told: Part) -> Part:
        return *_meet(_next_level, False, asked[:5], told), *asked[5:]

    ends = {"one is enough": any, "both are needed": all}
    return [
        Machine(
            "two searches beside each other",
            keeps,
            begin,
            step,
            lambda asked, combined=combined: combined(arrived(asked)),
            visited=lambda asked: asked[0] | asked[2],
        )
        for keeps, combined in ends.items()
    ]


def exchanged(machine: Machine, base: Any, donor: Any, steps: int) -> np.ndarray:
    """What is answered for the base, if after t steps the question's part is the donor's, and r
    steps follow: [t, r], both 0 .. steps."""
    pairs = zip(states(machine, donor, steps), states(machine, base, steps), strict=True)
    mixed = (State(donated.asked, own.told) for donated, own in pairs)
    return np.array([answers(machine, state, steps) for state in mixed])


def put_in(
    machine: Machine, base: Any, donor: Any, sentences: np.ndarray, steps: int
) -> np.ndarray:
    """The same, if some sentences of the description, bool [sentence], are the donor's; arrays of
    its part have a row for each sentence, or none."""

    def mixed(own: np.ndarray, given: np.ndarray) -> np.ndarray:
        if not own.ndim:
            return own
        return np.where(sentences.reshape(-1, *[1] * (own.ndim - 1)), given, own)

    pairs = zip(states(machine, base, steps), states(machine, donor, steps), strict=True)
    parts = (State(own.asked, tuple(map(mixed, own.told, donated.told))) for own, donated in pairs)
    return np.array([answers(machine, state, steps) for state in parts])
