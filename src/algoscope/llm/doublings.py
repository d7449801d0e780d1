"""Machines whose strides double: the description finds out who is within 2^t steps of whom, and the
question's part takes such strides.

A causal model puts a way together at the latest of its edges in the text, since tokens see only
what stands before them. So beside the ideal machine, which ignores this, there are those whose
edges e learn from edges f that stand before them, as they come in the text:

    below_e |= below_f     for f <= e whose sender is in below_e       (sets)
    at_e     = at_f        for the first f <= e whose receiver is at_e (pointers)
"""

import functools
from collections.abc import Callable

import numpy as np

from algoscope.llm.machines import Machine, Maze, Part, found, from_goal


def _within_one(way: Callable, maze: Maze) -> Part:
    return (way(maze.A) | np.eye(len(maze.A), dtype=bool),)


def _squared(told: Part) -> Part:
    return (told[0] @ told[0],)


def _stride(asked: Part, told: Part) -> Part:
    visited, _, wanted = asked
    new = np.asarray(told[0][visited].any(0))
    return new, new, wanted


def _edges(way: Callable, maze: Maze) -> Part:
    """In the order of the text: where each begins, where it leads, bool [edge, node]; and which
    stand before which, or are the same sentence, bool [edge, edge]."""
    begins, ends = np.nonzero(way(maze.A))
    text = way(maze.order)[begins, ends]
    by_text = np.argsort(text, kind="stable")
    names, text = np.eye(len(maze.A), dtype=bool), text[by_text]
    return names[begins[by_text]], names[ends[by_text]], text[None] <= text[:, None]


def _joined(told: Part) -> Part:
    begins, below, before = told
    return begins, below | ((below @ begins.T) & before) @ below, before


def _walk(asked: Part, told: Part) -> Part:
    """From everybody who was visited along what the edges there have found."""
    visited, _, wanted = asked
    begins, below, _ = told
    new = visited | below[begins[:, visited].any(1)].any(0)
    return new, new, wanted


def doublings(name: str, begin: Callable, way: Callable) -> list[Machine]:
    within, edges = (functools.partial(told, way) for told in (_within_one, _edges))
    return [
        Machine(name, "twice as far each step", begin, _stride, found, within, _squared),
        Machine(name, "as far as the text goes", begin, _walk, found, edges, _joined),
    ]


# Pointers: told is (where each edge ends, its pointer, whom that has passed, what stands before).


def _parents(maze: Maze) -> Part:
    begins, ends, before = _edges(lambda A: A, maze)
    return ends, begins, begins, before


def _first(at: np.ndarray, ends: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The first edge that leads to each pointer: bool [pointer, edge]."""
    leads = (at @ ends.T) & before
    return leads & (leads.cumsum(1) == 1)


def _jumped(told: Part) -> Part:
    ends, at, passed, before = told
    first = _first(at, ends, before)
    moves = first.any(1, keepdims=True)
    return ends, np.where(moves, first @ at, at), passed | first @ passed, before


def _jump(asked: Part, told: Part) -> Part:
    visited, at, wanted = asked
    ends, targets, passed, before = told
    first = _first(at[None], ends, np.ones_like(before[:1]))
    new = np.where(first.any(), (first @ targets)[0], at)
    return visited | (first @ passed)[0], new, wanted


def pointers(name: str) -> Machine:
    """Along first parents."""
    keeps = "a pointer, and whom it has passed"
    return Machine(name, keeps, from_goal, _jump, found, _parents, _jumped)
