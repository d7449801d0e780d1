"""Which heads do which low-level operation, and does the model use what they write?

First by attention: a head's excess is what it attends to the target less to a control of a minimal
task (`minimal_tasks`). Exchanging the two flips a task's sign, which gives the null distribution of
the largest excess among all heads; what random weights reach has to be exceeded, too. That is a
lead. Then, on other tasks, what the head writes is exchanged:

    move(donor) = log-odds with the head's output of the donor - log-odds without
    contrast    = move(changed) - move(matched)
    share       = mean contrast / mean (log-odds of changed - log-odds)

Log-odds are of the answer that is right in `changed` against the one that is right in the prompt.
If a head does not care for what its target says more than for what a control says, the two donors
are alike to it, and the sign of a contrast is random: the null distribution of the largest mean
contrast among the heads. Corrected for primitives (Holm), some head of a model that does nothing is
said to be used with a probability of at most 0.05, in all primitives together.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from algoscope import progress, statistics
from algoscope.llm import forms
from algoscope.llm.capture import Request, Swap
from algoscope.llm.minimal_tasks import PRIMITIVES, Donor, MinimalTask, Primitive
from algoscope.llm.observe import answer_tokens, log_odds
from algoscope.llm.subjects import Encoded, Subject
from algoscope.statistics import Estimate

SIGNIFICANT = 0.05
LEAST = 0.1
"""The share of the answer below which a head is not said to be used."""
_MOST_DRAWN = 20
"""Tasks that are drawn for each one that is kept, at most: words of unequal numbers of tokens do
not stand at the same places."""


class Detection(NamedTuple):
    """A head that looks as the primitive says."""

    primitive: str
    layer: int
    head: int
    token: int
    """Which token of the query looks, -1 being the last."""
    excess: Estimate
    """Attention to the target less that to the control, mean over tasks; the least of controls."""
    p: float
    """Corrected for all heads, by the null of the largest; the largest of controls."""
    control: float
    """The largest excess of any head with random weights."""


class Exchanged(NamedTuple):
    """What comes of exchanging what heads write."""

    heads: tuple[tuple[int, int], ...]
    """(layer, head)"""
    share: Estimate
    """Of the answer; the least of controls."""
    p: float
    """Corrected for heads and primitives; the largest of controls."""

    @property
    def used(self) -> bool:
        return self.p < SIGNIFICANT and self.share.low > LEAST


class Ability(NamedTuple):
    """A primitive in a model."""

    primitive: str
    heads: list[Detection]
    """That look, the best first."""
    tasks: int
    """On which the exchange was made; 0 if there was nothing to exchange."""
    follows: Estimate
    """How far the answer's log-odds go with the changed prompt: if not at all, there is nothing for
    a head to be used for."""
    alone: list[Exchanged]
    """Each head."""
    joint: Exchanged | None
    """All of them at once."""

    @property
    def used(self) -> list[Detection]:
        """The heads that are shown to be used."""
        return [d for d, e in zip(self.heads, self.alone, strict=False) if e.used]


class Aligned(NamedTuple):
    """A minimal task in tokens."""

    ids: list[int]
    query: list[int]
    donors: list[tuple[list[int], list[int]]]
    """(ids, where what a head writes is taken; empty: where it looks from), `changed` first."""
    after: list[int]
    """Tokens of the answer that is right in `changed`."""
    before: list[int]
    """Of the one that is right in the prompt."""

    def writes(self, donor: int, token: int) -> list[int]:
        return self.donors[donor][1] or [self.query[token]]


def find_primitives(
    subject: Subject,
    count: int = 40,
    seed: int = 0,
    library: Sequence[Primitive] = PRIMITIVES,
    permutations: int = 999,
    form: str = "rooms",
) -> dict[str, list[Detection]]:
    """The heads that look as each primitive says (corrected p < 0.05 and more than any head with
    random weights), the best first; none where the tokenizer lacks words of the tasks. `form` says
    what words are looked at and how edges are said."""
    forms.form(form)
    untrained = subject.with_random_weights(seed)
    detections = {}
    for number, primitive in enumerate(progress.over(library, "primitives")):
        rng = np.random.default_rng([seed, number])
        tasks = [primitive.make(rng, form) for _ in range(count)]
        if not all(_knows(subject, task) for task in tasks):
            detections[primitive.name] = []
            continue
        values, control = (_all_excess(model, tasks) for model in (subject, untrained))
        detections[primitive.name] = _detected(primitive, values, control, permutations, seed)
    return detections


def _knows(subject: Subject, task: MinimalTask) -> bool:
    unknown = subject.tokenizer.unk_token_id
    return unknown is None or unknown not in subject.encode(task.prompt).ids


def _detected(
    primitive: Primitive, values: np.ndarray, control: np.ndarray, permutations: int, seed: int
) -> list[Detection]:
    """values [task, control, layer, head, token], of the subject and of random weights."""
    means = values.mean(0)
    nulls = [
        statistics.flip_null(values[:, c].reshape(len(values), -1), permutations, seed)
        for c in range(len(means))
    ]
    largest = control.mean(0).max((1, 2, 3))
    heads: list[Detection] = []
    for layer, head in np.ndindex(means.shape[1:3]):
        token = int(means[:, layer, head].min(0).argmax())
        place = (layer, head, token)
        p = max(
            statistics.p_value(float(mean[place]), n) for mean, n in zip(means, nulls, strict=True)
        )
        if p < SIGNIFICANT and all(
            mean[place] > most for mean, most in zip(means, largest, strict=True)
        ):
            least = int(np.argmin([mean[place] for mean in means]))
            excess = statistics.bootstrap(values[:, least, layer, head, token], seed)
            heads.append(
                Detection(
                    primitive.name,
                    layer,
                    head,
                    token - means.shape[-1],
                    excess,
                    p,
                    float(largest[least]),
                )
            )
    return sorted(heads, key=lambda d: -d.excess.value)


def _all_excess(subject: Subject, tasks: Sequence[MinimalTask]) -> np.ndarray:
    """Attention of the query to the target less that to each control: [task, control, layer, head,
    token]; of queries that are longer the last tokens."""
    requests, spans = [], []
    for task in tasks:
        encoded = subject.encode(task.prompt)
        query, *looked = (
            encoded.tokens(*span, task.prompt[slice(*span)])
            for span in (task.query, task.target, *task.controls)
        )
        requests.append(Request(encoded.ids, rows=query if task.anywhere else query[-1:]))
        spans.append(looked)
    tokens = min(len(request.rows) for request in requests)
    excess = []
    for (target, *controls), reading in zip(spans, subject.read_all(requests), strict=True):
        rows = reading.attention[:, :, -tokens:]
        to_target = rows[..., target].sum(-1)
        excess.append([to_target - rows[..., control].sum(-1) for control in controls])
    return np.array(excess)


def examine(
    subject: Subject,
    count: int = 40,
    seed: int = 0,
    library: Sequence[Primitive] = PRIMITIVES,
    permutations: int = 999,
    form: str = "rooms",
) -> list[Ability]:
    """Every primitive: who looks, and whether what they write is used."""
    found = find_primitives(subject, count, seed, library, permutations, form)
    abilities = []
    for number, primitive in enumerate(progress.over(library, "exchanges")):
        heads = found[primitive.name]
        rng = np.random.default_rng([seed, number, 1])
        tasks = list(aligned(subject, primitive, rng, form, count)) if heads else []
        if tasks:
            abilities.append(exchange(subject, primitive.name, heads, tasks, permutations, seed))
        else:
            abilities.append(Ability(primitive.name, heads, 0, Estimate(np.nan, 0, 0), [], None))
    return _corrected(abilities)


def _corrected(abilities: Sequence[Ability]) -> list[Ability]:
    """With the p of every exchange raised as that of its primitive's smallest is, by Holm."""
    tested = [a for a in abilities if a.alone]
    smallest = [min(e.p for e in [*a.alone, a.joint] if e) for a in tested]
    factors = {
        a.primitive: corrected / least
        for a, corrected, least in zip(tested, statistics.holm(smallest), smallest, strict=True)
    }

    def raised(e: Exchanged, factor: float) -> Exchanged:
        return e._replace(p=min(1.0, float(e.p * factor)))

    return [
        a._replace(
            alone=[raised(e, factors[a.primitive]) for e in a.alone],
            joint=raised(a.joint, factors[a.primitive]) if a.joint else None,
        )
        if a.alone
        else a
        for a in abilities
    ]


def aligned(
    subject: Subject, primitive: Primitive, rng: np.random.Generator, form: str, count: int
) -> Iterator[Aligned]:
    """So many tasks whose donors have their words at the same tokens; none if the primitive has no
    donors."""
    kept = 0
    for _ in range(_MOST_DRAWN * count):
        task = primitive.make(rng, form)
        if task.donors is None or kept == count:
            return
        made = _align(subject, task)
        if made is not None:
            kept += 1
            yield made


def _align(subject: Subject, task: MinimalTask) -> Aligned | None:
    donors = task.donors
    assert donors is not None
    base = subject.encode(task.prompt)
    given = [donors.changed, *donors.matched]
    encoded = [subject.encode(donor.prompt) for donor in given]
    if any(len(other.ids) != len(base.ids) for other in encoded):
        return None
    query = base.tokens(*task.query, "the query")
    if donors.answers is None:
        after, before = answer_tokens(subject)[::-1]
    else:
        before, after = (
            [one.ids[one.tokens(*span, "the answer")[0]]]
            for one, span in zip((base, encoded[0]), donors.answers, strict=True)
        )
        if after == before:
            return None
    return Aligned(
        base.ids,
        query if task.anywhere else query[-1:],
        [(one.ids, _ends(base, donor)) for one, donor in zip(encoded, given, strict=True)],
        after,
        before,
    )


def _ends(base: Encoded, donor: Donor) -> list[int]:
    return [base.tokens(*span, "a word")[-1] for span in donor.writes]


def exchange(
    subject: Subject,
    primitive: str,
    heads: Sequence[Detection],
    tasks: Sequence[Aligned],
    permutations: int = 999,
    seed: int = 0,
) -> Ability:
    """What comes of it if heads write in a prompt what they write in its donors; p-values are
    corrected for these heads, not for other primitives."""
    donors = len(tasks[0].donors)
    plain = _odds(subject, tasks, [[Request(task.ids) for task in tasks]])[0]
    given = [list(_read_donors(subject, tasks, heads, d)) for d in range(donors)]
    after = np.array(
        [
            log_odds(logits, t.after, t.before)
            for t, (logits, _) in zip(tasks, given[0], strict=True)
        ]
    )
    sets = [(k,) for k in range(len(heads))] + ([tuple(range(len(heads)))] if heads[1:] else [])
    moved = np.array(
        [
            _odds(
                subject,
                tasks,
                [
                    [
                        Request(task.ids, changes=[outputs[k] for k in some])
                        for task, (_, outputs) in zip(tasks, g, strict=True)
                    ]
                    for g in given
                ],
            )
            - plain
            for some in sets
        ]
    )  # [set, donor, task]
    contrasts = moved[:, :1] - moved[:, 1:]
    whole = after - plain
    results = shares(contrasts, whole, permutations, seed)
    named = [tuple((heads[k].layer, heads[k].head) for k in some) for some in sets]
    exchanged = [Exchanged(n, *r) for n, r in zip(named, results, strict=True)]
    follows = statistics.bootstrap(whole, seed)
    return Ability(
        primitive, list(heads), len(tasks), follows, exchanged[: len(heads)], exchanged[-1]
    )


def shares(
    contrasts: np.ndarray, whole: np.ndarray, permutations: int, seed: int
) -> list[tuple[Estimate, float]]:
    """(share, p) of each set, the least of controls: contrasts [set, control, task], whole [task].
    p is by the null of the largest mean contrast among sets."""
    nulls = [
        statistics.flip_null(contrasts[:, c].T, permutations, seed)
        for c in range(contrasts.shape[1])
    ]
    results = []
    for rows in contrasts:
        p = max(
            statistics.p_value(float(row.mean()), n) for row, n in zip(rows, nulls, strict=True)
        )
        results.append((min((ratio(row, whole, seed) for row in rows), key=lambda e: e.value), p))
    return results


def ratio(values: np.ndarray, whole: np.ndarray, seed: int = 0) -> Estimate:
    """mean(values) / mean(whole), with a bootstrap over tasks; nothing is a share of a whole that
    may be nothing."""
    drawn = statistics.resamples(len(values), 2000, seed)
    below = whole[drawn].mean(1)
    if statistics.interval(below)[0] <= 0:
        return Estimate(0.0, 0.0, 0.0)
    return Estimate(
        float(values.mean() / whole.mean()), *statistics.interval(values[drawn].mean(1) / below)
    )


def _read_donors(
    subject: Subject, tasks: Sequence[Aligned], heads: Sequence[Detection], donor: int
) -> Iterator[tuple[np.ndarray, list[Swap]]]:
    """(logits, what each head writes) of each task's donor of this number."""
    places = [[task.writes(donor, d.token) for d in heads] for task in tasks]
    rows = [sorted({token for some in place for token in some}) for place in places]
    requests = [
        Request(task.donors[donor][0], rows=row) for task, row in zip(tasks, rows, strict=True)
    ]
    for place, row, reading in zip(places, rows, subject.read_all(requests), strict=True):
        swaps = [
            Swap(
                d.layer,
                d.head,
                some,
                reading.outputs[d.layer, d.head, [row.index(token) for token in some]],
            )
            for d, some in zip(heads, place, strict=True)
        ]
        yield reading.logits, swaps


def _odds(
    subject: Subject, tasks: Sequence[Aligned], requests: Sequence[Sequence[Request]]
) -> np.ndarray:
    """Log-odds of the changed answer: requests [row][task] -> [row, task]."""
    readings = iter(subject.read_all([one for row in requests for one in row]))
    return np.array(
        [[log_odds(next(readings).logits, t.after, t.before) for t in tasks] for _ in requests]
    )
