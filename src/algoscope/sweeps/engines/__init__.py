"""Engines: where the runs of a sweep are made. Each has `attempt` called, one item after the other
or side by side, and none has a scheduler of its own: processes, Ray and Slurm have theirs."""

import contextlib
import json
import math
import os
import pathlib
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple, Protocol

from algoscope.files import explained, write_bytes
from algoscope.serialise import from_json, to_json
from algoscope.sweeps.plan import Item
from algoscope.sweeps.work import End, Outcome, do
from algoscope.training.plan import Room

ATTEMPTS = 4
"""How often a run whose worker is lost is begun again from its last checkpoint, first time
included."""
POLL = 0.2
"""Seconds between looks at whether to stop."""
_PART_OF_MEMORY = 0.9
_LARGEST_NODE = 2.0**45
"""Bytes of a node that a scheduler chooses later: no machine has more."""


class Resources(NamedTuple):
    """What one run has for itself."""

    cpus: int = 1
    gpus: float = 0
    """A part of one, such as 0.25, lets several runs share it."""

    @property
    def environment(self) -> dict[str, str]:
        """JAX reserves most of a GPU's memory when it starts: here the run's part of it."""
        if not 0 < self.gpus < 1:
            return {}
        return {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{_PART_OF_MEMORY * self.gpus:.3f}"}

    @property
    def room(self) -> Room:
        """What a run finds on a node that is not known yet."""
        return Room(math.ceil(self.gpus) if self.gpus else None, _LARGEST_NODE)


class Engine(Protocol):
    @property
    def room(self) -> Room:
        """What each run finds where it is made."""
        ...

    def run(self, items: Sequence[Item], stop: threading.Event) -> Generator[Outcome, None, None]:
        """The outcomes of all items as they come. Once `stop` is set, runs under way end in a
        checkpoint, and others do not begin."""
        ...


def as_text(item: Item) -> str:
    """For another process, wherever it stands."""
    return json.dumps(to_json(item._replace(path=os.path.abspath(item.path))))


def from_text(text: str) -> Item:
    return from_json(Item, json.loads(text), where="item")


def attempt(item: Item) -> Outcome:
    """`do` in a process of an engine: whatever any library prints goes to the run's log."""
    with _printed_to(item.log):
        return do(item)


def lost(item: Item, how: str) -> Outcome:
    """The outcome of a run whose worker was lost too often, or could not begin."""
    write_bytes(item.error, f"{how}\n".encode())
    return Outcome(item.name, End.FAILED, how)


@contextlib.contextmanager
def _printed_to(path: pathlib.Path) -> Iterator[None]:
    """Standard output and error go there, also those of code that is not Python's."""
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    sys.stdout.flush()
    sys.stderr.flush()
    before = {number: os.dup(number) for number in (1, 2)}
    try:
        with file:
            for number in before:
                os.dup2(file.fileno(), number)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, kept in before.items():
            os.dup2(kept, number)
            os.close(kept)
