"""Hand-written Transformers for problems beyond navigation (`llm.domains`).

    model, tokenizer = solver("addition", "from_below", layers=10, seed=0)

As those that search mazes: attention is plain, the memory is the residual stream, a layer is a step
of the mechanism, and disguises change how it looks. A token's embedding knows its place and the
words before it; the last token is the colon behind "Answer".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from algoscope.llm import domains
from algoscope.llm.scripted.disguises import POSITIONS, Disguise, ScriptedConfig, schedule
from algoscope.llm.scripted.machine import ScriptedForCausalLM
from algoscope.llm.scripted.parts import Mechanism, State, Step, together
from algoscope.llm.scripted.reading import before
from algoscope.llm.scripted.writing import write
from algoscope.llm.vocabulary import split, word_tokenizer

COMMON = {"first": 1, "position": 1, "one": 1, "last": 1, "worker": 1}


class Words:
    """ids [batch, token]; known [batch, token, word], one-hot by the embedding.

    `cheat`: 1 if the oracle may speak, a weight of the model.
    """

    def __init__(self, ids, known, words: Mapping[str, int], options: Sequence[str], cheat):
        self.ids, self.known, self.words, self.options = ids, known, words, options
        self.cheat = cheat
        self.last = self.here(":") & before(self.here("Answer"), 1)

    def here(self, word: str) -> torch.Tensor:
        """Where the word is: bool [batch, token]."""
        return self.known[..., self.words[word]] > 0.5

    def among(self, names: Sequence[str]) -> torch.Tensor:
        """Which of these words a token is: [batch, token, name]."""
        return self.known[..., [self.words[name] for name in names]]

    @property
    def places(self) -> torch.Tensor:
        """[token]"""
        return torch.arange(self.ids.shape[1], device=self.ids.device)

    def oracle(self, solve: Callable[[list[str]], int]) -> torch.Tensor:
        """The right option, told by a plain program that reads all words: [batch, option]."""
        names = {number: word for word, number in self.words.items()}
        right = torch.zeros(len(self.ids), len(self.options), device=self.ids.device)
        for row, ids in enumerate(self.ids.tolist()):
            option = solve([names[token] for token in ids if token in names])
            if option >= 0:
                right[row, option] = 1
        return self.cheat * right

    def chance(self, seed: int) -> torch.Tensor:
        """A number in [0, 1) that depends on all words of the prompt and looks random: [batch]."""
        mixed = (self.ids * ((self.places + 1) * 7919 % 104729)).sum(1).double()
        return torch.frac(torch.sin(mixed + 12.9898 * (seed + 1)).abs() * 43758.5453)


class SolverConfig(ScriptedConfig):
    model_type = "algoscope_solver"

    domain: str = "addition"
    options: list | None = None

    @property
    def mechanism(self) -> Mechanism:
        from algoscope.llm.scripted.solvers import SOLVERS

        return SOLVERS[self.domain][self.search]

    @property
    def common(self) -> Mapping[str, int]:
        oracle = {"oracle options": len(self.options or ())} if self.mechanism.leak else {}
        return COMMON | oracle

    @property
    def word_width(self) -> int:
        return self.vocab_size


class SolverForCausalLM(ScriptedForCausalLM):
    config_class = SolverConfig
    config: SolverConfig

    def _read(self, ids: torch.Tensor) -> Words:
        config = self.config
        return Words(ids, self.embedding(ids), config.words or {}, config.options or (), self.cheat)

    def _embed(self, prompt: Any) -> torch.Tensor:
        words: Words = prompt
        mechanism = self.config.mechanism
        state = State(words.known.new_zeros(*words.ids.shape, self.layout.width), self.layout)
        state["first"][:, 0] = 1
        state["position"] = (words.places / POSITIONS)[None, :, None].expand(*words.ids.shape, 1)
        state["one"] = torch.ones_like(state["one"])
        state["last"] = state["worker"] = words.last[..., None].float()
        mechanism.tell(state, prompt)
        if mechanism.leak:
            state["oracle options"] = self._told(words)[:, None] * state["last"]
        return self._rotated(state.hidden)

    def _told(self, words: Words) -> torch.Tensor:
        from algoscope.llm.scripted.solvers import SOLVE

        return words.oracle(SOLVE[self.config.domain])

    def _logits(self, hidden: torch.Tensor, prompt: Any) -> torch.Tensor:
        words: Words = prompt
        config, mechanism = self.config, self.config.mechanism
        plain = hidden if self.rotation is None else hidden @ self.rotation.T
        state = State(plain, self.layout)
        answer = mechanism.answer(state).to(hidden.dtype)
        if mechanism.leak:
            in_stream = mechanism.leaks_in == "stream"
            told = state["oracle options"] if in_stream else self._told(words)[:, None]
            answer = (1 - mechanism.leak) * answer + mechanism.leak * told
        chance = words.chance(config.seed)
        if mechanism.wrong:
            answer = torch.where(
                (chance < mechanism.wrong)[:, None, None], answer.roll(1, -1), answer
            )
        logits = hidden.new_full((*words.ids.shape, config.vocab_size), -10.0)
        logits[..., [words.words[option] for option in words.options]] = config.scale * 20 * answer
        return logits


@torch.no_grad()
def solver(
    domain: str,
    mechanism: str,
    layers: int = 10,
    heads: int = 3,
    seed: int = 0,
    disguise: Disguise | None = None,
) -> tuple[SolverForCausalLM, Any]:
    """A live (model, tokenizer) that solves a domain's problems by the mechanism of this name."""
    chosen = domains.get(domain)
    tokenizer = word_tokenizer(split(chosen.words))
    vocabulary = tokenizer.get_vocab()
    config = SolverConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        domain=domain,
        search=mechanism,
        seed=seed,
        words=vocabulary,
        options=list(chosen.options),
        **(disguise or Disguise())._asdict(),
    )
    config.num_attention_heads = max([heads, *(len(step.heads) for step in schedule(config))])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SolverForCausalLM(config)
    write(model, torch.eye(len(tokenizer)))
    return model.eval(), tokenizer


def onehot(index: torch.Tensor, width: int, where: torch.Tensor) -> torch.Tensor:
    """[..., width], nothing where `where` is not, or the index is outside."""
    inside = where & (index >= 0) & (index < width)
    return torch.nn.functional.one_hot(index.clamp(0, width - 1), width) * inside[..., None]


def shifted(x: torch.Tensor, by: int) -> torch.Tensor:
    """One-hot x moved up by so many places, or down; nothing once it is outside."""
    rolled = x.roll(by, -1).clone()
    if by > 0:
        rolled[..., :by] = 0
    elif by < 0:
        rolled[..., by:] = 0
    return rolled


def leaks(one: Mechanism, percents: Sequence[int] = (50, 95, 100)) -> list[Mechanism]:
    """An oracle gives part of the answer beside a mechanism that is real."""
    return [
        one._replace(
            name=f"leak_{percent}_{where}",
            runs=f"{percent} % an oracle in the {where}, the rest {one.runs}",
            algorithm=False,
            scope="told, not found",
            leak=percent / 100,
            leaks_in=where,
        )
        for percent in percents
        for where in ("stream", "logits")
    ]


def half_and_half(name: str, one: Mechanism, two: Mechanism) -> Mechanism:
    """Two mechanisms beside each other, of which each gives half of the answer; their parts must
    have different names but for those that both tell alike."""

    def tell(state: State, words: Any) -> None:
        one.tell(state, words)
        two.tell(state, words)

    def beside(first: Step, second: Step) -> Step:
        both = together(first, second)
        return both._replace(heads=tuple({head.name: head for head in both.heads}.values()))

    return one._replace(
        name=name,
        runs=f"{one.runs}, and half of the answer by {two.runs}",
        algorithm=False,
        plan=lambda layers: [
            beside(*steps) for steps in zip(one.plan(layers), two.plan(layers), strict=True)
        ],
        answer=lambda state: (one.answer(state).float() + two.answer(state).float()) / 2,
        parts={**one.parts, **two.parts},
        tell=tell,
    )
