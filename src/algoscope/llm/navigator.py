"""The navigator: a small Llama that really navigates, trained here, as a positive control.

It reads prompts of `prompts.navigation` in the form `letters`. A training text is one maze and
several questions about it, each of which sees the maze but not the other questions, so that each
is learned as it will be asked.

What happens inside is taught as well, a step a layer: after the first layer the end of an edge
knows where the edge comes from, and the last token knows the goal; after layer 1 + k the last token
knows the node k steps back from the goal. Answers alone stayed at chance.
"""

import dataclasses
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from algoscope.llm import placement, subjects
from algoscope.llm.forms import FORMS
from algoscope.llm.navigator_config import FORM, NavigatorConfig
from algoscope.llm.prompts import navigation
from algoscope.llm.vocabulary import PADDING, form_tokenizer

_BRANCHING = 2


class Progress(NamedTuple):
    step: int
    loss: float
    accuracy: float
    """Share of right Yes and No on the texts since the last report, before learning from them."""
    hops: float
    """The same for the node after the last hop; 0 without hops."""
    seconds: float


class Trained(NamedTuple):
    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast
    history: list[Progress]


def build(config: NavigatorConfig, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Keys begin as queries, so that equal words attend to each other from the start: a name is
    then looked up after some hundred steps, which takes thousands otherwise."""
    torch.manual_seed(config.seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config.width,
            intermediate_size=2 * config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            max_position_embeddings=512,
            initializer_range=0.06,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.get_vocab()[PADDING],
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    weights = model.state_dict()
    for name, values in weights.items():
        if "q_proj" in name:
            weights[name.replace("q_proj", "k_proj")].copy_(values)
    return model


def train(
    config: NavigatorConfig,
    report: Callable[[Progress, LlamaForCausalLM], None] = lambda progress, model: None,
    every: int = 100,
) -> Trained:
    device = placement.device_named(config.device)
    torch.set_num_threads(config.threads)
    tokenizer = form_tokenizer(FORM)
    model, writer = build(config, tokenizer), Writer(tokenizer)
    readout = torch.nn.Linear(config.width, len(tokenizer))
    for part in (model, readout):
        part.to(device=device)  # pyright: ignore[reportCallIssue]
    learned = [*model.parameters(), *readout.parameters()]
    optimiser = torch.optim.AdamW(learned, config.rate, betas=(0.9, 0.98))
    history, started = [], time.perf_counter()
    right, counted = torch.zeros(2, device=config.device), 0
    for step in range(config.steps):
        texts = writer.batch(config, np.random.default_rng([config.seed, 1, step]))
        for group in optimiser.param_groups:
            group["lr"] = config.rate * _schedule(step, config.steps)
        loss, shares = _loss(model, readout, texts, config)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimiser.step()
        right, counted = right + shares, counted + 1
        if (step + 1) % every == 0 or step + 1 == config.steps:
            seconds = time.perf_counter() - started
            answers, hops = (right / counted).tolist()
            history.append(Progress(step + 1, loss.item(), answers, hops, seconds))
            right, counted = torch.zeros(2, device=config.device), 0
            report(history[-1], model)
    model.to(device=torch.device("cpu"))  # pyright: ignore[reportCallIssue]
    return Trained(model.eval(), tokenizer, history)


def _loss(
    model: Any, readout: torch.nn.Linear, texts: "Texts", config: NavigatorConfig
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cross-entropy of the answers and, with hops, of naming their nodes (by the model's own
    unembedding) and the tails of edges (by a readout of their own, which leaves heads what they
    are); and the shares of right answers and of right last hops: [2]."""
    on_device = {
        name: torch.from_numpy(array).to(config.device) for name, array in texts._asdict().items()
    }
    out = model.model(
        input_ids=on_device["ids"],
        attention_mask=on_device["sees"][None, None],
        position_ids=on_device["positions"][None],
        use_cache=False,
        output_hidden_states=config.hops > 0,
    )
    logits = model.lm_head(out.last_hidden_state[:, on_device["ends"]])
    loss, right = _score(logits, on_device["answers"])
    last = torch.zeros_like(right)
    if config.hops:
        for hop, nodes in enumerate(on_device["ancestors"]):
            state = model.model.norm(out.hidden_states[1 + hop][:, on_device["ends"]])
            hop_loss, last = _score(model.lm_head(state), nodes)
            loss = loss + hop_loss / (config.hops + 1)
        state = model.model.norm(out.hidden_states[1][:, on_device["heads"]])
        loss = loss + _score(readout(state), on_device["tails"])[0]
    return loss, torch.stack([right, last])


def _score(logits: torch.Tensor, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cross-entropy, and the share of tokens that are the likeliest."""
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten())
    return loss, (logits.detach().argmax(-1) == tokens).float().mean()


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
    """The token after it, Yes or No: [text, question]."""
    ancestors: np.ndarray
    """The names of the nodes so many steps back from the goal, at most to where the way begins:
    [hop, text, question]."""
    heads: np.ndarray
    """The tokens at which edges end: [edge]."""
    tails: np.ndarray
    """The names of the nodes from which these edges lead: [text, edge]."""


class Words:
    """The words of a form as tokens."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast):
        form = FORMS[FORM]
        ids = tokenizer.get_vocab()
        self.tokenizer = tokenizer
        self.names = np.array([ids[name] for name in form.names])
        self.first, self.second = ids["A"], ids["B"]
        self.yes, self.no, self.padding = ids["Yes"], ids["No"], ids[PADDING]
        self.intro, self.edge = self.encode(form.intro), self.encode(form.one_way)
        self.reach = self.encode(f"{form.reach} Answer:")

    def encode(self, template: str) -> np.ndarray:
        """The tokens of a template whose nodes or goal and source are named A and B."""
        filled = template.format(a="A", b="B", goal="A", source="B")
        return np.array(self.tokenizer.encode(filled, add_special_tokens=False))

    def fill(self, tokens: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """[…, token]: the tokens with the names of A and B replaced."""
        a, b = a[..., None], b[..., None]
        return np.where(tokens == self.first, a, np.where(tokens == self.second, b, tokens))


class Mazes(NamedTuple):
    """Trees, each beside its copy, and their descriptions."""

    parents: np.ndarray
    """Of each node of the tree, the root's is itself: [maze, node]."""
    depths: np.ndarray
    """[maze, node]."""
    names: np.ndarray
    """The tokens that name the nodes, those of the copy last: [maze, 2 node]."""
    tokens: np.ndarray
    """The descriptions: [maze, token]."""
    senders: np.ndarray
    """Where edges begin, in the order of the text: [maze, edge]."""

    def named(self, nodes: np.ndarray) -> np.ndarray:
        """The tokens that name nodes [maze, …]."""
        return np.take_along_axis(self.names, nodes, 1)


def draw_mazes(words: Words, count: int, size: int, rng: np.random.Generator) -> Mazes:
    parents, depths = _trees(count, size, rng)
    names = words.names[rng.random((count, len(words.names))).argsort(1)[:, : 2 * size]]
    rows = np.arange(count)[:, None]
    senders = np.concatenate([parents[:, 1:], parents[:, 1:] + size], 1)
    receivers = np.tile(np.concatenate([np.arange(1, size), np.arange(1, size) + size]), (count, 1))
    order = rng.random(senders.shape).argsort(1)
    senders, receivers = senders[rows, order], receivers[rows, order]
    edges = words.fill(words.edge, names[rows, senders], names[rows, receivers])
    tokens = np.concatenate([np.tile(words.intro, (count, 1)), edges.reshape(count, -1)], 1)
    return Mazes(parents, depths, names, tokens, senders)


class Writer:
    """Training texts as tokens, many at a time: a maze, then questions."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast):
        self.words = Words(tokenizer)

    def batch(self, config: NavigatorConfig, rng: np.random.Generator) -> Texts:
        """Mazes of one size, goals of the depths given, as many reachable as not."""
        words, size, B = self.words, int(rng.choice(config.sizes)), config.batch
        parents, depths, names, described, senders = draw_mazes(words, B, size, rng)
        rows = np.arange(B)[:, None]
        goals = _goals(depths, config, rng)
        copies = size * (rng.random(goals.shape) < 0.5)
        ancestors = [goals]
        for _ in range(config.hops):
            ancestors.append(parents[rows, ancestors[-1]])
        ancestor_names = np.stack([names[rows, nodes + copies] for nodes in ancestors])
        asked = [words.fill(words.reach, goal, names[:, 0]) for goal in ancestor_names[0].T]
        parts = [described, *asked]
        edges = np.tile(words.edge, senders.shape[1])
        heads = len(words.intro) + np.flatnonzero(edges == words.second)
        return Texts(
            np.concatenate(parts, 1),
            *layout(parts),
            np.where(copies > 0, words.no, words.yes),
            ancestor_names,
            heads,
            names[rows, senders],
        )


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


def layout(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """positions, sees and ends (see `Texts`) of a maze and questions."""
    described, *lengths = (part.shape[1] for part in parts)
    positions = [np.arange(described), *(described + np.arange(n) for n in lengths)]
    block = np.repeat(np.arange(len(positions)), [len(part) for part in positions])
    sees = np.tri(len(block), dtype=bool) & ((block == 0) | (block == block[:, None]))
    return np.concatenate(positions), sees, described + np.cumsum(lengths, dtype=int) - 1


def save(model, tokenizer, config: NavigatorConfig, history, folder: pathlib.Path) -> None:
    """Writes the model in Hugging Face's format, with how it was trained."""
    steps = [progress._asdict() for progress in history]
    record = {"config": dataclasses.asdict(config), "history": steps}
    subjects.save(model, tokenizer, folder, record)


def evaluation_items(count: int, config: NavigatorConfig, seed: int):
    """Unseen mazes of the kind that was learned, one question each."""
    return navigation(count, form=FORM, size=max(config.sizes), depths=config.depths, seed=seed)
