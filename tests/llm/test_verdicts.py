"""Subjects of known mechanism: the right word for each, on five seeds, and never another."""

import dataclasses

import pytest
from tiny_models import tiny_llama

from algoscope.llm import study
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import scripted
from algoscope.llm.subjects import subject

SEEDS = range(5)
KNOWN = {
    "runs BFS": ("bfs", 8),
    "runs DFS": ("dfs", 8),
    "runs backward search": ("backward", 8),
    "fails": ("constant", 8),
    "shortcut (one hop)": ("bfs", 1),
    "shortcut (two hops)": ("bfs", 2),
}


def _study(made, seed, **options):
    items = navigation(60, form="letters", depths=(1, 2, 3), seed=seed)
    return study.navigate(made, items, states=False, seed=seed, **options)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("word", KNOWN)
def test_subjects_of_known_mechanism_get_the_right_word(word, seed):
    search, layers = KNOWN[word]
    found = _study(subject(scripted(search, layers, seed=seed), search), seed)
    assert str(found.verdict) == word
    if found.verdict.word == "runs":
        assert all(condition.met for condition in found.verdict.conditions)
        assert found.standings[0].match.score.low > 0.9


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gain", [1.0, 8.0])
def test_random_weights_fail(tokenizer, seed, gain):
    made = subject((tiny_llama(tokenizer, seed, gain), tokenizer), "random")
    found = _study(made, seed)
    assert found.verdict.word == "fails"
    assert not any(standing.holds for standing in found.standings)


def test_a_right_answer_without_the_mechanism_is_undecided():
    """Answers come from a search whose attention is out of sight: every head but the searching one
    is seen, so that nothing inside follows any algorithm."""
    made = subject(scripted("bfs", 8, seed=0), "hidden")
    searching = [
        int(layer.attention.o_proj.weight.abs().sum(0).view(3, -1).sum(1).argmax())
        for layer in made.model.layers
    ]
    observe = study.observe

    def half_blind(of, items, **options):
        return [_without(o, searching) for o in observe(of, items, **options)]

    def _without(observation, heads):
        attention = observation.recording.attention.copy()
        for layer, head in enumerate(heads):
            attention[0, layer, head] = attention[0, layer, (head + 1) % 3]
        recording = dataclasses.replace(observation.recording, attention=attention)
        return dataclasses.replace(observation, recording=recording)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "observe", half_blind)
        found = _study(made, 0)
    assert found.behaviour.solved
    assert str(found.verdict) == "undecided"


def test_causal_tests_are_made_only_where_there_is_something_to_explain():
    constant = _study(subject(scripted("constant"), "constant"), 0)
    assert constant.effects is None
    assert constant.behaviour.worst.value == 0
    forced = _study(subject(scripted("bfs"), "bfs"), 0, causal_tests=False)
    assert str(forced.verdict) == "undecided"
    assert forced.verdict.conditions[-1].text == "causal tests were made"


def test_the_same_seed_gives_the_same_study():
    from algoscope.llm.results import study_json

    made = subject(scripted("dfs", seed=3), "dfs")
    one, two = (study_json(_study(made, 3)) for _ in range(2))
    for result in (one, two):
        result.pop("seconds")
    assert one == two
