"""Whose state is it? Which exact program goes on as the subject does after an exchange of states.

Exact programs of a task give the same trace and keep different things from step to step: parents
that were stored once, or levels by which the parent is looked up again. After a valid exchange
(`exchanges`) they disagree. With E the entries of the steps ahead in which some of them do,

    score(program) = share of E in which the subject predicts what the program does

The best exact program is named if it is clear of all nulls:

    untrained   a network like the subject with random weights, and the program that fits it best
    permuted    the best program's account of other exchanges than the subject's

that is, if it is ahead of each on 97.5 % of 1,000 bootstrap samples of the exchanges, and if no
wrong program fits better. (One that keeps the same, and errs elsewhere, fits as well.) Exact
programs that it is not ahead of in the same sense are named beside it: these exchanges do not tell
them apart. A name says what is kept, not that all else is right.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import networks
from algoscope.measures.exchanges import AHEAD, Exchanges, differ, in_margins
from algoscope.networks import Network
from algoscope.programs.exchange import Continuation
from algoscope.recording import Recording
from algoscope.statistics import Estimate, interval, resamples, share
from algoscope.tasks import Feature, Stage

Hints = Mapping[str, np.ndarray]
"""Hints of the steps ahead by name: [exchange, step, …]"""
_RESAMPLES = 1000


class Rival(NamedTuple):
    """A program or a null, beside the best program."""

    score: Estimate
    behind: Estimate
    """By how much the best program's score is larger, on the same bootstrap samples."""


class StateMatch(NamedTuple):
    best: str
    """The exact program that fits best."""
    score: Estimate
    by_step: list[float]
    """Its score one step ahead, two steps ahead, …"""
    moves: float
    """Of the entries of the steps ahead that the best program or the subject changes in a step, the
    share that is the program's."""
    programs: dict[str, Rival]
    """The other exact programs, the nearest first."""
    wrong: dict[str, Rival]
    """Programs that are another algorithm, the nearest first."""
    nulls: dict[str, Rival]
    entries: int
    exchanges: int

    @property
    def alike(self) -> list[str]:
        """Exact programs that are not told apart from the best."""
        return [name for name, rival in self.programs.items() if rival.behind.low <= 0]

    @property
    def runner_up(self) -> str | None:
        """The nearest exact program that is told apart."""
        return next((name for name in self.programs if name not in self.alike), None)

    @property
    def clear(self) -> bool:
        """Whether the best program stands clear of nulls and of wrong programs."""
        ahead = all(null.behind.low > 0 for null in self.nulls.values())
        return ahead and all(rival.behind.value >= 0 for rival in self.wrong.values())

    @property
    def owners(self) -> list[str]:
        """Whose state it is: the best program and those alike; empty if nobody's."""
        return [self.best, *self.alike] if self.clear else []

    def __str__(self) -> str:
        counted = f"of {self.entries} entries in {self.exchanges} exchanges"
        if not self.clear:
            return f"nobody's state: {self.best} fits best, {self.score} {counted}"
        alike = f" (or {', '.join(self.alike)})" if self.alike else ""
        if self.runner_up is None:
            return f"the state of {self.best}{alike}: {self.score} {counted}"
        behind = self.programs[self.runner_up].behind
        return (
            f"the state of {self.best}{alike}: {self.score} {counted}, "
            f"ahead of {self.runner_up} by {behind}"
        )


def go_on(network: Network, donors: Recording, exchanges: Exchanges) -> Hints:
    """What the network predicts on the bases, from its states on the donors."""
    start = networks.state_after(network, donors, exchanges.steps)
    run = networks.run_from(network, exchanges.base, start)
    return {name: np.asarray(hint)[:, :AHEAD] for name, hint in run.hints.items()}


def state_match(
    exchanges: Exchanges, subject: Hints, untrained: Hints | None = None, *, seed: int = 0
) -> StateMatch:
    """Compares how a subject goes on, and an untrained one, with all programs of the task."""
    features = [f for f in exchanges.base.at(Stage.HINT) if f.name in subject]
    said = in_margins(features, subject)
    accounts, wrong_accounts = (
        {name: in_margins(features, account.hints) for name, account in group.items()}
        for group in (exchanges.accounts, exchanges.wrong_accounts)
    )
    counted = exchanges.disagreement(features)
    entries = counted.sum((1, 2))
    drawn = resamples(len(entries), _RESAMPLES, seed)

    def right(account: np.ndarray, predicted: np.ndarray = said) -> np.ndarray:
        """The entries that are the account's: int [exchange]"""
        return (counted & ~differ(predicted, account)).sum((1, 2))

    def shares(hits: np.ndarray) -> np.ndarray:
        """Over all exchanges, then over each bootstrap sample: [1 + draw]"""
        whole = hits.sum() / entries.sum()
        return np.append(whole, hits[drawn].sum(1) / entries[drawn].sum(1))

    scores = {name: shares(right(account)) for name, account in accounts.items()}
    best = max(scores, key=lambda name: scores[name][0])
    order = np.random.default_rng(seed).permutation(len(entries))
    nulls = {"permuted": right(accounts[best][order])}
    if untrained is not None:
        random_said = in_margins(features, untrained)
        fits = [right(account, random_said) for account in accounts.values()]
        nulls["untrained"] = max(fits, key=np.sum)
    wrong = {name: right(account) for name, account in wrong_accounts.items()}

    def rivals(of_each: Mapping[str, np.ndarray]) -> dict[str, Rival]:
        nearest_first = sorted(of_each, key=lambda name: -of_each[name][0])
        return {
            name: Rival(_estimate(of_each[name]), _estimate(scores[best] - of_each[name]))
            for name in nearest_first
        }

    by_step = [
        share((counted & ~differ(said, accounts[best]))[:, step].sum(), counted[:, step].sum())
        for step in range(AHEAD)
    ]
    return StateMatch(
        best,
        _estimate(scores[best]),
        by_step,
        _moves(features, said, exchanges.accounts[best]),
        rivals({name: values for name, values in scores.items() if name != best}),
        rivals({name: shares(hits) for name, hits in wrong.items()}),
        rivals({name: shares(hits) for name, hits in nulls.items()}),
        int(entries.sum()),
        len(entries),
    )


def _estimate(shares: np.ndarray) -> Estimate:
    return Estimate(float(shares[0]), *interval(shares[1:]))


def _moves(features: Sequence[Feature], said: np.ndarray, account: Continuation) -> float:
    after = in_margins(features, account.hints)
    first = {name: hint[:, None] for name, hint in account.initial_hints.items()}
    before = np.concatenate([in_margins(features, first), after[:, :-1]], 1)
    moved = differ(after, before) | differ(said, before)
    return share((moved & ~differ(said, after)).sum(), moved.sum())
