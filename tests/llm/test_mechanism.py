"""Exchanges, clocks, questions and flow, on subjects whose steps are known."""

import dataclasses

import numpy as np
import pytest

from algoscope.llm import exchange, flow, mazes, mechanism, questions
from algoscope.llm.candidates import MACHINES
from algoscope.llm.prompts import navigation
from algoscope.llm.questions import Asked, Examined, Scope
from algoscope.llm.scripted import scripted
from algoscope.llm.subjects import subject
from algoscope.llm.verdict import ELSE, about_answers

ITEMS = navigation(60, form="letters", depths=(1, 2, 3), seed=5)
ALGORITHMS = sorted({m.name for m in MACHINES if m.algorithm})


@pytest.fixture(scope="module")
def bank():
    paths = questions.paths(ITEMS, Scope(), deepest=5, count=30, seed=5)
    return exchange.bank(paths, steps=8, each=2, seed=5)


@pytest.fixture(scope="module")
def searcher():
    return subject(scripted("bfs", 6, seed=5), "bfs")


@pytest.fixture(scope="module")
def outcomes(searcher, bank):
    return exchange.run(searcher, bank)


def test_exchanges_tell_every_two_algorithms_apart(bank):
    first = {m.name: m for m in reversed(MACHINES)}
    for a in ALGORITHMS:
        for b in ALGORITHMS:
            if a < b:
                differ = {
                    e.base.pair
                    for e in bank
                    if (e.predicted[first[a]] != e.predicted[first[b]]).any()
                }
                assert len(differ) >= mechanism.FEWEST, (a, b)


def test_a_search_is_found_with_its_clock_and_all_of_the_answer(outcomes):
    ranked = mechanism.fits(outcomes, exchange.scale(outcomes))
    best = next(fit for fit in ranked if fit.machine.algorithm)
    assert best.name == "BFS"
    assert best.clock[:5] == (0, 1, 2, 3, 4)
    assert best.agreement.value == pytest.approx(1)
    assert best.share.value == pytest.approx(1)
    others = [r for r in mechanism.rivals(best, ranked, outcomes) if r.fit.machine.algorithm]
    assert all(rival.above.low > 0 for rival in others)


def test_a_leak_of_95_percent_leaves_a_share_of_5_at_most(outcomes):
    """The same outcomes, of which 95 % are the donor's own answer, as if it had been copied."""
    scale = exchange.scale(outcomes)
    leaky = [o._replace(patched=0.05 * o.patched + 0.95 * o.plain[1]) for o in outcomes]
    best = next(f for f in mechanism.fits(leaky, scale) if f.name == "BFS")
    assert best.share.value < 0.051


def test_answers_that_are_drawn_follow_no_machine(outcomes):
    rng = np.random.default_rng(0)
    drawn = [o._replace(patched=rng.choice([-9.0, 9.0], o.patched.shape)) for o in outcomes]
    for fit in mechanism.fits(drawn, exchange.scale(outcomes)):
        assert fit.agreement.high < 0.75


def test_the_wave_passes_an_edge_a_layer_and_others_nothing(searcher, outcomes):
    paths = [i for i in questions.paths(ITEMS, Scope(), deepest=3, count=8) if i.depth == 3]
    found = flow.flow(searcher, paths[:3], exchange.scale(outcomes))
    for place, effects in found.passed("question").items():
        assert effects == pytest.approx([float(layer >= place) for layer in range(7)])
    assert found.peak("others").value == pytest.approx(0)


def test_kinds_of_questions_have_the_answers_of_their_table():
    drawn = questions.drawn(questions.families_of(ITEMS), "letters", mazes_each=6)
    for item, kind in drawn:
        A = item.adjacency()
        assert item.reachable == (kind == "below")
        apart = item.goal // (item.nodes // 2) != item.source // (item.nodes // 2)
        assert apart == (kind == "apart")
        if kind == "above":
            back = dataclasses.replace(item, source=item.goal, goal=item.source)
            assert back.path()
        assert A.any()
    assert {kind for _, kind in drawn} == set(questions.KINDS)


def _levels(item) -> int:
    """The most nodes that are as far from the start."""
    steps = mazes.distances(item.adjacency(), item.source)
    return int(np.bincount(steps[steps > 0]).max(initial=0))


def _goes_round(item) -> bool:
    reached = np.linalg.matrix_power(item.adjacency().astype(float), 3).astype(bool)
    closure = item.adjacency()
    for _ in range(item.nodes):
        closure = closure | (closure @ closure)
    return bool((reached & closure.T).any())


def test_odd_mazes_are_round_wide_or_large():
    drawn = questions.drawn(questions.odd_families(ITEMS), "letters", mazes_each=8)
    by_family = {}
    for item, kind in drawn:
        assert item.reachable == (kind == "below")
        by_family.setdefault(item.family, []).append(item)
    assert all(map(_goes_round, by_family["circles"]))
    assert max(map(_levels, by_family["star"])) >= 6
    assert {len(item.edges) for item in by_family["random_tree"]} == {24}


def test_wrong_answers_to_one_kind_of_questions_are_seen():
    of_a_kind = _answered(lambda q, rng: q.kind == "beside" and q.root is False)
    anywhere = _answered(lambda q, rng: rng.random() < 0.08)
    worst = [Examined(found, None, Scope()).worst for found in (of_a_kind, anywhere)]
    assert worst[0][0] == "beside"
    assert worst[0][1].low > ELSE > worst[1][1].low


def test_a_region_in_which_nothing_goes_against_arrows_is_not_enough():
    found = _answered(lambda q, rng: q.kind in ("above", "beside"))
    examined = Examined(found, questions.region(found), Scope())
    assert examined.scope == Scope(apart=True)
    assert examined.against.value == 1
    conditions = about_answers(examined)
    assert [condition.met for condition in conditions] == [True, False]


def _answered(wrong) -> list[Asked]:
    rng = np.random.default_rng(0)
    drawn = questions.drawn(questions.families_asked(ITEMS), "letters", mazes_each=30)
    asked = [questions._question(*question) for question in drawn]
    return [q._replace(odds=1.0 if q.item.reachable != wrong(q, rng) else -1.0) for q in asked]


@pytest.mark.parametrize(
    ("scope", "wrong"),
    [
        (Scope(), lambda q, rng: False),
        (Scope(depth=3), lambda q, rng: q.depth > 3),
        (Scope(root=True), lambda q, rng: q.kind == "below" and not q.root),
        (Scope(apart=True), lambda q, rng: q.kind in ("above", "beside")),
        (Scope(single=True), lambda q, rng: not q.single and q.kind == "below" and q.depth > 1),
        (None, lambda q, rng: rng.random() < 0.04),
    ],
)
def test_a_region_is_found_where_there_is_one(scope, wrong):
    found = questions.region(_answered(wrong))
    if scope == Scope(root=True):
        assert found is not None
        assert found.root
    else:
        assert found == scope
