"""The configuration of a navigator's training. Light: the command line's help is made of it."""

import dataclasses

from algoscope.errors import ConfigError, short
from algoscope.llm.forms import FORMS

FORM = "letters"


@dataclasses.dataclass(frozen=True)
class NavigatorConfig:
    layers: int = 6
    """Layers of the model, each with attention and a feed-forward network."""
    width: int = 64
    """Width of a token's state."""
    heads: int = 2
    """Attention heads of each layer."""
    sizes: tuple[int, ...] = (3, 4, 5, 6, 7)
    """Nodes of the reachable part of the mazes that are learned."""
    depths: tuple[int, ...] = (1, 2, 3)
    """Steps to the goals that are learned."""
    questions: int = 4
    """Questions about each maze."""
    hops: int = 3
    """Steps back from the goal that are taught, a layer each; 0 teaches answers alone."""
    batch: int = 128
    """Texts in a batch."""
    steps: int = 4000
    """Training steps."""
    rate: float = 2e-3
    """Learning rate of AdamW."""
    seed: int = 0
    """Seed of the weights and the texts."""
    device: str = "cpu"
    """Where it is trained, such as cpu or cuda."""
    threads: int = 1
    """Threads of the CPU."""

    def __post_init__(self) -> None:
        _check_types(self, NavigatorConfig)
        _check_sizes(self.sizes)
        if self.hops and not 0 < self.hops <= self.layers - 2:
            raise ValueError(
                f"hops: got {self.hops}, needed at most {self.layers - 2} with {self.layers} "
                "layers: the first finds the goal, each further one takes a step, the last answers"
            )


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    """The configuration of a training by lessons; see `lessons`."""

    layers: int = 4
    """Layers of the model, each with attention and a feed-forward network."""
    width: int = 64
    """Width of a token's state."""
    heads: int = 4
    """Attention heads of each layer."""
    sizes: tuple[int, ...] = (3, 4, 5)
    """Nodes of one of the two trees of a maze; learning begins with the first of these sizes."""
    depth: int = 2
    """Steps from the root of a tree to the deepest goals."""
    shorts: int = 8
    """Questions in short about each maze."""
    questions: int = 2
    """Questions in full about each maze."""
    learned: float = 0.9
    """Share of right answers of a lesson at which the next one begins."""
    batch: int = 48
    """Texts in a batch."""
    steps: int = 6000
    """Training steps at most."""
    finish: int = 500
    """Steps after the last lesson is learned."""
    rate: float = 3e-3
    """Learning rate of AdamW."""
    seed: int = 0
    """Seed of the weights and the texts."""
    device: str = "cpu"
    """Where it is trained, such as cpu or cuda."""
    threads: int = 1
    """Threads of the CPU."""

    def __post_init__(self) -> None:
        _check_types(self, LearnerConfig)
        _check_sizes(self.sizes)
        if not 0 < self.depth < max(self.sizes):
            raise ValueError(
                f"depth: got {self.depth}, needed from 1 to {max(self.sizes) - 1}, "
                f"as trees have at most {max(self.sizes)} nodes"
            )

    @property
    def lessons(self) -> int:
        """Lists of the nodes 1 to `depth` before, then questions."""
        return 2 * self.depth


def _check_types(config: NavigatorConfig | LearnerConfig, kind: type) -> None:
    # Here, since the help gets on without what reads types.
    from algoscope.serialise import type_faults

    if faults := type_faults(config, kind=kind):
        raise ConfigError("\n".join(faults))


def _check_sizes(sizes: tuple[int, ...]) -> None:
    names = len(FORMS[FORM].names)
    if not sizes or min(sizes) < 2 or 2 * max(sizes) > names:
        raise ValueError(f"sizes: got {short(sizes)}, needed from 2 to {names // 2} nodes")
