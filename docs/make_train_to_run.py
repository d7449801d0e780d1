"""Makes the three pictures of docs/how-to/train-to-run.md from results/words and from two networks.

    python docs/make_train_to_run.py

No file depends on the day or the place.
"""

import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from exhibits.verdict_maps import Line, last, read
from matplotlib.patches import Patch

from algoscope import networks, tasks
from algoscope.files import write_bytes
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.verdict import APPROXIMATES, RUNS, RUNS_UP_TO, UNDECIDED

DOCS = pathlib.Path(__file__).resolve().parent
WORDS = DOCS.parent / "results" / "words"
UNTAUGHT = "deep+discrete+memoryless+views"
TAUGHT = f"attention+locked+{UNTAUGHT}"
LARGE, SMALL = "+scheduled+rate-1e-3", "+rate-1e-3"
"""What 10,000 steps at width 128 have, and what 4,000 steps at width 64 have."""
SHOWN = (RUNS, RUNS_UP_TO, APPROXIMATES, UNDECIDED)
SUBJECTS = {
    "usual": DOCS / "gallery" / "networks" / "bfs.safetensors",
    "no memory, edges both ways": WORDS / "bfs-memoryless-0.safetensors",
}
LENGTHS = (4, 8, 16, 32, 64, 128)
COLOURS = dict(zip(SUBJECTS, (style.TRAINED, style.REFERENCE), strict=True))


class Recipe(NamedTuple):
    """A way of training, with the lines of results/words of the networks that had it."""

    name: str
    lines: Sequence[Line]


def large() -> list[Recipe]:
    """128 networks of width 128 each."""
    made = read(WORDS / "memoryless.jsonl")
    return [
        Recipe("usual", last(read(WORDS / "bfs.jsonl"))),
        Recipe("three changes, no teacher", _of(made, UNTAUGHT + LARGE)),
        Recipe("three changes, taught attention", _of(made, TAUGHT + LARGE)),
    ]


def small() -> list[Recipe]:
    """Four networks of width 64 each: what each change does."""
    made = read(WORDS / "own_pointer.jsonl")
    return [
        Recipe("with memory, edges one way", _of(made, "deep+discrete" + SMALL)),
        Recipe("with memory, edges both ways", _of(made, "deep+discrete+views" + SMALL)),
        Recipe("no memory, edges both ways", _of(made, UNTAUGHT + SMALL)),
    ]


def _of(lines: Iterable[Line], recipe: str) -> list[Line]:
    return [line for line in lines if line["recipe"] == recipe]


def draw_words() -> Drawn:
    """How many networks of each recipe have each word, as bars that are parted."""
    recipes = [*large(), *small()]
    places = [0, 1, 2, 3.6, 4.6, 5.6]
    with style.styled():
        figure = style.sheet(style.FULL, 3.1)
        axes = figure.subplots()
        for place, recipe in zip(places, recipes, strict=True):
            counts, left = Counter(line["word"] for line in recipe.lines), 0.0
            for word in SHOWN:
                share = counts[word] / len(recipe.lines)
                axes.barh(place, share, left=left, height=0.72, color=style.WORDS[word])
                if share:
                    at = left + share / 2
                    axes.text(at, place, str(counts[word]), color="white", ha="center", va="center")
                left += share
        axes.set_yticks(places, [f"{r.name} ({len(r.lines)})" for r in recipes])
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xlabel="share of the networks (numbers: networks)")
        axes.xaxis.set_major_formatter(_percent)
        handles = [Patch(color=style.WORDS[word], label=word) for word in SHOWN]
        figure.legend(handles=handles, loc="outside upper center", ncols=len(SHOWN))
    told = "; ".join(
        f"{recipe.name}: {Counter(line['word'] for line in recipe.lines).most_common()}"
        for recipe in recipes
    )
    return Drawn("train-to-run-words", figure, "", told)


def wrong(lines: Sequence[Line]) -> dict[str, float]:
    """The share of each family's problems that is wrong, of all networks together."""
    return {
        family: sum(line["families"][family][0] for line in lines)
        / sum(line["families"][family][1] for line in lines)
        for family in lines[0]["families"]
    }


def draw_families() -> Drawn:
    """The families on which the usual networks are wrong, the worst first."""
    recipes = large()
    shares = [wrong(recipe.lines) for recipe in recipes]
    order = sorted(shares[0], key=lambda family: -shares[0][family])
    looks = ((style.TRAINED, "o"), (style.REFERENCE, "^"), (style.INK, "v"))
    with style.styled():
        figure = style.sheet(style.FULL, 5.2)
        axes = figure.subplots()
        rows = np.arange(len(order))
        for k, (recipe, each) in enumerate(zip(recipes, shares, strict=True)):
            values = [max(each[family], FLOOR) for family in order]
            colour, sign = looks[k]
            at = rows + 0.22 * (k - 1)
            axes.plot(values, at, sign, color=colour, label=recipe.name, ms=4.5)
        axes.set_xscale("log")
        axes.axvline(FLOOR * 1.6, color=style.RULE, lw=0.8)
        ticks = (FLOOR, 1e-4, 1e-3, 1e-2, 1e-1)
        axes.set_xticks(ticks, ["none", "0.01 %", "0.1 %", "1 %", "10 %"])
        axes.minorticks_off()
        axes.set_yticks(rows, order)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.set_xlabel("problems that are wrong")
        figure.legend(loc="outside upper center", ncols=3)
    return Drawn("train-to-run-families", figure, "", "wrong problems by family")


FLOOR = 8e-6
"""Where a share of nothing is drawn: one wrong problem of 45,312 is 2.2e-5."""


class Walk(NamedTuple):
    """A network on one line of nodes, from one end to the other."""

    answer: float
    """The share of nodes whose parent is right in the end."""
    steps: int
    """In which all parents are right, from the start."""


def walk(network: networks.Network, length: int) -> Walk:
    """Nodes stand in order; the first one is the source."""
    here = np.arange(length)
    batch = tasks.run("bfs", np.abs(here[:, None] - here) == 1, source=0)
    recording = networks.run(network, batch)
    steps = int(batch.lengths[0]) - 1
    said = np.asarray(recording.hints["pi_h"])[0, :steps]
    right = (said == batch.hints["pi_h"][0, 1 : steps + 1]).all(1)
    answer = np.asarray(recording.outputs["pi"])[0] == batch.outputs["pi"][0]
    return Walk(float(answer.mean()), steps if right.all() else int(right.argmin()))


def walks(lengths: Sequence[int] = LENGTHS) -> dict[str, list[Walk]]:
    """By subject."""
    subjects = {name: networks.load(path)[0] for name, path in SUBJECTS.items()}
    return {name: [walk(one, length) for length in lengths] for name, one in subjects.items()}


def draw_lines(walked: dict[str, list[Walk]]) -> Drawn:
    with style.styled():
        figure = style.sheet(style.FULL, 2.9)
        axes = figure.subplots()
        for name, each in walked.items():
            shares = [one.answer for one in each]
            axes.plot(LENGTHS, shares, "o-", color=COLOURS[name], label=name)
        axes.set_xscale("log", base=2)
        axes.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
        axes.set(ylim=(0, 1.04), xlabel="nodes of the line", ylabel="parents right in the end")
        axes.yaxis.set_major_formatter(_percent)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.legend(loc="lower left")
    return Drawn("train-to-run-lines", figure, "", "right parents on lines of growing length")


def _percent(share: float, _: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def drawn() -> dict[str, Callable[[], Drawn]]:
    """By name of the file."""
    made = {"words": draw_words, "families": draw_families, "lines": lambda: draw_lines(walks())}
    return {f"train-to-run-{name}.svg": draw for name, draw in made.items()}


def main() -> None:
    for name, draw in drawn().items():
        write_bytes(DOCS / "pictures" / name, style.image(draw(), "svg"))


if __name__ == "__main__":
    main()
