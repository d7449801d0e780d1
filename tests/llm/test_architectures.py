"""Every architecture of the installed transformers: recorded as its own eager attention computes
it, or refused in a sentence."""

import numpy as np
import pytest
import torch

from algoscope.llm import architectures, capture
from algoscope.llm.architectures import WINDOW
from algoscope.llm.capture import Patch, Request, Swap
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import form_tokenizer

RECORDED = [
    "afmoe", "apertus", "arcee", "axk1", "axk2", "beam", "biogpt", "bitnet", "cohere",
    "cohere2", "cohere2_moe", "cwm", "dbrx", "deepseek_v2", "deepseek_v3", "deepseek_v32",
    "deepseek_v4", "doge", "dots1", "ernie4_5", "ernie4_5_moe", "exaone4", "exaone_moe",
    "falcon_h1", "flex_olmo", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma4",
    "gemma4_text", "glm", "glm4", "glm4_moe", "glm4_moe_lite", "glm_moe_dsa", "gpt2",
    "gpt_bigcode", "gpt_neox", "gpt_oss", "granite", "granitemoe", "granitemoeshared", "helium",
    "hunyuan_v1_dense", "hunyuan_v1_moe", "inkling_text", "jais2", "jetmoe", "llama", "llama4",
    "llama4_text", "minicpm3", "minimax_m2", "ministral", "ministral3", "mistral", "mixtral",
    "modernbert-decoder", "nanochat", "nemotron", "olmo", "olmo2", "olmo3", "olmoe", "opt",
    "persimmon", "phi", "phi3", "phimoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
    "seed_oss", "smollm3", "solar_open", "stablelm", "starcoder2", "vaultgemma", "youtu",
]  # fmt: skip
"""Those of the world of text; the reference page lists all."""
WINDOWED = ("mistral", "gemma2", "gemma3_text", "gemma4_text", "gpt_oss", "cohere2", "olmo3")
LENGTH = 20
_quiet = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)


def _prompts(words, *lengths):
    rng = np.random.default_rng(1)
    return [rng.integers(2, words, length).tolist() for length in lengths]


@pytest.fixture
def made(name):
    tokenizer = form_tokenizer("letters")
    return subject((architectures.tiny(name), tokenizer), name)


def _eager(made, ids):
    made.model.set_attn_implementation("eager")
    with torch.inference_mode():
        own = made.model(
            torch.tensor([ids]), output_attentions=True, output_hidden_states=True, use_cache=False
        )
    made.model.set_attn_implementation(capture.IMPLEMENTATION)
    return own


@pytest.mark.parametrize("name", RECORDED)
@_quiet
def test_recorded_attention_is_eager_attention_and_patches_are_exact(made, name):
    assert made.check.attention < 1e-5
    [ids] = _prompts(len(made.tokenizer), LENGTH)
    rows = [3, 11, LENGTH - 1]
    reading = made.read(ids, rows=rows, positions=range(LENGTH))
    own = _eager(made, ids)
    varied = []
    for ours, theirs in zip(reading.attention, own.attentions, strict=True):
        assert np.abs(ours - theirs[0, :, rows, :LENGTH].numpy()).max() < 1e-5
        varied.append(ours.std())
    assert max(varied) > 1e-3
    theirs = own.logits[0, -1].numpy()
    assert np.abs(reading.logits - theirs).max() < 1e-3 * np.abs(theirs).max()
    places = [2, 7, LENGTH - 1]
    for layer in range(made.depth + 1):
        patch = Patch(layer, places, reading.states[layer][places])
        assert np.array_equal(made.read(ids, patches=[patch]).logits, reading.logits)
    for layer in range(made.depth):
        heads = range(reading.outputs.shape[1])
        swaps = [Swap(layer, head, rows, reading.outputs[layer, head]) for head in heads]
        assert np.array_equal(made.read(ids, swaps=swaps).logits, reading.logits)


@pytest.mark.parametrize("name", RECORDED)
@_quiet
def test_a_batch_reads_each_prompt_as_if_alone(made, name):
    prompts = _prompts(len(made.tokenizer), LENGTH, 9, 14)
    rng = np.random.default_rng(4)
    states = made.read(prompts[0], positions=[0, 1]).states
    patch = Patch(1, [2, 8], states[1] + rng.normal(size=states[1].shape))
    requests = [
        Request(ids, rows=[len(ids) - 1], positions=[3], changes=[patch][: number % 2])
        for number, ids in enumerate(prompts)
    ]
    for request, reading in zip(requests, made.read_all(requests), strict=True):
        alone = made.read(request.ids, request.rows, request.positions, request.changes)
        for ours, single in zip(reading, alone, strict=True):
            assert np.abs(ours - single).max() < 1e-5 * max(1, np.abs(single).max())


@pytest.mark.parametrize("name", ["llama", "gemma2", "gemma4_text", "gpt_oss", "youtu"])
@_quiet
def test_half_precision_rounds_as_eager_attention_does(name):
    """So that a deep model in half precision is not refused for its rounding."""
    half = subject((architectures.tiny(name).to(torch.bfloat16), form_tokenizer("letters")), name)
    assert half.check.attention < 1e-3
    assert half.check.logits < 1e-2


@pytest.mark.parametrize("name", WINDOWED)
@_quiet
def test_a_sliding_window_ends_what_is_attended(made, name):
    """The last token sees nothing before the window, in the layers that have one."""
    [ids] = _prompts(len(made.tokenizer), LENGTH)
    seen = made.read(ids, rows=[LENGTH - 1]).attention[:, :, 0]
    windowed = [not layer[:, : LENGTH - WINDOW].any() for layer in seen]
    assert any(windowed)
    own = _eager(made, ids).attentions
    theirs = [not layer[0, :, -1, : LENGTH - WINDOW].any() for layer in own]
    assert windowed == theirs


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mamba", "needed a stack of layers with exactly one such attention"),
        ("rwkv", "needed a stack of layers with exactly one such attention"),
        ("bloom", "needed a stack of layers with exactly one such attention"),
        ("falcon", "needed a stack of layers with exactly one such attention"),
        ("gpt_neo", "needed a stack of layers with exactly one such attention"),
        ("jamba", "needed a stack of layers with exactly one such attention"),
        ("diffllama", "computed 4 times on a prompt, needed once each"),
        ("granite_swa", "differs from its eager attention"),
        ("gemma3n_text", "needed one residual stream"),
    ],
)
@_quiet
def test_what_cannot_be_recorded_is_refused_in_a_sentence(name, why):
    found = architectures.support(name)
    assert not found.supported
    assert why in found.said
