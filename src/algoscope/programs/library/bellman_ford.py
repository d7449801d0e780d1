"""Bellman-Ford as two exact programs; they differ in what a node reads that sees none visited.

A node is its own neighbour, over an edge of no length unless the graph has a loop there; real edges
are at least 1/32 long. A quarter more for the former, and no node takes itself for its parent.
"""

from algoscope.programs.parser import parse

BELLMAN_FORD = parse(
    "bellman_ford",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = hint.msk
    best = minimum(other.dist + edge.A + 0.25 * positive(1 - 32 * edge.A), where=other.visit)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    hint.msk = found or input.s
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
)

BELLMAN_FORD_SELF = parse(
    "bellman_ford_self",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = hint.msk
    best = minimum(
        other.dist
        + edge.A
        + 0.25 * positive(1 - 32 * edge.A)
        + positive(other.idx - idx - 2 * other.visit)
        + positive(idx - other.idx - 2 * other.visit),
        where=other.visit,
    )

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    hint.msk = found or input.s
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
)
