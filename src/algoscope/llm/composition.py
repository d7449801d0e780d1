"""Which primitive feeds which: path patching between heads.

A sender writes in a prompt what it writes in a donor (`primitives`). What a later head then writes,
at all tokens, is recorded, while all heads between the two write what they wrote before: so that
the change came from the sender, through the residual stream and through layers without attention.
That alone is put into the prompt:

    move     = log-odds with the receiver's recorded output - log-odds without
    contrast = move(changed) - move(matched)
    share    = mean contrast / mean (log-odds of changed - log-odds)

The path to the answer has no receiver: all heads behind the sender write what they wrote before.
p-values are by the null of the largest mean contrast among all paths of a primitive, times the
number of primitives.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope import progress
from algoscope.llm.capture import Reading, Request, Swap
from algoscope.llm.minimal_tasks import PRIMITIVES, Primitive
from algoscope.llm.observe import log_odds
from algoscope.llm.primitives import (
    LEAST,
    SIGNIFICANT,
    Ability,
    Aligned,
    Detection,
    aligned,
    shares,
)
from algoscope.llm.subjects import Subject
from algoscope.statistics import Estimate

_MOST_HEADS = 64
"""With more heads behind a sender, only those are receivers that do some primitive."""

Head = tuple[int, int]


class Path(NamedTuple):
    """From one head to another, or to the answer."""

    primitive: str
    """Whose minimal tasks show it."""
    sender: Head
    receiver: Head | None
    """None is the answer."""
    share: Estimate
    """Of the answer that takes this path."""
    p: float

    @property
    def shown(self) -> bool:
        return self.p < SIGNIFICANT and self.share.low > LEAST


def compose(
    subject: Subject,
    abilities: Sequence[Ability],
    count: int = 12,
    seed: int = 0,
    library: Sequence[Primitive] = PRIMITIVES,
    permutations: int = 999,
    form: str = "rooms",
) -> list[Path]:
    """All paths from heads that are used, the largest share first."""
    known = {(d.layer, d.head) for ability in abilities for d in ability.heads}
    senders = {ability.primitive: ability.used for ability in abilities if ability.used}
    chosen = [
        (number, primitive) for number, primitive in enumerate(library) if primitive.name in senders
    ]
    paths: list[Path] = []
    for number, primitive in progress.over(chosen, "paths"):
        rng = np.random.default_rng([seed, number, 2])
        tasks = list(aligned(subject, primitive, rng, form, count))
        if not tasks:
            continue
        ends, moves = [], []
        for sender in senders[primitive.name]:
            receivers = _receivers(subject, sender, known, tasks[0])
            ends += [((sender.layer, sender.head), receiver) for receiver in receivers]
            moves += [_moves(subject, tasks, sender, donor, receivers) for donor in range(2)]
        moved = np.concatenate(
            [
                np.stack([changed, matched], 1)
                for changed, matched in zip(moves[::2], moves[1::2], strict=True)
            ]
        )
        contrasts = moved[:, :1] - moved[:, 1:]
        plain, after = (
            _odds(tasks, subject.read_all([Request(ids) for ids in prompts]))
            for prompts in ([t.ids for t in tasks], [t.donors[0][0] for t in tasks])
        )
        for (sender, receiver), (share, p) in zip(
            ends, shares(contrasts, after - plain, permutations, seed), strict=True
        ):
            p = min(1.0, p * len(chosen))
            paths.append(Path(primitive.name, sender, receiver, share, p))
    return sorted(paths, key=lambda path: -path.share.value)


def _receivers(
    subject: Subject, sender: Detection, known: set[Head], task: Aligned
) -> list[Head | None]:
    heads = subject.read(task.ids).outputs.shape[1]
    behind = [(m, h) for m in range(sender.layer + 1, subject.depth) for h in range(heads)]
    if len(behind) > _MOST_HEADS:
        behind = [head for head in behind if head in known]
    return [*behind, None]


def _moves(
    subject: Subject,
    tasks: Sequence[Aligned],
    sender: Detection,
    donor: int,
    receivers: Sequence[Head | None],
) -> np.ndarray:
    """What each path does to the log-odds: [receiver, task]."""
    plain = list(subject.read_all([Request(t.ids, rows=range(len(t.ids))) for t in tasks]))
    places = [task.writes(donor, sender.token) for task in tasks]
    given = subject.read_all(
        [Request(t.donors[donor][0], rows=p) for t, p in zip(tasks, places, strict=True)]
    )
    swaps = [
        Swap(sender.layer, sender.head, place, reading.outputs[sender.layer, sender.head])
        for place, reading in zip(places, given, strict=True)
    ]
    # What heads of each layer write if the sender alone has changed, those between held still.
    behind = sorted({receiver[0] for receiver in receivers if receiver})
    told: dict[int, list[Reading]] = {
        layer: list(
            subject.read_all(
                [
                    Request(
                        task.ids,
                        rows=range(len(task.ids)),
                        changes=[swap, *_held(reading, sender.layer + 1, layer)],
                    )
                    for task, swap, reading in zip(tasks, swaps, plain, strict=True)
                ]
            )
        )
        for layer in behind
    }
    requests = []
    for receiver in receivers:
        for number, (task, swap, reading) in enumerate(zip(tasks, swaps, plain, strict=True)):
            if receiver is None:
                changes = [swap, *_held(reading, sender.layer + 1, subject.depth)]
            else:
                layer, head = receiver
                outputs = told[layer][number].outputs[layer, head]
                changes = [Swap(layer, head, range(len(task.ids)), outputs)]
            requests.append(Request(task.ids, changes=changes))
    readings = iter(subject.read_all(requests))
    before = _odds(tasks, plain)
    return np.array([_odds(tasks, [next(readings) for _ in tasks]) - before for _ in receivers])


def _held(reading: Reading, first: int, last: int) -> list[Swap]:
    """All heads of layers [first, last) write what they wrote."""
    tokens, heads = range(reading.outputs.shape[2]), range(reading.outputs.shape[1])
    return [Swap(m, h, tokens, reading.outputs[m, h]) for m in range(first, last) for h in heads]


def _odds(tasks: Sequence[Aligned], readings) -> np.ndarray:
    return np.array(
        [log_odds(r.logits, t.after, t.before) for t, r in zip(tasks, readings, strict=True)]
    )
