"""Navigation items: what they say, and that nothing but search gives the answer away."""

import collections
import itertools
import re

import numpy as np
import pytest

from algoscope.llm import mazes
from algoscope.llm.forms import FORMS
from algoscope.llm.prompts import QUESTIONS, from_text, navigation, without_edge


@pytest.mark.parametrize("family", sorted(mazes.FAMILIES))
@pytest.mark.parametrize("directed", [True, False])
def test_families_have_their_size_and_reach_all_of_their_component(family, directed):
    made = mazes.family(family)
    edges = mazes.draw(made, np.random.default_rng(0))
    depths = mazes.distances(mazes.adjacency(2 * made.size, edges, directed), 0)
    assert (depths[: made.size] >= 0).all()
    assert (depths[made.size :] < 0).all()


def test_cogeval_graphs_have_their_sizes():
    sizes = [mazes.family(name).size for name in sorted(mazes.FAMILIES) if "cogeval" in name]
    assert sorted(sizes) == [7, 7, 13, 15, 16, 21]


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("directed", [True, False])
def test_twins_differ_in_the_answer_and_in_two_names_alone(form, directed):
    items = navigation(24, form=form, directed=directed, families=("random_tree", "random"))
    for yes, no in zip(items[::2], items[1::2], strict=True):
        assert (yes.answer, no.answer) == ("Yes", "No")
        assert yes.pair == no.pair
        assert yes.names[yes.goal] == no.names[no.goal]
        words = zip(re.findall(r"\w+", yes.prompt), re.findall(r"\w+", no.prompt), strict=True)
        changed = {frozenset(pair) for pair in words if pair[0] != pair[1]}
        assert len(changed) == 1
        counts = [collections.Counter(re.findall(r"\w+", i.prompt)) for i in (yes, no)]
        assert counts[0] == counts[1]
        assert len(yes.prompt) == len(no.prompt)


@pytest.mark.parametrize("directed", [True, False])
def test_answers_follow_from_the_text_alone(directed):
    """Reads the graph back out of the prompt and searches it."""
    pattern = r"(\w) [>-] (\w)\."
    for item in navigation(30, form="letters", directed=directed, families=("random", "clusters")):
        described, _, question = item.prompt.partition("Can you")
        edges = re.findall(pattern, described)
        goal, source = re.search(r"get to (\w) from (\w)\?", question).groups()
        reached = {source}
        for _ in range(item.nodes):
            reached |= {b for a, b in edges if a in reached}
            if not directed:
                reached |= {a for a, b in edges if b in reached}
        assert (goal in reached) == item.reachable
        assert item.answer == ("Yes" if goal in reached else "No")


def test_mentions_are_where_they_say():
    for question in QUESTIONS:
        for item in navigation(6, question=question, depths=(2,)):
            for mention in item.mentions:
                assert item.prompt[mention.start : mention.end] == item.names[mention.node]
            named = sum(len(re.findall(rf"\b{name}\b", item.prompt)) for name in item.names)
            assert named == len(item.mentions)


def test_items_are_balanced_over_depths_and_truth_values():
    items = navigation(36, depths=(1, 2, 3))
    cells = collections.Counter((item.depth, item.reachable) for item in items)
    assert set(cells.values()) == {6}
    for item in items:
        if item.reachable:
            assert len(item.path()) == item.depth + 1


def test_path_and_next_name_a_shortest_way():
    items = navigation(12, question="path", families=("random",), size=9, depths=(3,))
    assert {item.reachable for item in items} == {True, False}
    for item in items:
        path = item.path()
        if item.reachable:
            assert item.answer == ", ".join(item.names[n] for n in path)
            assert all(item.adjacency()[a, b] for a, b in itertools.pairwise(path))
        else:
            assert path == []
            assert item.answer == "None"
    first = navigation(2, question="next", depths=(2,))[0]
    assert first.answer == first.names[first.path()[1]]


def test_the_same_seed_gives_the_same_items_and_another_seed_others():
    assert navigation(10, seed=3) == navigation(10, seed=3)
    assert navigation(10, seed=3) != navigation(10, seed=4)


def test_removing_an_edge_removes_its_sentence_and_may_change_the_answer():
    item = next(i for i in navigation(20, depths=(1,), form="letters") if i.reachable)
    edge = item.edges.index((item.source, item.goal))
    cut = without_edge(item, edge)
    assert not cut.reachable
    sentence = f"{item.names[item.source]} > {item.names[item.goal]}. "
    assert cut.prompt == item.prompt.replace(sentence, "")


def test_text_of_ones_own_is_an_item():
    prompt = "Lobby goes to A and B. A goes to W. Can you get to W from Lobby?"
    item = from_text(prompt, ["Lobby", "A", "B", "W"], ((0, 1), (0, 2), (1, 3)), 0, 3)
    assert item.reachable
    assert item.depth == 2
    assert [m.role for m in item.mentions if m.edge < 0] == ["goal", "source"]
    with pytest.raises(ValueError, match="no mention of X in the description"):
        from_text(prompt, ["Lobby", "X"], (), 0, 1)
    with pytest.raises(ValueError, match="needed one that names the goal 'B'"):
        from_text(prompt, ["Lobby", "A", "B", "W"], (), 0, 2)
    with pytest.raises(ValueError, match="got no question mark"):
        from_text(prompt.replace("?", "."), ["Lobby", "A", "B", "W"], (), 0, 3)


@pytest.mark.parametrize(
    ("prompt", "described", "asked"),
    [
        ("B > C. A > B. Can you get to C from A?", "BCAB", "CA"),
        ("A > B. B > C. Can you get to C from A? Answer Yes or No. Answer:", "ABBC", "CA"),
        ("B > C. A > B. From A, can you get to C? Answer:", "BCAB", "AC"),
        ("B > C.\nA > B.\nI am in A. Can you get to C?\nAnswer:", "BCABA", "C"),
        ("What is the way? A > B. B > C. Doors: A, B, C. Get to C from A?", "ABBCABC", "CA"),
        ("C comes after B; B comes after A. Is C, which is red, reached from A? C or A:",
         "CBBA", "CACA"),
    ],
)  # fmt: skip
def test_the_question_is_found_wherever_the_start_is_described(prompt, described, asked):
    item = from_text(prompt, "ABC", ((0, 1), (1, 2)), 0, 2)
    assert "".join(item.names[m.node] for m in item.described) == described
    question = [m for m in item.mentions if m.edge < 0]
    assert "".join(item.names[m.node] for m in question) == asked
    assert all(m.role == {"A": "source", "C": "goal"}[item.names[m.node]] for m in question)


def test_a_question_without_a_mark_is_found_by_its_words():
    prompt = "B > C. A > B. Say whether C is reached from A."
    item = from_text(prompt, "ABC", ((0, 1), (1, 2)), 0, 2, asked="Say whether")
    assert [m.role for m in item.mentions if m.edge < 0] == ["goal", "source"]
    with pytest.raises(ValueError, match="needed words of the prompt"):
        from_text(prompt, "ABC", (), 0, 2, asked="Tell")


def test_every_shuffled_item_is_read_back_as_it_was_written():
    """Whatever the order of sentences: mentions, roles and the question are those of the maker."""
    for form in FORMS:
        for item in navigation(30, form=form, families=("random_tree", "random")):
            again = from_text(item.prompt, item.names, item.edges, item.source, item.goal)
            read, written = (
                [(m.node, m.start, m.edge >= 0) for m in sorted(i.mentions, key=lambda m: m.start)]
                for i in (again, item)
            )
            assert read == written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 3}, "even number"),
        ({"form": "room"}, "did you mean rooms"),
        ({"families": ("trees",)}, "did you mean tree"),
        ({"question": "why"}, "unknown question"),
        ({"depths": ()}, "at least one of each"),
        ({"depths": (9,)}, "no node so deep"),
        ({"size": 30}, "at most"),
        ({"size": 1}, "at least 2 nodes"),
    ],
)
def test_bad_requests_say_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        navigation(**{"count": 4} | options)


def test_what_the_package_offers_is_callable_again_and_again():
    from algoscope import llm

    for _ in range(2):
        assert all(callable(getattr(llm, name)) for name in llm.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = llm.nothing
