"""Verdicts along every axis: a bar a value, a colour and a letter a word."""

from collections import Counter

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.sweeps.harvest import Harvest

_BAR = 0.3
_LABELS, _DIGIT, _BESIDE = 1.7, 0.08, 0.08
"""Inches of what stands left of the bars, of a digit, and of the room beside a number: a part of a
bar in which its number has no room has none."""


def draw(harvest: Harvest, width: float = style.FULL) -> Drawn:
    bars = [
        (axis, value, Counter(word for row in rows for word in row.words))
        for axis in harvest.axes
        for value, rows in harvest.along(axis).items()
    ] or [("", "all", Counter(harvest.words))]
    bars = [bar for bar in bars if bar[2]]
    present = [word for word in style.WORDS if any(counts[word] for _, _, counts in bars)]
    heads = list(dict.fromkeys(axis for axis, _, _ in bars))
    with style.styled():
        lines = len(bars) + len(heads)
        # Letters of a page may be wider than those that room is made for.
        figure = style.sheet(width, _BAR * lines + 0.95, pad=0.12)
        axes = figure.subplots()
        place, ticks, labels = 0, [], []
        for head in heads:
            axes.text(0, place, style.label(head, 40), fontsize=9.5, va="center", color=style.MUTED)
            place += 1
            for _, value, counts in (bar for bar in bars if bar[0] == head):
                _bar(axes, place, counts, present, width - _LABELS)
                ticks.append(place)
                labels.append(style.label(value, 18))
                place += 1
        axes.set_yticks(ticks, labels)
        axes.set_ylim(place - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("share of the networks; numbers count them")
        axes.tick_params(axis="y", length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        for word in present:
            axes.fill([], [], color=style.WORDS[word], label=word)
        figure.legend(loc="outside upper left", ncols=4 if width > style.NARROW else 2)
    return Drawn(
        "verdicts",
        figure,
        "Of the networks with each value, how many have each verdict.",
        f"{len(bars)} bars, one a value of an axis, divided by the words of the verdicts: "
        + ", ".join(present)
        + ".",
        ["axis", "value", "word", "networks"],
        [[axis, value, word, counts[word]] for axis, value, counts in bars for word in present],
    )


def _bar(axes, place: int, counts: Counter[str], present: list[str], inches: float) -> None:
    whole, reached = counts.total(), 0.0
    for word in present:
        share = counts[word] / whole
        axes.barh(
            place, share, 0.72, reached, color=style.WORDS[word], edgecolor=style.PAPER,
            linewidth=0.8,
        )  # fmt: skip
        number = f"{counts[word]:,}"
        if share * inches >= _DIGIT * len(number) + _BESIDE:
            axes.text(
                reached + share / 2, place, number, ha="center", va="center",
                color=style.PAPER, fontsize=8.5,
            )  # fmt: skip
        reached += share
