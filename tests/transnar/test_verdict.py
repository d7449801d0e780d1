"""The verdict on hybrids whose scores and reading are made up: one that uses its reasoner, and for
each other word one that does not."""

import numpy as np
import pytest
from tiny_towers import planted

from algoscope import tasks
from algoscope.transnar import mechanism
from algoscope.transnar.scores import Score, Scores
from algoscope.transnar.verdict import Evidence, decide
from algoscope.verdict import FAILS, NOT_JUDGED, RUNS, UNDECIDED

TRAINED, UNSEEN = 12, 14
ANSWERS = tasks.sample("bfs", 8, 5, 1, p=0.5).outputs["pi"]
ITSELF = np.broadcast_to(np.arange(8), ANSWERS.shape)


def scores(unseen: float, trained: float = 0.95) -> Scores:
    """Of two tasks, 100 problems each."""
    by_size = {
        size: Score(1, 1, clrs, clrs, 100, 0.02)
        for size, clrs in ((TRAINED, trained), (UNSEEN, unseen))
    }
    return {"bfs": by_size, "dfs": by_size}


USES_ITS_REASONER = Evidence(
    hybrid=[scores(0.9), scores(0.88)],
    base=[scores(0.4), scores(0.5)],
    untrained=[scores(0.6)],
    reasoner=[scores(0.95)],
    one_answer=[scores(0.3)],
    gates_shut=[scores(0.05)],
    other_states=[scores(0.1)],
    reads=mechanism.reads(planted(ITSELF, ANSWERS), ANSWERS),
    trained_sizes=[TRAINED],
    unseen_sizes=[UNSEEN],
)


def test_a_hybrid_that_needs_its_reasoner_runs_it():
    verdict = decide(USES_ITS_REASONER)
    assert (verdict.word, str(verdict)) == (RUNS, "runs the reasoner")
    assert not verdict.reasons
    assert len(verdict.conditions) == 9


@pytest.mark.parametrize(
    ("changed", "word", "reason"),
    [
        ({"hybrid": [scores(0.9, trained=0.5)]}, NOT_JUDGED, "the hybrid has learnt"),
        ({"trained_sizes": []}, NOT_JUDGED, "was not measured"),
        ({"one_answer": [scores(0.87)]}, FAILS, "above one answer"),
        ({"gates_shut": [scores(0.88)]}, "shortcut (the text alone)", "with gates shut"),
        (
            {"hybrid": [scores(0.8), scores(0.95)], "gates_shut": [scores(0.76)]},
            "shortcut (the text alone)",
            "with gates shut",
        ),
        ({"other_states": [scores(0.87)]}, "shortcut (node numbers alone)", "another problem's"),
        ({"untrained": [scores(0.91)]}, "shortcut (an untrained reasoner)", "an untrained"),
    ],
)
def test_who_does_not_need_its_reasoner_gets_another_word(changed, word, reason):
    verdict = decide(USES_ITS_REASONER._replace(**changed))
    assert str(verdict) == word
    [text] = verdict.reasons
    assert reason in text


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"base": [scores(0.4), scores(0.87)]}, "above the base Transformer"),
        ({"hybrid": [scores(0.95), scores(0.8)], "untrained": [scores(0.79)]}, "above the hybrid"),
        ({"hybrid": [scores(0.8)]}, "of the score of the reasoner alone"),
        ({"gates_shut": [scores(0.4)]}, "with gates shut nothing is kept"),
        ({"other_states": [scores(0.4)]}, "with another problem's states nothing is kept"),
        ({"other_states": []}, "with another problem's states was not measured"),
        ({"untrained": []}, "an untrained reasoner was not measured"),
        ({"one_answer": []}, "one answer for all problems was not measured"),
        ({"reads": None}, "what tokens read was not measured"),
    ],
)
def test_one_condition_that_is_not_met_leaves_it_undecided(changed, reason):
    verdict = decide(USES_ITS_REASONER._replace(**changed))
    assert verdict.word == UNDECIDED
    [text] = verdict.reasons
    assert reason in text


@pytest.mark.parametrize(
    ("nodes", "partners", "reason"),
    [
        ((ITSELF + 1) % 8, ANSWERS, "tokens read the node that they answer for"),
        (ITSELF, ITSELF, "tokens read the pair of it and its answer"),
    ],
)
def test_a_hybrid_that_reads_elsewhere_is_undecided(nodes, partners, reason):
    reads = mechanism.reads(planted(nodes, partners), ANSWERS)
    verdict = decide(USES_ITS_REASONER._replace(reads=reads))
    assert verdict.word == UNDECIDED
    [text] = verdict.reasons
    assert text.startswith(reason)
