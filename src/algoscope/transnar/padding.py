"""Padding: to which lengths texts, answers, graphs and runs are padded, so that few shapes are
compiled; and how many problems run side by side."""

import jax

from algoscope.tasks import Batch
from algoscope.training.pool import longest

TEXTS = (32, 64, 96, 128, 192, 256, 384, 512, 640, 1024, 2048, 4096, 8192)
"""Tokens of prompt and answer in training, or of one prompt with its answer."""
WRITTEN = (128, 512, 2048, 8192)
"""Tokens of prompts and the answers written to them, where many are tested."""
ANSWERS = (48, 192, 1024, 8192)
"""Tokens of an answer in training."""
NODES = (8, 12, 16, 32, 64, 128, 256)
"""Nodes of a graph that a tower reads."""
_STEPS, _MORE_STEPS = 8, 2


def padded(number: int, lengths: tuple[int, ...]) -> int:
    """The first of these ascending lengths that suffices."""
    return next(length for length in lengths if length >= number)


def padded_time(problems: Batch) -> int:
    """Steps of a reasoner's run: 10, 18, 26, …; none so short that its loop is unrolled, which
    takes long to compile."""
    return -(-longest(problems) // _STEPS) * _STEPS + _MORE_STEPS


def reasoner_batch(problems: int) -> int:
    """Problems on which a reasoner runs side by side."""
    return min(problems, 64 if jax.default_backend() == "cpu" else 400)


def written_batch(tokens: int) -> int:
    """Prompts of so many tokens, with their answers, that are answered side by side: fewer long
    ones, whose tokens attend to each other all at once."""
    if jax.default_backend() == "cpu":
        return 64
    return 256 if tokens <= 512 else 64
