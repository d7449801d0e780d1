"""Language models as subjects: any causal model of transformers, checked before it is trusted.

    load("folder")                      a model saved by save_pretrained
    load("SmolLM2-135M-Instruct.gguf")  a GGUF file
    load("org/name")                    a name in the local cache; a hub is asked if download=True
    load("navigator")                   a model that comes with Algoscope (see `navigator`)
    load((model, tokenizer))            a live object

At start-up the recorded attention is compared with the model's own (eager) attention, the logits
too, and a state patched onto itself has to change nothing; a subject that fails is refused.
"""

import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from algoscope import files
from algoscope.llm import capture
from algoscope.llm.capture import Anatomy, Patch, Reading, Swap

SHIPPED = pathlib.Path(__file__).parent / "shipped"
"""The models that come with Algoscope, a folder each."""
_TOLERANCE = 1e-5
_CHECK_LENGTH = 12


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
                messages, tokenize=False, add_generation_prompt=True
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

    def generate(self, prompt: str, tokens: int) -> str:
        """What the model writes after the prompt, always the likeliest token."""
        ids = torch.tensor([self.encode(prompt).ids], device=self.model.device)
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
        config = type(self.model.config).from_dict(self.model.config.to_dict())
        config._attn_implementation = capture.IMPLEMENTATION
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = type(self.model)(config)
        model.to(device=self.model.device, dtype=self.model.dtype)  # pyright: ignore[reportCallIssue]
        model.eval()
        return subject((model, self.tokenizer), f"{self.name} (random weights)", chat=self.chat)


def load(
    source: Any,
    *,
    download: bool = False,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    chat: bool | None = None,
) -> Subject:
    """A subject from a folder, a GGUF file, a name, or a live (model, tokenizer).

    No hub is contacted unless `download`. `chat` puts prompts into the tokenizer's chat template;
    None means: if it has one.
    """
    place = device_named(device)
    if isinstance(source, tuple):
        return subject(source, type(source[0]).__name__, chat=chat)
    path = pathlib.Path(source)
    if not path.exists() and path.name == str(source) and (SHIPPED / path.name).is_dir():
        path = SHIPPED / path.name
    options: dict[str, Any] = {"local_files_only": not download}
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
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        options |= {"dtype": dtype, "output_loading_info": True}
        loaded: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
    except ModuleNotFoundError:
        raise
    except OSError as error:
        if path.exists():
            raise
        raise ValueError(
            f"model: got {source}, which is neither a folder, nor a GGUF file, nor a model in the "
            "local cache; give download=True (--download) to ask the hub for it"
        ) from error
    except Exception as error:
        # The readers are others': on a damaged file they fail in any way.
        raise ValueError(
            f"model: got {path}, which cannot be read as {'GGUF' if path.suffix else 'a model'} "
            f"({type(error).__name__}: {error})"
        ) from error
    model, info = loaded
    if info["missing_keys"]:
        missing = sorted(info["missing_keys"])
        raise ValueError(
            f"model: got {source}, which holds no weights for {missing[0]} and {len(missing) - 1} "
            f"others of {type(model).__name__}, needed all of them: the rest would be random"
        )
    model.to(device=place)  # pyright: ignore[reportCallIssue]
    return subject((model, tokenizer), path.name, chat=chat)


def device_named(name: str) -> torch.device:
    """The device of that name; refused if torch cannot compute on it here."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        known = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
        raise ValueError(
            f"device: got {name!r}, which torch does not have here "
            f"({str(error).splitlines()[0]}), needed {' or '.join(known)}"
        ) from None
    return device


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
    words = model.get_input_embeddings().weight.shape[0]
    ids = np.random.default_rng(0).integers(0, words, _CHECK_LENGTH).tolist()
    try:
        model.set_attn_implementation(capture.IMPLEMENTATION)
    except (ValueError, KeyError, AttributeError, NotImplementedError) as error:
        raise ValueError(
            f"model: got {type(model).__name__}, which takes no attention function from outside: "
            f"{error}"
        ) from error
    anatomy = capture.dissect(model, ids)
    check = _self_check(model, anatomy, ids)
    return Subject(name, model, tokenizer, anatomy, check, has_template if chat is None else chat)


def _self_check(model: Any, anatomy: Anatomy, ids: list[int]) -> SelfCheck:
    positions = range(len(ids))
    recorded = capture.read(model, anatomy, ids, rows=positions, positions=positions)
    kind = type(model).__name__
    model.set_attn_implementation("eager")
    try:
        eager = capture.run(model, ids, output_attentions=True)
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
    limit = _TOLERANCE if next(model.parameters()).dtype == torch.float32 else 1e-2
    if not (check.attention <= limit and check.logits <= 100 * limit):
        raise ValueError(
            f"model: got {kind}, whose recorded attention differs from its eager attention by "
            f"{check.attention:.2g} (logits: {check.logits:.2g}), needed at most {limit:.0e}; its "
            "attention has a part that is not known here"
        )
    middle = len(anatomy.layers) // 2
    patch = Patch(middle, positions, recorded.states[middle])
    patched = capture.read(model, anatomy, ids, patches=[patch])
    if not np.array_equal(patched.logits, recorded.logits):
        raise ValueError(
            f"model: got {kind}, whose answer changes when a state is replaced by itself; its "
            "layers do not pass on the residual stream alone"
        )
    return check
