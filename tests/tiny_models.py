"""Small models for the tests of language models."""

import torch
import transformers


def tiny_llama(tokenizer, seed=0, gain=8.0, **changes):
    """A random Llama whose attention is far from uniform."""
    torch.manual_seed(seed)
    config = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "pad_token_id": 0,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config | changes))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.mul_(gain)
    return model
