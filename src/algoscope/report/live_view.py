"""A run as it is now: how far its training is, the first verdicts, and its report once there is
one. HTML, which the server sends again where it has changed.
"""

import datetime
import math
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from algoscope.markup import element, escape
from algoscope.report import html, verdicts
from algoscope.runs import Run, State
from algoscope.runs.live import Curves, Live, Point

_WIDE, _HIGH, _LEFT, _BELOW = 460, 190, 54, 22
"""Of a chart, and of the room for its numbers."""
_LONGEST = 10 * 365 * 86_400.0
"""Seconds that are still told as time."""


def panel(
    name: str,
    run: Run,
    live: Live,
    test: str,
    words: Mapping[str, str],
    report_version: int | None,
) -> str:
    """All that there is to see; `name` is what the server calls the run, `words` are the verdicts
    so far, by network, and `report_version` tells a report from an earlier one, None if there is
    none."""
    parts = [
        element("h1", escape(name)),
        element("p", escape(status(run, live, words, report_version)), role="status"),
    ]
    if report_version is None:
        parts += [_cards(run, live, test), _charts(live.curves), _verdicts(run, words)]
    else:
        address = f"/report/{quote(name, safe='')}?{report_version}"
        parts += [
            element("p", element("a", "Open it on a page of its own", href=address)),
            element("iframe", src=address, title=f"report of {name}", sandbox="allow-scripts"),
        ]
    return element("div", *parts, class_="live", data_run=name)


def status(run: Run, live: Live, words: Mapping[str, str], report_version: int | None) -> str:
    """What happens, in few words, so that a screen reader says when something else does."""
    if report_version is not None:
        return "finished; this is its report"
    if run.state is State.STOPPED:
        return f"stopped; go on with {run.resume_command}"
    if run.state is State.RUNNING:
        if live.step == 0:
            return "preparing: the training step is compiled for each size of problems"
        return "all steps are taken; being scored" if live.step == live.steps else "training"
    if run.kind:
        return "finished"
    if words:
        judged = f"finished; {len(words)} of {len(run.seeds) * len(run.tasks)} networks judged"
        return f"{judged}; the report comes with algoscope report {run.path}"
    return f"finished; verdicts come as it is judged, with algoscope report {run.path}"


def time_left(live: Live) -> str:
    """Empty if that is not known."""
    if not 0 <= live.seconds_left < _LONGEST or live.step == live.steps:
        return ""
    return str(datetime.timedelta(seconds=round(live.seconds_left)))


def _cards(run: Run, live: Live, test: str) -> str:
    speed = live.steps_per_second
    loss, validation = (curve[-1:] for curve in live.curves)
    cards = {
        "step": f"{live.step:,} <small>of {live.steps:,}</small>",
        "time left": time_left(live) or "–",
        "steps per second": f"{speed:.3g}" if math.isfinite(speed) else "–",
        "loss": _value(loss, ".4f"),
        "validation": _value(validation, ".4f"),
    }
    if run.finished:
        cards = {"test score": test} | {
            name: cards[name] for name in ("step", "loss", "validation")
        }
    return html.cards(cards)


def _value(curve: Sequence[Point], form: str) -> str:
    if not curve:
        return "–"
    point = curve[0]
    spread = f" <small>{point.least:.3f} to {point.most:.3f}</small>"
    return f"{point.mean:{form}}{spread if point.least < point.most else ''}"


def _charts(curves: Curves) -> str:
    logarithmic = bool(curves.loss) and all(point.least > 0 for point in curves.loss)
    scale = ", on a logarithmic scale" if logarithmic else ""
    loss = _chart("loss", curves.loss, logarithmic)
    validation = _chart("validation", curves.validation, logarithmic=False)
    captions = {f"loss{scale}": loss, "validation": validation}
    figures = (
        element("figure", drawing, element("figcaption", f"{name}: mean, least and most"))
        for name, drawing in captions.items()
    )
    return element("div", *figures, class_="charts")


def _chart(name: str, points: Sequence[Point], logarithmic: bool) -> str:
    if not points:
        return element("p", "nothing yet", class_="muted")
    values = [value for point in points for value in point[1:]]
    scaled = math.log10 if logarithmic else float
    low, high = min(values), max(values)
    if not logarithmic:
        low, high = min(0.0, low), max(1.0, high)
    first, last = points[0].step, points[-1].step
    span = (scaled(high) - scaled(low)) or 1.0

    def place(step: int, value: float) -> str:
        x = _LEFT + (_WIDE - _LEFT - 8) * (step - first) / max(last - first, 1)
        y = 8 + (_HIGH - _BELOW - 16) * (1 - (scaled(value) - scaled(low)) / span)
        return f"{x:.1f},{y:.1f}"

    def text(x: float, y: float, words: str, anchor: str) -> str:
        return element("text", words, x=f"{x}", y=f"{y}", text_anchor=anchor)

    mean = " ".join(place(point.step, point.mean) for point in points)
    band = [place(point.step, point.most) for point in points]
    band += [place(point.step, point.least) for point in reversed(points)]
    floor, ceiling = _HIGH - _BELOW - 8, 8
    svg = element(
        "svg",
        element("path", class_="axis", d=f"M{_LEFT} {ceiling}V{floor}H{_WIDE - 8}"),
        text(_LEFT - 5, ceiling + 7, f"{high:.2g}", "end"),
        text(_LEFT - 5, floor, f"{low:.2g}", "end"),
        text(_LEFT, _HIGH - 8, f"{first:,}", "start"),
        text(_WIDE - 8, _HIGH - 8, f"step {last:,}", "end"),
        element("polygon", class_="band", points=" ".join(band)),
        element("polyline", class_="mean", points=mean),
        class_="chart",
        viewBox=f"0 0 {_WIDE} {_HIGH}",
        role="img",
        aria_label=f"{name} over steps: {points[-1].mean:.4g} at step {last:,}",
    )
    return element("div", svg, class_="drawing")


def _verdicts(run: Run, words: Mapping[str, str]) -> str:
    """A row a network that was judged."""
    if not words:
        if run.finished or run.kind:
            return ""
        return element("p", "Networks are judged once the run is finished.", class_="muted")
    rows = (
        element("tr", element("td", escape(name)), element("td", verdicts.word(word)))
        for name, word in words.items()
    )
    heads = (element("th", name, scope="col") for name in ("network", "verdict"))
    return element("h2", "Verdicts so far") + html.table_of_elements(heads, rows, "verdicts")
