"""HTML of small things, safe to put into any page: texts, tables, heat maps.

Notebooks show recordings, verdicts and programs with it, pages their tables. Whatever comes in is
escaped; what comes out uses currentColor, so that it is readable on light and dark ground.
"""

import html
import re
from collections.abc import Iterable, Sequence

import numpy as np

from algoscope.table import Table

_NUMBER = re.compile(r"[-−+]?[\d.,]+(e[-+]?\d+)?( ?%)?")
_NOTHING = ("", "–")
_LEAST_SEEN = 0.02
_LONG = 60
"""Characters of a cell that should not stand in a narrow column."""


def escape(text: object) -> str:
    """The text for any place in a page, attributes included."""
    return html.escape(str(text), quote=True)


def element(tag: str, *content: str, **attributes: str | None) -> str:
    """An element around content that is HTML already; `class_` is written class, and what is None
    is left out."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{given}>{''.join(content)}</{tag}>"


def table(content: Table, class_: str | None = None) -> str:
    """A table with a caption; columns of numbers stand on the right."""
    numeric = [_is_numeric(row[k] for row in content.rows) for k in range(len(content.columns))]

    def kind(cell: str, right: bool) -> str | None:
        return "number" if right else "long" if len(cell) > _LONG else None

    def row(cells: Sequence[str], tag: str, scope: str | None = None) -> str:
        return element(
            "tr",
            *(
                element(tag, escape(cell), class_=kind(cell, right), scope=scope)
                for cell, right in zip(cells, numeric, strict=True)
            ),
        )

    return element(
        "table",
        element("caption", escape(content.title)) if content.title else "",
        element("thead", row(content.columns, "th", "col")),
        element("tbody", *(row(cells, "td") for cells in content.rows)),
        class_=class_,
    )


def _is_numeric(cells: Iterable[str]) -> bool:
    texts = [cell.strip() for cell in cells]
    numbers = [text for text in texts if text not in _NOTHING]
    return bool(numbers) and all(_NUMBER.fullmatch(text) for text in numbers)


def heat_map(values: np.ndarray, title: str, cell: int = 7) -> str:
    """A matrix [rows, columns] of numbers from 0 to 1 as a picture, 1 the darkest."""
    rows, columns = values.shape
    squares = "".join(
        f'<rect x="{column * cell}" y="{row * cell}" width="{cell}" height="{cell}" '
        f'fill-opacity="{value:.2f}"/>'
        for (row, column), value in np.ndenumerate(values)
        if value >= _LEAST_SEEN
    )
    wide, high = columns * cell, rows * cell
    frame = f'<rect width="{wide}" height="{high}" fill="none" stroke="currentColor"/>'
    return (
        f'<svg role="img" width="{wide + 2}" height="{high + 2}" '
        f'viewBox="-1 -1 {wide + 2} {high + 2}" fill="currentColor" stroke-opacity=".3">'
        f"<title>{escape(title)}</title>{squares}{frame}</svg>"
    )
