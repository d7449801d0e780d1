"""Padding: to which lengths texts, answers, graphs and runs are padded, so that few shapes are
compiled; and how many problems run side by side."""

import jax
import numpy as np

_TEXTS = (32, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096, 8192)
_WRITTEN = (128, 512, 2048, 8192)
_ANSWERS = (48, 192, 1024, 8192)
_NODES = (8, 12, 16, 32, 64, 128, 256)
_STEPS, _MORE_STEPS = 8, 2


def _padded(number: int, ladder: tuple[int, ...]) -> int:
    return next(step for step in ladder if step >= number)


def padded_text(tokens: int) -> int:
    """Tokens of prompt and answer in training, or of one prompt with its answer."""
    return _padded(tokens, _TEXTS)


def padded_written(tokens: int) -> int:
    """Tokens of prompts and the answers written to them, where many are tested."""
    return _padded(tokens, _WRITTEN)


def padded_answer(tokens: int) -> int:
    """Tokens of an answer in training."""
    return _padded(tokens, _ANSWERS)


def padded_nodes(nodes: int) -> int:
    """Nodes of a graph that a tower reads."""
    return _padded(nodes, _NODES)


def longest(lengths: np.ndarray) -> int:
    """Steps of the longest of some runs of an algorithm; no run is shorter than two."""
    return max(2, int(lengths.max()))


def padded_time(lengths: np.ndarray) -> int:
    """Steps of a reasoner's run: 10, 18, 26, …; none so short that its loop is unrolled, which
    takes long to compile."""
    return -(-longest(lengths) // _STEPS) * _STEPS + _MORE_STEPS


def reasoner_batch(problems: int) -> int:
    """Problems on which a reasoner runs side by side: on a GPU as many as a test has of a task and
    size, so that test and training share programs."""
    return min(problems, 64 if jax.default_backend() == "cpu" else 100)


def written_batch() -> int:
    """Prompts that are answered side by side."""
    return 64 if jax.default_backend() == "cpu" else 256
