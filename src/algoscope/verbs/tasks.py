"""`algoscope tasks` and `algoscope sample`: what there is to learn, and problems of it."""

import dataclasses
import io
import pathlib
from typing import TYPE_CHECKING, Annotated

import tyro

from algoscope import progress
from algoscope.table import Table
from algoscope.verbs.definitions import find_task
from algoscope.verbs.output import WITHOUT_JAX, Answer, Verb, named_values

if TYPE_CHECKING:
    import numpy as np

    from algoscope.tasks import Batch


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tasks(Verb):
    """List the tasks: the CLRS-30 algorithms."""

    least_memory = WITHOUT_JAX

    def run(self) -> Answer:
        from algoscope import tasks
        from algoscope.tasks import Stage

        data, rows = {}, []
        for task in map(tasks.get, tasks.names()):
            stages = (task.at(stage) for stage in (Stage.INPUT, Stage.HINT, Stage.OUTPUT))
            features = [" ".join(feature.name for feature in stage) for stage in stages]
            rows.append([task.name, task.summary.rstrip("."), str(task.smallest), *features])
            data[task.name] = {
                "algorithm": task.summary,
                "smallest": task.smallest,
                "options": sorted(task.options),
                "features": {
                    f.name: {"stage": f.stage, "location": f.location, "kind": f.kind}
                    for f in task.features
                },
            }
        columns = ["name", "algorithm", "from size", "inputs", "hints", "outputs"]
        return Answer(data, (Table(f"{len(rows)} tasks", columns, rows),))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample(Verb):
    """Draw problems of a task with the trace of its algorithm; print the first, or export all."""

    least_memory = WITHOUT_JAX

    name: tyro.conf.Positional[str]
    """The task: a name that `algoscope tasks` lists, or a FILE.py that defines your own."""
    size: int = 16
    """Problem size (number of nodes, for most tasks)."""
    count: int = 32
    """Number of problems."""
    seed: int = 7
    """Seed of the random stream; the same seed draws what dm-clrs draws."""
    options: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Options of the task's sampler, such as p=0.3 or p=[0.1,0.5]."""
    out: pathlib.Path | None = None
    """Write all problems to this .npz file, arrays named inputs.A, hints.pi_h, …"""

    def run(self) -> Answer:
        import numpy as np

        from algoscope import files, tasks

        if self.out:
            _check_file(self.out)
        options = named_values("--options", self.options)
        task = find_task(self.name)
        with progress.job("drawing problems"):
            batch = tasks.sample(task, self.size, self.count, self.seed, **options)
        if self.out:
            file = io.BytesIO()
            np.savez_compressed(file, **_named_arrays(batch))  # pyright: ignore[reportArgumentType]
            files.write_bytes(self.out, file.getvalue())
            written = f"{len(batch)} problems of {task.name} written to {self.out}"
            return Answer({"task": task.name, "problems": len(batch), "out": self.out}, (written,))
        data = {"task": task.name, "seed": self.seed, **_named_arrays(batch)}
        return Answer(data, (batch.table(),))


def _check_file(path: pathlib.Path) -> None:
    if path.suffix != ".npz":
        raise ValueError(f"--out: got {path}, needed a name that ends in .npz")
    if not path.parent.is_dir():
        raise ValueError(
            f"--out: got {path}, needed a file in a folder that exists; "
            f"there is no folder {path.parent}"
        )


def _named_arrays(batch: "Batch") -> "dict[str, np.ndarray]":
    stages = {"inputs": batch.inputs, "hints": batch.hints, "outputs": batch.outputs}
    return {
        f"{stage}.{name}": array
        for stage, arrays in stages.items()
        for name, array in arrays.items()
    } | {"lengths": batch.lengths}
