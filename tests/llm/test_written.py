"""Written steps: which algorithm they are, or that there are none."""

import numpy as np
import pytest

from algoscope.llm.chain_of_thought import judge, read_steps, right, score_steps
from algoscope.llm.hypotheses import by_name, trace
from algoscope.llm.offloading import KINDS, offloading
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import scripted
from algoscope.llm.subjects import subject
from algoscope.llm.walks import told, walk, walks
from algoscope.verdict import NOT_JUDGED, RUNS, UNDECIDED

PATHS = navigation(24, form="rooms", question="path", depths=(2, 3), seed=1)


def _told(name, item):
    order = [n for row in trace(by_name(name), item) for n in np.flatnonzero(row)]
    return f"Start. {'. Then '.join(f'I look at {item.names[n]}' for n in order)}. So: Yes"


@pytest.mark.parametrize("name", ["BFS", "DFS", "DFS, last first", "backward search"])
def test_texts_that_tell_an_algorithm_are_named_for_it(name):
    found = judge([_told(name, item) for item in PATHS], PATHS, permutations=199)
    assert found.verdict.word == RUNS
    assert not found.verdict.reasons
    named = str(found.verdict).removeprefix("runs ").split(" or ")
    assert name in named
    scores = {h.hypothesis: h for h in found.hypotheses}
    assert scores[name].order.value == 1
    assert scores[name].coverage.value == 1
    assert not set(named) & {"BFS", "DFS", "backward search"} - {name}


def test_the_path_alone_is_no_search():
    found = judge([item.answer for item in PATHS], PATHS, permutations=99)
    assert found.verdict.word == NOT_JUDGED
    [reason] = found.verdict.reasons
    assert reason.startswith("fewer than 90 % of the texts name the path alone: 1.00")
    assert found.right.value == 1


def test_nodes_in_random_order_are_undecided_and_silence_is_no_steps():
    rng = np.random.default_rng(0)
    shuffled = [" ".join(item.names[n] for n in rng.permutation(item.nodes)) for item in PATHS]
    undecided = judge(shuffled, PATHS, permutations=199).verdict
    assert undecided.word == UNDECIDED
    assert undecided.conditions[-1].met, "all visits are written, in no order"
    assert [r for r in undecided.reasons if "are written in its order" in r]
    silent = judge(["Yes"] * len(PATHS), PATHS, permutations=9).verdict
    assert silent.word == NOT_JUDGED
    assert silent.reasons == ["at least half of the texts name a node: 0.00"]


def test_an_algorithm_of_which_half_is_written_is_not_named():
    """The same texts, once whole and once cut in the middle: the order is right in both."""
    whole = [_told("BFS", item) for item in PATHS]
    half = [text[: len(text) // 2] for text in whole]
    assert judge(whole, PATHS, permutations=199).verdict.word == RUNS
    verdict = judge(half, PATHS, permutations=199).verdict
    assert verdict.word == UNDECIDED
    [reason] = verdict.reasons
    assert reason.startswith("at least 90 % of the visits of")


def test_steps_are_whole_words_in_the_order_of_their_first_mention():
    item = PATHS[0]
    a, b = item.names[3], item.names[1]
    assert read_steps(f"{a}s no. {b}, {a}, {b}", item) == [1, 3]
    assert np.isnan(score_steps([], item, by_name("BFS")).order)


def test_answers_are_judged_by_the_graph():
    yes, no = PATHS[0], PATHS[1]
    assert right(yes.answer, yes)
    assert right(yes.named(yes.path()[1:]), yes)
    assert not right(yes.named(yes.path()[::-1]), yes)
    assert right("None", no)
    assert not right(yes.answer, no)
    reach = navigation(2, depths=(2,))
    assert right("I think No, but in fact yes.", reach[0])
    assert not right("Perhaps", reach[0])
    onward = navigation(2, depths=(2,), question="next")[0]
    assert right(onward.answer, onward)
    assert not right(onward.names[onward.goal], onward)


@pytest.mark.parametrize("name", ["BFS", "DFS"])
def test_moves_of_a_text_are_those_of_the_search_it_tells(name):
    items = navigation(24, form="rooms", question="path", depths=(3,), seed=2)
    texts = [" ".join(item.names[n] for n in told(name, item)) for item in items]
    found = walks(texts, items)
    assert found.nearest == name
    by_move = {m.move: m for m in found.moves}
    for move in found.moves:
        assert move.written == move.traces[name]
    assert by_move["left open"].traces["DFS"].value == 0
    assert by_move["left open"].traces["BFS"].value > 0.2
    assert found.returns.value == 0


def test_nodes_in_random_order_are_nearest_to_no_search_and_returns_are_counted():
    rng = np.random.default_rng(0)
    shuffled = [" ".join(item.names[n] for n in rng.permutation(item.nodes)) for item in PATHS]
    assert walks(shuffled, PATHS).nearest is None
    item = PATHS[0]
    a, b, c = (item.names[node] for node in (1, 2, 3))
    assert walk(f"{a} {a} {b} {a} {c} {b}", item).returns == 2
    assert walk(f"{a} {a} {b}", item).nodes == [item.source, 1, 2]
    assert walks(["Yes"], [item]).texts == 0


@pytest.mark.parametrize(
    ("search", "tells", "where"),
    [
        ("bfs", True, "written and inside"),
        ("bfs", False, "inside"),
        ("constant", True, "offloaded to text"),
        ("constant", False, "neither"),
    ],
)
def test_what_is_written_and_what_happens_inside_are_told_apart(search, tells, where):
    items = navigation(24, form="letters", question="path", depths=(3,), seed=2)
    made = subject(scripted(search, 4, seed=1), search)
    texts = [_told("BFS", item) if tells and item.reachable else "Yes" for item in items]
    found = offloading(made, items, texts)
    assert {joined.nodes: joined.where for joined in found.kinds} == dict.fromkeys(KINDS, where)
    assert sum(found.answers) == len(items)
    assert (found.answers.both + found.answers.inside_alone == 24) == (search == "bfs")


def test_a_model_without_training_writes_nothing_that_counts(llama):
    items = navigation(6, form="letters", question="path", depths=(2,))
    found = judge([llama.generate(item.prompt, 12) for item in items], items)
    assert len(found.texts) == 6
    assert found.verdict.word != RUNS
