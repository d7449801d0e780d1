"""Written steps: which algorithm they are, or that there are none."""

import numpy as np
import pytest

from algoscope.llm.chain_of_thought import judge, read_steps, right, score_steps
from algoscope.llm.hypotheses import by_name, trace
from algoscope.llm.prompts import navigation

PATHS = navigation(24, form="rooms", question="path", depths=(2, 3), seed=1)


def _told(name, item):
    order = [n for row in trace(by_name(name), item) for n in np.flatnonzero(row)]
    return f"Start. {'. Then '.join(f'I look at {item.names[n]}' for n in order)}. So: Yes"


@pytest.mark.parametrize("name", ["BFS", "DFS", "DFS, last first", "backward search"])
def test_texts_that_tell_an_algorithm_are_named_for_it(name):
    found = judge([_told(name, item) for item in PATHS], PATHS, permutations=199)
    assert found.verdict.startswith("writes out ")
    named = found.verdict.removeprefix("writes out ").split(" or ")
    assert name in named
    scores = {h.hypothesis: h for h in found.hypotheses}
    assert scores[name].order.value == 1
    assert scores[name].coverage.value == 1
    assert not set(named) & {"BFS", "DFS", "backward search"} - {name}


def test_the_path_alone_is_no_search():
    found = judge([item.answer for item in PATHS], PATHS, permutations=99)
    assert found.verdict == "writes the path alone: any search happens inside"
    assert found.right.value == 1


def test_nodes_in_random_order_are_undecided_and_silence_is_no_steps():
    rng = np.random.default_rng(0)
    shuffled = [" ".join(item.names[n] for n in rng.permutation(item.nodes)) for item in PATHS]
    assert judge(shuffled, PATHS, permutations=199).verdict == "undecided"
    assert judge(["Yes"] * len(PATHS), PATHS, permutations=9).verdict == "writes no steps"


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


def test_a_model_without_training_writes_nothing_that_counts(llama):
    items = navigation(6, form="letters", question="path", depths=(2,))
    found = judge([llama.generate(item.prompt, 12) for item in items], items)
    assert len(found.texts) == 6
    assert not found.verdict.startswith("writes out")
