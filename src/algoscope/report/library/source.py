"""Texts of programs and of Python, with their words marked for the page's colours."""

import ast
import io
import keyword
import re
import tokenize
from typing import NamedTuple

from algoscope.markup import element, escape
from algoscope.programs.language import EDGE, OTHER, SELF, GraphProgram, Type
from algoscope.tasks import Stage

_KEYWORDS = {*keyword.kwlist, "then"}
_PLACES = {*Stage, OTHER, EDGE, SELF}
_PROPERTY = re.compile(r"# \w+: \S+\s*")


class Source(NamedTuple):
    """A program's file in its two parts."""

    description: str
    """The sentences of the comments that it begins with."""
    body: str
    """What follows them."""


def parts(program: GraphProgram) -> Source:
    lines = program.text.strip().splitlines()
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    sentences = (line.lstrip("# ") for line in lines[:count] if not _PROPERTY.fullmatch(line))
    return Source(" ".join(sentences), "\n".join(lines[count:]).strip())


def shown_as(program: GraphProgram) -> dict[str, str]:
    """The expression by which each hint and output is shown, by the feature's name."""
    expressions = {}
    for statement in ast.parse(program.text).body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            match target:
                case ast.Attribute(ast.Name("hint" | "output"), name):
                    expressions[name.removesuffix("_")] = ast.unparse(statement.value)
    return expressions


def coloured(text: str, names: frozenset[str] = frozenset()) -> str:
    """HTML of a text in Python's syntax; `names` are those of the program's variables."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    made, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        start = starts[row - 1] + column
        class_ = _class_of(token, text[start + len(token.string) :].lstrip(" ")[:1], names)
        if class_ is None:
            continue
        made.append(escape(text[end:start]))
        made.append(element("span", escape(token.string), class_=class_))
        end = start + len(token.string)
    return "".join(made) + escape(text[end:])


def _class_of(token: tokenize.TokenInfo, following: str, names: frozenset[str]) -> str | None:
    """By the token and the sign that follows it."""
    match token.type:
        case tokenize.COMMENT:
            return "comment"
        case tokenize.NUMBER:
            return "number"
        case tokenize.STRING:
            return "comment" if token.string.startswith(('"""', "'''")) else "number"
        case tokenize.NAME:
            if token.string in _KEYWORDS:
                return "keyword"
            if token.string in list(Type):
                return "type"
            if following == "(":
                return "call"
            if following == "." and token.string in _PLACES:
                return "place"
            return "variable" if token.string in names else None
    return None
