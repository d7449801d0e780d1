"""`algoscope programs`, `compile`, `verify` and `draw`: graph programs and their networks."""

import contextlib
import dataclasses
import pathlib
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from algoscope import progress
from algoscope.table import Table
from algoscope.verbs.definitions import find_program
from algoscope.verbs.output import Answer, Verb, number

if TYPE_CHECKING:
    from algoscope.programs.precision import Precision
    from algoscope.tasks import Batch, Task

_Arithmetic = Literal["float32", "float64"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Programs(Verb):
    """List the graph programs, with what their compiled networks are certified for."""

    size: int = 16
    """Problem size for which the networks that Mind The Gap prints are described."""
    html: Annotated[tuple[pathlib.Path, ...] | None, tyro.conf.arg(metavar="[FILE]")] = None
    """Write the library as a page instead, to this file or to programs.html: texts, runs step by
    step, weights and certificates."""

    def run(self) -> Answer:
        if self.html is None:
            return self._list()
        if len(self.html) > 1:
            raise ValueError(f"--html: got {len(self.html)} files, needed one")
        return self._page(*self.html or (pathlib.Path("programs.html"),))

    def _page(self, path: pathlib.Path) -> Answer:
        from algoscope import programs
        from algoscope.report.library import write_library

        write_library(programs.names(), path)
        return Answer({"page": path}, (f"Open {path.resolve()}",))

    def _list(self) -> Answer:
        from algoscope import networks, programs
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.printed import TASKS, printed
        from algoscope.programs.verification_tables import limits

        certificates = {name: printed(name, self.size).certificate for name in TASKS}
        described: dict[str, dict[str, Any]] = {}
        for name in progress.over(programs.names(), "compiling programs"):
            network, certificate, _ = compile_program(programs.get(name))
            described[name] = {
                "task": programs.get(name).task.name,
                "width": network.config.width,
                "parameters": sum(array.size for array in networks.arrays(network).values()),
                "certificate": certificate._asdict(),
            }
        for name, certificate in certificates.items():
            described[name]["printed"] = certificate.as_json()
        columns = ["task", "width", "parameters", "sharpness", "margin", "largest_uniform_size"]
        rows = [
            [name, *(number((row | row["certificate"])[column], 3) for column in columns)]
            for name, row in described.items()
        ]
        titles = ["name", *(column.replace("_", " ") for column in columns)]
        printed_limits = (
            f"{name} as Mind The Gap prints it (--variant printed):\n"
            + textwrap.indent(limits(certificate), "  ")
            for name, certificate in certificates.items()
        )
        table = Table(f"{len(described)} programs", titles, rows)
        return Answer(described, (table, *printed_limits))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _AboutProgram(Verb):
    name: tyro.conf.Positional[str]
    """The program: a name that `algoscope programs` lists, or your own FILE.py or FILE.program."""
    variant: Literal["compiled", "printed"] = "compiled"
    """From the program, or as Mind The Gap prints it, figures 6-9 (bfs and bellman_ford)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _MakesNetwork(_AboutProgram):
    width: int | None = None
    """Width of the network; the smallest that fits, if not given. Printed ones have width 4."""

    def _check_variant(self) -> None:
        """Refuses the option that the variant has no use for."""
        name = {"printed": "width", "compiled": "without_loops"}[self.variant]
        if value := getattr(self, name, None):
            raise ValueError(
                f"--{name.replace('_', '-')}: got {value} with --variant {self.variant}, "
                "needed it left out"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Compile(_MakesNetwork):
    """Compile a graph program into the weights of a network, and save them."""

    out: pathlib.Path
    """Write the network to this .safetensors file."""
    size: int | None = None
    """Problem size, which a printed network is made for."""

    def run(self) -> Answer:
        from algoscope import networks
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.printed import printed
        from algoscope.programs.verification_tables import limits

        if self.out.suffix != ".safetensors":
            raise ValueError(f"--out: got {self.out}, needed a name that ends in .safetensors")
        self._check_variant()
        if (self.size is None) == (self.variant == "printed"):
            raise ValueError(
                f"--size: got {self.size} with --variant {self.variant}; needed a size for a "
                "printed network, and none for a compiled one, which is for all sizes"
            )
        data = {"program": self.name, "variant": self.variant, "out": self.out}
        if self.size is not None:
            network, certificate = printed(self.name, self.size)
            networks.save(network, self.out, self.name)
            written = f"{self.name} as printed, for {self.size} nodes, written to {self.out}"
            data["certificate"] = certificate.as_json()
            return Answer(data, (written, limits(certificate)))
        program = find_program(self.name)
        compiled = compile_program(program, self.width)
        networks.save(compiled.network, self.out, program.task.name, compiled.source)
        data["width"] = compiled.network.config.width
        return Answer(data, (f"{program.name}, width {data['width']}, written to {self.out}",))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Verify(_MakesNetwork):
    """Compare a program's compiled network, its interpreter and the reference algorithm."""

    size: int = 64
    """Problem size."""
    count: int = 256
    """Number of problems."""
    seed: int = 7
    """Seed of the problems, and of random positions."""
    draw: Literal["sampler", "families", "small"] = "sampler"
    """Problems as CLRS-30's sampler draws them; or of the falsifier's families, about --count of
    --size nodes: lines, stars, ties, extreme weights; or small: all of very few nodes."""
    random_positions: bool = False
    """Place the nodes at sorted random positions instead of even ones."""
    follow: int | None = None
    """On how many problems rounding is bounded (running error analysis); if not given, as many as
    take little time. Those on which network and interpreter differ come to them."""
    precision: _Arithmetic = "float32"
    """Arithmetic of the network. In float64 N is larger, so that a program is exact where numbers
    are closer than float32 tells apart."""
    without_loops: bool = False
    """Take the loops out of the graphs (printed variant)."""

    def run(self) -> Answer:
        self._check_variant()
        return self._printed() if self.variant == "printed" else self._compiled()

    def _batches(self, task: "Task") -> "list[Batch]":
        """Each of one size."""
        from algoscope import tasks
        from algoscope.falsify.cover import some_of_each
        from algoscope.falsify.families import domain, families
        from algoscope.falsify.small import every_small_problem
        from algoscope.tasks.options import integer
        from algoscope.tasks.transforms import with_random_positions

        match self.draw:
            case "sampler":
                batches = [tasks.sample(task, self.size, self.count, self.seed)]
            case "families":
                integer(1)("count", self.count, self.size)
                each = max(1, round(self.count / len(families(domain(task)))))
                batches = [some_of_each(task, self.size, each, self.seed)]
            case "small":
                batches = list(every_small_problem(task))
        if not self.random_positions:
            return batches
        return [with_random_positions(batch, self.seed) for batch in batches]

    def _compiled(self) -> Answer:
        from algoscope.programs.compiler import compile_program
        from algoscope.programs.verification import Verification, verify
        from algoscope.programs.verification_tables import verdict, verification_table

        program = find_program(self.name)
        if self.random_positions and program.needs_even_positions:
            raise ValueError(
                f"--random-positions: got it for {program.name}, which needs even positions "
                "(`# positions: even` in its text); leave it out"
            )
        if self.width is not None:
            compile_program(program, self.width)  # What does not fit is said before any is drawn.
        # Of problems as they are drawn, programs keep all promises that float32 lets them keep.
        beyond, batches = self.draw != "sampler", self._batches(program.task)
        with _arithmetic(self.precision) as precision:
            result = Verification.together(
                [
                    verify(program, batch, self.width, precision, self.follow, may_break=beyond)
                    for batch in batches
                ]
            )
        table = verification_table(program.name, result, or_fewer=len(batches) > 1)
        parts = (table, verdict(result))
        return Answer(result.as_json(), parts, status=int(result.faulty))

    def _printed(self) -> Answer:
        from algoscope import tasks
        from algoscope.programs.printed import printed, without_loops
        from algoscope.programs.verification import compare_with_reference
        from algoscope.programs.verification_tables import limits, printed_table

        if self.precision != "float32":
            raise ValueError(
                f"--precision: got {self.precision} with --variant printed, needed float32"
            )
        network, certificate = printed(self.name, self.size)
        batches = self._batches(tasks.get(self.name))
        if len(batches) > 1:
            raise ValueError(
                f"--draw: got {self.draw} with --variant printed, whose networks have one size; "
                "needed sampler or families"
            )
        batch = batches[0]
        if self.without_loops:
            batch = without_loops(batch)
        exactness = compare_with_reference(network, batch)
        data = exactness._asdict() | {"certificate": certificate.as_json()}
        data |= {"samples": self.count, "nodes": self.size}
        return Answer(data, (printed_table(self.name, batch, exactness), limits(certificate)))


@contextlib.contextmanager
def _arithmetic(name: _Arithmetic) -> "Iterator[Precision]":
    """Of all threads: verification runs the network in one of its own."""
    import jax

    from algoscope.programs.precision import FLOAT32, FLOAT64

    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", name == "float64")
    try:
        yield {"float32": FLOAT32, "float64": FLOAT64}[name]
    finally:
        jax.config.update("jax_enable_x64", before)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Draw(_AboutProgram):
    """Draw the weights of a compiled program as heat maps, in SVG and PNG."""

    out: pathlib.Path = pathlib.Path()
    """Write the pictures to this folder."""
    size: int = 16
    """Problem size of a printed network; compiled ones are for all sizes."""

    def run(self) -> Answer:
        from algoscope.programs import panels, printed
        from algoscope.programs.weight_pictures import draw

        if not self.out.is_dir():
            raise ValueError(f"--out: got {self.out}, needed a folder that exists")
        if self.variant == "printed":
            network = printed.printed(self.name, self.size).network
            paths = draw(f"{self.name}-printed", printed.panels(network), self.out)
        else:
            program = find_program(self.name)
            paths = draw(program.name, panels.panels(program), self.out)
        return Answer({"pictures": paths}, tuple(map(str, paths)))
