"""`algoscope decompile`: which program predicts a network best?"""

import dataclasses
import pathlib
from typing import TYPE_CHECKING

from algoscope.table import Table
from algoscope.verbs.output import Answer
from algoscope.verbs.subjects import AboutSubjects

if TYPE_CHECKING:
    from algoscope.networks import Network


@dataclasses.dataclass(frozen=True, kw_only=True)
class Decompile(AboutSubjects):
    """Search for the program that predicts best what a network reads, shows and keeps."""

    programs: int = 1500
    """At most about so many programs are tried."""
    without: tuple[str, ...] = ()
    """Programs of the library that are not used, nor their parts: to see whether they are found."""
    seed: int = 0
    """Seed of the problems and of the random programs beside."""
    out: pathlib.Path | None = None
    """The file for the program, if there is one network; a folder for those of several."""

    def run(self) -> Answer:
        from algoscope.decompile import decompile
        from algoscope.files import make_room, write_bytes

        self._check()
        task, subjects = self.subjects()
        networks = {name: _network(name, subject) for name, subject in subjects.items()}
        places = {name: place for name in networks if (place := self._place(name))}
        for path in places.values():
            make_room(path)
        found = {}
        parts: list[Table | str] = []
        for name, network in networks.items():
            self.output.report(f"decompiling {name}")
            result = found[name] = decompile(
                network,
                task,
                without=self.without,
                most=self.programs,
                seed=self.seed,
                report=self.output.report,
            )
            parts += [f"{name}, {task}, {result.tried:,} programs tried\n\n{result.text}"]
            parts += [result.table(), result.steps_table()]
            if name in places:
                write_bytes(places[name], result.text.encode())
                parts.append(f"{name}: algoscope judge {places[name]} says what the program is")
        data = {name: one._asdict() | {"program": one.text} for name, one in found.items()}
        return Answer({"task": task, "subjects": data}, tuple(parts))

    def _place(self, name: str) -> pathlib.Path | None:
        if self.out is None or not self.path.is_dir():
            return self.out
        return self.out / f"{name.replace(' ', '-')}.program"

    def _check(self) -> None:
        from algoscope import programs

        if self.programs < 1:
            raise ValueError(f"--programs: got {self.programs}, needed at least 1")
        for name in self.without:
            programs.get(name)


def _network(name: str, subject: object) -> "Network":
    from algoscope.networks import Network
    from algoscope.programs.compiler import Compiled

    if isinstance(subject, Compiled):
        return subject.network
    if isinstance(subject, Network):
        return subject
    raise ValueError(
        f"{name}: got a function, needed a network whose state can be exchanged: weights, a run "
        "folder, a program, or a Python file that defines `network`"
    )
