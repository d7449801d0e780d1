"""How many prompts are run at once: as many as fit memory.

What a prompt takes is estimated; if memory is out all the same, the batch is halved. The size of
batches does not depend on what else the machine does, as long as there is memory: sums are rounded
in another order in a batch of another size, and the same seed has to give the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch

A = TypeVar("A")
B = TypeVar("B")

BUDGET = 2**29
"""Bytes that a batch may take beside the model's weights."""


def run(
    requests: Sequence[A],
    together: Callable[[Sequence[A]], Sequence[B]],
    cost: Callable[[A], float],
    budget: float = BUDGET,
) -> Iterator[B]:
    """What `together` says of each request, in their order, asked in batches within the budget:
    padding makes each prompt of a batch as dear as its dearest."""
    costs = [cost(request) for request in requests]
    first = 0
    while first < len(requests):
        size = 1
        while (
            size < len(requests) - first
            and (size + 1) * max(costs[first : first + size + 1]) <= budget
        ):
            size += 1
        while True:
            try:
                answers = together(requests[first : first + size])
                break
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if size == 1 or not _out_of_memory(error):
                    raise
            size //= 2
            budget = size * max(costs[first : first + size])
        yield from answers
        first += size


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or (
        "can't allocate memory" in str(error)
    )


def cost(model: Any, tokens: int, rows: int = 0, positions: int = 0) -> float:
    """About how many bytes a prompt takes while a model reads it: the scores of one layer, the
    activations of one layer, the logits, and what is kept of all layers. Sizes that a
    configuration does not name are taken to be those of a large model."""
    config = model.config.get_text_config()
    words, width = model.get_input_embeddings().weight.shape
    width = getattr(config, "hidden_size", None) or width
    heads, layers = (
        getattr(config, f"num_{name}", None) or 32 for name in ("attention_heads", "hidden_layers")
    )
    inner = getattr(config, "intermediate_size", None) or 4 * width
    inner *= getattr(config, "num_experts_per_tok", None) or 1
    floats = 3 * heads * tokens**2 + tokens * (8 * width + 3 * inner) + 2 * words
    return 4.0 * (floats + layers * (rows * heads * tokens + (positions + rows) * width))
