"""The command line: one verb per user intent, each a typed dataclass whose docstrings are its help.

Everything heavy is imported inside the verbs, so that `algoscope --help` answers at once.
"""

import dataclasses
import json
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from algoscope.verbs.llm import Llm

if TYPE_CHECKING:
    from algoscope.programs.verification import Verification
    from algoscope.tasks import Batch
    from algoscope.tasks.table import Table


@dataclasses.dataclass(frozen=True)
class Tasks:
    """List the tasks: the CLRS-30 algorithms."""

    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import tasks
        from algoscope.tasks.table import Table

        rows = [tasks.get(name) for name in tasks.names()]
        if self.json:
            print(json.dumps({task.name: _describe(task) for task in rows}, indent=2))
            return
        _print_table(
            Table(
                f"{len(rows)} tasks",
                ["name", "algorithm", "from size", "inputs", "hints", "outputs"],
                [
                    [
                        task.name,
                        task.summary.rstrip("."),
                        str(task.smallest),
                        *(" ".join(f.name for f in task.at(stage)) for stage in _stage_order()),
                    ]
                    for task in rows
                ],
            )
        )


@dataclasses.dataclass(frozen=True)
class Sample:
    """Draw problems of a task with the trace of its algorithm; print the first, or export all."""

    name: tyro.conf.Positional[str]
    """The task, as `algoscope tasks` lists it."""
    size: int = 16
    """Problem size (number of nodes, for most tasks)."""
    count: int = 32
    """Number of problems."""
    seed: int = 7
    """Seed of the random stream; the same seed draws what dm-clrs draws."""
    options: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """Options of the task's sampler, such as p=0.3 or p=[0.1,0.5]."""
    json: bool = False
    """Print all problems as JSON."""
    out: pathlib.Path | None = None
    """Write all problems to this .npz file, arrays named inputs.A, hints.pi_h, …"""

    def run(self) -> None:
        from algoscope import tasks
        from algoscope.tasks.table import trace_table

        if self.json and self.out:
            raise ValueError("--json and --out: got both, needed at most one of them")
        if self.out and self.out.suffix != ".npz":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .npz")
        if self.out and not self.out.parent.is_dir():
            raise ValueError(
                f"--out: got {self.out}, needed a file in a folder that exists; "
                f"there is no folder {self.out.parent}"
            )
        options = dict(_parse_option(option) for option in self.options)
        batch = tasks.sample(self.name, self.size, self.count, self.seed, **options)
        if self.json:
            arrays = {name: array.tolist() for name, array in _flat_arrays(batch).items()}
            print(json.dumps({"task": self.name, "seed": self.seed, **arrays}))
        elif self.out:
            _write_npz(self.out, _flat_arrays(batch))
            print(f"{len(batch)} problems of {self.name} written to {self.out}")
        else:
            _print_table(trace_table(batch))


@dataclasses.dataclass(frozen=True)
class Programs:
    """List the graph programs, with what their compiled networks are certified for."""

    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import programs
        from algoscope.tasks.table import Table

        described = {name: _describe_program(name) for name in programs.names()}
        if self.json:
            print(json.dumps(described, indent=2))
            return
        columns = ["task", "width", "parameters", "sharpness", "margin", "largest_uniform_size"]
        _print_table(
            Table(
                f"{len(described)} programs",
                ["name", *(column.replace("_", " ") for column in columns)],
                [
                    [name, *(_short((row | row["certificate"])[column]) for column in columns)]
                    for name, row in described.items()
                ],
            )
        )


@dataclasses.dataclass(frozen=True)
class Compile:
    """Compile a graph program into the weights of a network, and save them."""

    name: tyro.conf.Positional[str]
    """The program, as `algoscope programs` lists it."""
    out: pathlib.Path
    """Write the network to this .safetensors file."""
    width: int | None = None
    """Width of the network; the smallest that fits, if not given."""

    def run(self) -> None:
        from algoscope import networks, programs
        from algoscope.programs.compiler import compile_program

        if self.out.suffix != ".safetensors":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .safetensors")
        program = programs.get(self.name)
        network = compile_program(program, self.width).network
        networks.save(network, self.out, program.task)
        print(f"{program.name}, width {network.config.width}, written to {self.out}")


@dataclasses.dataclass(frozen=True)
class Verify:
    """Compare a program's compiled network, its interpreter and the reference algorithm."""

    name: tyro.conf.Positional[str]
    """The program, as `algoscope programs` lists it."""
    size: int = 64
    """Problem size."""
    count: int = 256
    """Number of problems."""
    seed: int = 7
    """Seed of the problems, and of random positions."""
    width: int | None = None
    """Width of the network; the smallest that fits, if not given."""
    random_positions: bool = False
    """Place the nodes at sorted random positions instead of even ones."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import programs, tasks
        from algoscope.programs.positions import with_random_positions
        from algoscope.programs.verification import verify

        program = programs.get(self.name)
        batch = tasks.sample(program.task, self.size, self.count, self.seed)
        if self.random_positions:
            batch = with_random_positions(batch, self.seed)
        result = verify(program, batch, self.width)
        if self.json:
            print(json.dumps(result.as_json()))
        else:
            _print_table(_verification_table(program.name, result))


@dataclasses.dataclass(frozen=True)
class Draw:
    """Draw the weights of a compiled program as heat maps, in SVG and PNG."""

    name: tyro.conf.Positional[str]
    """The program, as `algoscope programs` lists it."""
    out: pathlib.Path = pathlib.Path()
    """Write the pictures to this folder."""

    def run(self) -> None:
        from algoscope import programs
        from algoscope.programs.drawing import draw

        if not self.out.is_dir():
            raise ValueError(f"--out: got {self.out}, needed a folder that exists")
        for path in draw(programs.get(self.name), self.out):
            print(path)


def main() -> None:
    verb = tyro.extras.subcommand_cli_from_dict(
        {
            "tasks": Tasks,
            "sample": Sample,
            "programs": Programs,
            "compile": Compile,
            "verify": Verify,
            "draw": Draw,
            "llm": Llm,
        },
        description="Does this model run the algorithm, or a shortcut?",
    )
    try:
        verb.run()
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


def _stage_order():
    from algoscope.tasks import Stage

    return Stage.INPUT, Stage.HINT, Stage.OUTPUT


def _describe(task: Any) -> dict:
    return {
        "algorithm": task.summary,
        "smallest": task.smallest,
        "options": sorted(task.options),
        "features": {
            f.name: {"stage": f.stage, "location": f.location, "kind": f.kind}
            for f in task.features
        },
    }


def _describe_program(name: str) -> dict:
    from algoscope import networks, programs
    from algoscope.programs.compiler import compile_program

    program = programs.get(name)
    network, certificate = compile_program(program)
    return {
        "task": program.task,
        "width": network.config.width,
        "parameters": sum(array.size for array in networks.arrays(network).values()),
        "certificate": certificate._asdict(),
    }


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _verification_table(name: str, result: "Verification") -> "Table":
    from algoscope.tasks.table import Table

    accounts = (result.network, result.interpreter, result.compilation)
    rows = [
        ["exact traces", *(f"{a.exact_traces:.2%}" for a in accounts)],
        ["exact outputs", *(f"{a.exact_outputs:.2%}" for a in accounts)],
        *(["hint " + h, *(f"{a.hints[h]:.2%}" for a in accounts)] for h in result.network.hints),
        *(
            ["output " + o, *(f"{a.outputs[o]:.2%}" for a in accounts)]
            for o in result.network.outputs
        ),
    ]
    below = "not measured" if result.below_margin is None else f"{result.below_margin} samples"
    return Table(
        f"{name}: {result.samples} samples of {result.nodes} nodes; below the certified margin of "
        f"{result.certificate.margin:.2g}: {below}",
        ["", "network = reference", "interpreter = reference", "network = interpreter"],
        rows,
    )


def _parse_option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        if not equals:
            raise ValueError
        return name, json.loads(value)
    except ValueError:
        raise ValueError(
            f"--options: got {text!r}, needed NAME=VALUE with a JSON value, such as p=[0.1,0.5]"
        ) from None


def _flat_arrays(batch: "Batch") -> dict:
    stages = {"inputs": batch.inputs, "hints": batch.hints, "outputs": batch.outputs}
    named = {
        f"{stage}.{name}": array
        for stage, arrays in stages.items()
        for name, array in arrays.items()
    }
    return named | {"lengths": batch.lengths}


def _write_npz(path: pathlib.Path, arrays: dict) -> None:
    """Writes beside the file and moves into place, so that a failure leaves what was there."""
    import numpy as np

    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _print_table(table: "Table") -> None:
    import rich.box
    import rich.console
    import rich.table

    rendered = rich.table.Table(title=table.title, box=rich.box.SIMPLE, title_justify="left")
    for column in table.columns:
        rendered.add_column(column)
    for row in table.rows:
        rendered.add_row(*row)
    rich.console.Console(width=None if sys.stdout.isatty() else 160, markup=False).print(rendered)
