"""Sweeps: every combination of a few values, trained on one machine, on Ray or on Slurm.

from algoscope import sweeps

sweep = sweeps.Sweep("rates", base={"tasks": ["bfs"]}, axes={"learning_rate": [1e-4, 1e-3]})
sweeps.drive(sweep, folder, sweeps.Local(folder, workers=2))  # the runs that are missing
sweeps.drive(sweep, folder, sweeps.Ray(sweeps.Resources(gpus=0.25)))  # elsewhere
sweeps.positions(folder)  # where they are
sweeps.page(folder)  # what came of them
"""

import pathlib
from collections.abc import Callable

from algoscope.sweeps.drive import (
    Driven,
    drive,
    driving,
    interrupt,
    read_specification,
    write_specification,
)
from algoscope.sweeps.engines import Engine, Resources
from algoscope.sweeps.engines.local import Local
from algoscope.sweeps.engines.ray import Ray
from algoscope.sweeps.engines.slurm import Slurm
from algoscope.sweeps.estimate import (
    Estimate,
    correction,
    estimate,
    platform_here,
    side_by_side,
)
from algoscope.sweeps.harvest import Harvest, gather
from algoscope.sweeps.plan import Item, Planned, Settings, plan
from algoscope.sweeps.spec import Sweep, checked, from_content, read
from algoscope.sweeps.status import (
    Position,
    Stage,
    counts,
    positions,
    span_text,
    status_table,
    value_text,
)
from algoscope.sweeps.work import End, Outcome, do, is_done

__all__ = [
    "Driven",
    "End",
    "Engine",
    "Estimate",
    "Harvest",
    "Item",
    "Local",
    "Outcome",
    "Planned",
    "Position",
    "Ray",
    "Resources",
    "Settings",
    "Slurm",
    "Stage",
    "Sweep",
    "checked",
    "correction",
    "counts",
    "do",
    "drive",
    "driving",
    "estimate",
    "from_content",
    "gather",
    "interrupt",
    "is_done",
    "page",
    "plan",
    "platform_here",
    "positions",
    "read",
    "read_specification",
    "side_by_side",
    "span_text",
    "status_table",
    "value_text",
    "write_specification",
]


def page(folder: pathlib.Path, report: Callable[[str], None] = lambda text: None) -> pathlib.Path:
    """Writes the page of what the sweep in a folder has come to so far; returns its path."""
    # Here, since nothing else of a sweep needs figures, which take a second to load.
    from algoscope.sweeps import overview

    return overview.write(folder, report)
