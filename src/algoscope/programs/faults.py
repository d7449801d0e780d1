"""What is wrong with a program's text, where, and what was needed."""

import ast
from typing import NamedTuple

from algoscope.errors import unknown_name

_SELECTIONS = ("minimum", "maximum", "among")
_FUNCTIONS = ("positive", "apart", "above", "atleast", "same", "sure", "once")


class Fault(NamedTuple):
    line: int
    column: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.reason}"


class FaultError(Exception):
    """A fault that ends the reading of its statement."""

    def __init__(self, node: ast.AST, reason: str):
        super().__init__(reason)
        self.fault = Fault(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, reason)
        parts = list(ast.walk(node))
        self.names = {part.id for part in parts if isinstance(part, ast.Name)}
        self.names |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
        """What is named where the fault is."""


def not_computed(node: ast.expr) -> str:
    """What is wrong with an expression that no round computes, and what was needed."""
    text = ast.unparse(node)
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _SELECTIONS:
            return (
                f"{text}: a selection has a name of its own, `chosen = {name}(…)`, of which "
                "`chosen.…` is read"
            )
        case ast.Call(func=ast.Name(id=name)) if name not in _FUNCTIONS:
            for extreme in _SELECTIONS[:2]:
                if extreme[:3] in name:
                    return f"unknown function: {name!r}; did you mean {extreme}?"
            return unknown_name("function", name, (*_SELECTIONS, *_FUNCTIONS))
        case ast.BinOp(op=ast.Div()):
            return f"{text}: got a division, needed a factor, such as 0.5 * x for x / 2"
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return f"{text}: needed `and`, `or` and `not` of Bools"
    return (
        f"{text}: not something that one round computes; needed a sum, a multiple, a case "
        "`a if b else 0`, a condition or positive(…)"
    )
