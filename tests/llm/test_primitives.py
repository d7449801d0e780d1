"""Detectors of primitives: each finds a head that is built to do it, and none by chance."""

import re

import numpy as np
import pytest
import torch
from tiny_models import tiny_llama

from algoscope.llm.forms import FORMS
from algoscope.llm.primitives import PRIMITIVES, find_primitives
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import word_tokenizer


@pytest.fixture(scope="module")
def reading_subject():
    prompts = [
        p.make(np.random.default_rng(s), FORMS["rooms"]).prompt
        for p in PRIMITIVES
        for s in range(50)
    ]
    tokenizer = word_tokenizer(re.findall(r"\w+|[^\w\s]", " ".join(prompts)))
    return subject((tiny_llama(tokenizer, gain=6.0), tokenizer), "random")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_minimal_tasks_mark_what_they_say(primitive, form):
    for seed in range(20):
        task = primitive.make(np.random.default_rng(seed), FORMS[form])
        query, target, control = (task.prompt[slice(*span)] for span in task[1:])
        assert target != control
        assert max(task.target[1], task.control[1]) <= task.query[1]
        match primitive.name:
            case "previous mention":
                assert query == target
            case "successor":
                assert f"{query} {target}" in task.prompt
            case "edge lookup":
                assert FORMS[form].one_way.format(a=target, b=query) in task.prompt
            case "goal match":
                assert f"get to {target} from" in task.prompt
            case "copy":
                assert f"Repeat {target}." in task.prompt
            case "comparison":
                assert int(target) > int(control)
            case name:
                pytest.fail(f"{name}: nothing is said here about what it marks")


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_a_head_that_does_it_is_found(primitive, reading_subject, monkeypatch):
    """Attention of head 1.2 is put on the target by hand; all else stays as it is."""
    from algoscope.llm import primitives as module

    excess = module._excess

    def planted(of, task):
        values = excess(of, task)
        if "random weights" not in of.name:
            values[1, 2] = 0.5
        return values

    monkeypatch.setattr(module, "_excess", planted)
    [found] = find_primitives(reading_subject, 20, library=[primitive], permutations=199).values()
    assert (found[0].layer, found[0].head) == (1, 2)
    assert found[0].p == 1 / 200


def test_previous_mention_is_found_in_weights(reading_subject):
    """A Llama whose first layer compares words: its query and key are the embedding itself."""
    tokenizer = reading_subject.tokenizer
    model = tiny_llama(tokenizer, num_key_value_heads=1, num_attention_heads=1, head_dim=32,
                       gain=1.0, hidden_size=32, num_hidden_layers=1,
                       rope_parameters={"rope_type": "default", "rope_theta": 1e30})  # fmt: skip
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_()
        attention = model.model.layers[0].self_attn
        identity = torch.eye(32)
        identity[[0, 16]] = 0  # the one pair of dimensions that still turns with position
        attention.q_proj.weight.copy_(3 * identity)
        attention.k_proj.weight.copy_(identity)
    made = subject((model, tokenizer), "comparing")
    library = [p for p in PRIMITIVES if p.name == "previous mention"]
    [found] = find_primitives(made, 20, library=library, permutations=199).values()
    assert (found[0].layer, found[0].head) == (0, 0)
    assert found[0].excess.low > 0.3


def test_random_weights_do_nothing(reading_subject):
    found = find_primitives(reading_subject, 20, permutations=199)
    assert set(found) == {primitive.name for primitive in PRIMITIVES}
    assert sum(len(heads) for heads in found.values()) <= 2
