"""The plan of a sweep: which runs it has, which seeds are missing, and in which folders they go.

A run is named by its content:

    bfs-1b9ee6a5d4c2-s0-7                    # tasks, digest of the configuration, seeds

The digest is of everything but the seeds. So a sweep that is repeated or extended, by values of an
axis or by seeds, trains only what no folder has yet.
"""

import dataclasses
import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from algoscope.sweeps.spec import After, Sweep
from algoscope.training.config import TrainingConfig

_FOLDER = re.compile(r"(?P<stem>.+-[0-9a-f]{12})-s(?P<first>\d+)-(?P<last>\d+)")
_DIGEST = 12
_LONGEST = 48
"""Characters of the tasks' names in the name of a run."""


class Settings(NamedTuple):
    """How runs are made: what changes none of their bits."""

    after: After = "score"
    problems: int = 4_000
    track: tuple[str, ...] = ()
    """Trackers."""
    checkpoint_seconds: float = 60.0
    at_once: int | None = None
    devices: int | None = None


class Item(NamedTuple):
    """One piece of work: a run, from wherever it is to its end."""

    sweep: str
    """The sweep's name."""
    path: str
    """The run folder."""
    config: TrainingConfig
    settings: Settings

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def log(self) -> pathlib.Path:
        """Beside the run folder."""
        return pathlib.Path(f"{self.path}.log")

    @property
    def error(self) -> pathlib.Path:
        """Why the last attempt failed; not there if none did."""
        return pathlib.Path(f"{self.path}.error")


class Planned(NamedTuple):
    """A run with the values of the axes that it is for."""

    axes: dict[str, Any]
    item: Item


def plan(sweep: Sweep, folder: pathlib.Path, settings: Settings) -> list[Planned]:
    """All runs of the sweep, those that are there already among them, by combination and seeds."""
    present = _present(folder)
    planned = []
    for combination in sweep.combinations:
        config = sweep.config(combination)
        stem = stem_of(config)
        for seeds in _ranges(config, present.get(stem, ())):
            path = os.path.join(folder, f"{stem}-s{seeds.start}-{seeds.stop - 1}")
            own = config
            if (seeds.start, len(seeds)) != (config.first_seed, config.seeds):
                own = dataclasses.replace(config, first_seed=seeds.start, seeds=len(seeds))
            planned.append(Planned(combination, Item(sweep.name, path, own, settings)))
    return planned


def stem_of(config: TrainingConfig) -> str:
    """Of the name of its runs: the tasks, and a digest of all but the seeds."""
    content = config.as_json()
    del content["seeds"], content["first_seed"]
    text = json.dumps(content, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{'-'.join(config.tasks)[:_LONGEST]}-{digest}"


def _present(folder: pathlib.Path) -> dict[str, list[range]]:
    """The seeds of the run folders that are there, by the stem of their names."""
    seeds: dict[str, list[range]] = {}
    if not folder.is_dir():
        return seeds
    with os.scandir(folder) as found:
        for match in (_FOLDER.fullmatch(entry.name) for entry in found if entry.is_dir()):
            if match:
                own = range(int(match["first"]), int(match["last"]) + 1)
                seeds.setdefault(match["stem"], []).append(own)
    return seeds


def _ranges(config: TrainingConfig, present: Iterable[range]) -> Iterator[range]:
    """The seeds of each run of a configuration, ascending: of the folders that have some of those
    that are wanted, and of new ones, which fill the gaps."""
    wanted = range(config.first_seed, config.first_seed + config.seeds)
    reached = wanted.start
    for seeds in sorted(present, key=lambda seeds: (seeds.start, seeds.stop)):
        if seeds.stop <= reached or seeds.start >= wanted.stop:
            continue
        if seeds.start > reached:
            yield range(reached, seeds.start)
        yield seeds
        reached = seeds.stop
    if reached < wanted.stop:
        yield range(reached, wanted.stop)
