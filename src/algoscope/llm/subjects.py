"""Language models as subjects: any causal model of transformers, checked before it is trusted.

    load("folder")                      a model saved by save_pretrained
    load("SmolLM2-135M-Instruct.gguf")  a GGUF file
    load("org/name")                    a name in the local cache; a hub is asked if download=True
    load("navigator")                   a model that comes with Algoscope (see `navigator`)
    load((model, tokenizer))            a live object

At start-up the recorded attention is compared with the model's own (eager) attention, the logits
too, and a state patched onto itself has to change nothing; a subject that fails is refused.
"""

import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from algoscope import capacity, files
from algoscope.capacity import CapacityError
from algoscope.errors import short
from algoscope.llm import capture, placement
from algoscope.llm.capture import Anatomy, Patch, Reading, Request, Swap

SHIPPED = pathlib.Path(__file__).parent / "shipped"
"""The models that come with Algoscope, a folder each."""
_TOLERANCE = 1e-5
_CHECK_LENGTH = 12
_MOST_LAYERS = 1_000
"""More than any model has; a file that says more would be built for hours."""
_NO_HUB: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
"""Code that lies beside weights is never run, and nobody is asked whether it may be."""
_TEMPLATE = {"date_string": "26 Jul 2024", "enable_thinking": False}
"""Some chat templates write today's date, and so another prompt each day; some let the model think
before it answers, where its next token is to be the answer."""


class SelfCheck(NamedTuple):
    attention: float
    """Largest difference between recorded and eager attention."""
    logits: float
    """Largest difference between the logits, relative to the largest of them."""


class Encoded(NamedTuple):
    ids: list[int]
    offsets: list[tuple[int, int]]
    """The characters of each token in the text that was given."""
    start: int
    """Where in that text the prompt begins (after a chat template's opening)."""

    def tokens(self, start: int, end: int, text: str) -> list[int]:
        """The tokens that hold any of the characters [start, end) of the prompt, which are
        `text`."""
        start, end = start + self.start, end + self.start
        overlapping = [i for i, (a, b) in enumerate(self.offsets) if a < end and b > start]
        if not overlapping:
            raise ValueError(
                f"tokenizer: got no token for {text!r} (characters {start} to {end}), needed one"
            )
        return overlapping


@dataclasses.dataclass(frozen=True, eq=False)
class Subject:
    name: str
    model: PreTrainedModel
    tokenizer: Any
    anatomy: Anatomy
    check: SelfCheck
    chat: bool = False
    """Whether prompts are put into the tokenizer's chat template."""

    @property
    def depth(self) -> int:
        return len(self.anatomy.layers)

    @property
    def context(self) -> int | None:
        return getattr(self.model.config, "max_position_embeddings", None)

    def encode(self, prompt: str) -> Encoded:
        text = prompt
        if self.chat:
            messages = [{"role": "user", "content": prompt}]
            text = self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True, **_TEMPLATE
            )
        encoded = self.tokenizer(
            text, return_offsets_mapping=True, add_special_tokens=not self.chat
        )
        ids, offsets = encoded["input_ids"], [tuple(o) for o in encoded["offset_mapping"]]
        if self.context is not None and len(ids) > self.context:
            raise ValueError(
                f"prompt: got {len(ids)} tokens, needed at most {self.context}, the context of "
                f"{self.name}; make the mazes smaller"
            )
        start = text.find(prompt)
        if start < 0:
            raise ValueError(
                "chat template: got one that changes the prompt, needed one that quotes it; "
                "give chat=False"
            )
        return Encoded(ids, offsets, start)

    def read(
        self,
        ids: Sequence[int],
        rows: Sequence[int] = (),
        positions: Sequence[int] = (),
        patches: Sequence[Patch] = (),
        swaps: Sequence[Swap] = (),
    ) -> Reading:
        """See `capture.read`."""
        return capture.read(self.model, self.anatomy, ids, rows, positions, patches, swaps)

    def read_all(self, requests: Sequence[Request]) -> Iterator[Reading]:
        """See `capture.read_all`."""
        return capture.read_all(self.model, self.anatomy, requests)

    def read_many(
        self, ids: Sequence[Sequence[int]], positions: Sequence[int] | Sequence[Sequence[int]] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """(logits [prompt, word], states [prompt, layer + 1, position, width]); positions are
        [position], the same of all prompts, or [prompt, position]."""
        given = np.asarray(positions, int)
        chosen = np.broadcast_to(given, (len(ids), given.shape[-1])).tolist()
        requests = [Request(i, positions=p) for i, p in zip(ids, chosen, strict=True)]
        readings = list(self.read_all(requests))
        return np.stack([r.logits for r in readings]), np.stack([r.states for r in readings])

    def generate(self, prompt: str, tokens: int) -> str:
        """What the model writes after the prompt, always the likeliest token."""
        ids = torch.tensor([self.encode(prompt).ids], device=capture.entrance(self.model))
        with torch.inference_mode():
            written = self.model.generate(  # pyright: ignore[reportCallIssue]
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=tokens,
                do_sample=False,
                pad_token_id=self.tokenizer.pad_token_id or 0,
            )
        return self.tokenizer.decode(written[0, ids.shape[1] :], skip_special_tokens=True)

    def with_random_weights(self, seed: int = 0) -> "Subject":
        """A subject of the same architecture, as it is before any training."""
        given = self.model.config.to_dict()
        given.pop("quantization_config", None)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = type(self.model)._from_config(
                type(self.model.config).from_dict(given),
                attn_implementation=capture.IMPLEMENTATION,
                dtype=self.model.dtype,
            )
        placement.put_like(model, self.model)
        return subject((model, self.tokenizer), f"{self.name} (random weights)", chat=self.chat)


def load(
    source: Any,
    *,
    download: bool = False,
    device: str = "cpu",
    device_map: placement.DeviceMap | None = None,
    dtype: str | torch.dtype = "float32",
    chat: bool | None = None,
) -> Subject:
    """A subject from a folder, a GGUF file, a name, or a live (model, tokenizer).

    No hub is contacted unless `download`. A `device_map` ("auto", or the device of each part)
    shares a model out over devices, memory and disk, instead of `device`. `dtype` is one of
    `placement.DTYPES`. `chat` puts prompts into the tokenizer's chat template; None means: if it
    has one.
    """
    where = placement.placement(device, device_map, dtype)
    if isinstance(source, tuple):
        return subject(source, type(source[0]).__name__, chat=chat)
    path = pathlib.Path(source)
    if not path.exists() and path.name == str(source) and (SHIPPED / path.name).is_dir():
        path = SHIPPED / path.name
    options: dict[str, Any] = _NO_HUB | {"local_files_only": not download}
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ValueError(f"model: got {path}, which is no file")
        folder, options = str(path.parent), options | {"gguf_file": path.name}
    elif path.is_dir():
        if not (path / "config.json").is_file():
            raise ValueError(
                f"model: got the folder {path}, needed one with config.json, weights and a "
                "tokenizer, as save_pretrained writes it"
            )
        folder = str(path)
    else:
        folder = str(source)
    try:
        config = AutoConfig.from_pretrained(folder, **options)
        _check_size(path, config, where)
        with _panics_as_errors():
            tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        options |= {"config": config, **where.options, "output_loading_info": True}
        loaded: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
    except (ModuleNotFoundError, CapacityError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and not path.exists() and not _cached(folder):
            raise ValueError(
                f"model: got {source}, which is neither a folder, nor a GGUF file, nor a model in "
                "the local cache; give download=True (--download) to ask the hub for it"
            ) from error
        raise _unreadable(source, folder, options, error) from error
    model, info = loaded
    if info["missing_keys"]:
        missing = sorted(info["missing_keys"])
        raise ValueError(
            f"model: got {source}, which holds no weights for {missing[0]} and {len(missing) - 1} "
            f"others of {type(model).__name__}, needed all of them: the rest would be random"
        )
    if where.device is not None:
        model.to(device=where.device)  # pyright: ignore[reportCallIssue]
    return subject((model, tokenizer), path.name, chat=chat)


def _check_size(path: pathlib.Path, config: Any, where: placement.Placement) -> None:
    """Refuses, before anything is built, what no file can hold or what does not fit."""
    layers = getattr(config, "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > _MOST_LAYERS:
        raise ValueError(f"got {short(layers)} layers, needed at most {_MOST_LAYERS:,}")
    if "device_map" not in where.options:
        octets = _octets(path, config, where.options["dtype"])
        capacity.check(str(path), octets, "take a smaller model, or --device-map auto")


def _octets(path: pathlib.Path, config: Any, dtype: str | torch.dtype) -> float:
    """Bytes of the model in main memory: of its weights as they are loaded, whatever a file packs
    them into; where they stay packed, those of the files."""
    if path.is_dir() and getattr(config, "quantization_config", None):
        return sum(file.stat().st_size for file in path.glob("*.safetensors"))
    saved = getattr(config, "dtype", None) or torch.float32
    number = dtype if isinstance(dtype, torch.dtype) else saved
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    return sum(weight.numel() for weight in model.parameters()) * number.itemsize


def _cached(name: str) -> bool:
    """Whether a part of a model of that name is in the local cache."""
    try:
        AutoConfig.from_pretrained(name, **_NO_HUB)
    except Exception:
        return False
    return True


@contextlib.contextmanager
def _panics_as_errors() -> Iterator[None]:
    """Tokenizers are read in Rust, whose panics are no exceptions, and of a type without a
    module."""
    try:
        yield
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        raise RuntimeError(str(panic)) from None


def _unreadable(source: Any, folder: str, options: dict[str, Any], error: Exception) -> ValueError:
    """One line about a model that others' readers fail on, which they do in any way."""
    said = " ".join(str(error).split())
    kind = "GGUF" if "gguf_file" in options else "a model"
    try:
        known = AutoConfig.from_pretrained(folder, **_NO_HUB)
        quantised = getattr(known, "quantization_config", None)
    except Exception:
        quantised = None
    if quantised:
        method = quantised.get("quant_method") or "some method"
        return ValueError(
            f"model: got {source}, whose weights are quantised by {method}, which cannot be read "
            f"here: {said}"
        )
    return ValueError(
        f"model: got {source}, which cannot be read as {kind} ({type(error).__name__}: {said})"
    )


def convert(source: str | pathlib.Path, folder: pathlib.Path) -> None:
    """Writes a GGUF file as a folder in float32, which loads in a second, not in half a minute."""
    files.check_new(folder)
    loaded = load(source)
    for owner, name in (
        (loaded.model, "hf_quantizer"),
        (loaded.model, "is_quantized"),
        (loaded.model.config, "quantization_config"),
    ):
        if hasattr(owner, name):
            delattr(owner, name)
    save(loaded.model, loaded.tokenizer, folder)


def save(
    model: Any, tokenizer: Any, folder: pathlib.Path, record: dict[str, Any] | None = None
) -> None:
    """Writes a new folder in Hugging Face's format; `record` goes into its training.json."""

    def fill(temporary: pathlib.Path) -> None:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        if record is not None:
            text = json.dumps(record, indent=1) + "\n"
            (temporary / "training.json").write_text(text, encoding="utf-8")

    files.place_new(folder, fill)


def subject(live: tuple[Any, Any], name: str, chat: bool | None = None) -> Subject:
    """A live model as a subject. The model is set to our attention function and to evaluation."""
    model, tokenizer = live
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            f"tokenizer: got {type(tokenizer).__name__}, needed a fast one, which knows the "
            "characters of each token"
        )
    has_template = bool(getattr(tokenizer, "chat_template", None))
    if chat and not has_template:
        raise ValueError(
            f"chat: got True, needed a tokenizer with a chat template, {name} has none"
        )
    model.eval()
    try:
        model.set_attn_implementation(capture.IMPLEMENTATION)
    except (ValueError, KeyError, AttributeError, NotImplementedError) as error:
        raise ValueError(
            f"model: got {type(model).__name__}, which takes no attention function from outside: "
            f"{error}"
        ) from error
    try:
        words = model.get_input_embeddings().weight.shape[0]
        ids = np.random.default_rng(0).integers(0, words, _CHECK_LENGTH).tolist()
        anatomy = capture.dissect(model, ids)
        check = _self_check(model, anatomy, ids)
    except (RuntimeError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # Its parts do not fit together, as those of a damaged file.
        raise ValueError(
            f"model: got {name}, which fails on {_CHECK_LENGTH} tokens "
            f"({type(error).__name__}: {next(iter(str(error).splitlines()), '')})"
        ) from error
    return Subject(name, model, tokenizer, anatomy, check, has_template if chat is None else chat)


def _self_check(model: Any, anatomy: Anatomy, ids: list[int]) -> SelfCheck:
    positions = range(len(ids))
    recorded = capture.read(model, anatomy, ids, rows=positions, positions=positions)
    kind = type(model).__name__
    model.set_attn_implementation("eager")
    try:
        eager = capture.run(model, [ids], output_attentions=True)
    finally:
        model.set_attn_implementation(capture.IMPLEMENTATION)
    attentions = [layer[0] for layer in eager.attentions or () if layer is not None]
    if len(attentions) != len(anatomy.layers):
        raise ValueError(
            f"model: got {kind}, which returns the attention of {len(attentions)} of its "
            f"{len(anatomy.layers)} layers, so that recordings cannot be checked"
        )
    differences = [
        np.abs(ours - theirs.float().cpu().numpy()[..., : ours.shape[-1]]).max()
        for ours, theirs in zip(recorded.attention, attentions, strict=True)
    ]
    logits = eager.logits[0, -1].float().cpu().numpy()
    relative = np.abs(recorded.logits - logits).max() / max(np.abs(logits).max(), 1e-9)
    check = SelfCheck(float(max(differences)), float(relative))
    half = next(model.parameters()).dtype != torch.float32
    limit, of_logits = (1e-2, 0.1) if half else (_TOLERANCE, 100 * _TOLERANCE)
    if not (check.attention <= limit and check.logits <= of_logits):
        raise ValueError(
            f"model: got {kind}, whose recorded attention differs from its eager attention by "
            f"{check.attention:.2g} (logits: {check.logits:.2g}), needed at most {limit:.0e}; its "
            "attention has a part that is not known here"
        )
    middle = len(anatomy.layers) // 2
    patch = Patch(middle, positions, recorded.states[middle])
    swaps = [
        Swap(middle, head, positions, said) for head, said in enumerate(recorded.outputs[middle])
    ]
    for what, changes in {
        "a state": {"patches": [patch]},
        "what heads say": {"swaps": swaps},
    }.items():
        changed = capture.read(model, anatomy, ids, **changes)
        if not np.array_equal(changed.logits, recorded.logits):
            raise ValueError(
                f"model: got {kind}, whose answer changes when {what} is replaced by itself; its "
                "layers do not pass on the residual stream alone"
            )
    return check
