"""Engines: where the runs of a sweep are made. Each calls `work.do`, one item after the other or
side by side, and none has a scheduler of its own: processes, Ray and Slurm have theirs."""

import threading
from collections.abc import Generator, Sequence
from typing import Literal, NamedTuple, Protocol

from algoscope.sweeps.plan import Item
from algoscope.sweeps.work import Outcome

Name = Literal["local", "ray", "slurm"]
ATTEMPTS = 4
"""How often a run whose worker is lost is begun again from its last checkpoint, first time
included."""
POLL = 0.2
"""Seconds between looks at whether to stop."""
_PART_OF_MEMORY = 0.9


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


class Engine(Protocol):
    def run(self, items: Sequence[Item], stop: threading.Event) -> Generator[Outcome, None, None]:
        """The outcomes of all items as they come. Once `stop` is set, runs under way end in a
        checkpoint, and others do not begin."""
        ...
