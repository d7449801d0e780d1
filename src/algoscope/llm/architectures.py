"""Which architectures of the installed transformers can be recorded: a tiny random model of each
is built from its configuration and checked as any subject is.

The prompt of the check is longer than the sliding windows of the tiny models, weights are large
enough that attention is far from uniform, and sinks are not 0.
"""

import re
import warnings
from typing import Any, NamedTuple

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import form_tokenizer

WINDOW = 6
"""Tokens that a layer with a sliding window sees."""
_LARGEST = 30_000_000
"""Parameters of a model that counts as tiny."""
_GAIN = 6.0
_SIZES = {
    2: "num_hidden_layers n_layer n_layers num_layers decoder_layers encoder_layers "
    "num_encoder_layers num_decoder_layers num_key_value_heads num_kv_heads num_experts_per_tok "
    "moe_topk top_k_experts num_blocks",
    4: "num_attention_heads n_head n_heads num_heads decoder_attention_heads "
    "encoder_attention_heads num_encoder_attention_heads num_decoder_attention_heads "
    "num_local_experts num_experts n_routed_experts num_global_key_value_heads "
    "qk_rope_head_dim rotary_dim mamba_d_state state_size patch_size zero_expert_num "
    "linear_num_key_heads linear_num_value_heads",
    8: "head_dim global_head_dim qk_nope_head_dim v_head_dim linear_key_head_dim "
    "linear_value_head_dim mamba_n_heads mamba_d_head hidden_size_per_layer_input laurel_rank "
    "image_size swa_head_dim index_head_dim",
    16: "q_lora_rank kv_lora_rank o_lora_rank embedding_size d_embed lru_width",
    32: "hidden_size d_model n_embd word_embed_proj_dim moe_intermediate_size "
    "shared_expert_intermediate_size expert_ffn_hidden_size",
    64: "intermediate_size ffn_dim decoder_ffn_dim encoder_ffn_dim dff ffn_hidden_size "
    "intermediate_size_mlp",
    256: "max_position_embeddings n_positions max_seq_len",
    1: "n_group topk_group first_k_dense_replace",
    0: "pad_token_id bos_token_id eos_token_id num_kv_shared_layers",
    WINDOW: "sliding_window window_size attention_window_size attention_chunk_size local_attention "
    "sliding_window_size",
}
_TINY = {name: size for size, names in _SIZES.items() for name in names.split()}
_BUILT = ("not built", "does not run")
_PECULIAR: dict[str, dict[str, Any]] = {
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": 10_000.0}
            for kind in ("sliding_attention", "full_attention")
        },
    },
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8.0}},
    "deepseek_v2": {"num_experts_per_tok": 2, "n_group": 1, "topk_group": 1},
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "falcon_h1": {"mamba_d_ssm": 64},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "zaya": {"num_experts_per_tok": 1},
}
"""What a configuration needs beside small sizes."""


class Support(NamedTuple):
    architecture: str
    """As `config.json` names it: model_type."""
    supported: bool
    said: str
    """The largest difference from eager attention, or why it is refused."""


def reason(found: Support) -> str:
    """Why it is refused, without what differs from model to model and from machine to machine."""
    said = re.sub(r"got \w+(?=, )", "got one", found.said)
    said = re.sub(r"(by|logits:|parts|whose|computed) [\d.e-]+", r"\1 …", said)
    said = re.sub(r"of shape \(.*?\)", "of shape …", said)
    return "could not be built or run tiny" if said.startswith(_BUILT) else said


def names() -> list[str]:
    """Every causal architecture of the installed transformers."""
    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def support(name: str) -> Support:
    """Whether a tiny random model of an architecture passes the checks of a subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = tiny(name)
        except Exception as error:
            # Configurations are others': they refuse sizes in any way.
            reason = " ".join(str(error).split())
            return Support(name, False, f"{_BUILT[0]}: {type(error).__name__}: {reason}")
        try:
            checked = subject((model, form_tokenizer("letters")), name)
        except ValueError as error:
            return Support(name, False, str(error))
        except Exception as error:
            return Support(name, False, f"{_BUILT[1]}: {type(error).__name__}: {error}")
    return Support(name, True, f"{checked.check.attention:.0e}")


def tiny(name: str, seed: int = 0) -> Any:
    """A random model of an architecture, two layers and 32 wide."""
    config = _shrunk(type(AutoConfig.for_model(name)), **_PECULIAR.get(name, {}))
    with torch.device("meta"):
        count = sum(p.numel() for p in AutoModelForCausalLM.from_config(config).parameters())
    if count > _LARGEST:
        raise ValueError(f"{name}: got {count:,} parameters, needed at most {_LARGEST:,}")
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config)
        for key, parameter in model.named_parameters():
            if "sink" in key:
                parameter.normal_()
            elif parameter.ndim == 2:
                parameter.mul_(_GAIN)
    return model.eval()


def _shrunk(kind: Any, **changes: Any) -> Any:
    """A configuration with all sizes small, and so all configurations inside it."""
    usual = kind()
    sizes = {key: size for key, size in _TINY.items() if _settable(usual, key)}
    if hasattr(usual, "kv_lora_rank"):
        # Latent attention has as many keys as queries, and works out the width of heads.
        sizes["num_key_value_heads"] = _TINY["num_attention_heads"]
        sizes.pop("head_dim", None)
    if getattr(usual, "is_decoder", None) is False:
        sizes["is_decoder"] = True
    sizes["vocab_size"] = len(form_tokenizer("letters"))
    for key in usual.sub_configs:
        if getattr(usual, key, None) is not None:
            sizes[key] = _shrunk(type(getattr(usual, key)))
    return kind(**sizes | changes)


def _settable(config: Any, key: str) -> bool:
    if isinstance(getattr(type(config), key, None), property):
        return False
    try:
        value = getattr(config, key)
    except (AttributeError, NotImplementedError):
        return False
    except Exception:
        # A size that may differ by layer: readable layer by layer alone.
        return True
    return value is not None or key in ("sliding_window", "head_dim", "num_key_value_heads")
