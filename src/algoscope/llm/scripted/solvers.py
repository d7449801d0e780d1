"""All hand-written Transformers for problems beyond navigation, with the truth about each."""

from typing import NamedTuple

from algoscope.llm.scripted import adders, held_out, reasoners, sorters
from algoscope.llm.scripted.disguises import Disguise
from algoscope.llm.scripted.parts import Mechanism
from algoscope.llm.scripted.solving import solver
from algoscope.llm.subjects import Subject, subject

SOLVERS: dict[str, dict[str, Mechanism]] = {
    "addition": {one.name: one for one in (*adders.ADDERS, *held_out.ADDERS)},
    "sorting": {one.name: one for one in (*sorters.SORTERS, *held_out.SORTERS)},
    "modus-ponens": {one.name: one for one in (*reasoners.REASONERS, *held_out.REASONERS)},
}
SOLVE = {"addition": adders.solve, "sorting": sorters.solve, "modus-ponens": reasoners.solve}
"""Plain programs, for subjects that are told."""


class Solver(NamedTuple):
    domain: str
    name: str
    mechanism: str
    layers: int = 10
    disguise: Disguise = Disguise()
    held_out: bool = False
    """Whether it was written after the verdict."""

    @property
    def truth(self) -> Mechanism:
        return SOLVERS[self.domain][self.mechanism]

    def subject(self, seed: int = 0) -> Subject:
        live = solver(self.domain, self.mechanism, self.layers, seed=seed, disguise=self.disguise)
        return subject(live, f"{self.domain}, {self.name}, seed {seed}", chat=False)


_LAYERS = {"forward_one": 26}


_NEW = {one.name for one in (*held_out.ADDERS, *held_out.SORTERS, *held_out.REASONERS)}
_DISGUISE = Disguise(soft=True, loud=True, late=2, rotated=True)


def solvers() -> list[Solver]:
    """Every mechanism of every domain, and some in disguise."""
    plain = [
        Solver(domain, name, name, _LAYERS.get(name, 10), held_out=name in _NEW)
        for domain, mechanisms in SOLVERS.items()
        for name in mechanisms
    ]
    return plain + [
        Solver(domain, f"{name}, in disguise", name, 12, _DISGUISE, held_out=True)
        for domain, names in held_out.DISGUISED.items()
        for name in names
    ]
