"""The minimum of a sequence: a cursor moves along the chain of predecessors."""

from algoscope.programs.parser import parse

MINIMUM = parse(
    "minimum",
    "minimum",
    """
    seen: Bool
    at: Bool
    pred: Node

    before = minimum(other.idx)

    at = before.hint.i and not hint.i
    seen = seen or (hint.i and not seen) or (before.hint.i and not seen and not hint.i)
    pred = before.idx

    hint.pred_h = pred
    hint.i = at
    hint.min_h = output.min = 2 * seen - input.key
    """,
)
