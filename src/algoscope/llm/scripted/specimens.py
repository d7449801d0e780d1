"""All subjects of known mechanism, with the truth about each."""

from typing import NamedTuple

from algoscope.llm.scripted.build import scripted
from algoscope.llm.scripted.disguises import Disguise
from algoscope.llm.scripted.mechanisms import MECHANISMS
from algoscope.llm.scripted.parts import Mechanism
from algoscope.llm.scripted.reading import GOAL, SOURCE
from algoscope.llm.subjects import Subject, subject


class Specimen(NamedTuple):
    """A mechanism in a disguise."""

    name: str
    search: str
    layers: int = 8
    disguise: Disguise = Disguise()

    @property
    def truth(self) -> Mechanism:
        """`.runs` is its mechanism, `.algorithm` whether it finds the answer by an algorithm that
        is right in its `.scope`."""
        return MECHANISMS[self.search]

    def build(self, seed: int = 0, heads: int = 3):
        """A live (model, tokenizer)."""
        return scripted(self.search, self.layers, heads, seed, self.disguise)

    def subject(self, seed: int = 0, heads: int = 3) -> Subject:
        return subject(self.build(seed, heads), f"{self.name}, seed {seed}", chat=False)


_LAYERS = {
    "dfs": 14,
    "dfs_last": 14,
    "hops_carried": 14,
    "merging_carried": 14,
    "relay": 15,
    "relay_backward": 15,
}
_DISGUISES = {
    "soft": Disguise(soft=True),
    "loud": Disguise(loud=True),
    "idle": Disguise(idle=1),
    "late": Disguise(late=3),
    "rotated": Disguise(rotated=True),
    "stops": Disguise(stops=True),
    "mark": Disguise(worker=7),
    "gathered": Disguise(gathered=True),
    "noise": Disguise(noise=2.0),
    "scaled": Disguise(scale=0.1),
    "all": Disguise(
        soft=True,
        loud=True,
        late=2,
        rotated=True,
        stops=True,
        gathered=True,
        noise=1.0,
        scale=0.5,
    ),
}


def zoo() -> list[Specimen]:
    """Every mechanism as it is, and some of them in every disguise."""
    plain = [Specimen(name, name, _LAYERS.get(name, 8)) for name in MECHANISMS]
    return (
        plain
        + [
            Specimen(f"{search}, {name}", search, _layers(search, disguise), disguise)
            for search in _DISGUISED
            for name, disguise in _DISGUISES.items()
        ]
        + [
            Specimen("bfs, at the source", "bfs", 9, Disguise(worker=SOURCE)),
            Specimen("backward, at the goal", "backward_edges", 9, Disguise(worker=GOAL)),
            Specimen("pointer, at the goal", "pointer", 9, Disguise(worker=GOAL)),
        ]
    )


_DISGUISED = ("bfs", "dfs", "backward", "doubling", "pointer_doubling", "undirected")


def _layers(search: str, disguise: Disguise) -> int:
    steps = _LAYERS.get(search, 8) + (disguise.worker > 0) + disguise.gathered
    return disguise.late + steps * (disguise.idle + 1)
