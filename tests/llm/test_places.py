"""Places: where a changed edge is known, and who informs whom, in subjects of known mechanism."""

import pytest

from algoscope.llm.exchange import Scale
from algoscope.llm.graphs import known_by_layer, places_graph
from algoscope.llm.places import PLACES, knowledge, tokens_of
from algoscope.llm.prompts import navigation
from algoscope.llm.scripted import Disguise, scripted
from algoscope.llm.subjects import subject

MAZES = navigation(4, families=("tree",), size=5, depths=(2,), form="letters", seed=3)[::2]
SCALE = Scale(-10.0, 10.0)
"""The log-odds of hand-written subjects."""


def _known(search, layers, disguise=None):
    made = subject(scripted(search, layers, seed=2, disguise=disguise), search)
    return knowledge(made, MAZES, SCALE)


def _shown(found):
    return {(link.sender, link.receiver) for link in found.shown}


def test_every_token_has_its_place():
    made = subject(scripted("bfs", 2), "bfs")
    item = MAZES[0]
    tokens = tokens_of(made, item, [0, 1])
    apart = [set(tokens[place]) for place in PLACES if place != "last mention"]
    assert set().union(*apart) == set(range(len(made.encode(item.prompt).ids)))
    assert sum(map(len, apart)) == len(set().union(*apart)), "each in one place alone"
    mentioned = {m.node for m in item.described if m.edge > 1}
    assert len(tokens["last mention"]) == len(mentioned)
    assert set(tokens["last mention"]) <= {
        *tokens["mention as sender"],
        *tokens["mention as receiver"],
    }


def test_a_search_reads_edges_with_the_last_token():
    found = _known("backward", 3)
    assert _shown(found) == {("crossed, receiver", "last token")}
    assert found.links[0].share.value == pytest.approx(1)
    assert [e.value for e in found.known["last token"]] == pytest.approx([0, 0.5, 1, 1])
    assert max(e.value for e in found.known["mention as sender"]) < 1e-6
    assert places_graph(found).rows[0][:2] == ("crossed, receiver", "last token")
    assert len(known_by_layer(found).rows) == len(PLACES) * 4


def test_a_search_at_the_source_informs_the_last_token_from_there():
    found = _known("bfs", 4, Disguise(worker=8))
    assert _shown(found) == {("crossed, receiver", "start"), ("start", "last token")}


def test_path_merging_informs_other_mentions_first():
    """What the description finds out by itself goes from mention to mention."""
    shown = _shown(_known("hops", 4))
    assert {
        ("crossed, receiver", "mention as receiver"),
        ("mention as receiver", "last token"),
    } <= shown
    assert not any(receiver in ("start", "goal", "question") for _, receiver in shown)


def test_without_right_answers_nothing_is_known(tokenizer):
    made = subject(scripted("constant", 2), "constant")
    found = knowledge(made, MAZES, SCALE)
    assert (found.known, found.links, found.changes) == ({}, [], 0)
