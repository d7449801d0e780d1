"""`algoscope reproduce`: the tables and figures of papers."""

import dataclasses
import json
import pathlib
import sys
from typing import Literal

import tyro

from algoscope.verbs.printing import print_table


@dataclasses.dataclass(frozen=True)
class Reproduce:
    """Reproduce a table or figure of a paper; what was stopped goes on where it was."""

    name: tyro.conf.Positional[str | None] = None
    """The experiment, as --list lists it."""
    preset: Literal["smoke", "full"] = "smoke"
    """Small enough for a laptop, or as the paper does it."""
    out: pathlib.Path | None = None
    """The folder for all that is made; runs/NAME-PRESET if not given, or one that
    the experiments of a paper share."""
    list: bool = False
    """List the experiments."""
    json: bool = False
    """Print all numbers as JSON, and progress on the error stream."""

    def run(self) -> None:
        from algoscope import experiments
        from algoscope.table import Table

        if self.list:
            found = [experiments.get(name) for name in experiments.names()]
            rows = [
                [e.name, e.summary, e.source, *(e.costs[p] for p in ("smoke", "full"))]
                for e in found
            ]
            print_table(Table("experiments", ["name", "what", "source", "smoke", "full"], rows))
            return
        if self.name is None:
            raise ValueError("reproduce: got no name, needed one that --list lists")
        from algoscope.runs.environment import keep_compiled_programs
        from algoscope.training import Stopped

        keep_compiled_programs()
        experiment = experiments.get(self.name)
        out = self.out or experiment.folder(self.preset)
        stream = sys.stderr if self.json else sys.stdout

        def say(text: str) -> None:
            print(text, file=stream, flush=True)

        try:
            result = experiment.run(self.preset, out, say)
        except Stopped:
            say("stopped; what was done is safe, and the same command goes on")
            raise SystemExit(130) from None
        if self.json:
            print(json.dumps(result.numbers))
            return
        for table in result.tables:
            print_table(table)
        for claim in result.claims:
            print(claim)
        print(f"all of it: {out}")
