"""What a causal model does on one prompt: rows of attention and states, and what follows if they
are changed.

Attention is computed by a function of ours that is registered with transformers
(`AttentionInterface`): it returns what the model's own attention returns, and keeps the rows that
were asked for. States are read and written by forward hooks on the decoder layers. Nothing of the
size tokens x tokens is kept.
"""

import contextlib
import contextvars
import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

IMPLEMENTATION = "algoscope"


class Patch(NamedTuple):
    """States to be put in the place of the model's own."""

    layer: int
    """After this many layers; 0 is the embedding."""
    positions: Sequence[int]
    states: np.ndarray
    """[position, width]"""


class Swap(NamedTuple):
    """Outputs to be put in the place of a head's own; zeros silence it."""

    layer: int
    """From 0."""
    head: int
    positions: Sequence[int]
    outputs: np.ndarray
    """[position, width of a head]"""


class Reading(NamedTuple):
    logits: np.ndarray
    """Of the token after the prompt: float32 [vocabulary]."""
    attention: np.ndarray
    """[layer, head, row, token]: who was attended by each row that was asked for."""
    states: np.ndarray
    """The residual stream [layer + 1, position, width]; 0 is the embedding."""
    outputs: np.ndarray
    """What each head passes on to the rows that were asked for: [layer, head, row, width of a
    head]."""


@dataclasses.dataclass
class _Session:
    rows: torch.Tensor
    swaps: Sequence[Swap]
    numbers: dict[int, int]
    """The number of the layer of each attention module, by the module's id."""
    attention: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    outputs: dict[int, torch.Tensor] = dataclasses.field(default_factory=dict)
    modules: list[torch.nn.Module] = dataclasses.field(default_factory=list)


_session: contextvars.ContextVar[_Session | None] = contextvars.ContextVar("session", default=None)


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **ignored: Any,
) -> tuple[torch.Tensor, None]:
    """softmax(scaling q k + mask) v, with soft caps (Gemma 2) and sinks (gpt-oss).

    query [1, head, token, width], key and value [1, key head, token, width]
    -> [1, token, head, width]. What else a model may pass is found out by the self-check.
    """
    session = _session.get()
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, 1) if groups > 1 else x for x in (key, value))
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if attention_mask is None and query.shape[2] > 1:
        later = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
        later = later.triu(1 + key.shape[2] - query.shape[2])
        attention_mask = torch.zeros(later.shape, device=query.device, dtype=query.dtype)
        attention_mask = attention_mask.masked_fill(later, torch.finfo(query.dtype).min)

    def weights(rows: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        scores = rows @ key.transpose(2, 3) * scale
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None:
            scores = scores + mask[..., : key.shape[2]]
        if s_aux is None:
            return torch.softmax(scores.float(), -1).to(query.dtype)
        sinks = s_aux.reshape(1, -1, 1, 1).expand(len(scores), -1, scores.shape[2], 1)
        return torch.softmax(torch.cat([scores, sinks], -1).float(), -1)[..., :-1].to(query.dtype)

    if softcap is None and s_aux is None:
        mixed = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scale
        )
    else:
        mixed = weights(query, attention_mask) @ value
    mixed = mixed.transpose(1, 2)
    if session is not None:
        session.modules.append(module)
        layer = session.numbers.get(id(module), len(session.modules) - 1)
        mask = None if attention_mask is None else attention_mask[..., session.rows, :]
        session.attention[layer] = weights(query[:, :, session.rows], mask)[0].float().cpu()
        session.outputs[layer] = mixed[0, session.rows].transpose(0, 1).float().cpu()
        for swap in session.swaps:
            if swap.layer == layer:
                mixed = mixed.clone()
                new = torch.as_tensor(swap.outputs, device=mixed.device, dtype=mixed.dtype)
                mixed[0, list(swap.positions), swap.head] = new
    return mixed.contiguous(), None


AttentionInterface.register(IMPLEMENTATION, _attention)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


class Anatomy(NamedTuple):
    """Where in a model its layers are."""

    layers: tuple[torch.nn.Module, ...]
    """Each takes the residual stream and returns it."""
    attentions: tuple[torch.nn.Module, ...]


def read(
    model: torch.nn.Module,
    anatomy: Anatomy,
    ids: Sequence[int],
    rows: Sequence[int] = (),
    positions: Sequence[int] = (),
    patches: Sequence[Patch] = (),
    swaps: Sequence[Swap] = (),
) -> Reading:
    """Runs the model on one prompt.

    `rows` are the tokens whose attention is kept, `positions` those whose states are; `patches`
    are written into the residual stream, `swaps` into what heads pass on to it.
    """
    device = next(model.parameters()).device
    numbers = {id(module): number for number, module in enumerate(anatomy.attentions)}
    row_index = torch.tensor(list(rows), device=device, dtype=torch.long)
    session = _Session(row_index, swaps, numbers)
    kept = torch.tensor(list(positions), device=device, dtype=torch.long)
    states: dict[int, torch.Tensor] = {}

    def visit(layer: int, hidden: torch.Tensor) -> torch.Tensor:
        for patch in patches:
            if patch.layer == layer:
                hidden = hidden.clone()
                new = torch.as_tensor(patch.states, device=device, dtype=hidden.dtype)
                hidden[0, list(patch.positions)] = new
        states[layer] = hidden[0, kept].float().cpu()
        return hidden

    last_alone = "logits_to_keep" in inspect.signature(model.forward).parameters
    with _hooks(anatomy, visit), _recorded(session):
        logits = run(model, ids, **{"logits_to_keep": 1} if last_alone else {}).logits
    attention, states_by_layer, outputs = (
        np.stack([arrays[layer].numpy() for layer in sorted(arrays)])
        for arrays in (session.attention, states, session.outputs)
    )
    return Reading(logits[0, -1].float().cpu().numpy(), attention, states_by_layer, outputs)


@torch.inference_mode()
def run(model: torch.nn.Module, ids: Sequence[int], **options: Any) -> Any:
    """What the model returns for one prompt."""
    tokens = torch.tensor([list(ids)], device=next(model.parameters()).device)
    mask = torch.ones_like(tokens)
    return model(input_ids=tokens, attention_mask=mask, use_cache=False, **options)


@contextlib.contextmanager
def _recorded(session: _Session) -> Iterator[None]:
    token = _session.set(session)
    try:
        yield
    finally:
        _session.reset(token)


@contextlib.contextmanager
def _hooks(anatomy: Anatomy, visit) -> Iterator[None]:
    def before(module, args, kwargs):
        if args:
            return (visit(0, args[0]), *args[1:]), kwargs
        return args, kwargs | {"hidden_states": visit(0, kwargs["hidden_states"])}

    def after(number):
        def hook(module, args, output):
            if isinstance(output, tuple):
                return (visit(number, output[0]), *output[1:])
            return visit(number, output)

        return hook

    handles = [anatomy.layers[0].register_forward_pre_hook(before, with_kwargs=True)]
    handles += [
        layer.register_forward_hook(after(number + 1))
        for number, layer in enumerate(anatomy.layers)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def dissect(model: torch.nn.Module, ids: Sequence[int]) -> Anatomy:
    """Finds the layers of a model by running it: which modules call attention, and in what."""
    no_rows = torch.zeros(0, device=next(model.parameters()).device, dtype=torch.long)
    session = _Session(no_rows, (), {})
    with _recorded(session):
        run(model, ids)
    attentions = list({id(module): module for module in session.modules}.values())
    stacks = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]
    for stack in stacks:
        owners = [
            [a for a in attentions if any(part is a for part in layer.modules())] for layer in stack
        ]
        if attentions and [owned for modules in owners for owned in modules] == attentions:
            if all(len(modules) == 1 for modules in owners):
                return Anatomy(tuple(stack), tuple(attentions))
            break
    raise ValueError(
        f"model: got {type(model).__name__}, of whose parts {len(attentions)} call attention "
        "through transformers' AttentionInterface; needed a stack of layers with exactly one such "
        "attention each. Models without attention (Mamba, RWKV), hybrids (Jamba), and models that "
        "compute attention by themselves (BLOOM, MPT) cannot be recorded"
    )
