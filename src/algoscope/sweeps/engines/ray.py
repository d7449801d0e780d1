"""Runs as tasks of a Ray cluster (extra `ray`), each with its cores and its GPU, or a part of one.

Ray begins again with a task whose worker or node is lost, and the run goes on from its last
checkpoint. Runs are made in the sweep's folder, which all nodes have to share; or, with a
`storage`, on the nodes' own disks with a copy there, from which they come into the sweep's folder.
"""

import contextlib
import json
import logging
import pathlib
import signal
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from algoscope import progress
from algoscope.errors import ConfigError
from algoscope.serialise import from_json, to_json
from algoscope.sweeps.engines import ATTEMPTS, POLL, Resources, as_text, attempt, from_text, lost
from algoscope.sweeps.plan import Item
from algoscope.sweeps.storage import Storage
from algoscope.sweeps.work import End, Outcome
from algoscope.training.plan import Room


class Ray:
    def __init__(
        self,
        resources: Resources | None = None,
        *,
        address: str = "auto",
        storage: str | None = None,
    ):
        """The `address` is that of a cluster that runs, such as 10.0.0.1:6379; "auto" is the one
        that this machine belongs to. The `storage` is a URL that fsspec knows."""
        import ray  # Here, since it takes signals for itself, which a sweep takes later.

        del ray
        self._resources, self._address = resources or Resources(), address
        self._url = storage
        self._storage = None if storage is None else Storage(storage)

    @property
    def room(self) -> Room:
        return self._resources.room

    def run(self, items: Sequence[Item], stop: threading.Event) -> Generator[Outcome, None, None]:
        import ray

        with self._connected():
            self._say_if_no_node_has_room()
            task = ray.remote(_made).options(
                num_cpus=self._resources.cpus,
                num_gpus=self._resources.gpus,
                max_retries=ATTEMPTS - 1,
                runtime_env={"env_vars": self._resources.environment},
            )
            left: dict[Any, Item] = {}
            for item in items:
                item.error.unlink(missing_ok=True)
                if self._storage is not None:
                    # What another engine has begun goes on.
                    self._storage.offer(item.name, pathlib.Path(item.path).parent)
                left[task.remote(as_text(item), self._url)] = item
            told = False
            while left:
                if stop.is_set() and not told:
                    told = True
                    for reference in left:
                        ray.cancel(reference)
                ready, _ = ray.wait(list(left), num_returns=1, timeout=POLL)
                for reference in ready:
                    item = left.pop(reference)
                    yield self._fetched(item) or _outcome(reference, item)

    def _say_if_no_node_has_room(self) -> None:
        """Ray lets tasks wait for such a node, without a word: one may be started yet."""
        import ray

        cpus, gpus = self._resources
        rooms = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if not any(room.get("CPU", 0) >= cpus and room.get("GPU", 0) >= gpus for room in rooms):
            had = ", ".join(f"{room.get('CPU', 0):g} and {room.get('GPU', 0):g}" for room in rooms)
            progress.note(
                f"--cpus {cpus} --gpus {gpus:g}: no node of the cluster has so many (they have "
                f"{had}); runs wait until one does, Ctrl-C stops"
            )

    def _fetched(self, item: Item) -> Outcome | None:
        """How the run ended that cannot be fetched from the storage; others go on."""
        if self._storage is not None:
            try:
                self._storage.fetch(item.name, pathlib.Path(item.path).parent)
            except Exception as error:  # Each kind of storage has its own.
                told = " ".join(str(error).split()) or type(error).__name__
                return lost(
                    item,
                    f"the run is in {self._url}, from where it cannot be fetched: {told}; the same "
                    "command tries again",
                )
        return None

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        import ray

        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.getsignal(number) for number in numbers}
        try:
            ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as error:
            raise ConfigError(
                f"address: got {self._address}, where no Ray cluster answers ({error}); start one "
                "with `ray start --head`, or give the address of one that runs"
            ) from None
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)
        try:
            yield
        finally:
            ray.shutdown()


def _outcome(reference: Any, item: Item) -> Outcome:
    import ray
    from ray.exceptions import RayError, RayTaskError, TaskCancelledError

    try:
        return from_json(Outcome, json.loads(ray.get(reference)), where="outcome")
    except TaskCancelledError:
        return Outcome(item.name, End.STOPPED)
    except RayTaskError as error:
        return lost(item, f"the worker could not begin: {str(error).strip().splitlines()[-1]}")
    except RayError as error:
        said = (str(error).strip().splitlines() or [""])[0]
        return lost(
            item, f"the worker was lost {ATTEMPTS} times, last by {type(error).__name__}: {said}"
        )


def _made(text: str, url: str | None) -> str:
    """The task: an item as text, and its outcome."""
    item = from_text(text)
    if url is None:
        return json.dumps(to_json(attempt(item)))
    with tempfile.TemporaryDirectory(prefix="algoscope-") as name:
        folder = pathlib.Path(name)
        with Storage(url).taken_up(item.name, folder, item.settings.checkpoint_seconds):
            outcome = attempt(item._replace(path=str(folder / item.name)))
        return json.dumps(to_json(outcome))
