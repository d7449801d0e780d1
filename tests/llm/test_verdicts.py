"""Subjects of known mechanism: the right word for each, and never a wrong *runs*.

`benchmarks/language_zoo.py` judges all of them; here are those that misled earlier verdicts."""

import pytest
from tiny_models import tiny_llama

from algoscope.llm import study
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import scripted
from algoscope.llm.subjects import subject

KNOWN = {
    "bfs": "runs BFS",
    "backward": "runs backward search",
    "bfs_3": "runs BFS up to depth 3",
    "undirected": "shortcut (a search that ignores arrows)",
    "bidirectional_one_head": "runs bidirectional search",
    "doubling": ("undecided", "runs doubling"),
    "pointer_doubling": ("undecided", "runs doubling from the goal"),
    "hops_mimic_bfs": "undecided",
    "leak_95_stream": "undecided",
    "leak_95_logits": "undecided",
    "constant": "fails",
    "bfs_1": "shortcut (one hop)",
    "bfs_2": "shortcut (two hops)",
}


def _study(made, seed, **options):
    items = navigation(60, form="letters", depths=(1, 2, 3), seed=seed)
    return study.navigate(made, items, states=False, seed=seed, permutations=99, **options)


@pytest.mark.parametrize("search", KNOWN)
def test_subjects_of_known_mechanism_get_the_right_word(search):
    found = _study(subject(scripted(search, 8, seed=1), search), 1)
    assert str(found.verdict).startswith(KNOWN[search])
    if found.verdict.word == "runs":
        assert all(condition.met for condition in found.verdict.conditions)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gain", [1.0, 8.0])
def test_random_weights_fail(tokenizer, seed, gain):
    made = subject((tiny_llama(tokenizer, seed, gain), tokenizer), "random")
    found = _study(made, seed)
    assert found.verdict.word == "fails"
    assert found.causal is None
    assert not any(standing.holds for standing in found.standings)


def test_the_examination_can_be_left_out():
    forced = _study(subject(scripted("bfs"), "bfs"), 0, causal_tests=False)
    assert str(forced.verdict) == "undecided"
    assert forced.verdict.conditions[-1].text == "causal tests were made"


def test_the_same_seed_gives_the_same_study():
    from algoscope.llm.results import study_json

    made = subject(scripted("bfs", 4, seed=3), "bfs")
    one, two = (study_json(_study(made, 3)) for _ in range(2))
    for result in (one, two):
        result.pop("seconds")
    assert one == two
