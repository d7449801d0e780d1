"""Several prompts at once: what each says alone, however long the others are."""

import numpy as np
import pytest
import torch

from algoscope.llm import batches, capture
from algoscope.llm.capture import Patch, Request, Swap

_LENGTHS = (20, 13, 20, 7)


def _prompts(words, lengths=_LENGTHS):
    rng = np.random.default_rng(2)
    return [rng.integers(2, words, length).tolist() for length in lengths]


def _changes(made, prompts):
    """Of each prompt other ones: states of a layer each, and a head's outputs; of one, none."""
    rng = np.random.default_rng(3)
    width = made.read(prompts[0], rows=[0], positions=[0])
    sizes = width.states.shape[-1], width.outputs.shape[-1]
    changes = []
    for number, prompt in enumerate(prompts):
        places = [number, len(prompt) - 1]
        patch = Patch(number % (made.depth + 1), places, rng.normal(size=(2, sizes[0])))
        swap = Swap(number % made.depth, number % 4, places, rng.normal(size=(2, sizes[1])))
        changes.append([[patch, swap], [patch], [swap], []][number % 4])
    return changes


def _alone(made, request):
    kinds = [[c for c in request.changes if isinstance(c, kind)] for kind in (Patch, Swap)]
    return made.read(request.ids, request.rows, request.positions, *kinds)


def test_a_batch_reads_each_prompt_as_if_alone(llama):
    prompts = _prompts(60)
    changes = _changes(llama, prompts)
    requests = [
        Request(ids, [1, len(ids) - 1][: 1 + n % 2], range(n), change)
        for n, (ids, change) in enumerate(zip(prompts, changes, strict=True))
    ]
    for request, reading in zip(requests, llama.read_all(requests), strict=True):
        for ours, single in zip(reading, _alone(llama, request), strict=True):
            assert ours.shape == single.shape
            assert np.allclose(ours, single, rtol=0, atol=1e-5)


def test_patches_reach_their_own_prompt_and_no_other(llama):
    prompts = _prompts(60, (16,) * 4)
    changes = _changes(llama, prompts)
    together = capture.patched(llama.model, llama.anatomy, prompts, changes)
    for ids, change, logits in zip(prompts, changes, together, strict=True):
        alone = _alone(llama, Request(ids, changes=change)).logits
        assert np.allclose(logits, alone, rtol=0, atol=1e-5)
        assert np.allclose(logits, llama.read(ids).logits, rtol=0, atol=1e-5) == (not change)


def test_states_of_many_prompts(llama):
    prompts = _prompts(60)
    for positions in ([2, 0, 6], [[2, 0], [12, 1], [19, 19], [6, 3]]):
        logits, states = llama.read_many(prompts, positions)
        each = np.broadcast_to(positions, (4, np.shape(positions)[-1])).tolist()
        for ids, places, one, state in zip(prompts, each, logits, states, strict=True):
            alone = llama.read(ids, positions=places)
            assert np.allclose(one, alone.logits, rtol=0, atol=1e-5)
            assert np.allclose(state, alone.states, rtol=0, atol=1e-5)
    logits, states = llama.read_many(prompts)
    assert states.shape == (4, 4, 0, 32)


def test_batches_are_within_the_budget_and_in_order():
    seen = []

    def together(some):
        seen.append(list(some))
        return [10 * x for x in some]

    given = [5, 1, 3, 9, 1, 2]
    assert list(batches.run(given, together, float, budget=9)) == [10 * x for x in given]
    assert seen == [[5], [1, 3], [9], [1, 2]]
    assert all(len(some) * max(some) <= 9 or len(some) == 1 for some in seen)


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA"), RuntimeError("can't allocate memory: 9 bytes")]
)
def test_a_batch_that_is_too_large_is_halved(error):
    seen = []

    def together(some):
        seen.append(len(some))
        if len(some) > 3:
            raise error
        return list(some)

    assert list(batches.run(range(20), together, lambda x: 1.0)) == list(range(20))
    assert seen == [20, 10, 5, 2] + [2] * 9

    def hungry(some):
        raise error

    with pytest.raises(type(error)):
        list(batches.run(range(4), hungry, lambda x: 1.0))


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    seen = []

    def broken(some):
        seen.append(len(some))
        raise RuntimeError("another")

    with pytest.raises(RuntimeError, match="another"):
        list(batches.run(range(4), broken, lambda x: 1.0))
    assert seen == [4]


def test_longer_prompts_and_more_that_is_kept_cost_more(llama):
    costs = [batches.cost(llama.model, *given) for given in ((8,), (16,), (16, 2), (16, 2, 9))]
    assert costs == sorted(set(costs))
    assert batches.cost(llama.model, 2048) < batches.BUDGET
