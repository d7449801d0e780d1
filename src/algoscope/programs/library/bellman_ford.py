"""Bellman-Ford as two exact programs; they differ in what a node reads that sees none visited."""

from algoscope.programs.reading import parse

BELLMAN_FORD = parse(
    "bellman_ford",
    "bellman_ford",
    """
    found: Bool
    dist: Float(6)
    pi: Node

    visit = found or input.s
    best = minimum(other.dist + edge.A, where=other.visit and edge.A > 0)

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    hint.msk = visit
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

    visit = found or input.s
    best = minimum(
        other.dist
        + edge.A
        + positive(other.idx - idx - 2 * other.visit)
        + positive(idx - other.idx - 2 * other.visit),
        where=other.visit and edge.A > 0,
    )

    found = best.visit and not input.s
    dist = best.dist + best.edge.A if best.visit and not input.s else 0
    pi = best.idx if best.visit and not input.s else 0

    hint.msk = visit
    hint.d = dist
    hint.pi_h = output.pi = pi if found else idx
    """,
)
