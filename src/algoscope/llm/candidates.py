"""The candidate algorithms for navigation. Adding one is adding one value to `MACHINES`."""

import numpy as np

from algoscope.llm.doublings import doublings, pointers
from algoscope.llm.machines import (
    Machine,
    Maze,
    Part,
    against,
    along,
    bidirectional,
    both_ways,
    from_goal,
    from_source,
    one_by_one,
    searches,
    side_by_side,
)

# Read once: the description's part holds everything, and the question's part gets the answer.


def _unread(maze: Maze) -> Part:
    return np.array(False), np.array(maze.source), np.array(maze.goal), np.array(False)


def _closure(maze: Maze) -> Part:
    n = len(maze.A)
    reached = maze.A | np.eye(n, dtype=bool)
    for _ in range(n.bit_length()):
        reached = reached @ reached
    return (reached,)


def _read(asked: Part, told: Part) -> Part:
    done, source, goal, _ = asked
    if done:
        return asked
    return np.array(True), source, goal, told[0][source, goal]


IN_DESCRIPTION = "an answer that is ready before it is asked for"

MACHINES: tuple[Machine, ...] = (
    *searches("BFS", from_source, along),
    *searches("backward search", from_goal, against),
    one_by_one("DFS", recent=True),
    one_by_one("DFS, last first", recent=True, last_first=True),
    one_by_one("BFS, a node a step", recent=False),
    *bidirectional(),
    *side_by_side(),
    *doublings("doubling from the source", from_source, along),
    *doublings("doubling from the goal", from_goal, against),
    pointers("doubling from the goal"),
    *searches("a search that ignores arrows", from_source, both_ways, algorithm=False),
    *searches("a backward search that ignores arrows", from_goal, both_ways, algorithm=False),
    Machine(
        IN_DESCRIPTION,
        "",
        _unread,
        _read,
        lambda asked: bool(asked[3]),
        _closure,
        visited=lambda asked: np.zeros(0, bool),
    ),
)
