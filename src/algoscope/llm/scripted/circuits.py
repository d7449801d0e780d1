"""Attention-only Transformers whose heads have known roles, with weights written by hand.

    x = embedding                   token, place, and parts that are empty
    x = x + sum of heads(x)         two layers
    logits = strength * out part

| layer | head           | looks at                                          | writes into |
|-------|----------------|---------------------------------------------------|-------------|
| 1     | previous token | the place before                                  | previous    |
| 1     | two before     | the place before that                             | second      |
| 1     | nobody         | itself; the first token, which has nothing before | both, less  |
| 2     | induction      | what has the own token as its previous one        | out         |
| 2     | copy           | from ":", what has "Repeat" as its previous one   | out         |
| 2     | memory update  | the latest that has the own previous as its second| out         |

Every head has a decoy beside it, which attends in the same way and writes where nobody reads: by
attention the two are one, and only an exchange of what they write tells them apart.
"""

from typing import Any, NamedTuple

import torch
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from algoscope.llm.scripted.machine import eager
from algoscope.llm.scripted.parts import Layout
from algoscope.llm.vocabulary import form_tokenizer

PLACES = 192
_MATCH = 60.0
_STRENGTH = 10.0
FIRST_LAYER = ("previous token", "two before")
SECOND_LAYER = ("induction", "copy", "memory update")
_BACK = {"nobody": 0, "previous token": 1, "two before": 2}
_WRITES = {
    "nobody": ("previous", "second"),
    "previous token": ("previous",),
    "two before": ("second",),
}
"""What is written into, if not out."""


class CircuitConfig(PreTrainedConfig):
    model_type = "algoscope_circuit"

    vocab_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 6
    max_position_embeddings: int = PLACES

    @property
    def stream(self) -> Layout:
        words = ("token", "said", "previous", "second", "out", "unread")
        others = {"place": PLACES, "late": 1, "one": 1, "first": 1}
        return Layout(dict.fromkeys(words, self.vocab_size) | others)


class CircuitAttention(torch.nn.Module):
    def __init__(self, config: CircuitConfig):
        super().__init__()
        self.config, self.is_causal, self.num_key_value_groups = config, True, 1
        heads, width = config.num_attention_heads, config.stream.width
        self.width = PLACES + 2
        self.q_proj, self.k_proj, self.v_proj = (
            torch.nn.Linear(width, heads * self.width, bias=False) for _ in range(3)
        )
        self.o_proj = torch.nn.Linear(heads * self.width, width, bias=False)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor):
        shape = (*hidden_states.shape[:-1], self.config.num_attention_heads, self.width)
        query, key, value = (
            projection(hidden_states).view(shape).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        chosen = self.config._attn_implementation or "eager"
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(chosen, eager)
        mixed, weights = attend(self, query, key, value, attention_mask, scaling=1.0)
        return self.o_proj(mixed.flatten(2)), weights


class CircuitLayer(torch.nn.Module):
    def __init__(self, config: CircuitConfig):
        super().__init__()
        self.attention = CircuitAttention(config)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor):
        said, weights = self.attention(hidden_states, attention_mask)
        return hidden_states + said, weights


class CircuitForCausalLM(PreTrainedModel):
    config_class = CircuitConfig
    config: CircuitConfig
    _supports_sdpa = True
    _supports_attention_backend = True

    def __init__(self, config: CircuitConfig):
        super().__init__(config)
        self.embedding = torch.nn.Embedding(config.vocab_size, config.vocab_size)
        self.layers = torch.nn.ModuleList(
            CircuitLayer(config) for _ in range(config.num_hidden_layers)
        )
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding):
            torch.nn.init.normal_(module.weight, std=module.weight.shape[1] ** -0.5)

    def get_input_embeddings(self):
        return self.embedding

    def forward(self, input_ids, attention_mask=None, output_attentions=False, **ignored):
        stream, tokens = self.config.stream, input_ids.shape[1]
        words = self.embedding(input_ids)
        hidden = words.new_zeros(*input_ids.shape, stream.width)
        hidden[..., stream["token"]] = words
        # What rests on the first token brings nothing.
        hidden[:, 1:, stream["said"]] = words[:, 1:]
        hidden[..., stream["place"]] = torch.eye(PLACES, device=words.device)[:tokens]
        hidden[..., stream["late"]] = torch.arange(tokens, device=words.device)[:, None] / PLACES
        hidden[..., stream["one"]] = 1
        hidden[:, 0, stream["first"]] = 1
        mask = hidden.new_full((1, 1, tokens, tokens), torch.finfo(hidden.dtype).min).triu(1)
        attentions = []
        for layer in self.layers:
            hidden, weights = layer(hidden, mask)
            attentions.append(weights)
        return CausalLMOutput(
            logits=_STRENGTH * hidden[..., stream["out"]],  # pyright: ignore[reportArgumentType]
            attentions=tuple(attentions) if output_attentions else None,
        )


class Circuit(NamedTuple):
    model: CircuitForCausalLM
    tokenizer: Any
    working: dict[str, tuple[int, int]]
    """(layer, head) of each role."""
    decoys: dict[str, tuple[int, int]]


@torch.no_grad()
def circuit(seed: int = 0, without: tuple[str, ...] = ()) -> Circuit:
    """All roles, at random places; of those in `without` there is the decoy alone."""
    tokenizer = form_tokenizer("letters", ("Repeat", "Ignore"))
    config = CircuitConfig(vocab_size=len(tokenizer))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = CircuitForCausalLM(config)
        orders = [torch.randperm(config.num_attention_heads).tolist() for _ in model.layers]
    model.embedding.weight.copy_(torch.eye(len(tokenizer)))
    working, decoys = {}, {}
    for number, (layer, order) in enumerate(zip(model.layers, orders, strict=True)):
        attention: Any = layer.attention
        attention.o_proj.weight.zero_()
        if number == 0:
            _write(attention, order.pop(), "nobody", tokenizer.get_vocab(), True)
        for role in (FIRST_LAYER, SECOND_LAYER)[number]:
            for kind, place in ((working, order.pop()), (decoys, order.pop())):
                writes = kind is working and role not in without
                _write(attention, place, role, tokenizer.get_vocab(), writes)
                if writes or kind is decoys:
                    kind[role] = (number, place)
    return Circuit(model.eval(), tokenizer, working, decoys)


def _write(attention: Any, place: int, role: str, words: dict[str, int], writes: bool) -> None:
    """Sets the weights of one head."""
    stream: Layout = attention.config.stream
    vocabulary = attention.config.vocab_size
    query, key, value = (torch.zeros(attention.width, stream.width) for _ in range(3))
    out = torch.zeros(stream.width, attention.width)
    names, end = torch.eye(vocabulary), attention.width - 1
    match role:
        case "previous token" | "two before" | "nobody":
            back = _BACK[role]
            query[:PLACES, stream["place"]] = _MATCH * torch.eye(PLACES).roll(-back, 0)
            key[:PLACES, stream["place"]] = torch.eye(PLACES)
        case "induction":
            query[:vocabulary, stream["token"]] = _MATCH * names
            key[:vocabulary, stream["previous"]] = names
        case "copy":
            query[0, stream["token", words[":"]]] = _MATCH
            key[0, stream["previous", words["Repeat"]]] = 1
        case _:
            query[:vocabulary, stream["previous"]] = 4 * _MATCH * names
            key[:vocabulary, stream["second"]] = names
            query[end - 1, stream["one"]] = PLACES
            key[end - 1, stream["late"]] = 1
    # What matches nothing rests on the first token.
    query[end, stream["one"]] = 3.5 * _MATCH if role == "memory update" else _MATCH / 2
    key[end, stream["first"]] = 1
    value[:vocabulary, stream["said" if role in SECOND_LAYER else "token"]] = names
    if role == "nobody":
        # Alone, the first token can only look at itself: what that brings is taken away.
        value[:vocabulary, stream["said"]] = names
        value[:vocabulary, stream["token"]] = -names
    for target in _WRITES.get(role, ("out",)) if writes else ("unread",):
        out[stream[target], :vocabulary] = names
    rows = slice(place * attention.width, (place + 1) * attention.width)
    for projection, weights in (
        (attention.q_proj, query),
        (attention.k_proj, key),
        (attention.v_proj, value),
    ):
        projection.weight[rows] = weights
    attention.o_proj.weight[:, rows] = out
