"""Exchanges of states between problems of a domain, and what its machines say must follow.

As `exchange` for mazes, with options in the place of Yes and No, and with two parts that can be
exchanged after a layer:

    the question     its tokens get the donor's states: what was found out so far is the donor's,
                     what is still to be read is the base's
    some sentences   their tokens get the donor's: the other way round

The second is what shows an algorithm whose work is one step, since for it the question's tokens
hold all or nothing. With x(o) the log-odds of option o against all others, and low and high the
medians of x(o) on plain prompts where another option is right, and where o is,

    v(o) = (x(o) - low) / (high - low), cut to 0 .. 1
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Request
from algoscope.llm.domains import Domain, Problem
from algoscope.llm.exchange import Layout, layout_of, telling
from algoscope.llm.machines import Machine, exchanged, put_in, states
from algoscope.llm.mechanism import FEWEST, Evidence, Fit, by_maze, new_of
from algoscope.llm.subjects import Subject
from algoscope.regression import held_out_smoother
from algoscope.statistics import Estimate

_DRAWN = 10
"""Exchanges that are drawn for each problem."""
_NEW = 8.0
"""What an answer that neither prompt has counts beside a difference of two machines."""
_SPELLINGS = {
    "Yes": ("Yes", " Yes", "yes", " yes", "YES", " YES"),
    "No": ("No", " No", "no", " no", "NO", " NO"),
}


class Reader:
    """A subject that is asked for one of a domain's options."""

    def __init__(self, subject: Subject, domain: Domain):
        self.subject, self.domain = subject, domain
        self.tokens = [_tokens(subject, option) for option in domain.options]
        everyone = [token for tokens in self.tokens for token in tokens]
        if not all(self.tokens) or len({*everyone}) < len(everyone):
            raise ValueError(
                f"tokenizer: got one in which the answers {', '.join(domain.options)} do not begin "
                f"with tokens of their own ({subject.name}), needed one that tells them apart"
            )

    def read(self, requests: Sequence[Request]) -> Iterator["Read"]:
        for reading in self.subject.read_all(requests):
            logits = [np.logaddexp.reduce(reading.logits[tokens]) for tokens in self.tokens]
            yield Read(_against_others(np.array(logits)), reading.states)

    def answers(self, problems: Sequence[Problem]) -> np.ndarray:
        """Log-odds of every option: [problem, option]."""
        requests = [Request(self.subject.encode(p.prompt).ids) for p in problems]
        return np.array([read.odds for read in self.read(requests)])

    def layout(self, problem: Problem) -> Layout:
        return layout_of(self.subject, problem.prompt, problem.starts, problem.asks)


class Read(NamedTuple):
    odds: np.ndarray
    """[option]"""
    states: np.ndarray
    """[layer + 1, position, width]"""


def _tokens(subject: Subject, option: str) -> list[int]:
    unknown, found = subject.tokenizer.unk_token_id, set()
    for spelling in _SPELLINGS.get(option, (option, f" {option}")):
        ids = subject.tokenizer(spelling, add_special_tokens=False)["input_ids"]
        spoken = [token for token in ids if subject.tokenizer.decode([token]).strip()]
        found |= {*spoken[:1]} - {unknown}
    return sorted(found)


def _against_others(logits: np.ndarray) -> np.ndarray:
    """log P(o) - log P(any other): [option]."""
    others = np.where(np.eye(len(logits), dtype=bool), -np.inf, logits[None])
    return logits - np.logaddexp.reduce(others, axis=1)


class Trial(NamedTuple):
    base: Problem
    donor: Problem
    sentences: np.ndarray | None
    """Which are exchanged: bool [sentence]; None for the question."""
    predicted: dict[Machine, np.ndarray]
    """What each machine answers if that is done after t steps, and r more follow: int [t, r]."""

    @property
    def answers(self) -> tuple[int, int]:
        return self.base.right, self.donor.right


def bank(
    domain: Domain, problems: Sequence[Problem], steps: int, each: int = 2, seed: int = 0
) -> list[Trial]:
    """So many exchanges of the question, and of sentences, for each problem."""
    rng = np.random.default_rng([seed, 2])
    chosen: list[Trial] = []
    for question in (True, False):
        drawn = (
            [_draw(domain, problem, steps, question, rng) for _ in range(_DRAWN)]
            for problem in problems
        )
        chosen += telling(drawn, each, domain.machines, new=_NEW)
    return chosen


def _draw(domain: Domain, problem: Problem, steps: int, question: bool, rng) -> Trial:
    base, donor = domain.pair(problem, rng)
    own, given = base.content, donor.content
    if question:
        predicted = {m: exchanged(m, own, given, steps) for m in domain.machines}
        return Trial(base, donor, None, predicted)
    units = [unit for unit in problem.units if rng.random() < 0.5]
    sentences = np.isin(np.arange(len(problem.starts)), [n for unit in units for n in unit])
    predicted = {m: put_in(m, own, given, sentences, steps) for m in domain.machines}
    return Trial(base, donor, sentences, predicted)


class Tried(NamedTuple):
    trial: Trial
    plain: np.ndarray
    """Log-odds of the options for base and donor: [2, option]."""
    patched: np.ndarray
    """With the donor's states after so many layers: [layer + 1, option]."""

    @property
    def right(self) -> bool:
        return tuple(self.plain.argmax(1)) == self.trial.answers


def run(reader: Reader, trials: Sequence[Trial]) -> list[Tried]:
    """Those whose prompts have their words at other tokens are left out."""
    kept = []
    for trial in trials:
        base, donor = (reader.layout(p) for p in (trial.base, trial.donor))
        if base.aligned_with(donor):
            kept.append((trial, base, donor))
    found = []
    for trial, base, donor in kept:
        tokens = base.question if trial.sentences is None else _said(base, trial.sentences)
        own, given = reader.read([Request(base.ids), Request(donor.ids, positions=tokens)])
        requests = [
            Request(base.ids, changes=[Patch(layer, tokens, states)] if tokens else [])
            for layer, states in enumerate(given.states)
        ]
        patched = np.array([read.odds for read in reader.read(requests)])
        found.append(Tried(trial, np.stack([own.odds, given.odds]), patched))
    return found


def _said(layout: Layout, sentences: np.ndarray) -> list[int]:
    return [t for number in np.flatnonzero(sentences) for t in layout.sentences[number]]


class Levels(NamedTuple):
    """From log-odds to how far an answer is an option."""

    low: np.ndarray
    high: np.ndarray
    """[option]"""

    def __call__(self, odds: np.ndarray) -> np.ndarray:
        return np.clip((odds - self.low) / (self.high - self.low), 0, 1)


def levels(odds: np.ndarray, right: np.ndarray) -> Levels:
    """From plain prompts, odds [prompt, option]; options that are rarely right share their
    levels."""
    is_right = np.arange(odds.shape[1]) == right[:, None]
    low, high = (np.full(odds.shape[1], np.median(odds[where])) for where in (~is_right, is_right))
    for option in np.flatnonzero(is_right.sum(0) >= FEWEST):
        chosen = is_right[:, option]
        if not chosen.all():
            low[option] = np.median(odds[~chosen, option])
        high[option] = np.median(odds[chosen, option])
    return Levels(low, np.maximum(high, low + 1e-6))


def evidence(tried: Sequence[Tried], scale: Levels) -> Evidence:
    groups = np.unique([t.trial.base.pair for t in tried], return_inverse=True)[1]
    answers = np.array([t.trial.answers for t in tried])
    return Evidence(scale(np.array([t.patched for t in tried])), answers, groups)


def share(fit: Fit, found: Evidence) -> tuple[Estimate, int]:
    """Of the answer that goes through the machine's variables, and in how many problems it was
    tried: where an answer is predicted that neither prompt has, after its first step; before it,
    if it has one only."""
    taken = np.array(fit.clock)
    layers = taken == 0 if fit.machine.once else taken > 0
    cells = new_of(fit.predicted, found.answers) & layers
    return by_maze(fit.held_out, cells, found.groups), len(np.unique(found.groups[cells.any(1)]))


class Others(NamedTuple):
    """What the description's tokens do beside those in which twins differ."""

    pairs: list[tuple[Problem, Problem]]
    """Base and donor."""
    effects: np.ndarray
    """How far the answer goes to the donor's: [pair, layer + 1]."""

    def expected(self, fit: Fit) -> np.ndarray:
        """Whether the machine says that it goes there: bool [pair, layer + 1]. One whose
        description's part rests never does."""
        taken = np.array(fit.clock)
        said = []
        for base, donor in self.pairs:
            same = ~np.isin(np.arange(len(base.starts)), base.changed(donor))
            table = put_in(fit.machine, base.content, donor.content, same, int(taken[-1]))
            said.append(table[taken, taken[-1] - taken] == donor.right)
        return np.array(said)

    def beside(self, fit: Fit) -> Estimate:
        """At the layer where it is largest, where the machine says nothing."""
        free = np.where(self.expected(fit), np.nan, self.effects)
        every = [statistics.bootstrap(column) for column in free.T if np.isfinite(column).any()]
        return max(every, key=lambda estimate: estimate.value)

    def as_said(self, fit: Fit) -> Estimate:
        """Where the machine says that it goes there; by pair."""
        expected = self.expected(fit)
        chosen = expected.any(1)
        told = np.where(expected, self.effects, 0).sum(1)[chosen] / expected.sum(1)[chosen]
        return statistics.bootstrap(told)


def others(
    reader: Reader, pairs: Sequence[tuple[Problem, Problem]], scale: Levels
) -> Others | None:
    """Of twins: the states of all tokens of the description are exchanged, but for the sentences
    that differ; None where no pair is answered right."""
    kept, effects = [], []
    for base, donor in [pair for a, b in pairs for pair in ((a, b), (b, a))]:
        own, its = reader.layout(base), reader.layout(donor)
        if base.right == donor.right or not own.aligned_with(its):
            continue
        changed = {t for n in base.changed(donor) for t in own.sentences[n]}
        tokens = [t for t in own.description if t not in changed]
        plain, given = reader.read([Request(own.ids), Request(its.ids, positions=tokens)])
        if (plain.odds.argmax(), given.odds.argmax()) != (base.right, donor.right):
            continue
        requests = [
            Request(own.ids, changes=[Patch(layer, tokens, states)])
            for layer, states in enumerate(given.states)
        ]
        odds = np.array([read.odds for read in reader.read(requests)])
        kept.append((base, donor))
        effects.append(scale(odds)[:, donor.right])
    return Others(kept, np.array(effects)) if kept else None


def ready_after(reader: Reader, problems: Sequence[Problem], layer: int, scale: Levels) -> Estimate:
    """How much of the right answer is there if the question's states after this layer are put
    behind all others: whether any work is left."""
    layouts = [reader.layout(problem) for problem in problems]
    early = list(reader.read([Request(own.ids, positions=own.question) for own in layouts]))
    requests = [
        Request(own.ids, changes=[Patch(reader.subject.depth, own.question, read.states[layer])])
        for own, read in zip(layouts, early, strict=True)
    ]
    values = [
        scale(read.odds)[problem.right]
        for read, problem in zip(reader.read(requests), problems, strict=True)
    ]
    return statistics.bootstrap(np.array(values))


class Variable(NamedTuple):
    step: int
    layer: int
    read: Estimate
    """Of two prompts of one shape whose variable differs, how often a probe knows which has it;
    chance is 0.5."""


def variables(reader: Reader, fit: Fit, tried: Sequence[Tried]) -> list[Variable]:
    """A linear probe of the question's states after the layer of each step, learnt on some problems
    and read on others."""
    problems = list({p.prompt: p for t in tried for p in t.trial[:2]}.values())
    layouts = [reader.layout(p) for p in problems]
    tokens = min(len(own.question) for own in layouts)
    requests = [Request(own.ids, positions=own.question[-tokens:]) for own in layouts]
    held = np.stack([read.states.reshape(len(read.states), -1) for read in reader.read(requests)])
    groups = np.array([p.pair for p in problems])
    pairs = [
        (a, b) for a, b in itertools.combinations(range(len(problems)), 2) if groups[a] == groups[b]
    ]
    steps = states_of(fit.machine, problems, fit.clock[-1])
    found = []
    for step in range(1, fit.clock[-1] + 1):
        layer = fit.clock.index(step)
        features = np.array([s[step] for s in steps], float)
        scores = held_out_smoother(held[:, layer], groups) @ (features - features.mean(0))
        preferred: dict[int, list[float]] = {}
        for a, b in pairs:
            for feature in np.flatnonzero(features[a] != features[b]):
                expected = features[a, feature] > features[b, feature]
                said = scores[a, feature] > scores[b, feature]
                preferred.setdefault(int(groups[a]), []).append(float(expected == said))
        if len(preferred) >= FEWEST:
            means = np.array([np.mean(values) for values in preferred.values()])
            found.append(Variable(step, layer, statistics.bootstrap(means)))
    return found


def states_of(machine: Machine, problems: Sequence[Problem], steps: int) -> list[list[np.ndarray]]:
    """What the question's part names after 0 to so many steps, of each problem."""
    return [
        [np.atleast_1d(machine.visited(state.asked)) for state in states(machine, p.content, steps)]
        for p in problems
    ]
