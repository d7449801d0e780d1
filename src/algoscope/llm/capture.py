"""What a causal model does on prompts: rows of attention and states, and what follows if they are
changed.

Attention is computed by a function of ours that is registered with transformers
(`AttentionInterface`): it returns what the model's own attention returns, and keeps the rows that
were asked for. States are read and written by forward hooks on the decoder layers. Nothing of the
size tokens x tokens is kept.

A `Request` is one prompt with what is to be kept and changed in it; `read_all` runs many of them,
padded at the end, in batches that fit memory. One prompt is a batch of one.
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

from algoscope.llm import batches

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
    """What each head passes on to the rows that were asked for: [layer, head, row, width of the
    widest head]."""


class Request(NamedTuple):
    """A prompt, what is kept of it, and what is changed."""

    ids: Sequence[int]
    rows: Sequence[int] = ()
    """Tokens whose attention and whose heads' outputs are kept."""
    positions: Sequence[int] = ()
    """Tokens whose states are kept."""
    changes: Sequence[Patch | Swap] = ()


@dataclasses.dataclass
class _Session:
    requests: Sequence[Request]
    rows: torch.Tensor
    """[prompt, row], padded by 0."""
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
    position_bias: torch.Tensor | None = None,
    **ignored: Any,
) -> tuple[torch.Tensor, None]:
    """softmax(scaling q k + bias + mask) v, with soft caps (Gemma 2) and sinks (gpt-oss).

    query [prompt, head, token, width], key and value [prompt, key head, token, width]
    -> [prompt, token, head, width]. What else a model may pass is found out by the self-check.
    """
    session = _session.get()
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, 1) if groups > 1 else x for x in (key, value))
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if attention_mask is None and query.shape[2] > 1:
        later = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
        later = later.triu(1 + key.shape[2] - query.shape[2])
        attention_mask = torch.zeros(1, 1, *later.shape, device=query.device, dtype=query.dtype)
        attention_mask = attention_mask.masked_fill(later, torch.finfo(query.dtype).min)

    if position_bias is not None:
        attention_mask = position_bias if attention_mask is None else attention_mask + position_bias

    def weights(rows: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        scores = rows @ key.transpose(2, 3) * scale
        if softcap is not None:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None:
            scores = scores + mask[..., : key.shape[2]]
        if s_aux is None:
            return torch.softmax(scores.float(), -1).to(query.dtype)
        sinks = s_aux.reshape(1, -1, 1, 1).expand(len(scores), -1, scores.shape[2], 1)
        scores = torch.cat([scores, sinks], -1)
        scores = scores - scores.max(-1, keepdim=True).values
        return torch.softmax(scores, -1)[..., :-1].to(query.dtype)

    # In half precision a fused kernel rounds otherwise than eager attention, more with every layer.
    if softcap is None and s_aux is None and query.dtype == torch.float32:
        mixed = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scale
        )
    else:
        mixed = weights(query, attention_mask) @ value
    mixed = mixed.transpose(1, 2)
    if session is not None:
        session.modules.append(module)
        layer = session.numbers.get(id(module), len(session.modules) - 1)
        rows = session.rows.to(query.device)
        mask = attention_mask
        if mask is not None:
            mask = mask.expand(len(query), *mask.shape[-3:]).transpose(1, 2)
            mask = _chosen(mask, rows).transpose(1, 2)
        asking = _chosen(query.transpose(1, 2), rows).transpose(1, 2)
        session.attention[layer] = weights(asking, mask).float().cpu()
        session.outputs[layer] = _chosen(mixed, rows).transpose(1, 2).float().cpu()
        mixed = _changed(mixed, layer, session.requests, Swap)
    return mixed.contiguous(), None


def _chosen(values: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """values [prompt, token, ...] at index [prompt, row] -> [prompt, row, ...]."""
    return values[torch.arange(len(values), device=values.device)[:, None], index]


def _changed(
    values: torch.Tensor, layer: int, requests: Sequence[Request], kind: type
) -> torch.Tensor:
    """values [prompt, token, ...], with what the requests put in their place at this layer."""
    changes = [
        (prompt, change)
        for prompt, request in enumerate(requests)
        for change in request.changes
        if isinstance(change, kind) and change.layer == layer
    ]
    if changes:
        values = values.clone()
    for prompt, change in changes:
        new, head = (
            (change.outputs, (change.head,)) if isinstance(change, Swap) else (change.states, ())
        )
        place = (prompt, list(change.positions), *head)
        wide = torch.as_tensor(new, device=values.device, dtype=values.dtype)
        values[place] = wide[..., : values.shape[-1]]
    return values


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
    (reading,) = _together(model, anatomy, [Request(ids, rows, positions, (*patches, *swaps))])
    return reading


def patched(
    model: torch.nn.Module,
    anatomy: Anatomy,
    ids: Sequence[Sequence[int]],
    patches: Sequence[Sequence[Patch | Swap]],
) -> np.ndarray:
    """The logits after each prompt, with its own states or heads changed: [prompt, word]."""
    requests = [Request(i, changes=p) for i, p in zip(ids, patches, strict=True)]
    return np.stack([reading.logits for reading in read_all(model, anatomy, requests)])


def read_all(
    model: torch.nn.Module, anatomy: Anatomy, requests: Sequence[Request]
) -> Iterator[Reading]:
    """What `read` says of each prompt, several of them at once; their lengths may differ."""

    def cost(request: Request) -> float:
        return batches.cost(model, len(request.ids), len(request.rows), len(request.positions))

    return batches.run(requests, lambda some: _together(model, anatomy, some), cost)


def _together(
    model: torch.nn.Module, anatomy: Anatomy, requests: Sequence[Request]
) -> list[Reading]:
    """The readings of one batch. Prompts are padded at the end, where causal attention does not
    look."""
    numbers = {id(module): number for number, module in enumerate(anatomy.attentions)}
    session = _Session(requests, _padded([r.rows for r in requests]), numbers)
    kept = _padded([r.positions for r in requests])
    states: dict[int, torch.Tensor] = {}

    lengths = [len(r.ids) for r in requests]

    def visit(layer: int, hidden: torch.Tensor) -> torch.Tensor:
        if hidden.shape[:2] != (len(lengths), max(lengths)):
            raise ValueError(
                f"model: got {type(model).__name__}, whose layers pass on arrays of shape "
                f"{tuple(hidden.shape)}, needed one residual stream: [prompt, token, width]"
            )
        # A stream in several parts (hyper-connections) is one that is so much wider.
        stream = _changed(hidden.flatten(2), layer, requests, Patch)
        states[layer] = _chosen(stream, kept.to(stream.device)).float().cpu()
        return stream.reshape(hidden.shape)

    last_alone = "logits_to_keep" in inspect.signature(model.forward).parameters
    options = {"logits_to_keep": max(lengths) - min(lengths) + 1} if last_alone else {}
    with _hooks(anatomy, visit), _recorded(session):
        logits = run(model, [r.ids for r in requests], **options).logits
    ends = torch.tensor(lengths, device=logits.device) - max(lengths) - 1
    last = _chosen(logits, (ends + logits.shape[1])[:, None])[:, 0].float().cpu().numpy()
    attention, states_by_layer, outputs = (
        _stacked([arrays[layer].numpy() for layer in sorted(arrays)])
        for arrays in (session.attention, states, session.outputs)
    )
    return [
        Reading(
            last[i],
            attention[i, :, :, : len(r.rows), : len(r.ids)],
            states_by_layer[i, :, : len(r.positions)],
            outputs[i, :, :, : len(r.rows)],
        )
        for i, r in enumerate(requests)
    ]


def _stacked(layers: Sequence[np.ndarray]) -> np.ndarray:
    """[prompt, layer, ..., width]; zeros fill up the heads of layers whose heads are narrower."""
    widest = max(values.shape[-1] for values in layers)
    before = [(0, 0)] * (layers[0].ndim - 1)
    return np.stack([np.pad(v, [*before, (0, widest - v.shape[-1])]) for v in layers], 1)


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """[row, longest]; zeros at the end of the others."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row] + [0] * (longest - len(row)) for row in rows], dtype=torch.long)


@torch.inference_mode()
def run(model: torch.nn.Module, ids: Sequence[Sequence[int]], **options: Any) -> Any:
    """What the model returns for prompts, which are padded at the end."""
    lengths = torch.tensor([len(prompt) for prompt in ids])
    mask = (torch.arange(int(lengths.max())) < lengths[:, None]).long()
    device = entrance(model)
    tokens, mask = _padded(ids).to(device), mask.to(device)
    return model(input_ids=tokens, attention_mask=mask, use_cache=False, **options)


def entrance(model: torch.nn.Module) -> torch.device:
    """Where a model takes its tokens; layers may be elsewhere, and those that are fetched when they
    are needed are nowhere (meta)."""
    device = next(model.parameters()).device
    return torch.device("cpu") if device.type == "meta" else device


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
    session = _Session((), torch.zeros(1, 0, dtype=torch.long), {})
    with _recorded(session):
        run(model, [ids])
    attentions = list({id(module): module for module in session.modules}.values())
    if len(attentions) < len(session.modules):
        raise ValueError(
            f"model: got {type(model).__name__}, whose {len(attentions)} attentions are computed "
            f"{len(session.modules)} times on a prompt, needed once each: heads that are the "
            "difference of two attentions, and layers that are run again, cannot be recorded"
        )
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
