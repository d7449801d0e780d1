"""Where a machine's variables are: in which token, after which layer, and whether they can be read.

For each step of a machine that predicts what exchanges do: the token of the question which, when it
alone is exchanged after that step's layer, moves the answer as the machine says; and a linear probe
of that token's state for whom the machine has visited by then. The probe is learnt on some mazes
and read on others, where it has to prefer visited nodes to their mirror images, which are mentioned
as often and are as deep; start, goal and their images are left out, since the question names them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import statistics
from algoscope.llm.capture import Patch, Request
from algoscope.llm.exchange import Outcome, Scale, layout, read
from algoscope.llm.machines import Machine, maze_of, states
from algoscope.llm.mechanism import Fit, new_answers
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.regression import held_out_smoother
from algoscope.statistics import Estimate

_MOST = 0.5
"""The share below which no single token is said to carry a variable; then all are probed."""
_TRIED = 10
"""Exchanges that every token is tried with, for each step."""


class Variable(NamedTuple):
    step: int
    layer: int
    token: str
    """The word, and which token of the prompt it is, -1 being the last."""
    share: Estimate
    """Of the answer, with the token alone exchanged that carries most; by exchange."""
    read: Estimate
    """How often the probe prefers a visited node to its image; by maze, chance is 0.5."""


def variables(
    subject: Subject, fit: Fit, outcomes: Sequence[Outcome], scale: Scale
) -> list[Variable]:
    """One for each step that the fit found."""
    prompts = {item.prompt: item for o in outcomes for item in o.exchange[:2]}
    found = []
    for step in fit.steps:
        layer = step.layers[0] if step.layers else None
        if layer is None:
            continue
        from_end, share = _token(subject, fit, outcomes, scale, layer)
        items = list(prompts.values())
        token = f"“{_word(subject, items[0], from_end)}” (token -{from_end})"
        if share.value <= _MOST:
            from_end, token = None, "all tokens of the question"
        probed = _probe(subject, fit.machine, items, step.number, layer, from_end)
        found.append(Variable(step.number, layer, token, share, probed))
    return found


def _token(
    subject: Subject, fit: Fit, outcomes: Sequence[Outcome], scale: Scale, layer: int
) -> tuple[int, Estimate]:
    """How far from the end the token is that carries most, and how much."""
    new = new_answers(fit.predicted, outcomes)[:, layer]
    chosen = [int(k) for k in np.flatnonzero(new)[:_TRIED]]
    layouts = [[layout(subject, item) for item in outcomes[k].exchange[:2]] for k in chosen]
    donated = read(subject, [Request(d.ids, positions=d.question) for _, d in layouts])
    tokens = min(len(base.question) for base, _ in layouts)
    requests = [
        Request(base.ids, changes=[Patch(layer, [base.question[-t]], given.states[layer][[-t]])])
        for (base, _), given in zip(layouts, donated, strict=True)
        for t in range(1, tokens + 1)
    ]
    odds = np.array([a.odds for a in read(subject, requests)]).reshape(len(chosen), tokens)
    values = scale(odds)
    predicted = fit.predicted[chosen, layer][:, None]
    shares = np.where(predicted, values, 1 - values)
    best = int(shares.mean(0).argmax())
    return best + 1, statistics.bootstrap(shares[:, best])


def _word(subject: Subject, item: Item, from_end: int) -> str:
    ids = subject.encode(item.prompt).ids
    return subject.tokenizer.decode([ids[-from_end]]).strip() or "␣"


def _probe(
    subject: Subject,
    machine: Machine,
    items: Sequence[Item],
    step: int,
    layer: int,
    from_end: int | None,
) -> Estimate:
    layouts = [layout(subject, item) for item in items]
    tokens = min(len(one.question) for one in layouts)
    places = range(1, tokens + 1) if from_end is None else [from_end]
    requests = [Request(one.ids, positions=[len(one.ids) - t for t in places]) for one in layouts]
    x = np.stack([answered.states[layer].ravel() for answered in read(subject, requests)])
    visited = [
        machine.visited(states(machine, maze_of(item), step)[-1].asked).astype(bool)
        for item in items
    ]
    names = sorted({name for item in items for name in item.names})
    y = np.zeros((len(items), len(names)))
    for row, (item, nodes) in enumerate(zip(items, visited, strict=True)):
        y[row, [names.index(item.names[node]) for node in np.flatnonzero(nodes)]] = 1
    pairs = np.array([item.pair for item in items])
    scores = held_out_smoother(x, pairs) @ (y - y.mean(0))
    preferred: dict[int, list[float]] = {}
    for row, (item, nodes) in enumerate(zip(items, visited, strict=True)):
        asked = {item.source, item.goal, item.mirror[item.source], item.mirror[item.goal]}
        for node in np.flatnonzero(nodes):
            image = item.mirror[node]
            if node not in asked and not nodes[image]:
                own, other = (scores[row, names.index(item.names[n])] for n in (node, image))
                preferred.setdefault(item.pair, []).append(float(own > other))
    return statistics.bootstrap(np.array([np.mean(values) for values in preferred.values()]))
