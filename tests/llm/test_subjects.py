"""Recording and patching: equal to the model's own attention, or refused."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import tiny_llama, write_gguf

from algoscope.llm.capture import Patch, Swap
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.subjects import convert, load, save, subject


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


def test_code_beside_weights_is_neither_run_nor_offered_to_be_run(llama, tmp_path, monkeypatch):
    save(llama.model, llama.tokenizer, tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text())
    kinds = ("AutoConfig", "AutoModelForCausalLM", "AutoTokenizer")
    config |= {"model_type": "own", "auto_map": dict.fromkeys(kinds, "own.Model")}
    path.write_text(json.dumps(config))
    (tmp_path / "model" / "own.py").write_text("raise SystemExit('was run')")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody was asked"))
    with pytest.raises(ValueError, match=r"model: got .*model, which cannot be read"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_hidden_layers": 10**9}, "got 1000000000 layers, needed at most 1,000"),
        ({"num_key_value_heads": 3}, "which fails on 12 tokens|cannot be read"),
    ],
)
def test_a_model_whose_parts_do_not_fit_is_refused_by_name(llama, tmp_path, changes, message):
    save(llama.model, llama.tokenizer, tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ValueError, match=f"model: got .*({message})"):
        load(tmp_path / "model")


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
