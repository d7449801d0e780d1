"""A Transformer, in the form of the library transformers, that runs a mechanism.

    x = embedding                       what a token and its neighbours say, in parts of the stream
    x = update(x, attention(x))         one layer, a step of the mechanism or an idle one
    Yes - No = 20 (answer(x) - 1/2)     at the last token

Attention is plain and goes through transformers' AttentionInterface; its weights are written so
that some heads do what the mechanism says. The others attend at random; their output goes nowhere
or, in a loud subject, into places of the stream that nobody reads. The stream can be rotated: then
no part has places of its own.
"""

from typing import Any

import torch
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from algoscope.llm.scripted.disguises import (
    CODE,
    NOISE,
    POSITIONS,
    ScriptedConfig,
    Widths,
    layout,
    schedule,
    widths,
)
from algoscope.llm.scripted.parts import Layout, State, Step
from algoscope.llm.scripted.reading import GOAL, SOURCE, Prompt, before


class ScriptedAttention(torch.nn.Module):
    """Plain attention with linear queries, keys and values."""

    def __init__(self, config: ScriptedConfig, step: Step, stream: Layout, wide: Widths):
        super().__init__()
        self.config, self.is_causal = config, True
        self.num_key_value_groups = 1
        self.wide, heads = wide, config.num_attention_heads
        self.inbox = Layout(
            {f"{head.name} {part}": stream.size(part) for head in step.heads for part in head.takes}
            | ({"noise": NOISE} if config.loud else {})
        )
        self.q_proj, self.k_proj, self.v_proj = (
            torch.nn.Linear(stream.width, heads * width, bias=False)
            for width in (wide.asked, wide.asked, wide.taken)
        )
        self.o_proj = torch.nn.Linear(heads * wide.taken, max(self.inbox.width, 1), bias=False)

    def forward(self, hidden, attention_mask):
        shape = (*hidden.shape[:-1], self.config.num_attention_heads, -1)
        query, key, value = (
            projection(hidden).view(shape).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        chosen = self.config._attn_implementation or "eager"
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(chosen, eager)
        mixed, weights = attend(self, query, key, value, attention_mask, scaling=1.0)
        return self.o_proj(mixed.flatten(2)), weights


def eager(module, query, key, value, attention_mask, scaling, **ignored):
    scores = query @ key.transpose(2, 3) * scaling + attention_mask
    weights = torch.softmax(scores, -1)
    return (weights @ value).transpose(1, 2), weights


class ScriptedLayer(torch.nn.Module):
    def __init__(self, config: ScriptedConfig, step: Step, stream: Layout, wide: Widths):
        super().__init__()
        self.attention = ScriptedAttention(config, step, stream, wide)
        self.step, self.stream, self.loud = step, stream, config.loud

    def forward(self, hidden_states, attention_mask, rotation=None):
        attended, weights = self.attention(hidden_states, attention_mask)
        plain = hidden_states.clone() if rotation is None else hidden_states @ rotation.T
        state, came = State(plain, self.stream), State(attended, self.attention.inbox)
        inbox = {
            (head.name, part): came[f"{head.name} {part}"]
            for head in self.step.heads
            for part in head.takes
        }
        self.step.update(state, inbox)
        if self.loud:
            state["noise"] = state["noise"] / 2 + came["noise"] / 2
        return (plain if rotation is None else plain @ rotation), weights


class ScriptedForCausalLM(PreTrainedModel):
    config_class = ScriptedConfig
    config: ScriptedConfig
    _supports_sdpa = True
    _supports_attention_backend = True
    rotation: torch.Tensor | None
    codes: torch.Tensor

    def __init__(self, config: ScriptedConfig):
        super().__init__(config)
        steps, self.layout = schedule(config), layout(config)
        wide = widths(steps, self.layout)
        self.embedding = torch.nn.Embedding(config.vocab_size, config.word_width)
        self.layers = torch.nn.ModuleList(
            ScriptedLayer(config, step, self.layout, wide) for step in steps
        )
        # What cheats is a weight, so that a subject with random weights does not cheat.
        self.cheat = torch.nn.Parameter(torch.zeros(1))
        self.register_buffer("rotation", self._rotation(), persistent=False)
        codes = self._random(POSITIONS, CODE)
        self.register_buffer("codes", codes / codes.norm(dim=1, keepdim=True), persistent=False)
        self.post_init()

    def _random(self, *shape: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(1000 + self.config.seed)
        return torch.randn(shape, generator=generator)

    def _rotation(self) -> torch.Tensor | None:
        if not self.config.rotated:
            return None
        return torch.linalg.qr(
            self._random(self.layout.width, self.layout.width).double()
        ).Q.float()

    def _init_weights(self, module):
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding):
            torch.nn.init.normal_(module.weight)

    def get_input_embeddings(self):
        return self.embedding

    def forward(self, input_ids, attention_mask=None, output_attentions=False, **ignored):
        tokens = input_ids.shape[1]
        prompt = self._read(input_ids)
        hidden = self._embed(prompt)
        lowest = torch.finfo(hidden.dtype).min
        mask = hidden.new_full((1, 1, tokens, tokens), lowest).triu(1)
        attentions = []
        for layer in self.layers:
            hidden, weights = layer(hidden, mask, self.rotation)
            attentions.append(weights)
        return CausalLMOutput(
            logits=self._logits(hidden, prompt),  # pyright: ignore[reportArgumentType]
            attentions=tuple(attentions) if output_attentions else None,
        )

    def _read(self, ids: torch.Tensor) -> Any:
        words, stops = self.config.words or {}, self.config.stops
        return Prompt(ids, self.embedding(ids), words, stops, self.cheat)

    def _embed(self, prompt: Any) -> torch.Tensor:
        """[batch, token, width]"""
        config, ids = self.config, prompt.ids
        state = State(prompt.letters.new_zeros(*ids.shape, self.layout.width), self.layout)
        state["token"] = prompt.letters
        state["first"][:, 0] = 1
        positions = torch.arange(ids.shape[1], device=ids.device) / POSITIONS
        state["position"] = positions[None, :, None].expand(*ids.shape, 1)
        state["one"] = torch.ones_like(state["one"])
        flags = {"edge": prompt.edge, "last": prompt.at(0), "worker": prompt.at(config.place)}
        if config.gathered:
            flags |= {"names source": prompt.at(SOURCE), "names goal": prompt.at(GOAL)}
        for flag, where in flags.items():
            state[flag] = where[..., None]
        config.mechanism.tell(state, prompt)
        if "oracle" in self.layout.places:
            state["oracle"] = prompt.oracle[:, None, None] * state["last"]
        if config.gathered:
            self._embed_places(state, prompt)
        else:
            state["sender"], state["receiver"] = prompt.sender, prompt.receiver
            state["token"] = torch.maximum(state["token"], state["receiver"])
            for part, what in (("source", SOURCE), ("goal", GOAL)):
                named = [prompt.asked(what, place) for place in {0, config.place}]
                state[part] = torch.stack(named).sum(0)
            config.mechanism.begin(state)
        return self._rotated(state.hidden)

    def _embed_places(self, state: State, prompt: Prompt) -> None:
        """Where each token stands, and where an edge's ends do."""
        codes = self.codes[None, : prompt.ids.shape[1]].expand(*prompt.ids.shape, CODE)
        behind = int(self.config.stops)
        state["place"] = codes
        state["sender place"] = before(codes, 2 + behind) * state["edge"]
        state["receiver place"] = before(codes, behind) * state["edge"]
        if not self.config.stops:
            state["receiver"] = prompt.receiver

    def _rotated(self, plain: torch.Tensor) -> torch.Tensor:
        return plain if self.rotation is None else plain @ self.rotation

    def _logits(self, hidden: torch.Tensor, prompt: Any) -> torch.Tensor:
        """[batch, token, vocabulary]"""
        config, mechanism = self.config, self.config.mechanism
        plain = hidden if self.rotation is None else hidden @ self.rotation.T
        state = State(plain, self.layout)
        answer = mechanism.answer(state).to(hidden.dtype)
        if mechanism.leak:
            in_stream = mechanism.leaks_in == "stream"
            told = state["oracle"][..., 0] if in_stream else prompt.oracle[:, None]
            answer = (1 - mechanism.leak) * answer + mechanism.leak * told
        chance = prompt.chance(config.seed)
        if mechanism.wrong:
            answer = torch.where((chance < mechanism.wrong)[:, None], 1 - answer, answer)
        noise = torch.special.ndtri(chance.clamp(1e-6, 1 - 1e-6)).to(hidden.dtype)
        logits = hidden.new_zeros(*prompt.ids.shape, config.vocab_size)
        words = config.words or {}
        logits[..., words["Yes"]] = config.scale * (20 * answer + config.noise * noise[:, None])
        logits[..., words["No"]] = config.scale * 10.0
        return logits
