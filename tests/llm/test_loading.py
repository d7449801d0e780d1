"""Models as users have them: in shards, in half precision, shared out, quantised, in the cache."""

import importlib.util
import json
import shutil
import socket

import numpy as np
import pytest
import torch
from tiny_models import tiny_llama

from algoscope.capacity import CapacityError
from algoscope.llm.capture import Patch
from algoscope.llm.observe import observe
from algoscope.llm.placement import placement
from algoscope.llm.prompts import navigation
from algoscope.llm.subjects import _octets, _panics_as_errors, load

IDS = list(range(5, 25))


@pytest.fixture(scope="module")
def saved(tokenizer, tmp_path_factory):
    """A folder in several shards."""
    path = tmp_path_factory.mktemp("models") / "tiny"
    tiny_llama(tokenizer).save_pretrained(path, max_shard_size="20KB")
    tokenizer.save_pretrained(path)
    assert len(list(path.glob("*.safetensors"))) > 3
    return path


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "copy")


def test_shards_are_put_together(saved, llama):
    assert np.allclose(load(saved).read(IDS).logits, llama.read(IDS).logits, rtol=0, atol=1e-5)


def test_a_missing_shard_is_said_in_one_line(copy):
    shard = sorted(copy.glob("*.safetensors"))[1]
    shard.unlink()
    with pytest.raises(ValueError, match=rf"which cannot be read as a model.*{shard.name}") as said:
        load(copy)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "auto", torch.bfloat16])
def test_dtypes(saved, dtype, llama):
    found = load(saved, dtype=dtype)
    expected = torch.float32 if dtype == "auto" else getattr(torch, str(dtype).split(".")[-1])
    assert {p.dtype for p in found.model.parameters()} == {expected}
    reading = found.read(IDS, rows=[19])
    assert reading.logits.dtype == np.float32
    scale = np.abs(llama.read(IDS).logits).max()
    assert np.abs(reading.logits - llama.read(IDS).logits).max() < 0.2 * scale
    assert {p.dtype for p in found.with_random_weights(1).model.parameters()} == {expected}


def test_what_does_not_fit_is_refused_with_what_it_takes_when_loaded(copy, llama):
    """Whatever the files pack the weights into."""
    weights = sum(weight.numel() for weight in llama.model.parameters())
    for dtype, octets in (("float32", 4), (torch.bfloat16, 2), ("auto", 4)):
        chosen = placement(dtype=dtype).options["dtype"]
        assert _octets(copy, llama.model.config, chosen) == weights * octets
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"vocab_size": 2**34}))
    with pytest.raises(CapacityError, match=r"copy: needs about .* TB of memory, and"):
        load(copy)


_DISK = {
    "model.embed_tokens": "cpu",
    "model.layers.0": "disk",
    "model.layers.1": "cpu",
    "model.layers.2": "disk",
    "model.norm": "cpu",
    "model.rotary_emb": "cpu",
    "lm_head": "disk",
}


@pytest.mark.parametrize("device_map", ["auto", {"": "cpu"}, _DISK, json.dumps(_DISK)])
def test_a_model_that_is_shared_out_reads_and_is_patched_as_in_one_piece(saved, device_map):
    whole, shared = load(saved), load(saved, device_map=device_map)
    plain, mapped = (s.read(IDS, rows=[3, 19], positions=range(20)) for s in (whole, shared))
    for ours, theirs in zip(mapped, plain, strict=True):
        assert np.allclose(ours, theirs, rtol=0, atol=1e-5)
    other = whole.read(IDS[::-1], positions=range(20))
    for layer in range(whole.depth + 1):
        patch = Patch(layer, [1, 19], other.states[layer][[1, 19]])
        patched = [s.read(IDS, patches=[patch]).logits for s in (whole, shared)]
        assert np.allclose(*patched, rtol=0, atol=1e-5)
    logits, states = shared.read_many([IDS, IDS[:9]], [0, 8])
    assert np.allclose(logits[0], plain.logits, rtol=0, atol=1e-5)
    assert states.shape == (2, 4, 2, 32)
    random = [s.with_random_weights(3).read(IDS).logits for s in (whole, shared)]
    assert np.allclose(*random, rtol=0, atol=1e-5)
    item = navigation(2, form="letters")[0]
    assert observe(shared, [item])[0].attention("last").shape == (3, 4, item.nodes)


def test_what_cannot_be_placed_is_refused(saved, monkeypatch):
    for options, message in (
        ({"dtype": "float8"}, "dtype: got 'float8', needed float32, bfloat16, float16 or auto"),
        ({"device_map": "evenly"}, "device map: got 'evenly', needed auto, balanced"),
        ({"device_map": "{model}"}, "which is no JSON"),
        ({"device_map": {"": "cuda:7"}}, "device: got 'cuda:7', which torch does not have here"),
        ({"device_map": {"": 7}}, "device: got 'cuda:7', which torch does not have here"),
    ):
        with pytest.raises(ValueError, match=message):
            load(saved, **options)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "accelerate" else find(name)
    )
    with pytest.raises(ValueError, match="needed the package accelerate, which is not installed"):
        load(saved, device_map="auto")


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False}, "gptq"),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "awq"),
        ({"quant_method": "hqq", "quant_config": {}}, "hqq"),
    ],
)
def test_quantised_weights_without_their_package_are_said_in_one_line(copy, config, method):
    described = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(described | {"quantization_config": config}))
    with pytest.raises(ValueError, match=f"quantised by {method}, which cannot be read here: .*nst"
    ) as said:  # fmt: skip
        load(copy)
    assert "\n" not in str(said.value)


def test_a_name_in_the_cache_is_loaded_and_no_hub_is_asked(saved, tmp_path, monkeypatch, llama):
    from huggingface_hub import constants

    def refused(*_, **__):
        raise AssertionError("a connection was tried")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for name in ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B-Instruct"):
        folder = tmp_path / f"models--{name.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text("0" * 40)
        shutil.copytree(saved, folder / "snapshots" / ("0" * 40))
        found = load(name)
        assert found.name == name.partition("/")[2]
        assert np.allclose(found.read(IDS).logits, llama.read(IDS).logits, rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match=r"nor a model in the local cache; give download=True"):
        load("meta-llama/Llama-3.1-405B")
    sorted((folder / "snapshots" / ("0" * 40)).glob("*.safetensors"))[0].unlink()
    with pytest.raises(ValueError, match="70B-Instruct, which cannot be read as a model"):
        load("meta-llama/Llama-3.1-70B-Instruct")


def test_a_chat_template_writes_the_same_prompt_every_day_and_asks_for_no_thoughts(llama):
    llama.tokenizer.chat_template = (
        "{{ date_string if date_string is defined else strftime_now('%c') }} "
        "{{ messages[0].content }}{% if enable_thinking is not defined or enable_thinking %} think"
        "{% endif %} Answer:"
    )
    try:
        chatting = load((llama.model, llama.tokenizer))
        text = llama.tokenizer.decode(chatting.encode("A > B.").ids)
        assert "think" not in text
        assert chatting.encode("A > B.").start == len("26 Jul 2024 ")
    finally:
        llama.tokenizer.chat_template = None


def test_a_panic_of_the_tokenizers_reader_is_an_error_and_ctrl_c_is_not():
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(RuntimeError, match="range end index"), _panics_as_errors():
        raise panic("range end index 9 out of range")
    with pytest.raises(KeyboardInterrupt), _panics_as_errors():
        raise KeyboardInterrupt
