"""The weights of a hand-written Transformer: which heads of each layer do what."""

from typing import Any

import torch

from algoscope.llm.scripted.disguises import NOISE, POSITIONS, schedule
from algoscope.llm.scripted.machine import ScriptedForCausalLM
from algoscope.llm.scripted.parts import LAST, Head, Layout, Step


@torch.no_grad()
def write(model: ScriptedForCausalLM, words: torch.Tensor) -> None:
    """Sets all weights: the embedding of words, and which heads of each layer do what."""
    generator = torch.Generator().manual_seed(model.config.seed)
    model.embedding.weight.copy_(words)
    model.cheat.fill_(1)
    for layer, step in zip(model.layers, schedule(model.config), strict=True):
        _write_layer(layer.attention, step, model, generator)


def _write_layer(attention: Any, step: Step, model: ScriptedForCausalLM, generator) -> None:
    """Heads of the step at random places, and random ones beside them."""
    config, stream = model.config, model.layout
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    for projection in projections:
        noise = torch.randn(projection.weight.shape, generator=generator)
        projection.weight.copy_((0.4 if config.loud else 0.3) * noise)
        for unread in ("position", *(["noise"] if config.loud else [])):
            projection.weight[:, stream[unread]] = 0
    attention.o_proj.weight.zero_()
    order = torch.randperm(config.num_attention_heads, generator=generator).tolist()
    if config.loud:
        width = attention.wide.taken
        for number in order[len(step.heads) :]:
            said = torch.randn(NOISE, width, generator=generator) / width**0.5
            columns = slice(number * width, (number + 1) * width)
            attention.o_proj.weight[attention.inbox["noise"], columns] = said
    for number, head in zip(order, step.heads, strict=False):
        _write_head(attention, number, head, stream, config.soft)
    if model.rotation is not None:
        for projection in projections:
            projection.weight.copy_(projection.weight @ model.rotation)


def _write_head(attention: Any, number: int, head: Head, stream: Layout, soft: bool) -> None:
    """Sets the weights of one head: what is asked, what is offered, what is taken."""
    asked, taken = attention.wide
    query, key = torch.zeros(asked, stream.width), torch.zeros(asked, stream.width)
    value = torch.zeros(taken, stream.width)
    if head.prefers:
        # Over all the text scores fall by less than a match, from the preferred end on. Heads that
        # mix by position keep their slope, since what they find depends on it.
        slope = head.prefers / 2 if soft and abs(head.prefers) >= LAST else head.prefers
        match = abs(slope) * POSITIONS
        rest = match / 100
    else:
        slope, match, rest = 0.0, *((6.5, 5.5) if soft else (16.0, 8.0))
    row = 0
    for own, other, weight in head.asks:
        size = stream.size(own)
        rows = slice(row, row + size)
        query[rows, stream[own]] = weight * match * torch.eye(size)
        key[rows, stream[other]] = torch.eye(size)
        row += size
    query[row, stream["one"]] = rest
    key[row, stream["first"]] = 1
    if head.prefers:
        query[row + 1, stream["one"]] = slope * POSITIONS
        key[row + 1, stream["position"]] = 1
        if head.prefers > 0:
            key[row + 1, stream["one"]] = -1
    place = 0
    for part in head.takes:
        size = stream.size(part)
        value[place : place + size, stream[part]] = torch.eye(size)
        start = number * taken + place
        rows = attention.inbox[f"{head.name} {part}"]
        attention.o_proj.weight[rows, start : start + size] = torch.eye(size)
        place += size
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    for projection, weights in zip(projections, (query, key, value), strict=True):
        projection.weight[number * len(weights) : (number + 1) * len(weights)] = weights
