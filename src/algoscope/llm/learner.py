"""The learner: a small GPT-2 that learns to navigate from questions and answers alone.

`navigator` is taught what to know after each layer. Here only the words of answers are learned
(see `lessons`): no state is supervised, and nothing says where, or how, steps are to be taken.
Which algorithm it runs in the end is for `algoscope llm navigate` to find out.
"""

import dataclasses
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from algoscope.llm import placement, subjects
from algoscope.llm.lessons import ASKED, ASKED_IN_SHORT, Texts, Writer, lesson_tokenizer
from algoscope.llm.navigator_config import LearnerConfig
from algoscope.llm.vocabulary import PADDING

_WARM = 100
"""Steps of warm-up."""
_EXAMINED = 8
"""Questions about each maze of an examination."""


class Cell(NamedTuple):
    steps: int
    """Steps back from the goal to the start or, if it is not above, to the root."""
    reachable: bool
    right: int
    """Right answers to the question of `prompts.navigation` on unseen mazes …"""
    count: int
    """… of so many."""


class Progress(NamedTuple):
    step: int
    lesson: int
    size: int
    """Nodes of the largest trees."""
    loss: float
    learned: float
    """Share of right answers of the lesson since the last report, before learning from them: the
    lowest among those that are No and those that are not, in its list, or in its questions in
    short and in full."""
    cells: list[Cell]
    seconds: float


class Trained(NamedTuple):
    model: GPT2LMHeadModel
    tokenizer: PreTrainedTokenizerFast
    history: list[Progress]


def build(config: LearnerConfig, tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """Weights have a variance of 1 / width, so that attention is not flat at the start."""
    torch.manual_seed(config.seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=config.width,
            n_layer=config.layers,
            n_head=config.heads,
            n_inner=2 * config.width,
            n_positions=128,
            initializer_range=config.width**-0.5,
            resid_pdrop=0,
            embd_pdrop=0,
            attn_pdrop=0,
            pad_token_id=tokenizer.get_vocab()[PADDING],
            bos_token_id=None,
            eos_token_id=None,
        )
    )


def train(
    config: LearnerConfig,
    report: Callable[[Progress, GPT2LMHeadModel], None] = lambda progress, model: None,
    every: int = 25,
) -> Trained:
    """Every so many steps, a lesson that is learned is followed by the next; lesson 1 first goes
    through the sizes of mazes. After the last lesson the rate of learning falls, and training
    ends; it ends without that where the steps do not suffice."""
    device = placement.device_named(config.device)
    torch.set_num_threads(config.threads)
    tokenizer = lesson_tokenizer(config)
    model, writer = build(config, tokenizer), Writer(config, tokenizer)
    model.to(device=device)  # pyright: ignore[reportCallIssue]
    optimiser = torch.optim.AdamW(model.parameters(), config.rate, betas=(0.9, 0.98))
    history, started = [], time.perf_counter()
    lesson, sizes, end = 1, 1, config.steps
    right: list[list[float]] = []
    for step in range(config.steps):
        rng = np.random.default_rng([config.seed, 1, step])
        texts = writer.batch(lesson, config.sizes[:sizes], rng)
        for group in optimiser.param_groups:
            group["lr"] = config.rate * _schedule(step, lesson > config.lessons, end, config)
        loss, words = _loss(model, texts)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        right.append(_by_answer(words, texts, writer, lesson))
        if (step + 1) % every and step + 1 < end:
            continue
        learned = round(float(np.nanmean(right, 0).min()), 4)
        progress = Progress(
            step=step + 1,
            lesson=min(lesson, config.lessons),
            size=config.sizes[sizes - 1],
            loss=round(loss.item(), 4),
            learned=learned,
            cells=examine(model, writer, np.random.default_rng([config.seed, 2])),
            seconds=round(time.perf_counter() - started, 1),
        )
        history.append(progress)
        report(progress, model)
        right = []
        if step + 1 == end:
            break
        if learned >= config.learned and lesson <= config.lessons:
            lesson += sizes == len(config.sizes)
            sizes = min(sizes + 1, len(config.sizes))
            if lesson > config.lessons:
                end = min(config.steps, step + 1 + config.finish)
    model.to(device=torch.device("cpu"))  # pyright: ignore[reportCallIssue]
    return Trained(model.eval(), tokenizer, history)


def _by_answer(right: np.ndarray, texts: Texts, writer: Writer, lesson: int) -> list[float]:
    """Shares of right answers of a lesson among those that are No and those that are not."""
    lists = lesson <= writer.config.depth
    no = texts.answers == writer.words.no
    shares = []
    for kind in (lesson,) if lists else (ASKED_IN_SHORT, ASKED):
        for of in (no, ~no):
            counted = of & (texts.kinds == kind)
            shares.append(float(right[counted].mean()) if counted.any() else np.nan)
    return shares


def _loss(model: Any, texts: Texts) -> tuple[torch.Tensor, np.ndarray]:
    """Mean cross-entropy of the words of answers; which of them are right: bool [text, place]."""
    logits = logits_of(model, texts)
    answers = torch.from_numpy(texts.answers).to(logits.device)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), answers.flatten())
    return loss, (logits.detach().argmax(-1) == answers).cpu().numpy()


def logits_of(model: Any, texts: Texts) -> torch.Tensor:
    """[text, place, token]"""
    ids, sees, positions, asked = (
        torch.from_numpy(array).to(model.device)
        for array in (texts.ids, texts.sees, texts.positions, texts.asked)
    )
    states = model.transformer(
        input_ids=ids,
        attention_mask=sees[None, None],
        position_ids=positions[None],
        use_cache=False,
    ).last_hidden_state
    return model.lm_head(states[:, asked])


def _schedule(step: int, falling: bool, end: int, config: LearnerConfig) -> float:
    """Linear warm-up; in the end, where all is learned, linear to a twentieth."""
    if falling:
        return 0.05 + 0.95 * (end - step) / config.finish
    return min(1.0, (step + 1) / _WARM)


def examine(model: Any, writer: Writer, rng: np.random.Generator) -> list[Cell]:
    """Right answers on unseen mazes, also at depths that no lesson asked for yet."""
    config = writer.config
    texts = writer.questions(_EXAMINED, rng)
    with torch.inference_mode():
        right = logits_of(model, texts).argmax(-1).cpu().numpy() == texts.answers
    cells = []
    for steps in range(config.depth + 1):
        for reachable, answer in ((True, writer.words.yes), (False, writer.words.no)):
            of = (texts.steps == steps) & (texts.answers == answer)
            cells.append(Cell(steps, reachable, int(right[of].sum()), int(of.sum())))
    return cells


def save(trained: Trained, config: LearnerConfig, folder: pathlib.Path) -> None:
    """Writes the model in Hugging Face's format, with how it was trained."""
    history = [
        progress._asdict() | {"cells": [cell._asdict() for cell in progress.cells]}
        for progress in trained.history
    ]
    record = {"config": dataclasses.asdict(config), "history": history}
    subjects.save(trained.model, trained.tokenizer, folder, record)
