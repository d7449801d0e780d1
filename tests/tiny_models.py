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


def write_gguf(path, model, context=512):
    """A Llama of 256 tokens and more as a GGUF file: a token a byte, and " Yes" and " No"."""
    import gguf
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    config, weights = model.config, model.state_dict()
    merges = ["Y e", "Ye s", "Ġ Yes", "N o", "Ġ No"]
    tokens = [*bytes_to_unicode().values(), *(merge.replace(" ", "") for merge in merges)]
    tokens += [f"<{number}>" for number in range(config.vocab_size - len(tokens))]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, values in weights.items():
        array = values.numpy()
        for part, count in heads.items():
            if part in name:  # GGUF turns neighbouring coordinates, transformers the two halves
                halves = array.reshape(count, 2, -1, array.shape[1])
                array = halves.swapaxes(1, 2).reshape(array.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
