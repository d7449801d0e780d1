"""The configuration of a navigator's training. Light: the command line's help is made of it."""

import dataclasses

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
        if min(self.sizes) < 2 or 2 * max(self.sizes) > len(FORMS[FORM].names):
            raise ValueError(
                f"sizes: got {self.sizes}, needed from 2 to {len(FORMS[FORM].names) // 2} nodes"
            )
        if self.hops and not 0 < self.hops <= self.layers - 2:
            raise ValueError(
                f"hops: got {self.hops}, needed at most {self.layers - 2} with {self.layers} "
                "layers: the first finds the goal, each further one takes a step, the last answers"
            )
