"""The gallery's page: every number in it comes from results/ or from running what is shown."""

from collections import Counter
from collections.abc import Mapping, Sequence

from exhibits.subjects import LEARNT, SEED, SIZES, WIDTH, Compared, Family
from exhibits.verdict_maps import Line

from algoscope import networks, programs
from algoscope.experiments.mind_the_gap import paper, tables
from algoscope.experiments.mind_the_gap.solutions import Solutions
from algoscope.programs.compiler import compile_program
from algoscope.verdict import WORDS

FIGURES = {
    "bfs": {
        "1": "Test score against faithfulness: every point is a seed, with the line of least "
        "squares and its 95 % band.",
        "2": "How far attention is from the nearest exact program, step by step: 0 is the "
        "algorithm.",
        "3": "Attention on one problem: the program above, the nearest network below.",
        "4": "How much of each hint is predicted, step by step.",
        "5": "All solutions against each other, and the tree that joins the nearest first.",
        "15": "Attention in full: all exact programs, then the nearest, the middle and the "
        "farthest network.",
    },
    "bellman_ford": {
        "10": "Test score against faithfulness.",
        "11": "How much of each hint is predicted, step by step.",
        "14": "Attention in full: all exact programs, then three networks.",
    },
}
"""Of trained networks in Mind The Gap, by task and number."""
PRINTED = {
    "6": ("bellman_ford", "main", "The main parameters that the paper prints."),
    "7": ("bellman_ford", "auxiliary", "Those of encoders and decoders."),
    "8": ("bfs", "main", "The main parameters that the paper prints."),
    "9": ("bfs", "auxiliary", "Those of encoders and decoders."),
}
"""Figures of the compiled networks that the paper prints: task, part and caption."""
_MEMORYLESS = {
    "deep+discrete+memoryless+views+scheduled+rate-1e-3": "BFS without memory",
    "attention+locked+deep+discrete+memoryless+views+scheduled+rate-1e-3": (
        "BFS without memory, attention taught"
    ),
}
"""Recipes of results/words/memoryless.jsonl."""
_NAMES = {"bfs": "BFS", "bellman_ford": "Bellman-Ford", "dfs": "DFS", "dijkstra": "Dijkstra"}
_ACROSS = 2


def page(
    shown: Sequence[Family],
    pairs: Mapping[str, Compared],
    judged: Mapping[str, Sequence[Line]],
    memoryless: Sequence[Line],
    solved: Mapping[str, Solutions],
) -> str:
    verdicts = _verdicts(judged, memoryless)
    parts = [_start(), _pairs(pairs), verdicts, _paper(solved), _programs(shown)]
    return "\n\n".join(parts) + "\n"


def _start() -> str:
    return (
        "# Gallery\n\n"
        "Everything here is made by `python docs/make_gallery.py` from [results](../../results), "
        "the library of programs and three small networks in `networks/`. Moving pictures stand "
        "still at their last step where less motion is asked for."
    )


def _pairs(pairs: Mapping[str, Compared]) -> str:
    parts = [
        "## Program and network, side by side\n\n"
        "Left the algorithm as a program, compiled into the weights of a graph network; right a "
        f"network of the same kind that was trained (width {WIDTH}, seed {SEED}, problems of "
        f"{', '.join(map(str, SIZES[:-1]))} and {SIZES[-1]} nodes, learning rate 0.001). Orange "
        "arrows go from a node whose variables change to the nodes that it reads, red rings are "
        "round nodes with a variable that is not as in the algorithm."
    ]
    for name, pair in pairs.items():
        told = _NAMES[name]
        parts.append(
            f"### {told}\n\n"
            f"![{told} as a program and as a trained network, step by step]({name}.svg)\n\n"
            f"Trained for {LEARNT[name]:,} steps. Its answer is right for {pair.right} of "
            f"{pair.nodes} nodes; in {pair.faithful} of {pair.steps} steps everything that is "
            f"drawn is as in the algorithm.{_moral(pair)}"
        )
    return "\n\n".join(parts)


def _moral(pair: Compared) -> str:
    if pair.right == pair.nodes and pair.faithful < pair.steps:
        return " The answer is right, and the way to it is not: a score does not show that."
    return ""


def _verdicts(judged: Mapping[str, Sequence[Line]], memoryless: Sequence[Line]) -> str:
    said = {line["word"] for lines in (*judged.values(), memoryless) for line in lines}
    words = [word for word in WORDS if word in said]
    heads = ["task", "weights", *(f"*{word}*" for word in words)]
    rows = []
    for task, lines in judged.items():
        for weights, told in (("last", "last"), ("best", "best on validation")):
            counts = Counter(line["word"] for line in lines if line["weights"] == weights)
            rows.append([_NAMES[task], told, *(str(counts[word]) for word in words)])
    for recipe, told in _MEMORYLESS.items():
        counts = Counter(line["word"] for line in memoryless if line["recipe"] == recipe)
        rows.append([told, "last", *(str(counts[word]) for word in words)])
    table = [heads, ["---"] * len(heads), *rows]
    pictures = "\n\n".join(
        f"![Trained networks of {_NAMES[task]}, and the families of problems on which they are "
        f"wrong](verdicts-{task}.svg)"
        for task in judged
    )
    return (
        "## Verdicts\n\n"
        "Does a trained network run the algorithm? Networks of Mind The Gap's setting, each tried "
        "on problems that are made to break it ([what was found](../explanation/findings.md), "
        "[what the words mean](../explanation/verdict.md)). Those without memory learnt another "
        "way: hints fed back as decisions, deeper graphs, edges encoded in both directions; they "
        "were judged without a search ([how](../lab/recipes.md#128-seeds)).\n\n"
        + "\n".join(f"| {' | '.join(row)} |" for row in table)
        + f"\n\n{pictures}\n\nNetworks of the paper's setting with their last weights, the best "
        "on the left."
    )


def _paper(solved: Mapping[str, Solutions]) -> str:
    rows = [["task", "seeds", "test score", "the paper's"], ["---"] * 4]
    for task, theirs in paper.BASELINES.items():
        ours = tables.accuracy_of(solved[task])
        rows.append([_NAMES[task], str(len(solved[task].seeds)), str(ours), str(theirs)])
    parts = [
        "## The paper's figures\n\n"
        "*Mind The Gap*, from our networks: mean ± standard deviation over seeds (and the largest) "
        "at 64 nodes.\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    ]
    for task, captions in FIGURES.items():
        for number, caption in captions.items():
            name = f"Figure {number}, {_NAMES[task]}"
            parts.append(f"**{name}.** {caption}\n\n![{name}](figure-{number}-{task}.svg)")
    for number, (task, _, caption) in PRINTED.items():
        name = f"Figure {number}, {_NAMES[task]}"
        parts.append(f"**{name}.** {caption}\n\n![{name}](figure-{number}-{task}.svg)")
    parts.append(
        "Figures 12, 13 and 16 to 18, the loss landscapes, are not here: they need planes and "
        "Hessians of trained networks, which were not measured yet ([the experiment]"
        "(../lab/mind-the-gap.md))."
    )
    return "\n\n".join(parts)


def _programs(shown: Sequence[Family]) -> str:
    """A table of pictures."""
    cells = list(map(_cell, shown))
    rows = [cells[start : start + _ACROSS] for start in range(0, len(cells), _ACROSS)]
    table = "\n".join(
        "<tr>" + "".join(f'<td valign="top">{cell}</td>' for cell in row) + "</tr>" for row in rows
    )
    return (
        "## A compiled program of each family\n\n"
        "All families of CLRS-30 but dynamic programming, for which there is no program: its "
        "tables are variables of pairs of nodes that last from step to step, and in [the language]"
        "(../reference/programs.md) pairs keep nothing.\n\n"
        f"<table>\n{table}\n</table>"
    )


def _cell(family: Family) -> str:
    name = family.program
    network = compile_program(programs.get(name)).network
    count = sum(array.size for array in networks.arrays(network).values())
    picture = name if name in LEARNT else f"program-{name}"
    text = f"../../src/algoscope/programs/library/{name}.program"
    return (
        f'<b>{family.title}</b>: <a href="{text}"><code>{name}</code></a><br>'
        f"width {network.config.width}, {count:,} parameters<br>"
        f'<img src="{picture}.svg" alt="{name}, step by step">'
    )
