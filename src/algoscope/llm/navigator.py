"""The navigator: a small Llama that really navigates, trained here, as a positive control.

It reads prompts of `prompts.navigation` in the form `letters`. Each training text describes one
maze and asks several questions about it; only the answers are learned. Goals start next to the
root and move deeper as training goes on, since deep goals alone teach nothing at first.
"""

import dataclasses
import json
import pathlib
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from algoscope.llm import mazes
from algoscope.llm.prompts import FORMS, navigation
from algoscope.llm.vocabulary import word_tokenizer

FORM = "letters"


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
            pad_token_id=tokenizer.pad_token_id,
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
    model = build(config, tokenizer).to(config.device)
    optimiser = torch.optim.AdamW(model.parameters(), config.rate, betas=(0.9, 0.98))
    rng = np.random.default_rng([config.seed, 1])
    writer = Writer(tokenizer)
    yes, no = tokenizer.convert_tokens_to_ids(["Yes", "No"])
    history, recent, started = [], [], time.perf_counter()
    depth = 0
    for step in range(config.steps):
        learned = [np.mean(part) for part in (recent[-every:],) if len(part) == every]
        if depth < len(config.depths) and (depth == 0 or (learned and learned[0] > _MASTERED)):
            depth, recent = depth + 1, []
        texts, places, answers = writer.batch(config, config.depths[:depth], rng)
        ids = torch.from_numpy(texts).to(config.device)
        logits = model(input_ids=ids, use_cache=False).logits
        rows = torch.arange(len(texts), device=config.device)[:, None]
        chosen = logits[rows, torch.from_numpy(places).to(config.device)]
        wanted = torch.from_numpy(np.where(answers, yes, no)).to(config.device)
        loss = torch.nn.functional.cross_entropy(chosen.flatten(0, 1), wanted.flatten())
        for group in optimiser.param_groups:
            group["lr"] = config.rate * _schedule(step, config.steps)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        recent.append(float((chosen.argmax(-1) == wanted).float().mean()))
        if (step + 1) % every == 0 or step + 1 == config.steps:
            seconds = time.perf_counter() - started
            accuracy = float(np.mean(recent[-every:]))
            deepest = max(config.depths[:depth])
            history.append(Progress(step + 1, float(loss.detach()), accuracy, deepest, seconds))
            report(history[-1])
    return model.to("cpu").eval(), tokenizer, history


_MASTERED = 0.97
"""Accuracy from which on goals move deeper."""


def _schedule(step: int, steps: int) -> float:
    """Linear warm-up over the first 2 %, then a cosine to a twentieth."""
    warm = max(1, steps // 50)
    if step < warm:
        return (step + 1) / warm
    return 0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * (step - warm) / max(1, steps - warm)))


class Writer:
    """Training texts as token arrays, equal to what the tokenizer makes of the prompts."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast):
        form = FORMS[FORM]
        encode = lambda text: tokenizer.encode(text, add_special_tokens=False)  # noqa: E731
        self.intro = encode(form.intro)
        self.edge = encode(form.one_way.format(a="A", b="B"))
        self.question = [*encode(form.reach.format(goal="A", source="B")), *encode("Answer:")]
        self.names = np.array(tokenizer.convert_tokens_to_ids(list(form.names)))
        a, b = tokenizer.convert_tokens_to_ids(["A", "B"])
        self.edge_places = self.edge.index(a), self.edge.index(b)
        self.question_places = self.question.index(a), self.question.index(b)
        self.answers = tokenizer.convert_tokens_to_ids(["No", "Yes"])

    def batch(self, config: NavigatorConfig, depths: tuple[int, ...], rng: np.random.Generator):
        """Token ids [batch, length], places of the answers' predictions [batch, question] and the
        right answers [batch, question]; one size of maze a batch."""
        size = int(rng.choice([size for size in config.sizes if size > max(depths)]))
        family = mazes.family("random_tree", size)
        texts = [self._text(family, depths, config.questions, rng) for _ in range(config.batch)]
        ids, answers = zip(*texts, strict=True)
        described = len(self.intro) + len(self.edge) * (2 * size - 2)
        period = len(self.question) + 1
        places = described + period * np.arange(config.questions) + period - 2
        return np.stack(ids), np.tile(places, (config.batch, 1)), np.stack(answers)

    def _text(self, family, depths, questions, rng):
        while True:
            maze = mazes.draw(family, True, rng)
            of = maze.depths()
            if of.max() >= max(depths):
                break
        names = self.names[rng.permutation(len(self.names))[: maze.nodes]]
        edges = np.array(maze.edges)[rng.permutation(len(maze.edges))]
        described = np.tile(self.edge, (len(edges), 1))
        described[:, list(self.edge_places)] = names[edges]
        wanted = rng.choice(depths, questions)
        goals = np.array([rng.choice(np.flatnonzero(of == depth)) for depth in wanted])
        answers = rng.random(questions) < 0.5
        goals = np.where(answers, goals, goals + maze.size)
        asked = np.tile([*self.question, 0], (questions, 1))
        asked[:, self.question_places[0]] = names[goals]
        asked[:, self.question_places[1]] = names[0]
        asked[:, -1] = np.array(self.answers)[answers.astype(int)]
        text = np.concatenate([self.intro, described.ravel(), asked.ravel()])
        return text[:-1].astype(np.int64), answers


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
