"""Figures 6 to 9: the compiled parameters as the paper prints them, drawn and tried."""

import json
import pathlib
from collections.abc import Sequence

from algoscope import statistics
from algoscope.experiments.experiment import Claim, Experiment, Report, Result
from algoscope.experiments.mind_the_gap.paper import SOURCE
from algoscope.files import read_json, write_bytes
from algoscope.table import Table

_FILE = "compiled.json"
_SIZE, _SEED, _NEEDED = 16, 7, 0.99
_COUNTS = {"smoke": 8, "full": 1000}
Counts = dict[str, tuple[int, int]]
"""Problems whose traces are exact, and all of them; by task, reading and kind of problems."""


def _reproduce(preset: str, out: pathlib.Path, report: Report, _only: Sequence[str]) -> Result:
    from algoscope.programs import printed, weight_pictures

    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    if not (out / _FILE).exists():
        counts = {}
        for task in printed.TASKS:
            counts |= _try(task, _COUNTS[preset])
            network = printed.printed(task, _SIZE).network
            weight_pictures.draw(f"{task}-printed", printed.panels(network), folder)
            report(f"{task}: drawn and tried on {_COUNTS[preset]} problems")
        write_bytes(out / _FILE, json.dumps(counts, indent=1).encode())
    report(f"figures 6 to 9: {folder}")
    return shown(read_json(out / _FILE, Counts))


def _try(task: str, count: int) -> Counts:
    from algoscope import tasks
    from algoscope.programs import printed
    from algoscope.programs.verification import compare_with_reference

    batch = tasks.sample(task, _SIZE, count, _SEED)
    problems = {"as CLRS draws them": batch}
    if task == "bellman_ford":
        problems["without loops"] = printed.without_loops(batch)
    counts = {}
    for reading, of in (("two constants k", printed.best), ("one k", printed.as_printed)):
        network = printed.printed(task, _SIZE, of(task, _SIZE)).network
        for kind, drawn in problems.items():
            exact = compare_with_reference(network, drawn).exact_traces
            counts[f"{task}, {reading}, {kind}"] = round(exact * count), count
    return counts


def summary(folder: pathlib.Path) -> Result | None:
    """What is in a folder, None if there is nothing."""
    there = (folder / _FILE).is_file()
    return shown(read_json(folder / _FILE, Counts)) if there else None


def shown(counts: Counts) -> Result:
    rows, claims = [], []
    for name, (right, count) in counts.items():
        share = statistics.proportion_of_counts(right, count)
        text = share.beside(_NEEDED)
        rows.append([*name.split(", "), text, str(count)])
        holds = True if share.low > _NEEDED else False if share.high < _NEEDED else None
        evidence = f"{text}, N = {count}"
        claims.append(
            Claim(f"{name}: more than {_NEEDED:.0%} of the traces are exact", holds, evidence)
        )
    columns = ["task", "reading", "problems", "exact traces", "N"]
    table = Table(f"Figures 6 to 9: the printed networks at n = {_SIZE}", columns, rows)
    return Result([table], claims, {"exact_traces": counts})


EXPERIMENT = Experiment(
    "mind-the-gap-compiled",
    "the compiled parameters that the paper prints, drawn, and how exact they are",
    SOURCE,
    {
        "smoke": "8 problems, nothing is trained",
        "full": "1,000 problems, nothing is trained: a minute on two cores",
    },
    _reproduce,
    "mind-the-gap",
    tuple(f"figure {number}" for number in range(6, 10)),
)
