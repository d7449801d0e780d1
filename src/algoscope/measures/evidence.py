"""All measures of one subject, on one examination: what a verdict stands on."""

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from algoscope import networks
from algoscope.falsify import Falsification, Subject, account
from algoscope.measures import attention_match, counterfactual, nulls
from algoscope.measures.attention_match import InternalGap, Rows, compare_rows, nearest
from algoscope.measures.examination import OTHER_GRAPHS, Examination
from algoscope.measures.explanation import followed
from algoscope.measures.interchange import Interchange, Run, interchange
from algoscope.measures.nulls import Scaled
from algoscope.measures.probes import NO_SCORES, ProbeScores, mean_score, probe_scores
from algoscope.measures.references import Reference, unsettled
from algoscope.measures.state_match import StateMatch, go_on, state_match
from algoscope.measures.thresholds import PLACES
from algoscope.measures.trace_match import External, external_faithfulness
from algoscope.networks import Network
from algoscope.recording import Recording
from algoscope.tasks import Batch


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Everything that was measured; NaN, None or empty where it does not apply."""

    accuracy: dict[str, float]
    """dm-clrs's score of the answers, by place: small, large, deep, sparse."""
    external: dict[str, External]
    """The trace, by place; empty for a subject that predicts none."""
    internal: list[InternalGap] = dataclasses.field(default_factory=list)
    """To each reference of the class, on small plain problems."""
    scaled: dict[str, dict[str, Scaled]] = dataclasses.field(default_factory=dict)
    """By null (uniform, permuted, untrained, wrong) each measure over decisive rows, against the
    nearest reference, on the scale 0 = null, 1 = reference."""
    reads: dict[str, float] = dataclasses.field(default_factory=dict)
    """By place: the share of decisive rows in which some head reads what the reference does, best
    of the class, on the scale 0 = every head reads any neighbour, 1 = reference."""
    probes: ProbeScores = NO_SCORES
    untrained_probes: ProbeScores = NO_SCORES
    response: counterfactual.Response | None = None
    flips: counterfactual.FlipResponse | None = None
    interchange: Interchange | None = None
    """Of a network: with states of any other run, against the nearest reference."""
    state: StateMatch | None = None
    """Of a network: which exact program goes on as it does, after valid exchanges of states."""
    falsification: Falsification | None = None
    followed: dict[str, float] = dataclasses.field(default_factory=dict)
    """By wrong program, see `explanation`."""

    @property
    def nearest(self) -> InternalGap:
        return nearest(self.internal)

    @property
    def tested(self) -> dict[str, float]:
        """The values of `thresholds.CRITERIA`; NaN where one does not apply."""
        nan = float("nan")
        moves = {place: trace.moves for place, trace in self.external.items()}
        return {
            **{f"moves_{place}": moves.get(place, nan) for place in PLACES},
            **{f"reads_{place}": self.reads.get(place, nan) for place in PLACES},
            "effect": self.response.effect if self.response else nan,
            "still": self.response.still if self.response else nan,
            "flips": self.flips.followed if self.flips else nan,
            "agreement": self.falsification.agreement if self.falsification else nan,
        }


def record(network: Network, batch: Batch) -> Recording:
    """What the network does on the batch, in memory of the host."""
    return jax.tree.map(np.asarray, networks.run(network, batch))


def observe(subject: Subject, batch: Batch) -> Recording | dict[str, np.ndarray]:
    """The same of any subject: of one that gives answers alone, the outputs by name."""
    return (
        record(subject, batch) if isinstance(subject, Network) else account.observe(subject, batch)
    )


def score_answers(
    exam: Examination, small: dict[str, np.ndarray], large: dict[str, np.ndarray]
) -> Evidence:
    """The evidence that the outputs on the small and the large problems are alone."""
    accuracy = {}
    for place in PLACES:
        if place == "large":
            outputs, batch = large, exam.large
        else:
            samples = exam.parts.get("plain" if place == "small" else place)
            if samples is None:
                continue
            outputs = {name: values[samples] for name, values in small.items()}
            batch = exam.small.take(samples)
        accuracy[place] = networks.score_outputs(outputs, batch)["score"]
    return Evidence(accuracy, {})


def gather(subject: Subject, exam: Examination, small: Recording, large: Recording) -> Evidence:
    """Measures everything but what the falsifier does, from the recordings on the small and the
    large problems."""
    evidence = decisive_evidence(exam, small, large)
    closest = _closest(exam, evidence.internal)
    plain, partners = (_part(exam, small, name) for name in ("plain", "partners"))
    untrained, untrained_probes, exchanged, state = None, NO_SCORES, None, None
    if isinstance(subject, Network):
        random = nulls.untrained(subject, seed=0)
        untrained = record(random, exam.small)
        if small.hints:
            exchanged = interchange(subject, plain.run(closest), partners.run(closest))
            state = _state(exam, (subject, small), (random, untrained))
        untrained_probes = _probes(untrained, record(random, exam.large), exam)
    return dataclasses.replace(
        evidence,
        scaled=_scaled(plain, closest, untrained and untrained.take(exam.parts["plain"]))
        if small.has_attention
        else {},
        probes=_probes(small, large, exam) if small.has_states else NO_SCORES,
        untrained_probes=untrained_probes,
        interchange=exchanged,
        state=state,
    )


def decisive_evidence(exam: Examination, small: Recording, large: Recording) -> Evidence:
    """What a verdict rests on, but for the falsifier: from attention, hints and outputs alone, as
    far as they are there."""
    shown = small.has_attention and large.has_attention
    if shown:
        attention_match.check_comparable(small, exam.references[0])
        attention_match.check_comparable(large, exam.large_references[0])
    parts = {name: _part(exam, small, name) for name in exam.parts}
    plain = parts["plain"]
    places = {"small": plain, "large": _Part(exam.large, large, exam.large_references)}
    places |= {name: parts[name] for name in OTHER_GRAPHS if name in parts}
    gaps = [
        attention_match.internal_gap(plain.recording, reference, unsettled(plain.batch))
        for reference in plain.references
        if shown
    ]
    return Evidence(
        {name: networks.score(p.recording, p.batch)["score"] for name, p in places.items()},
        {
            name: external_faithfulness(p.recording, p.batch)
            for name, p in places.items()
            if small.hints
        },
        gaps,
        reads={name: _reads(place) for name, place in places.items() if shown},
        response=_response(exam, parts),
        flips=_flip_response(exam, parts, _closest(exam, gaps)),
        followed=followed(small, exam.small, exam.wrong_runs),
    )


class _Part(NamedTuple):
    """Problems, with what the subject and the references did on them."""

    batch: Batch
    recording: Recording
    references: list[Reference]

    def reference(self, name: str) -> Reference:
        return next(reference for reference in self.references if reference.name == name)

    def run(self, reference: str) -> Run:
        return Run(self.batch, self.recording, self.reference(reference))


def _part(exam: Examination, small: Recording, name: str) -> _Part:
    samples = exam.parts[name]
    references = [reference.take(samples) for reference in exam.references]
    return _Part(exam.small.take(samples), small.take(samples), references)


def _closest(exam: Examination, gaps: list[InternalGap]) -> str:
    """The nearest reference; the first, if nothing says which is nearest."""
    return nearest(gaps).reference if gaps else exam.references[0].name


def _reads(place: _Part) -> float:
    attention = np.asarray(place.recording.attention)
    adjacent = nulls.neighbours(place.batch)
    scaled = []
    for reference in place.references:
        agrees, chance = nulls.any_head_agreement(attention, reference, adjacent)
        mean, null = agrees[reference.decisive].mean(), chance[reference.decisive].mean()
        scaled.append(float((mean - null) / (1 - null)) if null < 1 else float("nan"))
    return max(scaled)


def _scaled(
    plain: _Part, closest: str, untrained: Recording | None
) -> dict[str, dict[str, Scaled]]:
    reference, attention = plain.reference(closest), np.asarray(plain.recording.attention)
    null_attention = {
        "uniform": nulls.uniform_attention(plain.batch),
        "permuted": nulls.permuted_attention(attention, plain.batch),
    }
    if untrained is not None:
        null_attention["untrained"] = np.asarray(untrained.attention)
    rows = {name: compare_rows(values, reference) for name, values in null_attention.items()}
    if wrong := nulls.wrong_recordings(plain.batch).values():
        each = [compare_rows(np.asarray(r.attention), reference) for r in wrong]
        rows["wrong"] = Rows(*(np.mean(measure, 0) for measure in zip(*each, strict=True)))
    subject = compare_rows(attention, reference)
    return {name: nulls.on_scale(subject, null, reference.decisive) for name, null in rows.items()}


def _probes(small: Recording, large: Recording, exam: Examination) -> ProbeScores:
    """Trained on the first half of the small plain problems, scored on the other and on large."""
    plain = exam.parts["plain"]
    middle = (plain.start + plain.stop) // 2
    halves = slice(plain.start, middle), slice(middle, plain.stop)
    first, second = ((small.take(half), exam.small.take(half)) for half in halves)
    return mean_score(probe_scores(first, second, (large, exam.large)))


def _state(
    exam: Examination, subject: tuple[Network, Recording], untrained: tuple[Network, Recording]
) -> StateMatch | None:
    """Of both networks, each with what it did on small problems."""
    if exam.exchanges is None:
        return None
    donors = exam.parts["donors"]
    continued, null = (
        go_on(network, small.take(donors), exam.exchanges)
        for network, small in (subject, untrained)
    )
    return state_match(exam.exchanges, continued, null)


def _response(exam: Examination, parts: dict[str, _Part]) -> counterfactual.Response | None:
    if not {"used", "unused"} <= set(exam.changed):
        return None
    plain = parts["plain"].recording
    used, unused = (
        (exam.changed[name], plain.take(exam.changed[name].samples), parts[name].recording)
        for name in ("used", "unused")
    )
    return counterfactual.response(used, unused)


def _flip_response(
    exam: Examination, parts: dict[str, _Part], closest: str
) -> counterfactual.FlipResponse | None:
    if "flips" not in exam.changed:
        return None
    near, far = parts["near"], parts["far"]
    references = near.reference(closest), far.reference(closest)
    recordings = near.recording, far.recording
    return counterfactual.flip_response(exam.changed["flips"], recordings, references)
