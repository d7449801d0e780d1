"""Problems beyond navigation: machines that are right, twins, exchanges that tell machines apart,
hand-written Transformers that do what they are said to, and the words that they get."""

import json

import numpy as np
import pytest

from algoscope.llm import domains, scopes, trials
from algoscope.llm.capture import Request
from algoscope.llm.domains import addition, modus_ponens
from algoscope.llm.examination import _answers, examine
from algoscope.llm.examination_page import tables, write_folder
from algoscope.llm.machines import answers, begun
from algoscope.llm.mechanism import FEWEST, Fit
from algoscope.llm.scripted.solvers import SOLVE, SOLVERS, Solver

DOMAINS = list(domains.DOMAINS.values())
named = pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)


def _problems(domain, count=60, seed=0):
    rng = np.random.default_rng(seed)
    return [domain.draw(rng, hard) for _ in range(count // 2) for hard in (False, True)]


@named
def test_every_machine_is_right_and_every_heuristic_is_not(domain):
    problems = _problems(domain)
    for machine in domain.machines:
        said = [answers(machine, begun(machine, p.content), 60)[-1] for p in problems]
        assert said == [p.right for p in problems], machine.name
    for heuristic in domain.heuristics:
        assert any(heuristic.answer(p.content) != p.right for p in problems), heuristic.name


@named
def test_twins_differ_in_a_unit_and_have_other_answers(domain):
    items = domain.items(40, seed=1)
    for one, two in zip(items[::2], items[1::2], strict=True):
        assert one.right != two.right
        assert len(one.prompt) == len(two.prompt)
        assert (one.starts, one.asks) == (two.starts, two.asks)
        changed = one.changed(two)
        assert any(set(changed) <= set(unit) for unit in one.units)


@named
def test_exchanges_tell_every_two_machines_apart(domain):
    problems = scopes.within(domain, scopes.Limits(), 24)
    bank = trials.bank(domain, problems, steps=8)
    for a in domain.machines:
        for b in domain.machines:
            if a.name < b.name:
                differ = {t.base.pair for t in bank if (t.predicted[a] != t.predicted[b]).any()}
                assert len(differ) >= FEWEST, (a.name, b.name)


def test_a_carry_from_below_is_the_donors_up_to_where_it_is():
    """Independent of any machine: the sum of the donor's low digits and the base's high ones."""
    machine = next(m for m in addition.MACHINES if m.name == "carry from below")
    rng = np.random.default_rng(0)
    for problem in _problems(addition.ADDITION, 20):
        base, donor = addition.pair(problem, rng)
        table = trials.exchanged(machine, base.content, donor.content, 9)
        place = base.content.place
        for t in range(9):
            cut = min(t, place)
            digits = [
                [*getattr(donor.content, part)[:cut], *getattr(base.content, part)[cut:]]
                for part in "ab"
            ]
            total = sum(int("".join(map(str, reversed(number)))) for number in digits)
            assert table[t, -1] == total // 10**place % 10


def test_a_second_premise_that_fails_breaks_the_chain():
    rng = np.random.default_rng(3)
    theory = modus_ponens._theory(3, 2, 0, rng)
    assert modus_ponens.holds(theory)
    broken = modus_ponens._without(theory, rng)
    assert not modus_ponens.holds(broken)
    assert broken.goal in modus_ponens.known(broken, enough=any)


def test_the_converse_of_a_rule_leads_nowhere():
    """Unless rules are used in both directions."""
    rng = np.random.default_rng(4)
    either_way = next(h for h in modus_ponens.HEURISTICS if h.name.startswith("rules used"))
    for _ in range(20):
        theory = modus_ponens._theory(4, 1, 1, rng)
        turned = modus_ponens._turned(theory, rng)
        changed = modus_ponens.worded(theory).changed(modus_ponens.worded(turned))
        assert tuple(changed) in {tuple(sorted(unit)) for unit in theory.units}
        assert modus_ponens.holds(theory)
        assert not modus_ponens.holds(turned)
        assert either_way.answer(turned)


@pytest.mark.parametrize("mechanism", ["both_ways", "forward", "noisy"])
def test_answers_of_another_problem_are_seen_where_it_differs(mechanism):
    domain = modus_ponens.MODUS_PONENS
    solver = Solver(domain.name, mechanism, mechanism)
    broken = scopes.break_it(trials.Reader(solver.subject(1), domain), domain.items(20, 1), 1)
    same = {name: (rate.value, count) for name, rate, count in broken.as_heuristics}
    rate, count = same.pop("rules used in both directions")
    assert count >= FEWEST
    assert (rate == 1) == (mechanism == "both_ways")
    assert all(other < 0.5 for other, _ in same.values())


@pytest.mark.parametrize(
    ("task", "mechanism"), [(task, name) for task in SOLVERS for name in SOLVERS[task]]
)
def test_solvers_answer_as_their_mechanism_does(task, mechanism):
    domain, solver = domains.get(task), Solver(task, mechanism, mechanism, 26)
    problems = _problems(domain, 16, seed=4)
    subject = solver.subject(seed=2)
    options = [subject.tokenizer.get_vocab()[option] for option in domain.options]
    readings = subject.read_all([Request(subject.encode(p.prompt).ids) for p in problems])
    said = [int(reading.logits[options].argmax()) for reading in readings]
    heuristic = next((h for h in domain.heuristics if h.name == solver.truth.runs), None)
    if heuristic is not None:
        assert said == [heuristic.answer(p.content) for p in problems]
    elif solver.truth.algorithm or solver.truth.leak:
        assert said == [p.right for p in problems]
    else:
        assert np.mean(np.array(said) == [p.right for p in problems]) > 0.4


@named
def test_oracles_read_prompts_as_they_are_meant(domain):
    subject = Solver(domain.name, "noisy", "noisy").subject()
    words = {number: word for word, number in subject.tokenizer.get_vocab().items()}
    for problem in _problems(domain, 20):
        ids = subject.encode(problem.prompt).ids
        assert SOLVE[domain.name]([words[i] for i in ids]) == problem.right


KNOWN = {
    ("sorting", "at_once"): "runs counting at once",
    ("addition", "next_only"): "shortcut (carry from the next column only)",
    ("sorting", "leak_95_stream"): "undecided",
    ("sorting", "text_order"): "shortcut (the order of the text)",
    ("modus-ponens", "backward"): "runs backward chaining",
    ("modus-ponens", "any_premise"): "shortcut (any premise is enough)",
    ("modus-ponens", "concluded"): "fails",
}
"""`benchmarks/domain_zoo.py` judges all of them."""


@pytest.mark.parametrize(("task", "mechanism"), KNOWN)
def test_solvers_get_the_right_word(task, mechanism):
    found = examine(Solver(task, mechanism, mechanism).subject(1), domains.get(task), seed=1)
    assert str(found.verdict).startswith(KNOWN[task, mechanism])


@named
def test_random_weights_fail(domain):
    name = next(iter(SOLVERS[domain.name]))
    random = Solver(domain.name, name, name).subject().with_random_weights(3)
    assert examine(random, domain, 40).verdict.word == "fails"


def test_a_constant_answer_is_no_heuristics():
    """Of items on which a heuristic always says No, nothing follows about whoever says No."""
    domain = modus_ponens.MODUS_PONENS
    items = [p for p in domain.items(80, 0) if p.content.depth > 2]
    odds = np.tile([1.0, -1.0], (len(items), 1))
    found = _answers(domain, items, odds, odds)
    one_rule = next(a for a in found.agreements if a.heuristic == "one rule")
    assert one_rule.agreement.value == 1
    assert not any(a.followed for a in found.agreements)


def test_what_the_machine_says_of_other_tokens_is_asked_for():
    """Columns that know of spans pass a change on, columns that rest do not."""
    domain = addition.ADDITION
    spans, rests = (
        next(m for m in domain.machines if m.name == name)
        for name in ("lookahead, doubling", "carry from above")
    )
    columns = addition.Columns((5, 9, 9, 9, 9, 9, 1), (5, 0, 0, 0, 0, 0, 1), 6)
    base = addition.worded(columns)
    donor = addition.worded(columns._replace(a=(1, *columns.a[1:])))
    others = trials.Others([(base, donor)], np.zeros((1, 9)))
    fit = Fit(spans, tuple(range(9)), *[None] * 6)
    assert others.expected(fit).any()
    assert not others.expected(fit._replace(machine=rests)).any()


def test_an_examination_is_kept_in_a_folder(tmp_path):
    found = examine(Solver("addition", "no_carry", "no_carry").subject(), addition.ADDITION, 40)
    write_folder(found, tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "examination.json").read_text())
    assert kept["verdict"]["text"] == "shortcut (no carry)" == str(found.verdict)
    assert len(kept["items"]) == 40
    assert set(tables(found)) == {"accuracy", "heuristics", "verdict"}
    assert "shortcut (no carry)" in (tmp_path / "run" / "page.html").read_text()
