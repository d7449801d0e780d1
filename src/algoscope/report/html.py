"""The frame of every page: one HTML file without external resources.

A content security policy allows the page's own scripts by their hashes and blocks all others and
every request, so that names and texts are shown and never run.
"""

import base64
import functools
import hashlib
import importlib.resources
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from algoscope import markup
from algoscope.markup import element, escape
from algoscope.table import Table


class Section(NamedTuple):
    anchor: str
    title: str
    """In the bar at the top; sections without one are not listed there."""
    body: str
    """HTML."""


def page(
    title: str,
    sections: Sequence[Section],
    *,
    styles: Sequence[str] = ("page.css",),
    scripts: Sequence[str] = ("page.js",),
    data: Mapping[str, Any] | None = None,
    allowed: Sequence[str] = (),
) -> str:
    """The whole file. `data` are JSON values by the id of the element that holds them; `allowed`
    are directives of the policy of pages that do ask for more."""
    sources = [asset(name) for name in scripts]
    links = "".join(
        element("li", element("a", escape(section.title), href=f"#{section.anchor}"))
        for section in sections
        if section.title
    )
    body = "\n".join(element("section", s.body, id=s.anchor) for s in sections)
    embedded = "\n".join(
        f'<script type="application/json" id="{escape(name)}">{_safe_json(value)}</script>'
        for name, value in (data or {}).items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy(sources, allowed))}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{"".join(map(asset, styles))}</style>
</head>
<body>
<nav class="bar" aria-label="sections"><div><strong>Algoscope</strong><ul>{links}</ul>\
<button type="button" class="theme" aria-label="light or dark">Dark</button></div></nav>
<main>
{body}
</main>
{embedded}
{"".join(f"<script>{source}</script>" for source in sources)}
</body>
</html>
"""


def policy(sources: Sequence[str], allowed: Sequence[str] = ()) -> str:
    """No request but what is allowed, no script but these."""
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in sources)
    scripts = " ".join(f"'sha256-{value}'" for value in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'self'" + "".join(f"; {directive}" for directive in allowed)
    )


@functools.cache
def asset(name: str) -> str:
    return (importlib.resources.files("algoscope.report") / "static" / name).read_text()


def _safe_json(value: Any) -> str:
    """JSON in which nothing can end the element that it stands in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def table(content: Table, *, sortable: bool = True) -> str:
    """A table in a box of its own, in which it can be scrolled."""
    return scrolled(markup.table(content, "sortable" if sortable else None), content.title)


def table_of_elements(
    heads: Iterable[str], rows: Iterable[str], label: str, *, dense: bool = False
) -> str:
    """A sortable table of th elements and tr elements."""
    content = element("thead", element("tr", *heads)) + element("tbody", *rows)
    return scrolled(element("table", content, class_="sortable"), label, dense=dense)


def scrolled(content: str, label: str, *, dense: bool = False) -> str:
    """In a box of its own; a dense one has many columns, which stand closer together."""
    class_ = "scroll dense" if dense else "scroll"
    return element("div", content, class_=class_, tabindex="0", role="region", aria_label=label)


def figure(svg: str, caption: str) -> str:
    """A figure with a caption, both HTML; what is too wide for the screen is scrolled."""
    drawing = element("div", svg, class_="drawing", tabindex="0")
    return element("figure", drawing, element("figcaption", caption))


def cards(values: Mapping[str, str]) -> str:
    """The few numbers that tell most, by name; values are HTML."""
    parts = (
        element("div", element("dt", escape(name)), element("dd", value))
        for name, value in values.items()
    )
    return element("dl", *parts, class_="counts")


def facts(pairs: Mapping[str, object]) -> str:
    """Names and values, one below the other."""
    parts = (
        element("dt", escape(name)) + element("dd", escape(value))
        for name, value in pairs.items()
        if value not in (None, "")
    )
    return element("dl", *parts, class_="facts")
