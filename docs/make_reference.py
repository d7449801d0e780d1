"""Writes docs/reference/commands.md from the command line's help, docs/reference/api.md from the
docstrings of the packages' public names, and docs/reference/subjects.md from the list of
hand-written language models.

    python docs/make_reference.py

tests/docs/test_reference.py checks that the pages are what this script makes.
"""

import ast
import contextlib
import importlib
import inspect
import io
import os
import pathlib
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from unittest import mock

from algoscope import cli

REFERENCE = pathlib.Path(__file__).resolve().parent / "reference"
WIDTH = 90
PACKAGES = (
    "algoscope.tasks",
    "algoscope.networks",
    "algoscope.networks.dm_clrs",
    "algoscope.recording",
    "algoscope.programs",
    "algoscope.programs.parser",
    "algoscope.programs.compiler",
    "algoscope.programs.verification",
    "algoscope.measures",
    "algoscope.decompile",
    "algoscope.verdict",
    "algoscope.statistics",
    "algoscope.training",
    "algoscope.runs",
    "algoscope.report",
    "algoscope.sweeps",
    "algoscope.transnar",
    "algoscope.llm",
)
"""In the order in which a user meets them; each with its `__all__`, or else its public functions
and classes."""
_MADE = "Made by `python docs/make_reference.py`."


def commands() -> str:
    """The help of every verb, as the command line prints it."""
    parts = [
        "# Commands\n",
        f"What `algoscope VERB --help` prints, for every verb. {_MADE}\n",
    ]
    for words in _verbs():
        depth = "##" + "#" * max(0, len(words) - 1)
        parts.append(f"{depth} algoscope {' '.join(words)}".rstrip() + "\n")
        parts.append(f"```\n{_help(words)}\n```\n")
    return "\n".join(parts)


def _verbs(words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if words:
        yield words
    _, _, subcommands = _help(words).partition("\nsubcommands\n")
    for name in re.findall(r"^   • (\S+)", subcommands, re.MULTILINE):
        yield from _verbs((*words, name))


def _help(words: tuple[str, ...]) -> str:
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["algoscope", *words, "--help"]),
        mock.patch.dict(os.environ, {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        cli.main()
    lines = [line.rstrip() for line in printed.getvalue().strip().splitlines()]
    return "\n".join(line.removeprefix(" ") for line in lines if set(line) != set(" -"))


def api() -> str:
    """Signatures and docstrings of all public names."""
    parts = [
        "# Python API\n",
        f"Every public name with its signature and docstring. {_MADE}\n",
    ]
    for name in PACKAGES:
        module = importlib.import_module(name)
        parts.append(f"## {name}\n")
        parts.append(_docstring((module.__doc__ or "").strip()))
        for public in _public(module):
            parts += _described(f"{name}.{public}", getattr(module, public))
    return "\n".join(part for part in parts if part)


def _public(module: types.ModuleType) -> list[str]:
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    ]


def _described(name: str, value: object) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.ismodule(value):
        yield _docstring((value.__doc__ or "").strip())
    elif inspect.isfunction(value) or inspect.isclass(value):
        yield _Source(textwrap.dedent(inspect.getsource(value))).described()
    else:
        yield f"```python\n{name.rpartition('.')[2]}: {type(value).__name__}\n```\n"


class _Source:
    """The text of a function or class, shown in its own words."""

    def __init__(self, text: str):
        self.text = text
        (self.tree,) = ast.parse(text).body

    def described(self) -> str:
        if isinstance(self.tree, ast.FunctionDef):
            text = _docstring(ast.get_docstring(self.tree))
            return f"```python\n{self._signature(self.tree)}\n```\n\n{text}"
        assert isinstance(self.tree, ast.ClassDef)
        bases = ", ".join(self._words(base) for base in self.tree.bases)
        head = f"```python\nclass {self.tree.name}{f'({bases})' if bases else ''}\n```\n"
        members = "\n".join(self._members(self.tree))
        parts = [head, _docstring(ast.get_docstring(self.tree)), members and f"{members}\n"]
        return "\n".join(part for part in parts if part)

    def _members(self, tree: ast.ClassDef) -> Iterator[str]:
        """A line for each public field and method."""
        for member, following in zip(tree.body, [*tree.body[1:], None], strict=True):
            match member:
                case ast.AnnAssign(target=ast.Name(id=name)) if name[0] != "_":
                    yield _line(self._words(member), _comment(following))
                case ast.Assign(targets=[ast.Name(id=name)]) if name[0] != "_":
                    yield _line(self._words(member), _comment(following))
                case ast.FunctionDef(name=name) if name[0] != "_":
                    yield _line(self._signature(member), ast.get_docstring(member))

    def _signature(self, tree: ast.FunctionDef) -> str:
        returns = f" -> {self._words(tree.returns)}" if tree.returns else ""
        if any(self._words(d).endswith("property") for d in tree.decorator_list):
            return f"{tree.name}{returns}"
        head = self.text.splitlines()[tree.lineno - 1 : tree.body[0].lineno - 1]
        written = _one_line(" ".join(line.partition("  # ")[0] for line in head))
        inside = written[written.index("(") + 1 :].rpartition(")" + returns + ":")[0]
        return f"{tree.name}({inside.strip().rstrip(',')}){returns}"

    def _words(self, node: ast.AST) -> str:
        return _one_line(ast.get_source_segment(self.text, node) or "")


def _comment(statement: ast.stmt | None) -> str | None:
    """The docstring under a field."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return inspect.cleandoc(text)
    return None


def _line(code: str, text: str | None) -> str:
    return f"- `{code}`" + (f": {_one_line(text)}" if text else "")


def _docstring(text: str | None) -> str:
    """As text, or as it is where it has code, tables or equations."""
    if not text:
        return ""
    plain = not re.search(r"^(?: {2,}|\||from )", text, re.MULTILINE)
    return f"{text}\n" if plain else f"```text\n{text}\n```\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def subjects() -> str:
    """All mechanisms of hand-written language models, and all disguises."""
    from algoscope.llm import scripted
    from algoscope.llm.scripted.solvers import SOLVERS

    rows = [
        f"| `{m.name}` | {m.runs} | {'yes' if m.algorithm else 'no'} | {m.scope} |"
        for m in scripted.MECHANISMS.values()
    ]
    solvers = [
        f"| {task} | `{m.name}` | {m.runs} | {'yes' if m.algorithm else 'no'} | {m.scope} |"
        for task, mechanisms in SOLVERS.items()
        for m in mechanisms.values()
    ]
    others = [
        f"`{specimen.name}`" for specimen in scripted.zoo() if specimen.name != specimen.search
    ]
    return "\n".join(
        [
            "# Language models of known mechanism\n",
            f"What `algoscope.llm.scripted.scripted(NAME)` builds. {_MADE}\n",
            "*Algorithm* says whether the subject finds the answer itself, by an algorithm that is "
            "right in all of its scope. A step is a layer.\n",
            "| name | runs | algorithm | right where |",
            "|---|---|---|---|",
            *rows,
            "\n## Disguises\n",
            _Source(inspect.getsource(scripted.Disguise)).described(),
            f"`scripted.zoo()` lists all of the above, and these {len(others)} in disguise: "
            f"{', '.join(others)}.\n",
            "## Addition, sorting, modus ponens\n",
            "What `algoscope.llm.scripted.solving.solver(TASK, NAME)` builds.\n",
            "| task | name | runs | algorithm | right where |",
            "|---|---|---|---|---|",
            *solvers,
            "",
        ]
    )


PAGES = {"commands.md": commands, "api.md": api, "subjects.md": subjects}


if __name__ == "__main__":
    for name, make in PAGES.items():
        (REFERENCE / name).write_text(make())
        print(REFERENCE / name)
