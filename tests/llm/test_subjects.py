"""Recording and patching: equal to the model's own attention, or refused."""

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tiny_models import tiny_llama, write_gguf

from algoscope.llm import capture
from algoscope.llm.capture import Patch, Swap
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.subjects import convert, load, subject

_SHARED = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
_GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4}
_EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}
ARCHITECTURES = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {"head_dim": 8},
    "Mistral": {"sliding_window": 6},
    "Gemma": {"head_dim": 8},
    "Gemma2": {"head_dim": 8, "sliding_window": 6},
    "Gemma3Text": {"head_dim": 8, "sliding_window": 6},
    "GPT2": _GPT2,
    "GPTNeoX": {},
    "GptOss": {**_EXPERTS, "head_dim": 8, "sliding_window": 6, "rope_parameters": None},
    "Phi3": {},
    "Olmo2": {},
    "Cohere": {},
    "Mixtral": _EXPERTS,
    "OPT": {"ffn_dim": 64, "word_embed_proj_dim": 32},
    "Granite": {},
}
REFUSED = {
    "Mamba": {},
    "Rwkv": {"attention_hidden_size": 32},
    "Bloom": {"n_layer": 2, "n_head": 4},
    "Jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 4},
}


def _build(name, changes, tokenizer, gain=6.0):
    torch.manual_seed(0)
    given = {k: v for k, v in changes.items() if v is not None}
    config = getattr(transformers, f"{name}Config")(
        **{"vocab_size": len(tokenizer)} | _SHARED | given
    )
    model = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "sinks" in key:
                parameter.normal_()
            elif parameter.ndim == 2:
                parameter.mul_(gain)
    return model


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_recorded_attention_is_eager_attention(name, tokenizer):
    model = _build(name, ARCHITECTURES[name], tokenizer)
    made = subject((model, tokenizer), name)
    assert made.check.attention < 1e-5
    ids = np.random.default_rng(1).integers(2, len(tokenizer), 20).tolist()
    rows = [3, 11, 19]
    reading = made.read(ids, rows=rows, positions=range(20))
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        own = model(
            torch.tensor([ids]), output_attentions=True, output_hidden_states=True, use_cache=False
        )
    model.set_attn_implementation(capture.IMPLEMENTATION)
    for ours, theirs in zip(reading.attention, own.attentions, strict=True):
        assert np.abs(ours - theirs[0, :, rows].numpy()).max() < 1e-5
        assert ours.std() > 1e-3
    assert np.allclose(reading.logits, own.logits[0, -1].numpy(), rtol=1e-3, atol=1e-3)
    for ours, theirs in zip(reading.states[:-1], own.hidden_states, strict=False):
        assert np.allclose(ours, theirs[0].numpy(), rtol=1e-3, atol=1e-3)
    for layer in range(made.depth + 1):
        patch = Patch(layer, [2, 7, 19], reading.states[layer][[2, 7, 19]])
        assert np.array_equal(made.read(ids, patches=[patch]).logits, reading.logits)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_models_whose_attention_cannot_be_recorded_are_refused(name, tokenizer):
    model = _build(name, REFUSED[name], tokenizer, gain=1.0)
    with pytest.raises(
        ValueError, match="needed a stack of layers with exactly one such attention"
    ):
        subject((model, tokenizer), name)


def test_attention_with_an_unknown_part_is_refused(tokenizer, monkeypatch):
    """A model whose own attention adds what our function does not know of."""
    from transformers.models.llama import modeling_llama

    eager = modeling_llama.eager_attention_forward

    def biased(module, query, key, value, attention_mask, scaling, **rest):
        bias = torch.linspace(0, 3, key.shape[2])
        return eager(module, query, key, value, attention_mask + bias, scaling, **rest)

    monkeypatch.setattr(modeling_llama, "eager_attention_forward", biased)
    with pytest.raises(ValueError, match="differs from its eager attention"):
        subject((tiny_llama(tokenizer), tokenizer), "biased")


def test_patching_another_state_changes_what_follows(llama):
    first, second = list(range(5, 25)), list(range(6, 26))
    other = llama.read(second, positions=range(20))
    for layer in range(llama.depth + 1):
        patch = Patch(layer, list(range(20)), other.states[layer])
        assert np.allclose(llama.read(first, patches=[patch]).logits, other.logits, atol=1e-4)
    late = Patch(llama.depth, [3], other.states[llama.depth][[3]])
    assert np.array_equal(llama.read(first, patches=[late]).logits, llama.read(first).logits)


def test_heads_can_be_silenced_and_made_to_say_what_they_say_elsewhere(llama):
    ids = list(range(5, 25))
    projection = llama.anatomy.attentions[1].o_proj.weight
    silent = Swap(1, 2, range(20), np.zeros((20, 8)))
    ablated = llama.read(ids, swaps=[silent]).logits
    with torch.no_grad():
        kept = projection[:, 16:24].clone()
        projection[:, 16:24] = 0
        without = llama.read(ids).logits
        projection[:, 16:24] = kept
    assert np.allclose(ablated, without, atol=1e-5)
    plain = llama.read(ids, rows=[3, 19])
    assert not np.allclose(ablated, plain.logits, atol=1e-3)
    assert plain.outputs.shape == (3, 4, 2, 8)
    itself = Swap(1, 2, [3, 19], plain.outputs[1, 2])
    assert np.array_equal(llama.read(ids, swaps=[itself]).logits, plain.logits)
    other = llama.read([*ids[:-1], 40], rows=[19])
    swaps = [Swap(0, head, [19], other.outputs[0, head]) for head in range(4)]
    swapped = llama.read(ids, rows=[19], swaps=swaps)
    assert np.array_equal(swapped.outputs[0], plain.outputs[0][:, 1:])
    assert not np.allclose(swapped.logits, plain.logits, atol=1e-3)


def test_random_weights_have_the_architecture_and_nothing_else(llama):
    ids = list(range(5, 25))
    one, again, other = (llama.with_random_weights(seed) for seed in (1, 1, 2))
    assert np.array_equal(one.read(ids).logits, again.read(ids).logits)
    assert not np.allclose(one.read(ids).logits, other.read(ids).logits)
    assert one.depth == llama.depth
    assert "random weights" in one.name


def test_a_folder_is_loaded_without_a_hub(llama, tmp_path, tokenizer):
    llama.model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    loaded = load(tmp_path / "model")
    ids = list(range(5, 25))
    assert np.allclose(loaded.read(ids).logits, llama.read(ids).logits, atol=1e-5)
    assert loaded.name == "model"
    convert(tmp_path / "model", tmp_path / "copy")
    assert np.array_equal(load(tmp_path / "copy").read(ids).logits, loaded.read(ids).logits)
    with pytest.raises(ValueError, match="which exists"):
        convert(tmp_path / "model", tmp_path / "copy")


def test_a_gguf_file_is_the_model_whose_weights_it_holds(tmp_path):
    """The tokenizer is the file's own; the folder made of it loads the same."""
    model = tiny_llama(range(270), num_hidden_layers=2)
    write_gguf(tmp_path / "tiny.gguf", model)
    loaded = load(tmp_path / "tiny.gguf")
    item = navigation(2, size=3, depths=(1,))[0]
    ids = loaded.encode(item.prompt).ids
    assert loaded.tokenizer.decode(ids) == item.prompt
    expected = subject((model, loaded.tokenizer), "live").read(ids, rows=[len(ids) - 1])
    for found in (loaded, _converted(tmp_path)):
        reading = found.read(found.encode(item.prompt).ids, rows=[len(ids) - 1])
        assert np.allclose(reading.logits, expected.logits, atol=1e-5)
        assert np.allclose(reading.attention, expected.attention, atol=1e-5)
        (observed,) = observe(found, [item])
        assert observed.attention("last").shape == (2, 4, item.nodes)


def _converted(folder):
    convert(folder / "tiny.gguf", folder / "copy")
    return load(folder / "copy")


def test_weights_that_are_missing_are_not_made_up(llama, tmp_path, tokenizer):
    llama.model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match=r"no weights for model\.layers\.1\.mlp\.up_proj"):
        load(tmp_path)


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF, but not really")
    with pytest.raises(ValueError, match=r"broken\.gguf, which cannot be read as GGUF"):
        load(tmp_path / "broken.gguf")


def test_bad_sources_say_what_is_wrong(tmp_path, llama):
    with pytest.raises(ValueError, match="neither a folder, nor a GGUF file"):
        load("no-such-organisation/no-such-model")
    with pytest.raises(ValueError, match="which is no file"):
        load(tmp_path / "missing.gguf")
    with pytest.raises(ValueError, match=r"needed one with config\.json"):
        load(tmp_path)
    with pytest.raises(ValueError, match="needed a tokenizer with a chat template"):
        load((llama.model, llama.tokenizer), chat=True)
    with pytest.raises(ValueError, match="needed a fast one"):
        load((llama.model, object()))


def test_prompts_beyond_the_context_are_refused(llama):
    with pytest.raises(ValueError, match="got 600 tokens, needed at most 512"):
        llama.encode("A " * 600)


def test_a_chat_template_quotes_the_prompt(llama):
    template = "{% for m in messages %}<{{ m.role }}> {{ m.content }} </>{% endfor %} Answer:"
    llama.tokenizer.chat_template = template
    try:
        chatting = load((llama.model, llama.tokenizer))
        encoded = chatting.encode("A > B.")
        assert chatting.chat
        assert encoded.start == len("<user> ")
        llama.tokenizer.chat_template = "{{ messages[0].content | upper }}"
        with pytest.raises(ValueError, match="one that changes the prompt"):
            chatting.encode("lobby")
    finally:
        llama.tokenizer.chat_template = None
