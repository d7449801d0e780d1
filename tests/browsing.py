"""A browser, in which pages are looked at as a reader sees them."""

import pathlib

import pytest
from matplotlib import font_manager

NARROWEST = 320
"""CSS pixels: the narrowest telephones, and a page at 400 % zoom on a small screen."""
PAPER = 688
"""CSS pixels between the margins of A4."""
FONTS = {
    "DejaVu Sans": 700,
    "DejaVu Sans Mono": 700,
    "DejaVu Sans Condensed": 400,
    "Liberation Sans": 400,
    "Liberation Sans Narrow": 400,
    "Liberation Mono": 700,
}
"""The widest and narrowest of Debian's fonts-dejavu and fonts-liberation, with a weight."""
_INSTALL = (
    "on Debian: apt-get install fonts-dejavu fonts-liberation "
    "(from Debian 13 on fonts-liberation-sans-narrow, too)"
)
_IS_THERE = """family => {
  const canvas = document.createElement("canvas").getContext("2d");
  const widths = ["monospace", "serif"].map((other) => {
    canvas.font = `40px "${family}", ${other}`;
    return canvas.measureText("Breadth-first search il").width;
  });
  return widths[0] === widths[1];
}"""
_TOO_WIDE = """() => {
  const boxed = (element) => element && element !== document.documentElement
    && (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(element).overflowX)
        || boxed(element.parentElement));
  const beyond = [...document.querySelectorAll("body *")].filter((element) =>
    element.getBoundingClientRect().right > innerWidth + 1 && !boxed(element.parentElement));
  return document.documentElement.scrollWidth <= innerWidth ? [] :
    [`${document.documentElement.scrollWidth} px`, ...beyond.map((element) =>
      `${element.tagName}.${element.getAttribute("class")}: ${element.textContent.slice(0, 40)}`)];
}"""
_OBSTACLES = """async () => {
  for (const folded of document.querySelectorAll("details")) folded.open = true;
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""
_CUT = """() => {
  const cuts = (element) => getComputedStyle(element).overflowX !== "visible"
    && element.clientWidth && element.scrollWidth > element.clientWidth + 1;
  const beyond = (element) => {
    const { left, width } = element.getBoundingClientRect();
    return left + Math.max(width, element.scrollWidth) > innerWidth + 1;
  };
  return [...document.querySelectorAll("main *:not(svg *, select)")]
    .filter((element) => cuts(element) || beyond(element))
    .map((element) => `${element.tagName}.${element.getAttribute("class")}: `
      + element.textContent.slice(0, 40));
}"""

WIDTHS = (NARROWEST, 640, 1280, 2560)
"""Of screens, on which a page is looked at."""
_OUT_OF_COLUMN = """() => {
  const column = document.querySelector("main"), style = getComputedStyle(column);
  const { left, right } = column.getBoundingClientRect();
  const least = left + parseFloat(style.paddingLeft), most = right - parseFloat(style.paddingRight);
  return [...document.querySelectorAll(".scroll, figure, .counts, pre")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && (box.left < least - 1 || box.right > most + 1);
  }).map((element) => element.outerHTML.slice(0, 80));
}"""
_BROKEN_CARDS = """() => [...document.querySelectorAll(".counts dd")].filter((value) => {
  const range = document.createRange();
  return [...value.childNodes].some((part) => {
    range.selectNodeContents(part);
    return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
  });
}).map((value) => value.textContent)"""
_CUT_WORDS = """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const margin = parseFloat(getComputedStyle(svg.closest(".drawing") ?? svg).paddingLeft);
  return [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - margin || box.right > frame.right + margin);
  }).map((text) => text.textContent);
})"""


def misplaced(page) -> list[str]:
    """Boxes that reach out of the column, cards whose values take two lines, and words of figures
    that are cut at the sides."""
    return [line for script in (_OUT_OF_COLUMN, _BROKEN_CARDS, _CUT_WORDS)
            for line in page.evaluate(script)]  # fmt: skip


def askew(page) -> dict[int, list[str]]:
    """By width of the screen: what is misplaced, and what makes the page scroll sideways."""
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found[width] = misplaced(page) + page.evaluate(_TOO_WIDE)
    return {width: lines for width, lines in found.items() if lines}


def obstacles(page, axe: str) -> list[str]:
    """What keeps somebody with a keyboard or a screen reader from using the page: the serious and
    critical findings of axe-core, nothing folded."""
    page.evaluate(axe)
    return page.evaluate(_OBSTACLES)


def cut_on_paper(page) -> list[str]:
    """What of the page has no room on A4 paper."""
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    return page.evaluate(_CUT)


def font_file(name: str) -> str:
    """The path of an installed font."""
    paths = {pathlib.Path(path).name: path for path in font_manager.findSystemFonts()}
    return paths.get(name) or pytest.fail(f"{name}: not found; {_INSTALL}")


def too_wide(page, font: str) -> list[str]:
    """What makes the page scroll sideways when everything is set in the font."""
    if not page.evaluate(_IS_THERE, font):
        pytest.fail(f"{font}: not found; {_INSTALL}")
    style = f"font-family: '{font}' !important; font-weight: {FONTS[font]} !important;"
    page.evaluate(
        "rule => document.head.appendChild(document.createElement('style')).textContent = rule",
        f"* {{ {style} }}",
    )
    return page.evaluate(_TOO_WIDE)
