"""All measures of one subject, on one examination: what a verdict stands on."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from algoscope import networks
from algoscope.measures import counterfactual
from algoscope.measures.attention_match import (
    InternalGap,
    Rows,
    check_comparable,
    compare_rows,
    internal_gap,
    nearest,
    row_sets,
)
from algoscope.measures.examination import OTHER_GRAPHS, Examination
from algoscope.measures.interchange import Interchange, Run, interchange
from algoscope.measures.nulls import (
    Scaled,
    any_head_agreement,
    neighbours,
    on_scale,
    permuted_attention,
    uniform_attention,
    untrained,
    wrong_recordings,
)
from algoscope.measures.probes import ProbeScores, mean_score, probe_scores
from algoscope.measures.references import Reference, unsettled
from algoscope.measures.trace_match import External, external_faithfulness
from algoscope.networks import Network
from algoscope.recording import Recording
from algoscope.tasks import Batch

Subject = Network | Callable[[Batch], Recording]
"""A network, or anything that gives a recording of what it did on a batch."""


class Evidence(NamedTuple):
    """Everything that was measured. NaN and None: does not apply to the task or the subject."""

    accuracy: dict[str, float]
    """dm-clrs's score of the answers: small, large, deep, sparse."""
    external: dict[str, External]
    """Likewise, of the trace; empty for a subject that predicts none."""
    internal: list[InternalGap]
    """To each reference of the class, on small plain problems."""
    scaled: dict[str, dict[str, Scaled]]
    """By null (uniform, permuted, untrained, wrong) each measure over decisive rows, against the
    nearest reference, on the scale 0 = null, 1 = reference."""
    reads: dict[str, float]
    """Likewise: the share of decisive rows in which some head reads what the reference
    does, best of the class, on the scale 0 = every head reads any neighbour, 1 = reference."""
    probes: ProbeScores
    untrained_probes: ProbeScores
    response: counterfactual.Response | None
    flips: counterfactual.FlipResponse | None
    interchange: Interchange | None

    @property
    def nearest(self) -> InternalGap:
        return nearest(self.internal)


def gather(subject: Subject, exam: Examination) -> Evidence:
    """Runs the subject on all problems of the examination and measures everything."""
    first = exam.references[0], exam.large_references[0]
    small, large = (record(subject, batch) for batch in (exam.small, exam.large))
    for recording, reference in zip((small, large), first, strict=True):
        check_comparable(recording, reference)
    places = {"small": _Place.of(exam, small, "plain"), "large": _Place.all(exam, large)}
    places |= {n: _Place.of(exam, small, n) for n in OTHER_GRAPHS if n in exam.parts}
    plain = places["small"]
    gaps = [internal_gap(plain.recording, r, unsettled(plain.batch)) for r in plain.references]
    closest = next(r for r in plain.references if r.name == nearest(gaps).reference)
    random = _untrained(subject, exam)
    return Evidence(
        {n: networks.score(p.recording, p.batch)["score"] for n, p in places.items()},
        {n: external_faithfulness(p.recording, p.batch) for n, p in places.items() if small.hints},
        gaps,
        _scaled(plain, closest, random[0] and random[0].take(exam.parts["plain"])),
        {name: _reads(place) for name, place in places.items()},
        _probes(small, large, exam),
        _probes(*random, exam),
        _response(exam, small),
        _flip_response(exam, small, closest),
        _interchange(subject, exam, small, closest),
    )


def record(subject: Subject, batch: Batch) -> Recording:
    """What the subject does on the batch, in memory of the host."""
    done = networks.run(subject, batch) if isinstance(subject, Network) else subject(batch)
    return jax.tree.map(np.asarray, done)


class _Place(NamedTuple):
    batch: Batch
    recording: Recording
    references: list[Reference]

    @staticmethod
    def of(exam: Examination, recording: Recording, name: str) -> "_Place":
        where = exam.parts[name]
        cut = [_cut_reference(r, where) for r in exam.references]
        return _Place(exam.batch(name), recording.take(where), cut)

    @staticmethod
    def all(exam: Examination, recording: Recording) -> "_Place":
        return _Place(exam.large, recording, exam.large_references)


def _cut_reference(reference: Reference, where: slice | np.ndarray) -> Reference:
    return Reference(reference.program, reference.recording.take(where), reference.decisive[where])


def _reads(place: _Place) -> float:
    attention = np.asarray(place.recording.attention)
    joined = neighbours(place.batch)
    found = []
    for reference in place.references:
        own, by_chance = any_head_agreement(attention, reference, joined)
        mean, null = own[reference.decisive].mean(), by_chance[reference.decisive].mean()
        found.append(float((mean - null) / (1 - null)) if null < 1 else float("nan"))
    return max(found)


def _untrained(
    subject: Subject, exam: Examination
) -> tuple[Recording, Recording] | tuple[None, None]:
    """What a network like this one with random weights does on small and large problems."""
    if not isinstance(subject, Network):
        return None, None
    network = untrained(subject, seed=0)
    return record(network, exam.small), record(network, exam.large)


def _scaled(
    plain: _Place, closest: Reference, untrained: Recording | None
) -> dict[str, dict[str, Scaled]]:
    attention = np.asarray(plain.recording.attention)
    nulls = {
        "uniform": uniform_attention(plain.batch),
        "permuted": permuted_attention(attention, plain.batch),
    }
    if untrained is not None:
        nulls["untrained"] = np.asarray(untrained.attention)
    rows = {name: compare_rows(of, closest) for name, of in nulls.items()}
    wrong = wrong_recordings(plain.batch).values()
    if wrong:
        each = [compare_rows(np.asarray(r.attention), closest) for r in wrong]
        rows["wrong"] = Rows(*(np.mean(measure, 0) for measure in zip(*each, strict=True)))
    decisive = row_sets(closest, unsettled(plain.batch))["decisive"]
    own = compare_rows(attention, closest)
    return {name: on_scale(own, null, decisive) for name, null in rows.items()}


def _probes(small: Recording | None, large: Recording | None, exam: Examination) -> ProbeScores:
    """Trained on the first half of the small plain problems, scored on the other and on large."""
    if small is None or large is None:
        return ProbeScores(float("nan"), float("nan"))
    whole = exam.parts["plain"]
    middle = (whole.start + whole.stop) // 2
    halves = slice(whole.start, middle), slice(middle, whole.stop)
    first, second = ((small.take(half), exam.small.take(half)) for half in halves)
    return mean_score(probe_scores(first, second, (large, exam.large)))


def _response(exam: Examination, small: Recording) -> counterfactual.Response | None:
    if exam.used is None or exam.unused is None or not {"used", "unused"} <= set(exam.parts):
        return None
    plain = small.take(exam.parts["plain"])
    pairs = (
        (changed, plain.take(changed.samples), small.take(exam.parts[name]))
        for changed, name in ((exam.used, "used"), (exam.unused, "unused"))
    )
    return counterfactual.response(*pairs)


def _flip_response(
    exam: Examination, small: Recording, closest: Reference
) -> counterfactual.FlipResponse | None:
    if exam.flips is None or "near" not in exam.parts:
        return None
    whole = next(r for r in exam.references if r.name == closest.name)
    near, far = exam.parts["near"], exam.parts["far"]
    return counterfactual.flip_response(
        exam.flips,
        (small.take(near), small.take(far)),
        (_cut_reference(whole, near), _cut_reference(whole, far)),
    )


def _interchange(
    subject: Subject, exam: Examination, small: Recording, closest: Reference
) -> Interchange | None:
    if not isinstance(subject, Network) or not small.hints:
        return None
    whole = next(r for r in exam.references if r.name == closest.name)
    a, b = (
        Run(exam.batch(n), small.take(exam.parts[n]), _cut_reference(whole, exam.parts[n]))
        for n in ("plain", "partners")
    )
    return interchange(subject, a, b)
