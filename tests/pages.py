"""Reads the parts of Markdown pages that tests look at: tables, sentences, links and headings."""

import pathlib
import re

from algoscope.table import Table

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_LINK = re.compile(r"!?\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_NUMBER = re.compile(r"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e-?\d+)?")


def read(page: str) -> str:
    """A page, with plain minus signs."""
    return (ROOT / page).read_text().replace("−", "-")


def prose(text: str) -> str:
    """The page without blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def one_line(text: str) -> str:
    return " ".join(text.split())


def tables(text: str) -> list[Table]:
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", prose(text), flags=re.MULTILINE)
    made = []
    for block in blocks:
        columns, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        )
        made.append(Table("", columns, rows))
    return made


def table(text: str, *columns: str) -> Table:
    """The one table that has these columns."""
    (found,) = [each for each in tables(text) if set(columns) <= set(each.columns)]
    return found


def cell(shown: Table, row: str, column: str) -> str:
    """The cell in the one row whose first cell begins so."""
    (found,) = [cells for cells in shown.rows if cells[0].startswith(row)]
    return found[shown.columns.index(column)]


def statements(text: str) -> list[str]:
    """Sentences, list items and rows of tables, each on one line."""
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=[|#>]|\s*[-*] )", prose(text)):
        line = one_line(paragraph)
        found += [line] if line.startswith("|") else re.split(r"(?<=[.!?:;]) (?=[A-Z*`\[])", line)
    return [statement for statement in found if statement]


def links(text: str) -> list[str]:
    return [match["target"] for match in _LINK.finditer(prose(text))]


def without_links(text: str) -> str:
    return _LINK.sub(lambda match: match["text"], text)


def numbers(text: str) -> list[str]:
    """Numbers as they are written, without thousands separators."""
    return [number.replace(",", "") for number in _NUMBER.findall(text)]


def anchors(text: str) -> set[str]:
    """The names of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(text), flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", without_links(heading).lower()).replace(" ", "-")
        for heading in headings
    }
