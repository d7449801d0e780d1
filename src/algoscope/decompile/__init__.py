"""From a network to a program: which program of the language predicts it best, and how well.

    from algoscope import decompile, networks

    network, task = networks.load("weights.safetensors")
    found = decompile.decompile(network, task)
    print(found.text, found.fit)

The search (`search`) begins with the library's programs of the task and changes one thing at a time
(`grammar`); programs are compared by what the network reads, what it shows, and how it goes on with
another problem's state (`fit`). A fit of 1 on held-out problems says that program and network could
not be told apart there; beside it stands what random programs of the same grammar reach.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from algoscope import programs, tasks
from algoscope.decompile.fit import SHOWS, Behaviour, observe
from algoscope.decompile.search import choose, random_programs, search
from algoscope.measures.references import exact_programs
from algoscope.networks import Network
from algoscope.programs import GraphProgram, Role
from algoscope.programs.interpreter import show
from algoscope.programs.verification import agreement
from algoscope.statistics import Estimate
from algoscope.table import Table
from algoscope.tasks import Task

PROGRAMS = 1500
PROBLEMS = 12
"""Of each kind, in each of the three sets."""
_RANDOM = 48
_CHANGES = 3


class Null(NamedTuple):
    """Random programs of the grammar, on the problems of the report."""

    best: float
    median: float
    programs: int


class Decompiled(NamedTuple):
    program: GraphProgram
    origin: tuple[str, ...]
    """The library's program that the search began with, then each change."""
    fit: float
    """On problems that neither the search nor the choice saw: the mean of the parts."""
    parts: dict[str, Estimate]
    """Whom it reads, what it shows, how it goes on: see `fit`."""
    by_step: dict[str, list[float | None]]
    """Where it does not: the same for each step; the last of what it shows is the answer, and what
    goes on is counted from the exchange."""
    exact: bool
    """Whether the program has the algorithm's traces and answers on these problems."""
    library: dict[str, float]
    """The fit of each of the library's programs of the task on the same problems, best first."""
    null: Null
    tried: int
    """Programs."""
    problems: int

    @property
    def text(self) -> str:
        """The program as a file of its own."""
        head = [
            "# Decompiled: " + "; ".join(self.origin) + ".",
            f"# It predicts {self.fit:.3f} of the network, random programs at most "
            f"{self.null.best:.3f}.",
            f"# task: {self.program.task.name}",
            f"# role: {Role.VARIANT if self.exact else Role.WRONG}",
            f"# fully_connected: {str(self.program.fully_connected).lower()}",
        ]
        body = [line for line in self.program.text.splitlines() if not line.startswith("#")]
        return "\n".join(head) + "\n\n" + "\n".join(body).strip("\n") + "\n"

    def table(self) -> Table:
        rows = [
            ["this program", f"{self.fit:.3f}", *(str(part) for part in self.parts.values())],
            *([name, f"{value:.3f}", *[""] * len(self.parts)] for name, value in self.nearest),
            [f"best of {self.null.programs} random ones", f"{self.null.best:.3f}"],
            ["median of these", f"{self.null.median:.3f}"],
        ]
        width = 2 + len(self.parts)
        return Table(
            f"What programs predict of the network, on {self.problems} problems that were held out",
            ["program", "fit", *self.parts],
            [[*row, *[""] * (width - len(row))] for row in rows],
        )

    def steps_table(self) -> Table:
        """Where the program does not predict the network."""
        longest = max(map(len, self.by_step.values()))
        rows = []
        for name, shares in self.by_step.items():
            said = ["" if value is None else f"{value:.2f}" for value in shares]
            answer = said.pop() if name == SHOWS else ""
            rows.append([name, *said, *[""] * (longest - len(said)), answer])
        steps = [str(step + 1) for step in range(longest)]
        return Table("The same by step", ["", *steps, "answer"], rows)

    @property
    def nearest(self) -> list[tuple[str, float]]:
        """The library's three best."""
        return list(self.library.items())[:3]


def decompile(
    network: Network,
    task: Task | str,
    *,
    without: Collection[str] = (),
    most: int = PROGRAMS,
    problems: int = PROBLEMS,
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> Decompiled:
    """The program that predicts the network best. The library's programs `without` are not used,
    nor their parts; at most about `most` programs are tried."""
    task = tasks.get(task)
    exact_programs(task)
    start = [p for role in Role for p in programs.of_task(task, role) if p.name not in without]
    if not start:
        raise ValueError(
            f"without: got {', '.join(sorted(without))}, needed a program of {task.name} to begin "
            "with"
        )
    report("recording the network")
    seen, chosen_on, held_out = observe(network, task, problems, sets=3, seed=seed)
    searched = search(seen, start, most=most, report=report)
    chosen = choose(searched.finalists, chosen_on)
    fit = held_out.fit(chosen.program)
    library = {p.name: held_out.fit(p).value for p in start}
    return Decompiled(
        chosen.program,
        chosen.origin,
        fit.value,
        {name: part.estimate(seed) for name, part in fit.parts.items() if part.all.sum()},
        {name: part.by_step for name, part in fit.parts.items() if part.all.sum()},
        _is_exact(chosen.program, held_out),
        dict(sorted(library.items(), key=lambda item: -item[1])),
        _null(held_out, start, seed),
        searched.tried,
        len(held_out.batch),
    )


def _is_exact(program: GraphProgram, behaviour: Behaviour) -> bool:
    run = show(program, behaviour.batch)
    same = agreement(run.account, behaviour.batch).values()
    return not run.broken.any() and all(feature.all() for feature in same)


def _null(behaviour: Behaviour, start: list[GraphProgram], seed: int) -> Null:
    fits = [
        behaviour.fit(program).value for program in random_programs(start, _RANDOM, _CHANGES, seed)
    ]
    return Null(max(fits), float(np.median(fits)), len(fits))
