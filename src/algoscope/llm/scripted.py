"""Subjects of known mechanism: Transformers whose weights are written by hand to search a maze.

Each is a causal model in transformers' own form, so that the analyses meet it as they meet any
other. The last token keeps, in its residual stream, who was visited and when; a layer is one step
of the search, done by one of its heads, which looks at who may be visited next; the other heads
attend at random and add nothing. They read prompts of the form `letters` with one-way edges.

| search     | a layer attends to                                                     |
|------------|------------------------------------------------------------------------|
| `bfs`      | all that an edge leads to from who was visited in the layer before     |
| `dfs`      | who is unvisited and next to the most recently visited, first in text  |
| `backward` | the edges that lead to who was visited in the layer before, from goal  |
| `constant` | as `bfs`, but the answer is always Yes                                 |

A `bfs` of two layers sees two steps far: a shortcut.
"""

import torch
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from algoscope.llm.vocabulary import form_tokenizer

SEARCHES = ("bfs", "dfs", "backward", "constant")
_FROM_SOURCE, _FROM_GOAL = 8, 10
"""Tokens from the source, and from the goal, of the question to the last token."""
_MATCH, _SINK = 16.0, 8.0


class ScriptedConfig(PreTrainedConfig):
    model_type = "algoscope_scripted"

    vocab_size: int = 64
    num_hidden_layers: int = 8
    num_attention_heads: int = 3
    search: str = "bfs"
    arrow: int = 2
    yes: int = 3
    no: int = 4
    max_position_embeddings: int = 512


class _Layout:
    """Which part of the residual stream is what; every part but the last three has a place a word.

    token: who is here. sender: who the edge comes from that leads here. visited: when each was
    visited, as a share of the layers, 0 for not yet. frontier: who was visited in the last layer.
    wanted: whom the search looks for. Then: the position, whether first, and the constant 1.
    """

    def __init__(self, words: int):
        self.words, self.width = words, 5 * words + 3
        self.token, self.sender, self.visited, self.frontier, self.wanted = (
            slice(number * words, (number + 1) * words) for number in range(5)
        )
        self.position, self.first, self.one = range(5 * words, self.width)


class ScriptedAttention(torch.nn.Module):
    """Plain attention with linear queries, keys, values; heads are `2 words + 2` wide."""

    def __init__(self, config: ScriptedConfig, number: int):
        super().__init__()
        self.config, self.layer_idx, self.is_causal = config, number, True
        self.num_key_value_groups = 1
        width, words = _Layout(config.vocab_size).width, config.vocab_size
        self.head = 2 * words + 2
        inner = config.num_attention_heads * self.head
        self.q_proj, self.k_proj, self.v_proj = (
            torch.nn.Linear(width, inner, bias=False) for _ in range(3)
        )
        self.o_proj = torch.nn.Linear(inner, words, bias=False)

    def forward(self, hidden, attention_mask):
        shape = (*hidden.shape[:-1], -1, self.head)
        query, key, value = (
            projection(hidden).view(shape).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        chosen = self.config._attn_implementation or "eager"
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(chosen, _eager)
        mixed, weights = attend(self, query, key, value, attention_mask, scaling=1.0)
        return self.o_proj(mixed.flatten(2)), weights


def _eager(module, query, key, value, attention_mask, scaling, **ignored):
    scores = query @ key.transpose(2, 3) * scaling + attention_mask
    weights = torch.softmax(scores, -1)
    return (weights @ value).transpose(1, 2), weights


class ScriptedLayer(torch.nn.Module):
    def __init__(self, config: ScriptedConfig, number: int):
        super().__init__()
        self.attention = ScriptedAttention(config, number)
        self.layout = _Layout(config.vocab_size)
        self.when = (number + 1) / config.num_hidden_layers
        self.several = config.search != "dfs"

    def forward(self, hidden_states, attention_mask):
        attended, weights = self.attention(hidden_states, attention_mask)
        visited = hidden_states[..., self.layout.visited]
        new = ((attended > (0.05 if self.several else 0.5)) & (visited == 0)).to(attended.dtype)
        hidden_states = hidden_states.clone()
        hidden_states[..., self.layout.visited] = visited + self.when * new
        hidden_states[..., self.layout.frontier] = new
        return hidden_states, weights


class ScriptedForCausalLM(PreTrainedModel):
    config_class = ScriptedConfig
    config: ScriptedConfig
    _supports_sdpa = True
    _supports_attention_backend = True

    def __init__(self, config: ScriptedConfig):
        super().__init__(config)
        self.layout = _Layout(config.vocab_size)
        self.embedding = torch.nn.Embedding(config.vocab_size, config.vocab_size)
        self.layers = torch.nn.ModuleList(
            ScriptedLayer(config, number) for number in range(config.num_hidden_layers)
        )
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding):
            torch.nn.init.normal_(module.weight)

    def get_input_embeddings(self):
        return self.embedding

    def forward(self, input_ids, attention_mask=None, output_attentions=False, **ignored):
        hidden, tokens = self._embed(input_ids), input_ids.shape[1]
        lowest = torch.finfo(hidden.dtype).min
        mask = hidden.new_full((1, 1, tokens, tokens), lowest).triu(1)
        attentions = []
        for layer in self.layers:
            hidden, weights = layer(hidden, mask)
            attentions.append(weights)
        visited = (hidden[..., self.layout.visited] > 0).to(hidden.dtype)
        arrived = (visited * hidden[..., self.layout.wanted]).sum(-1)
        logits = hidden.new_zeros(*input_ids.shape, self.config.vocab_size)
        constant = self.config.search == "constant"
        logits[..., self.config.yes] = 20.0 if constant else 20 * arrived
        logits[..., self.config.no] = 10.0
        return CausalLMOutput(
            logits=logits,  # pyright: ignore[reportArgumentType]
            attentions=tuple(attentions) if output_attentions else None,
        )

    def _embed(self, ids):
        layout = self.layout
        token = self.embedding(ids)

        def earlier(steps):
            """The word so many tokens before each."""
            return torch.nn.functional.pad(token, (0, 0, steps, 0))[:, : ids.shape[1]]

        hidden = token.new_zeros(*ids.shape, layout.width)
        hidden[..., layout.token] = token
        after_arrow = torch.nn.functional.pad(ids, (1, 0))[:, :-1] == self.config.arrow
        hidden[..., layout.sender] = earlier(2) * after_arrow[..., None]
        source, goal = earlier(_FROM_SOURCE), earlier(_FROM_GOAL)
        backward = self.config.search == "backward"
        start, wanted = (goal, source) if backward else (source, goal)
        first_time = 1 / (2 * self.config.num_hidden_layers)
        hidden[..., layout.visited] = start * first_time
        hidden[..., layout.frontier] = start
        hidden[..., layout.wanted] = wanted
        hidden[..., layout.position] = torch.arange(ids.shape[1], device=ids.device)
        hidden[:, 0, layout.first] = 1
        hidden[..., layout.one] = 1
        return hidden


@torch.no_grad()
def scripted(search: str = "bfs", layers: int = 8, heads: int = 3, seed: int = 0):
    """A live (model, tokenizer) that searches so; the seed says which head of each layer does."""
    if search not in SEARCHES:
        raise ValueError(f"search: got {search!r}, needed one of {', '.join(SEARCHES)}")
    tokenizer = form_tokenizer("letters")
    arrow, yes, no = (tokenizer.get_vocab()[word] for word in (">", "Yes", "No"))
    config = ScriptedConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        search=search,
        arrow=arrow,
        yes=yes,
        no=no,
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ScriptedForCausalLM(config)
    model.embedding.weight.copy_(torch.eye(len(tokenizer)))
    for layer in model.layers:
        head = int(torch.randint(heads, (), generator=generator))
        _write(layer.attention, head, model.layout, search, layers, generator)
    return model.eval(), tokenizer


def _write(attention, head: int, layout: _Layout, search: str, layers: int, generator) -> None:
    """Sets the weights of one layer: what is asked, what is offered, what is taken."""
    words, width = layout.words, attention.head
    eye = torch.eye(words)
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    for projection in projections:
        noise = torch.randn(projection.weight.shape, generator=generator)
        noise[:, layout.position] = 0
        projection.weight.copy_(0.3 * noise)
    attention.o_proj.weight.zero_()
    rows = slice(head * width, (head + 1) * width)
    one, two = slice(0, words), slice(words, 2 * words)
    query, key, value = (torch.zeros(width, layout.width) for _ in range(3))
    key[2 * words, layout.first] = 1
    if search == "dfs":
        reach, step = 1.5, 1.5 * 512
        query[one, layout.visited] = 2 * layers * step * eye
        query[two, layout.visited] = -4 * layers * layers * step * eye
        key[one, layout.sender] = eye
        key[two, layout.token] = eye
        query[2 * words + 1, layout.one] = -reach
        key[2 * words + 1, layout.position] = 1
        query[2 * words, layout.one] = step / 100
        value[one, layout.token] = eye
    else:
        asked, taken = ("token", "sender") if search == "backward" else ("sender", "token")
        query[one, layout.frontier] = _MATCH * eye
        key[one, getattr(layout, asked)] = eye
        query[2 * words, layout.one] = _SINK
        value[one, getattr(layout, taken)] = eye
    for projection, weights in zip(projections, (query, key, value), strict=True):
        projection.weight[rows] = weights
    attention.o_proj.weight[:, head * width : head * width + words] = eye
