"""The navigator: a small Llama that really navigates, trained here, as a positive control.

It reads prompts of `prompts.navigation` in the form `letters`. A training text is one maze and
several questions about it, each of which sees the maze but not the other questions, so that each
is learned as it will be asked. Half are answered Yes or No, half by the node at which the way to
the goal begins, wherever that is: naming nodes teaches to look up edges, long before a Yes or No
gives anything away.

With `hops`, what happens inside is taught as well: after layer 1 + k the last token has to name
the node k steps back from the goal. Such a
navigator searches backward by construction; one without `hops` searches as it likes.
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from algoscope.llm.forms import FORMS
from algoscope.llm.prompts import navigation
from algoscope.llm.vocabulary import PADDING, word_tokenizer

FORM = "letters"
_FIRST = "Name the first node on the way to {goal}."
_BRANCHING = 2


@dataclasses.dataclass(frozen=True)
class NavigatorConfig:
    layers: int = 6
    width: int = 128
    heads: int = 4
    sizes: tuple[int, ...] = (4, 5, 6, 7)
    """Nodes of one component of the mazes that are learned."""
    depths: tuple[int, ...] = (1, 2, 3)
    questions: int = 12
    """Questions about each maze."""
    hops: int = 0
    """Steps back from the goal that are taught, a layer each; 0 teaches answers alone."""
    batch: int = 64
    steps: int = 6000
    rate: float = 1e-3
    seed: int = 0
    device: str = "cpu"
    threads: int = 1

    def __post_init__(self) -> None:
        if min(self.sizes) < 2 or 2 * max(self.sizes) > len(FORMS[FORM].names):
            raise ValueError(
                f"sizes: got {self.sizes}, needed from 2 to {len(FORMS[FORM].names) // 2} nodes"
            )
        if self.hops and not 0 < self.hops <= self.layers - 2:
            raise ValueError(
                f"hops: got {self.hops}, needed at most {self.layers - 2} with {self.layers} "
                "layers: the first finds the goal, each further one takes a step, the last answers"
            )


class Progress(NamedTuple):
    step: int
    loss: float
    accuracy: float
    """Share of right Yes and No on the texts since the last report, before learning from them."""
    named: float
    """The same for questions that are answered by a node."""
    seconds: float


def build(config: NavigatorConfig, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    torch.manual_seed(config.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config.width,
            intermediate_size=4 * config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.get_vocab()[PADDING],
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def train(
    config: NavigatorConfig,
    report: Callable[[Progress, LlamaForCausalLM], None] = lambda progress, model: None,
    every: int = 100,
) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast, list[Progress]]:
    torch.set_num_threads(config.threads)
    tokenizer = word_tokenizer()
    model, writer = build(config, tokenizer), Writer(tokenizer)
    model.to(device=torch.device(config.device))  # pyright: ignore[reportCallIssue]
    optimiser = torch.optim.AdamW(model.parameters(), config.rate, betas=(0.9, 0.98))
    history, started = [], time.perf_counter()
    right, asked = _counts(config), _counts(config)
    for step in range(config.steps):
        texts = writer.batch(config, np.random.default_rng([config.seed, 1, step]))
        for group in optimiser.param_groups:
            group["lr"] = config.rate * _schedule(step, config.steps)
        loss, correct = _loss(model, texts, config)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        right += torch.stack([correct[:, ::2].sum(), correct[:, 1::2].sum()])
        asked += torch.tensor([correct[:, ::2].numel(), correct[:, 1::2].numel()]).to(asked)
        if (step + 1) % every == 0 or step + 1 == config.steps:
            seconds = time.perf_counter() - started
            accuracy, named = (right / asked.clamp(min=1)).tolist()
            history.append(Progress(step + 1, loss.item(), accuracy, named, seconds))
            right, asked = _counts(config), _counts(config)
            report(history[-1], model)
    model.to(device=torch.device("cpu"))  # pyright: ignore[reportCallIssue]
    return model.eval(), tokenizer, history


def _counts(config: NavigatorConfig) -> torch.Tensor:
    return torch.zeros(2, device=config.device)


def _loss(model: Any, texts: "Texts", config: NavigatorConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cross-entropy of the answers, plus that of the hops; which answers are right."""
    device = config.device
    with torch.autocast("cuda", torch.bfloat16, enabled=device.startswith("cuda")):
        out = model.model(
            input_ids=torch.from_numpy(texts.ids).to(device),
            attention_mask=torch.from_numpy(texts.sees).to(device)[None, None],
            position_ids=torch.from_numpy(texts.positions).to(device)[None],
            use_cache=False,
            output_hidden_states=config.hops > 0,
        )
        ends = torch.from_numpy(texts.ends).to(device)
        logits = model.lm_head(out.last_hidden_state[:, ends])
        answers = torch.from_numpy(texts.answers).to(device)
        loss = _cross_entropy(logits, answers)
        for hop in range(config.hops + 1 if config.hops else 0):
            state = model.model.norm(out.hidden_states[1 + hop][:, ends])
            named = torch.from_numpy(texts.ancestors[hop]).to(device)
            loss = loss + _cross_entropy(model.lm_head(state), named) / (config.hops + 1)
    return loss, logits.detach().argmax(-1) == answers


def _cross_entropy(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())


def _schedule(step: int, steps: int) -> float:
    """Linear warm-up over the first 2 %, then a cosine to a twentieth."""
    warm = max(1, steps // 50)
    if step < warm:
        return (step + 1) / warm
    return 0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * (step - warm) / max(1, steps - warm)))


class Texts(NamedTuple):
    ids: np.ndarray
    """Tokens [text, token]: the maze, then the questions, each up to "Answer:"."""
    positions: np.ndarray
    """Where each token is to the model: [token]; every question follows the maze at once."""
    sees: np.ndarray
    """Whether the token of the row may see that of the column: bool [token, token]."""
    ends: np.ndarray
    """The last token of each question: [question]."""
    answers: np.ndarray
    """The token after it: [text, question]; Yes, No or a node in turn."""
    ancestors: np.ndarray
    """The names of the nodes so many steps back from the goal, at most to where the way begins:
    [hop, text, question]."""


class Writer:
    """Training texts as tokens, many at a time: a maze, then questions."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast):
        form = FORMS[FORM]
        ids = tokenizer.get_vocab()

        def encode(text: str) -> np.ndarray:
            filled = text.format(a="A", b="B", goal="A", source="B")
            return np.array(tokenizer.encode(filled, add_special_tokens=False))

        self.names = np.array([ids[name] for name in form.names])
        self.first, self.second = ids["A"], ids["B"]
        self.yes, self.no = ids["Yes"], ids["No"]
        self.intro, self.edge = encode(form.intro), encode(form.one_way)
        self.asked = tuple(encode(f"{text} Answer:") for text in (form.reach, _FIRST))

    def batch(self, config: NavigatorConfig, rng: np.random.Generator) -> Texts:
        """Mazes of one size, goals of the depths given, as many reachable as not."""
        size, B = int(rng.choice(config.sizes)), config.batch
        parents, depths = _trees(B, size, rng)
        names = self.names[rng.random((B, len(self.names))).argsort(1)[:, : 2 * size]]
        rows = np.arange(B)[:, None]
        senders = np.concatenate([parents[:, 1:], parents[:, 1:] + size], 1)
        receivers = np.tile(np.concatenate([np.arange(1, size), np.arange(1, size) + size]), (B, 1))
        order = rng.random(senders.shape).argsort(1)
        senders, receivers = senders[rows, order], receivers[rows, order]
        edges = self._fill(self.edge, names[rows, senders], names[rows, receivers])
        parts = [np.tile(self.intro, (B, 1)), edges.reshape(B, -1)]

        goals = _goals(depths, config, rng)
        copies = size * (rng.random(goals.shape) < 0.5)
        ancestors = [goals]
        for _ in range(max(config.hops, size)):
            ancestors.append(parents[rows, ancestors[-1]])
        named = np.stack([names[rows, found + copies] for found in ancestors])
        verdicts = np.where(copies > 0, self.no, self.yes)
        answers = np.where(np.arange(config.questions) % 2, named[-1], verdicts)
        for number in range(config.questions):
            parts.append(self._fill(self.asked[number % 2], named[0, :, number], names[:, 0]))
        return Texts(np.concatenate(parts, 1), *_layout(parts), answers, named[: config.hops + 1])

    def _fill(self, tokens: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """[…, token]: the tokens with the names of A and B replaced."""
        a, b = a[..., None], b[..., None]
        return np.where(tokens == self.first, a, np.where(tokens == self.second, b, tokens))


def _trees(count: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Trees of the family `random_tree`: parents (the root's is itself), depths [tree, node]."""
    rows = np.arange(count)
    parents, depths, children = (np.zeros((count, size), int) for _ in range(3))
    for node in range(1, size):
        drawn = np.where(children[:, :node] < _BRANCHING, rng.random((count, node)), -1)
        parents[:, node] = drawn.argmax(1)
        depths[:, node] = depths[rows, parents[:, node]] + 1
        children[rows, parents[:, node]] += 1
    return parents, depths


def _goals(depths: np.ndarray, config: NavigatorConfig, rng: np.random.Generator) -> np.ndarray:
    """[text, question]: of those depths that a tree has, each as often; a node of it at random."""
    same = (depths[:, :, None] == depths[:, None, :]).sum(2)
    weights = np.where(np.isin(depths, config.depths), 1 / same, 0)
    chances = (weights / weights.sum(1, keepdims=True)).cumsum(1)
    drawn = rng.random((len(depths), config.questions))
    return np.minimum((drawn[:, :, None] > chances[:, None]).sum(2), depths.shape[1] - 1)


def _layout(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """positions, sees and ends (see `Texts`) of an introduction, a maze and questions."""
    lengths = [part.shape[1] for part in parts]
    described = sum(lengths[:2])
    positions = [np.arange(described), *(described + np.arange(n) for n in lengths[2:])]
    block = np.concatenate(
        [np.zeros(described, int), np.repeat(np.arange(2, len(parts)), lengths[2:])]
    )
    sees = np.tri(len(block), dtype=bool) & ((block == 0) | (block == block[:, None]))
    return np.concatenate(positions), sees, np.cumsum(lengths)[2:] - 1


def save(model, tokenizer, config: NavigatorConfig, history, folder: pathlib.Path) -> None:
    """Writes the model in Hugging Face's format, with how it was trained."""
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    record = {
        "config": dataclasses.asdict(config),
        "history": [progress._asdict() for progress in history],
    }
    (folder / "training.json").write_text(json.dumps(record, indent=1) + "\n")


def evaluation_items(count: int, config: NavigatorConfig, seed: int):
    """Unseen mazes of the kind that was learned, one question each."""
    return navigation(
        count, form=FORM, size=max(config.sizes), depths=config.depths, seed=seed, directed=True
    )
