"""Options of trainings, stated once: configurations and the verbs that set them are made of these.

Nothing here needs more than Python, so that the command line's help, which is made of the
docstrings below, answers at once. What is checked of a configuration stands beside its training.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

Reads = Literal["nothing", "final", "stepwise"]
ReadingLayers = Literal["all", "first", "last", "alternate"]
Mix = Literal["joined", "sum", "mlp", "orthogonal"]
Loss = Literal["answers", "texts", "teacher"]


@dataclasses.dataclass(frozen=True)
class TrainingOptions:
    """A training of graph networks, but for its problems and the network's form."""

    tasks: tuple[str, ...]
    """What to learn, names or Tasks (which are registered and kept by their names); several tasks
    share one processor, and each step trains each of them."""
    seeds: int = 1
    """Number of networks, with the seeds first_seed, first_seed + 1, …"""
    first_seed: int = 0
    """Seed of the first network."""
    steps: int = 10_000
    """Batches that each network learns from, per task."""
    learning_rate: float = 1e-4
    """Learning rate of Adam; with a warm-up, the highest."""
    warmup: int = 0
    """Steps until the highest learning rate, after which it falls to a tenth along a cosine until
    the last step; 0 for a constant rate."""
    clip: float = 1.0
    """Largest global norm of a gradient; 0 for no limit."""
    objective: tuple[str, ...] = ("hints", "outputs")
    """What the loss is a sum of: hints, outputs, attention (read whom the program reads), exchange
    (go on as the program does from another run's state); each NAME or NAME=WEIGHT, where a weight
    may change: 0:1@1000 grows from 0 to 1 in 1,000 steps, 0:1@500-500 jumps at step 500."""
    teacher: tuple[str, ...] = ()
    """Programs, right or wrong, whose traces are learnt instead of the algorithm's, at most one for
    each task; attention and exchange have the task's first reference if none is named."""
    teacher_forcing: float = 0.0
    """Probability that a sample's hints at a step are the true ones."""
    regularisation: float = 0.0
    """Weight of the sum of all squared parameters in the loss; Mind The Gap names 1e-3 and 1e-4
    without saying of what."""
    freeze: tuple[str, ...] = ()
    """Weights that stay as they are, by the beginnings of their names, such as processor or
    encoders.A."""
    evaluate_every: int = 50
    """Steps between validations; the first comes after the first step, as in dm-clrs."""
    data_seed: int = 1
    """Seed of the problems, the same for all networks; each sees them in its own order."""
    pool_steps: int = 500
    """Steps after which the pool of problems is drawn anew; until then, no network sees a problem
    twice."""
    time_buckets: int = 2
    """Number of lengths of time to which batches of a size are padded: more of them save work where
    traces differ in length, and take time to compile. Short runs have one."""
    keep: Literal["best", "last"] = "best"
    """Which weights a run ends with: the first that did best in validation, or the last. The others
    are scored and kept beside them."""
    test_size: int | None = None
    """Nodes of the test problems: 64, the canonical test split, or the size of the network's
    pre-attention bias, if not given."""
    scored_on: tuple[str, ...] = ("test", "fresh", "seen")
    """Sets on which the finished networks are scored, see `training.evaluation`; each is compiled
    for each task."""


@dataclasses.dataclass(frozen=True)
class TowerConfig:
    """A Transformer over text, which may read a reasoner's states."""

    width: int = 384
    """Width of a token's state."""
    layers: int = 6
    """Layers of the tower."""
    heads: int = 6
    """Attention heads of each layer."""
    context: int = 2048
    """Most tokens of prompt and answer together."""
    random_positions: bool = True
    """Whether tokens stand at sorted random positions out of 8,192 instead of 0, 1, 2, …"""
    reads: Reads = "nothing"
    """What its layers read of the reasoner: nothing (the base Transformer), its final states, or
    each layer the states after one more step (layer l those after step l)."""
    reading_layers: ReadingLayers = "all"
    """Which layers read: all, the first, the last, or the first, third, fifth and so on. The gates
    of the others stay shut."""
    mix: Mix = "joined"
    """How what is read of nodes and what is read of edges become one: joined and mapped, added and
    mapped, joined and given to an MLP, or joined and mapped after what of the edges' part is along
    the nodes' part is taken away."""


@dataclasses.dataclass(frozen=True)
class TransnarConfig:
    """One tower's training."""

    tasks: tuple[str, ...]
    """What to learn."""
    sizes: tuple[int, ...] = (4, 5, 6, 7, 8, 12)
    """Sizes of the problems."""
    samples: int = 10_000
    """Problems of each task and size."""
    decimals: int = 3
    """Decimals of numbers in the text; the reasoner gets the same numbers."""
    steps: int = 24_000
    """Training steps."""
    batch: int = 256
    """Problems in a batch."""
    loss: Loss = "answers"
    """What is learnt: the tokens of answers, those of whole texts, or, in answers, what another
    tower, the teacher, expects."""
    learning_rate: float = 2e-4
    """The highest: it grows for `warmup` steps and falls to a tenth along a cosine. At 1e-3 towers
    of the default width do not learn."""
    warmup: int = 200
    """Steps until the highest learning rate."""
    clip: float = 1.0
    """Largest global norm of a gradient."""
    weight_decay: float = 0.0
    """Part of itself that each weight loses at a step, times the learning rate."""
    parts: int = 1
    """Into how many parts the problems are divided, of which the device holds one at a time: more
    where the reasoner's states on all of them do not fit into its memory."""
    seed: int = 0
    """Seed of the weights, the order of the problems and the positions."""
    data_seed: int = 1
    """Seed of the problems."""
    reasoner_trained: bool = True
    """Whether the reasoner has the weights that it was given, or random ones: a control."""
    reads_inputs: bool = True
    """Whether the states that a tower reads hold the encoded inputs, or hidden states alone."""
    trains_reasoner: tuple[str, ...] = ()
    """Weights of the reasoner that learn too, by the beginnings of their names, such as processor
    or encoders.A; all others are frozen."""
    tower: TowerConfig = dataclasses.field(default_factory=TowerConfig)
    """The Transformer's form."""

    def as_json(self) -> dict[str, Any]:
        """With what every run folder's configuration has."""
        return dataclasses.asdict(self) | {"first_seed": self.seed, "seeds": 1}


def shared_fields(kind: type, options: Any) -> dict[str, Any]:
    """The values that `options` has of the fields of a dataclass which it extends."""
    return {field.name: getattr(options, field.name) for field in dataclasses.fields(kind)}


def integer_faults(
    config: Any, names: Sequence[str], least: int = 1, prefix: str = "", most: int = 2**31 - 1
) -> list[str]:
    """Of the named fields, those that are no integers of at least and at most so much."""
    return [
        f"{prefix}{name}: got {value!r}, needed an integer of at least {least}"
        + (f" and at most {most:,}" if isinstance(value, int) and value > most else "")
        for name in names
        if isinstance(value := getattr(config, name), bool)
        or not isinstance(value, int)
        or not least <= value <= most
    ]


def number_faults(config: Any, names: Sequence[str], *, positive: bool = False) -> list[str]:
    """Of the named fields, those that are no finite numbers of at least, or above, zero."""
    needed = "above 0" if positive else "of at least 0"
    return [
        f"{name}: got {value!r}, needed a finite number {needed}"
        for name in names
        if not isinstance(value := getattr(config, name), (int, float))
        or not 0 <= value < math.inf
        or (positive and value == 0)
    ]
