"""The command line: one verb per user intent, each a typed dataclass whose docstrings are its help.

Everything heavy is imported inside the verbs, so that `algoscope --help` answers at once.
"""

import dataclasses
import json
import os
import pathlib
import sys
import textwrap
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope.verbs.gap import Gap
from algoscope.verbs.llm import Llm
from algoscope.verbs.printing import print_table
from algoscope.verbs.report import Demo, Report, View
from algoscope.verbs.reproduce import Reproduce
from algoscope.verbs.runs import Runs
from algoscope.verbs.train import Train
from algoscope.verbs.transnar import Transnar

if TYPE_CHECKING:
    from algoscope.tasks import Batch


@dataclasses.dataclass(frozen=True)
class Tasks:
    """List the tasks: the CLRS-30 algorithms."""

    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import tasks
        from algoscope.table import Table

        rows = [tasks.get(name) for name in tasks.names()]
        if self.json:
            print(json.dumps({task.name: _describe(task) for task in rows}, indent=2))
            return
        print_table(
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
        from algoscope.tasks.trace_table import trace_table

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
            print_table(trace_table(batch))


@dataclasses.dataclass(frozen=True)
class Programs:
    """List the graph programs, with what their compiled networks are certified for."""

    size: int = 16
    """Problem size for which the networks that Mind The Gap prints are described."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import programs
        from algoscope.programs.printed import TASKS, printed
        from algoscope.programs.verification_tables import limits
        from algoscope.table import Table

        as_printed = {name: printed(name, self.size).certificate for name in TASKS}
        described = {name: _describe_program(name) for name in programs.names()}
        for name, certificate in as_printed.items():
            described[name]["printed"] = certificate.as_json()
        if self.json:
            print(json.dumps(described, indent=2))
            return
        columns = ["task", "width", "parameters", "sharpness", "margin", "largest_uniform_size"]
        print_table(
            Table(
                f"{len(described)} programs",
                ["name", *(column.replace("_", " ") for column in columns)],
                [
                    [name, *(_short((row | row["certificate"])[column]) for column in columns)]
                    for name, row in described.items()
                ],
            )
        )
        for name, certificate in as_printed.items():
            print(f"{name} as Mind The Gap prints it (--variant printed):")
            print(textwrap.indent(limits(certificate), "  "))


Variant = Literal["compiled", "printed"]


@dataclasses.dataclass(frozen=True)
class Compile:
    """Compile a graph program into the weights of a network, and save them."""

    name: tyro.conf.Positional[str]
    """The program, as `algoscope programs` lists it."""
    out: pathlib.Path
    """Write the network to this .safetensors file."""
    width: int | None = None
    """Width of the network; the smallest that fits, if not given."""
    variant: Variant = "compiled"
    """From the program, or as Mind The Gap prints it (bfs and bellman_ford, width 4)."""
    size: int | None = None
    """Problem size, which a printed network is made for."""

    def run(self) -> None:
        from algoscope import networks, programs
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.printed import printed
        from algoscope.programs.verification_tables import limits

        if self.out.suffix != ".safetensors":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .safetensors")
        _check_variant(self.variant, width=self.width)
        if (self.size is None) == (self.variant == "printed"):
            raise ValueError(
                f"--size: got {self.size} with --variant {self.variant}; needed a size for a "
                "printed network, and none for a compiled one, which is for all sizes"
            )
        if self.size is not None:
            network, certificate = printed(self.name, self.size)
            networks.save(network, self.out, self.name)
            print(f"{self.name} as printed, for {self.size} nodes, written to {self.out}")
            print(limits(certificate))
            return
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
    variant: Variant = "compiled"
    """From the program, or as Mind The Gap prints it (bfs and bellman_ford, width 4)."""
    without_loops: bool = False
    """Take the loops out of the graphs (printed variant)."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        _check_variant(self.variant, width=self.width, without_loops=self.without_loops)
        if self.variant == "printed":
            self._run_printed()
        else:
            self._run_compiled()

    def _batch(self, task: str) -> "Batch":
        from algoscope import tasks
        from algoscope.programs.positions import with_random_positions

        batch = tasks.sample(task, self.size, self.count, self.seed)
        return with_random_positions(batch, self.seed) if self.random_positions else batch

    def _run_compiled(self) -> None:
        from algoscope import programs
        from algoscope.programs.verification import verify
        from algoscope.programs.verification_tables import verdict, verification_table

        program = programs.get(self.name)
        result = verify(program, self._batch(program.task), self.width)
        if self.json:
            print(json.dumps(result.as_json()))
        else:
            print_table(verification_table(program.name, result))
            print(verdict(result))
        if result.exact_above_margin < 1:
            sys.exit(1)

    def _run_printed(self) -> None:
        from algoscope.programs.printed import printed, without_loops
        from algoscope.programs.verification import compare_with_reference
        from algoscope.programs.verification_tables import limits, printed_table

        network, certificate = printed(self.name, self.size)
        batch = self._batch(self.name)
        if self.without_loops:
            batch = without_loops(batch)
        exactness = compare_with_reference(network, batch)
        if self.json:
            described = {
                **exactness._asdict(),
                "certificate": certificate.as_json(),
                "samples": self.count,
                "nodes": self.size,
            }
            print(json.dumps(described))
        else:
            print_table(printed_table(self.name, batch, exactness))
            print(limits(certificate))


@dataclasses.dataclass(frozen=True)
class Draw:
    """Draw the weights of a compiled program as heat maps, in SVG and PNG."""

    name: tyro.conf.Positional[str]
    """The program, as `algoscope programs` lists it."""
    out: pathlib.Path = pathlib.Path()
    """Write the pictures to this folder."""
    variant: Variant = "compiled"
    """From the program, or as Mind The Gap prints it, figures 6-9 (bfs and bellman_ford)."""
    size: int = 16
    """Problem size of a printed network; compiled ones are for all sizes."""

    def run(self) -> None:
        from algoscope import programs
        from algoscope.programs import panels, printed
        from algoscope.programs.weight_pictures import draw

        if not self.out.is_dir():
            raise ValueError(f"--out: got {self.out}, needed a folder that exists")
        if self.variant == "printed":
            network = printed.printed(self.name, self.size).network
            written = draw(f"{self.name}-printed", printed.panels(network), self.out)
        else:
            written = draw(self.name, panels.panels(programs.get(self.name)), self.out)
        for path in written:
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
            "demo": Demo,
            "gap": Gap,
            "train": Train,
            "report": Report,
            "view": View,
            "runs": Runs,
            "llm": Llm,
            "transnar": Transnar,
            "reproduce": Reproduce,
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


def _check_variant(variant: Variant, **options: Any) -> None:
    """Refuses options that the variant has no use for."""
    fixed = {"printed": ["width"], "compiled": ["without_loops"]}[variant]
    for name in fixed:
        if options.get(name):
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{option}: got {options[name]} with --variant {variant}, needed it left out"
            )


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


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
