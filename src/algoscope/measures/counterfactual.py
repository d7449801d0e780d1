"""Counterfactuals: change a problem, and see whether the subject changes as the algorithm does.

    used      a change that alters the algorithm's trace: an edge removed, a key changed
    unused    a change of the same sort that alters nothing
    flips     two problems that differ in one number by 2e-4 … 8e-4, on either side of the point at
              which the algorithm's answer changes. A subject that compares by almost the right
              quantity fails here.

Which change is which is found by running the algorithm on the changed problem. Its own change is
the standard:

    effect    of all entries of trace and answer that change, for the algorithm or for the subject,
              the share that the subject predicts as the algorithm has it             (used)
    still     the share of problems whose predictions survive the change              (unused)
    flips     of all pairs, the share in which the subject has all answers right that differ, in
              both problems; or reads the same as a reference in both, in all decisive rows that
              differ between the two
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from algoscope.measures.attention_match import best_heads
from algoscope.measures.references import Reference
from algoscope.measures.trace_match import NUMBER_MARGIN, entries
from algoscope.recording import Recording
from algoscope.statistics import mean, share
from algoscope.tasks import Batch, Kind, Stage
from algoscope.tasks.sampling import problems_of, trace_problems

Problem = dict[str, np.ndarray]
"""The features of `Task.problem` by name, as registers."""
_TRIES = 12
LEAST_WEIGHT, LARGEST_WEIGHT = 1 / 31, 1.0
_HAIR = (2e-4, 8e-4)
_BISECTIONS = 24


class Changed(NamedTuple):
    """Problems before and after a change, sample by sample."""

    before: Batch
    after: Batch
    samples: np.ndarray
    """Which samples of the given batch these are."""


class Response(NamedTuple):
    effect: float
    entries: int
    still: float
    problems: int


class FlipResponse(NamedTuple):
    """Shares of the pairs of problems; NaN where nothing can be counted."""

    answers: float
    """All answers that differ are right in both."""
    reads: float
    """In all decisive rows in which the reference reads somebody else, the subject's best heads
    read the same in both."""
    followed: float
    """One or the other: a soft attention mixes two close senders and names neither, though it ranks
    them right; a decoder may compare what no attention does."""
    pairs: int


def traced(like: Batch, problems: Sequence[Problem]) -> Batch:
    """The batch of these problems of the same task and size."""
    return trace_problems(like.task, like.nodes, problems)


def changeable(batch: Batch) -> str | None:
    """What can be changed in problems of this task: edges or keys."""
    return next((name for name in ("A", "key") if name in batch.task.problem), None)


def changes(batch: Batch, seed: int) -> tuple[Changed, Changed]:
    """For each problem a change that alters the algorithm's trace, and one that does not; problems
    for which none of twelve tries is of the sort are left out."""
    if changeable(batch) is None:
        raise ValueError(
            f"task: got {batch.task.name}, needed one whose problems have edges (A) or keys (key)"
        )
    random = np.random.default_rng(seed)
    used: dict[int, Problem] = {}
    unused: dict[int, Problem] = {}
    originals = problems_of(batch)
    for _ in range(_TRIES):
        tried = [_change(batch, p, sample, random) for sample, p in enumerate(originals)]
        possible = {sample: p for sample, p in enumerate(tried) if p is not None}
        if not possible:
            break
        after = traced(batch, list(possible.values()))
        noticed = _noticed(batch.take(np.array(list(possible))), after)
        for (sample, problem), seen in zip(possible.items(), noticed, strict=True):
            (used if seen else unused).setdefault(sample, problem)
    return _changed(batch, used), _changed(batch, unused)


def has_flips(batch: Batch) -> bool:
    """Whether problems of this task hold numbers that can be changed by a hair."""
    name = changeable(batch)
    return any(f.kind is Kind.SCALAR and not f.whole for f in batch.features if f.name == name)


def flips(batch: Batch, seed: int) -> Changed:
    """Pairs of problems on either side of a change of the algorithm's answer, by bisection."""
    name = changeable(batch)
    if name is None or not has_flips(batch):
        raise ValueError(
            f"task: got {batch.task.name}, whose problems have no numbers to change by a hair; "
            "counterfactual.changes works for every graph"
        )
    random = np.random.default_rng(seed)
    originals = problems_of(batch)

    def with_values(problems: Sequence[Problem], spots: Sequence, values: np.ndarray) -> Batch:
        entries = zip(problems, spots, values, strict=True)
        return traced(batch, [with_value(name, p, spot, value) for p, spot, value in entries])

    ends: dict[int, tuple[tuple[int, ...], float]] = {}
    for _ in range(_TRIES):
        spots = [_entry(name, p, random) for p in originals]
        ways = random.uniform(LEAST_WEIGHT, LARGEST_WEIGHT, len(originals))
        differs = _answers_differ(batch, with_values(originals, spots, ways))
        for sample in np.flatnonzero(differs):
            ends.setdefault(int(sample), (spots[sample], float(ways[sample])))
    samples = np.array(sorted(ends), int)
    first = batch.take(samples)
    if not len(samples):
        return Changed(first, first, samples)
    chosen = [originals[s] for s in samples]
    spots = [ends[s][0] for s in samples]
    near = np.array([p[name][e] for p, e in zip(chosen, spots, strict=True)])
    far = np.array([ends[s][1] for s in samples])
    for _ in range(_BISECTIONS):
        middle = (near + far) / 2
        beyond = _answers_differ(first, with_values(chosen, spots, middle))
        near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
    least, most = np.log(_HAIR)
    away = np.exp(random.uniform(least, most, len(samples))) / 2 * np.sign(far - near)
    before, after = (with_values(chosen, spots, v) for v in (near - away, far + away))
    good = ~_answers_differ(first, before) & _answers_differ(first, after)
    return Changed(before.take(good), after.take(good), samples[good])


def response(
    used: tuple[Changed, Recording, Recording], unused: tuple[Changed, Recording, Recording]
) -> Response:
    """Each a change with what the subject did before and after it."""
    right = total = 0
    for subject_before, subject_after, before, after, valid in _entries(*used):
        differs = ~_same(subject_before, subject_after) | ~_same(before, after)
        differs &= valid
        right += int((differs & _same(subject_after, after)).sum())
        total += int(differs.sum())
    calm = np.ones(len(unused[0].before), bool)
    for subject_before, subject_after, _, _, valid in _entries(*unused):
        calm &= (_same(subject_before, subject_after) | ~valid).reshape(len(calm), -1).all(-1)
    return Response(share(right, total), total, mean(calm), len(calm))


def flip_response(
    changed: Changed,
    subject: tuple[Recording, Recording],
    references: tuple[Reference, Reference],
) -> FlipResponse:
    answered = np.ones(len(changed.before), bool)
    for feature in changed.before.at(Stage.OUTPUT):
        truths = [entries(feature, b.outputs[feature.name]) for b in changed[:2]]
        answers = [entries(feature, r.outputs[feature.name]) for r in subject]
        hits = (answers[0] == truths[0]) & (answers[1] == truths[1]) | (truths[0] == truths[1])
        answered &= hits.reshape(len(answered), -1).all(-1)
    if not all(recording.has_attention for recording in subject):
        return FlipResponse(mean(answered), float("nan"), mean(answered), len(answered))
    steps = min(reference.decisive.shape[1] for reference in references)
    choices = [reference.choices[:, :steps] for reference in references]
    decisive = [reference.decisive[:, :steps] for reference in references]
    differs = (choices[0] != choices[1]) & (decisive[0] | decisive[1])
    both = np.ones_like(differs)
    for k, (recording, reference) in enumerate(zip(subject, references, strict=True)):
        differs &= reference.recording.valid[:, :steps, None, None]
        attention = np.asarray(recording.attention)
        read = attention[:, :steps, best_heads(attention, reference)].argmax(-1)
        both &= (read == choices[k]) | ~decisive[k]
    visible = differs.any((1, 2, 3))
    seen = visible & (both | ~differs).all((1, 2, 3))
    return FlipResponse(mean(answered), mean(seen[visible]), mean(answered | seen), len(answered))


def _entries(changed: Changed, subject_before: Recording, subject_after: Recording):
    """All hints and outputs: of the subject and of the algorithm, before and after the change, and
    which entries count."""
    batches, recordings = changed[:2], (subject_before, subject_after)
    lengths = np.minimum(changed.before.lengths, changed.after.lengths)
    for feature in changed.before.at(Stage.HINT):
        if feature.name not in subject_before.hints:
            continue
        hints = [r.hints[feature.name] for r in recordings]
        hints += [b.hints[feature.name][:, 1:] for b in batches]
        steps = min(hint.shape[1] for hint in hints)
        values = [entries(feature, hint)[:, :steps] for hint in hints]
        valid = np.arange(1, steps + 1) < lengths[:, None]
        valid = valid.reshape(valid.shape + (1,) * (values[0].ndim - 2))
        yield *values, np.broadcast_to(valid, values[0].shape)
    for feature in changed.before.at(Stage.OUTPUT):
        values = [entries(feature, x.outputs[feature.name]) for x in (*recordings, *batches)]
        yield *values, np.ones(values[0].shape, bool)


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(one - other) <= NUMBER_MARGIN


def _edges(A: np.ndarray) -> np.ndarray:
    return np.argwhere((A > 0) & ~np.eye(len(A), dtype=bool))


def _entry(name: str, problem: Problem, random: np.random.Generator) -> tuple[int, ...]:
    """A random edge that is there, or a random key."""
    if name == "key":
        return (int(random.integers(len(problem["key"]))),)
    edges = _edges(problem["A"])
    return tuple(int(i) for i in edges[random.integers(len(edges))]) if len(edges) else (0, 0)


def with_value(name: str, problem: Problem, entry: tuple[int, ...], value: float) -> Problem:
    """The problem with another value there; in both directions of an undirected graph."""
    values = problem[name].copy()
    mirrored = values.ndim == 2 and np.array_equal(values, values.T)
    values[entry] = value
    if mirrored:
        values[entry[::-1]] = value
    return problem | {name: values}


def with_other_key(batch: Batch, problem: Problem, random: np.random.Generator) -> Problem:
    """The problem with one of its keys drawn anew: a number or a class."""
    entry = _entry("key", problem, random)
    key = next(feature for feature in batch.features if feature.name == "key")
    categorical = key.kind is Kind.CATEGORICAL
    value = int(random.integers(key.classes)) if categorical else random.uniform()
    return with_value("key", problem, entry, value)


def _change(
    batch: Batch, problem: Problem, sample: int, random: np.random.Generator
) -> Problem | None:
    """An edge taken away, of those that answers or hints point along every other time; or another
    key, a number or a class."""
    if "A" not in problem:
        return with_other_key(batch, problem, random)
    if not len(_edges(problem["A"])):
        return None
    pointed = [
        (int(target), node)
        for feature in batch.at(Stage.OUTPUT)
        if feature.kind is Kind.POINTER and batch.outputs[feature.name].ndim == 2
        for node, target in enumerate(batch.outputs[feature.name][sample])
        if target != node and problem["A"][int(target), node] > 0
    ]
    along_pointer = pointed and random.uniform() < 0.5
    edge = pointed[random.integers(len(pointed))] if along_pointer else _entry("A", problem, random)
    return with_value("A", problem, edge, 0.0)


def _noticed(before: Batch, after: Batch) -> np.ndarray:
    """Whether the algorithm's trace or answer is another: bool [batch]."""
    noticed = (before.lengths != after.lengths) | _answers_differ(before, after)
    for name, hint in before.hints.items():
        steps = min(hint.shape[1], after.hints[name].shape[1])
        valid = np.arange(steps) < np.minimum(before.lengths, after.lengths)[:, None]
        differs = np.abs(hint[:, :steps].astype(float) - after.hints[name][:, :steps]) > 1e-9
        noticed |= (differs.reshape(*differs.shape[:2], -1).any(-1) & valid).any(-1)
    return noticed


def _answers_differ(before: Batch, after: Batch) -> np.ndarray:
    differs = [np.asarray(before.outputs[name]) != after.outputs[name] for name in before.outputs]
    return np.any([entries.reshape(len(before), -1).any(-1) for entries in differs], axis=0)


def _changed(batch: Batch, problems: dict[int, Problem]) -> Changed:
    samples = np.array(sorted(problems), int)
    before = batch.take(samples)
    after = traced(batch, [problems[s] for s in samples]) if problems else before
    return Changed(before, after, samples)
