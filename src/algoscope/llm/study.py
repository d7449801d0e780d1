"""A study of one subject on navigation: everything measured, every control, and the verdict."""

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from algoscope import progress
from algoscope.llm import forms, geometry, order, representation
from algoscope.llm import heads as heads_of
from algoscope.llm.attention import Layer, by_layer, mention_rho
from algoscope.llm.behaviour import Behaviour, behaviour
from algoscope.llm.causal import Causal, examine
from algoscope.llm.heads import Heads
from algoscope.llm.hypotheses import CANDIDATES, Hypothesis
from algoscope.llm.observe import Observation, observe
from algoscope.llm.probes import Probe, probe
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.llm.verdict import Standing, decide, standings
from algoscope.statistics import Estimate
from algoscope.verdict import Verdict

_TASKS = 20
"""Minimal tasks of each primitive."""


@dataclasses.dataclass(frozen=True, eq=False)
class Study:
    subject: str
    items: int
    seed: int
    check: dict[str, float]
    """Differences between recorded and eager attention at start-up."""
    behaviour: Behaviour
    standings: list[Standing]
    """Hypotheses by channel, best first."""
    attention: list[Layer]
    """The analyses of the case study, by layer, on the items that random weights are given."""
    control_attention: list[Layer]
    """The same for random weights: what they find is an artefact."""
    mention_rho: Estimate
    """Correlation of how often a room is mentioned and its distance from the start."""
    similarities: list[representation.Similarity]
    control_similarities: list[representation.Similarity]
    layer_cka: np.ndarray
    observed: list[geometry.Observed]
    """What the case study sees in its pictures, as numbers."""
    control_observed: list[geometry.Observed]
    probes: list[Probe]
    control_probes: list[Probe]
    causal: Causal | None
    heads: Heads | None
    """What single heads do; not on which the verdict depends."""
    verdict: Verdict
    seconds: dict[str, float]
    observations: list[Observation]


def navigate(
    subject: Subject,
    items: Sequence[Item],
    *,
    permutations: int = 999,
    states: bool = True,
    causal_tests: bool | None = None,
    hypotheses: Sequence[Hypothesis] = CANDIDATES,
    seed: int = 0,
    report: Callable[[str], None] = lambda line: None,
) -> Study:
    """Studies the subject and, on half of the items, random weights of the same architecture.

    `states` False leaves out similarities, probes and heads, on which no verdict depends.
    `causal_tests` None means: if the answers are better than chance, since there is nothing to
    explain otherwise. `seed` draws the random weights and all resampling.
    """
    if any(item.question != "reach" for item in items):
        raise ValueError("items: got questions other than reach, needed Yes or No questions")
    seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(name: str) -> Iterator[None]:
        report(name)
        started = time.perf_counter()
        with progress.job(name):
            yield
        seconds[name] = round(time.perf_counter() - started, 2)

    with stage("observe the subject"):
        observations = observe(subject, items)
    with stage("observe random weights"):
        control = observe(subject.with_random_weights(seed), _half(items))
    answers = behaviour(observations)
    algorithms = [hypothesis for hypothesis in hypotheses if hypothesis.algorithm]
    pairs = list(itertools.product(order.CHANNELS, algorithms))
    with stage("match layers to steps"):
        matches, control_matches = (
            [order.match(recorded, h, channel, permutations, seed) for channel, h in pairs]
            for recorded in (observations, control)
        )
    ranked = standings(matches, control_matches)
    with stage("attention by layer"):
        layers, control_layers = by_layer(observations[: len(control)]), by_layer(control)
    with stage("similarity of states"):
        similarities, control_similarities = (
            representation.similarities(recorded, seed) if states else []
            for recorded in (observations, control)
        )
        layer_cka = representation.layer_cka(observations)
        observed, control_observed = (
            geometry.observed(recorded, seed) for recorded in (observations, control)
        )
    with stage("probes"):
        probes, control_probes = (
            probe(recorded, seed=seed) if states else [] for recorded in (observations, control)
        )
    causal = heads = None
    if causal_tests or (causal_tests is None and answers.above_chance):
        with stage("causal tests"):
            causal = examine(subject, items, seed)
    if causal is not None and states and (form := items[0].form) in forms.FORMS:
        with stage("heads"):
            heads = heads_of.study(subject, _TASKS, seed, form, permutations)
    return Study(
        subject=subject.name,
        items=len(items),
        seed=seed,
        check=subject.check._asdict(),
        behaviour=answers,
        standings=ranked,
        attention=layers,
        control_attention=control_layers,
        mention_rho=mention_rho(observations),
        similarities=similarities,
        control_similarities=control_similarities,
        layer_cka=layer_cka,
        observed=observed,
        control_observed=control_observed,
        probes=probes,
        control_probes=control_probes,
        causal=causal,
        heads=heads,
        verdict=decide(answers, causal),
        seconds=seconds,
        observations=observations,
    )


def _half(items: Sequence[Item]) -> list[Item]:
    """The items of the first half of the pairs: enough for a control."""
    numbers = sorted({item.pair for item in items})
    kept = set(numbers[: max(12, (len(numbers) + 1) // 2)])
    return [item for item in items if item.pair in kept]
