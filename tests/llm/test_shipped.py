"""The navigator that comes with Algoscope: it navigates, and the analyses say how."""

import itertools
import pathlib
import re

import numpy as np
import pytest
import torch

from algoscope.llm import load, navigate, navigation, navigator
from algoscope.llm.composition import compose
from algoscope.llm.observe import observe
from algoscope.llm.primitives import PRIMITIVES, examine

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "explanation" / "algeval.md"
WORD = (
    "runs backward search up to depth 3, starts that no arrow leads to, 10 nodes a part, "
    "one way to each node"
)
SEEDS = range(2)


@pytest.fixture(scope="module")
def shipped():
    return load("navigator")


@pytest.fixture(scope="module")
def studies(shipped):
    return [
        navigate(shipped, navigation(60, form=navigator.FORM, seed=seed), states=False, seed=seed)
        for seed in SEEDS
    ]


def test_it_is_right_on_unseen_mazes_for_either_truth(studies):
    seen = list(itertools.chain.from_iterable(study.observations for study in studies))
    for reachable in (True, False):
        for depth in (1, 2, 3):
            right = [
                o.right for o in seen if o.item.reachable == reachable and o.item.depth == depth
            ]
            assert len(right) == 20
            assert np.mean(right) >= 0.9
        assert np.mean([o.right for o in seen if o.item.reachable == reachable]) >= 0.95
    assert {o.written for o in seen} == {"Yes", "No"}


@pytest.mark.parametrize("seed", SEEDS)
def test_its_search_is_named_and_where_it_ends(studies, seed):
    """It tests whether the start is a root, as its page says."""
    verdict, text = studies[seed].verdict, PAGE.read_text().replace("\n", " ")
    assert str(verdict) == WORD, verdict.conditions
    assert f"*{WORD}*" in text
    best = studies[seed].causal.fits[0]
    claimed = re.search(r"a share of ([\d.]+) of the answer goes", text)
    assert abs(best.share.value - float(claimed[1])) < 0.03


def test_what_was_taught_is_inside(shipped):
    """After layer 1 + k the last token names the node k steps back from the goal."""
    named = {hop: [] for hop in range(4)}
    for item in navigation(60, form=navigator.FORM, depths=(3,), seed=9):
        ids = shipped.encode(item.prompt).ids
        states = torch.from_numpy(shipped.read(ids, positions=[len(ids) - 1]).states[:, 0])
        parent = {receiver: sender for sender, receiver in item.edges}
        node = item.goal
        for hop in named:
            with torch.inference_mode():
                logits = shipped.model.lm_head(shipped.model.model.norm(states[1 + hop]))
            named[hop].append(shipped.tokenizer.decode(logits.argmax()) == item.names[node])
            node = parent.get(node, node)
    for hop, right in named.items():
        assert np.mean(right) >= 0.95, hop


def test_its_primitives_are_found_where_they_were_taught(shipped):
    """Of two heads that look at the goal, one carries the answer: the page says which."""
    library = [p for p in PRIMITIVES if p.name in ("edge lookup", "goal match", "comparison")]
    found = examine(shipped, 12, library=library, permutations=199, form=navigator.FORM)
    used = {a.primitive: {(d.layer, d.head) for d in a.used} for a in found}
    assert used == {"edge lookup": {(0, 1)}, "goal match": {(1, 0)}, "comparison": set()}
    by_name = {a.primitive: a for a in found}
    assert {d.layer for d in by_name["goal match"].heads} == {1}
    for ability in (by_name["edge lookup"], by_name["goal match"]):
        assert ability.heads[0].excess.low > 0.9
        assert ability.joint.share.value > 0.85
    paths = compose(shipped, found, 8, library=library, permutations=199, form=navigator.FORM)
    assert ((0, 1), (1, 0)) in {(p.sender, p.receiver) for p in paths if p.shown}


def test_it_reads_letters_alone(shipped):
    with pytest.raises(ValueError, match="navigator has no word for"):
        observe(shipped, navigation(2, form="rooms"))
