"""The navigator: a small Llama that really navigates, trained here, as a positive control.

It reads prompts of `prompts.navigation` in the form `letters`. Each training text describes one
maze and asks several questions about it; only the answers are learned. Goals start next to the
root and move deeper as each depth is mastered, since deep goals alone teach nothing at first.
"""

import collections
import concurrent.futures
import dataclasses
import functools
import json
import multiprocessing
import pathlib
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from algoscope.llm import mazes
from algoscope.llm.forms import FORMS
from algoscope.llm.prompts import navigation
from algoscope.llm.vocabulary import PADDING, word_tokenizer

FORM = "letters"
_FIRST = "Name the first node on the way to {goal}."


@dataclasses.dataclass(frozen=True)
class NavigatorConfig:
    layers: int = 6
    width: int = 128
    heads: int = 4
    sizes: tuple[int, ...] = (4, 5, 6, 7)
    """Nodes of one component of the mazes that are learned."""
    depths: tuple[int, ...] = (1, 2, 3)
    questions: int = 6
    """Questions about each maze."""
    batch: int = 64
    steps: int = 6000
    rate: float = 1e-3
    seed: int = 0
    device: str = "cpu"
    threads: int = 1
    workers: int = 0
    """Processes that write texts ahead, so that a GPU need not wait; goals then move deeper a few
    steps later, so the number of workers is part of what is repeated."""


class Progress(NamedTuple):
    step: int
    loss: float
    accuracy: float
    """On the last texts that were learned from, before learning from them."""
    depth: int
    """The deepest goals at this step."""
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
    report: Callable[[Progress], None] = lambda progress: None,
    every: int = 100,
) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast, list[Progress]]:
    torch.set_num_threads(config.threads)
    tokenizer = word_tokenizer()
    model = build(config, tokenizer)
    model.to(device=torch.device(config.device))  # pyright: ignore[reportCallIssue]
    optimiser = torch.optim.AdamW(model.parameters(), config.rate, betas=(0.9, 0.98))
    history, recent, started = [], [], time.perf_counter()
    depth, texts_of = 1, _texts(config)
    next(texts_of)
    for step in range(config.steps):
        if len(recent) >= every and np.mean(recent[-every:]) > _MASTERED:
            depth, recent = min(depth + 1, len(config.depths)), []
        texts = texts_of.send(config.depths[:depth])
        ids, labels, verdicts = (torch.from_numpy(array).to(config.device) for array in texts)
        logits = model(input_ids=ids, use_cache=False).logits.flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, labels.flatten(), ignore_index=_IGNORED)
        for group in optimiser.param_groups:
            group["lr"] = config.rate * _schedule(step, config.steps)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        right = (logits.argmax(-1) == labels.flatten())[verdicts.flatten()]
        recent.append(float(right.float().mean()))
        if (step + 1) % every == 0 or step + 1 == config.steps:
            seconds = time.perf_counter() - started
            accuracy = float(np.mean(recent[-every:]))
            deepest = max(config.depths[:depth])
            history.append(Progress(step + 1, float(loss.detach()), accuracy, deepest, seconds))
            report(history[-1])
    model.to(device=torch.device("cpu"))  # pyright: ignore[reportCallIssue]
    return model.eval(), tokenizer, history


def _texts(config: NavigatorConfig) -> Generator["Texts", tuple[int, ...], None]:
    """The texts of one step after the other; is sent the depths of the goals."""
    depths = yield  # pyright: ignore[reportReturnType]
    if not config.workers:
        for step in range(config.steps):
            depths = yield _texts_of_step(config, depths, step)
        return
    ahead = 4 * config.workers
    with concurrent.futures.ProcessPoolExecutor(
        config.workers, multiprocessing.get_context("spawn")
    ) as pool:
        waiting = collections.deque(
            pool.submit(_texts_of_step, config, depths, step) for step in range(ahead)
        )
        for step in range(config.steps):
            waiting.append(pool.submit(_texts_of_step, config, depths, step + ahead))
            depths = yield waiting.popleft().result()
        pool.shutdown(cancel_futures=True)


def _texts_of_step(config: NavigatorConfig, depths: tuple[int, ...], step: int) -> "Texts":
    return _writer().batch(config, depths, np.random.default_rng([config.seed, 1, step]))


@functools.cache
def _writer() -> "Writer":
    return Writer(word_tokenizer())


_MASTERED = 0.97
"""Accuracy from which on goals move deeper."""
_IGNORED = -100


def _schedule(step: int, steps: int) -> float:
    """Linear warm-up over the first 2 %, then a cosine to a twentieth."""
    warm = max(1, steps // 50)
    if step < warm:
        return (step + 1) / warm
    return 0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * (step - warm) / max(1, steps - warm)))


class Texts(NamedTuple):
    ids: np.ndarray
    """Tokens [batch, length], padded on the right."""
    labels: np.ndarray
    """The next token where it is part of an answer, else -100: [batch, length]."""
    verdicts: np.ndarray
    """Where the next token is a Yes or a No: bool [batch, length]."""


class Writer:
    """Training texts as tokens: a maze, then questions with their answers.

    A third of the questions are answered Yes or No, a third by the way itself, and a third by the
    node at which the way to the goal begins, wherever that is: naming nodes teaches to look up
    edges, long before a Yes or No gives anything away.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast):
        self.form = FORMS[FORM]
        self.tokenizer = tokenizer
        self.ids = tokenizer.get_vocab()
        self.pad = self.ids[PADDING]
        self.intro = self._encode(self.form.intro)
        self.edge = self._encode(self.form.one_way.format(a="A", b="B"))
        asked = {"reach": self.form.reach, "path": self.form.path, "first": _FIRST}
        self.asked = {
            kind: self._encode(f"{text} Answer:".format(goal="A", source="B"))
            for kind, text in asked.items()
        }

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _fill(self, tokens: list[int], a: int, b: int) -> list[int]:
        names = {self.ids["A"]: a, self.ids["B"]: b}
        return [names.get(token, token) for token in tokens]

    def batch(
        self, config: NavigatorConfig, depths: tuple[int, ...], rng: np.random.Generator
    ) -> Texts:
        """Mazes of one size, goals of the depths given, reachable ones and others."""
        size = int(rng.choice([size for size in config.sizes if size > max(depths)]))
        family = mazes.family("random_tree", size)
        texts = [self._text(family, depths, config.questions, rng) for _ in range(config.batch)]
        length = max(len(ids) for ids, _ in texts)
        ids = np.full((len(texts), length), self.pad)
        labels = np.full((len(texts), length), _IGNORED)
        for row, (tokens, answered) in enumerate(texts):
            ids[row, : len(tokens)] = tokens
            for start, end in answered:
                labels[row, start - 1 : end - 1] = tokens[start:end]
        verdicts = np.isin(labels, [self.ids["Yes"], self.ids["No"]])
        return Texts(ids, labels, verdicts)

    def _text(self, family, depths, questions, rng):
        while True:
            maze = mazes.draw(family, True, rng)
            of = maze.depths()
            if of.max() >= max(depths):
                break
        names = rng.permutation(len(self.form.names))[: maze.nodes]
        names = [self.ids[self.form.names[number]] for number in names]
        parents = {receiver: sender for sender, receiver in maze.edges}
        tokens, answered = list(self.intro), []
        for number in rng.permutation(len(maze.edges)):
            a, b = maze.edges[number]
            tokens += self._fill(self.edge, names[a], names[b])
        for number in range(questions):
            goal = int(rng.choice(np.flatnonzero(of == rng.choice(depths))))
            reachable = bool(rng.random() < 0.5)
            if not reachable:
                goal += maze.size
            kind = ("reach", "first", "path")[number % 3]
            tokens += self._fill(self.asked[kind], names[goal], names[0])
            start = len(tokens)
            tokens += self._answer(kind, reachable, goal, names, parents)
            answered.append((start, len(tokens)))
        return tokens, answered

    def _answer(self, kind, reachable, goal, names, parents) -> list[int]:
        if kind == "reach":
            return [self.ids["Yes" if reachable else "No"], self.ids["."]]
        path = [goal]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        if kind == "first":
            return [names[path[-1]], self.ids["."]]
        if not reachable:
            return [self.ids["None"], self.ids["."]]
        listed = [token for node in reversed(path) for token in (self.ids[","], names[node])]
        return [*listed[1:], self.ids["."]]


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
