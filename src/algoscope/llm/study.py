"""A study of one subject on navigation: everything measured, every control, and the verdict."""

import dataclasses
import time
from collections.abc import Callable, Sequence

import numpy as np

from algoscope.llm import causal, order, representation
from algoscope.llm.attention import Layer, by_layer, mention_rho
from algoscope.llm.behaviour import Behaviour, behaviour
from algoscope.llm.hypotheses import CANDIDATES, Hypothesis
from algoscope.llm.observe import Observation, observe
from algoscope.llm.probes import Probe, probe
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.llm.verdict import Standing, decide, leader, standings
from algoscope.statistics import Estimate
from algoscope.verdict import Verdict


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
    probes: list[Probe]
    control_probes: list[Probe]
    effects: list[causal.Effect] | None
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

    `states` False leaves out similarities and probes, on which no verdict depends.
    `causal_tests` None means: if the answers are better than chance, since there is nothing to
    explain otherwise. `seed` draws the random weights and all resampling.
    """
    if any(item.question != "reach" for item in items):
        raise ValueError("items: got questions other than reach, needed Yes or No questions")
    clock = _Clock(report)
    algorithms = [h for h in hypotheses if h.algorithm]
    with clock("observe the subject"):
        seen = observe(subject, items)
    with clock("observe random weights"):
        unlearned = observe(subject.with_random_weights(seed), _half(items))
    acts = behaviour(seen)
    with clock("match layers to steps"):
        ranked = standings(
            *(
                [
                    order.match(of, hypothesis, channel, permutations, seed)
                    for channel in order.CHANNELS
                    for hypothesis in algorithms
                ]
                for of in (seen, unlearned)
            )
        )
    with clock("attention by layer"):
        layers, control_layers = by_layer(seen[: len(unlearned)]), by_layer(unlearned)
    with clock("similarity of states"):
        similar, control_similar = (
            representation.similarities(of, seed) if states else [] for of in (seen, unlearned)
        )
        cka = representation.layer_cka(seen)
    with clock("probes"):
        read, control_read = (probe(of, seed=seed) if states else [] for of in (seen, unlearned))
    effects = None
    if causal_tests or (causal_tests is None and acts.above_chance):
        with clock("causal tests"):
            effects = causal.causal_tests(subject, seen, leader(ranked).match)
    return Study(
        subject=subject.name,
        items=len(items),
        seed=seed,
        check=subject.check._asdict(),
        behaviour=acts,
        standings=ranked,
        attention=layers,
        control_attention=control_layers,
        mention_rho=mention_rho(seen),
        similarities=similar,
        control_similarities=control_similar,
        layer_cka=cka,
        probes=read,
        control_probes=control_read,
        effects=effects,
        verdict=decide(acts, ranked, effects),
        seconds=clock.seconds,
        observations=list(seen),
    )


def _half(items: Sequence[Item]) -> list[Item]:
    """The items of the first half of the pairs: enough for a control."""
    numbers = sorted({item.pair for item in items})
    kept = set(numbers[: max(12, (len(numbers) + 1) // 2)])
    return [item for item in items if item.pair in kept]


class _Clock:
    def __init__(self, report: Callable[[str], None]):
        self.report, self.seconds = report, {}

    def __call__(self, what: str) -> "_Clock":
        self.what = what
        return self

    def __enter__(self) -> None:
        self.report(self.what)
        self.started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        self.seconds[self.what] = round(time.perf_counter() - self.started, 2)
