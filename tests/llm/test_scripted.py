"""Subjects of known mechanism are what they say: their answers are those of plain programs."""

import random
import string

import numpy as np
import plain_searches
import pytest
import torch

from algoscope.llm.capture import Patch
from algoscope.llm.prompts import Item, _worded
from algoscope.llm.scripted import MECHANISMS, Disguise, Specimen, scripted, zoo
from algoscope.llm.subjects import subject

EDGES = (6, 8, 10, 12, 14, 17, 20, 25)
EACH = 25
TOLD = {name for name in MECHANISMS if name.startswith(("leak", "level", "carrier", "told"))}
"""Those that an oracle tells at the embedding."""


def _item(question, rng):
    nodes = 1 + max(max(edge) for edge in question.edges)
    depth = plain_searches.distance(question)
    return _worded(
        Item(
            names=tuple(rng.sample(string.ascii_uppercase, nodes)),
            edges=question.edges,
            directed=True,
            source=question.source,
            goal=question.goal,
            depth=depth,
            reachable=depth >= 0,
            question="reach",
            form="letters",
        )
    )


@pytest.fixture(scope="module")
def batches():
    """(questions, prompts), prompts of one length together."""
    rng = random.Random(7)
    drawn = [[plain_searches.draw(rng, edges) for _ in range(EACH)] for edges in EDGES]
    items = [[_item(q, rng) for q in questions] for questions in drawn]
    return [
        (
            [q._replace(names=i.names) for q, i in zip(*both, strict=True)],
            [i.prompt for i in both[1]],
        )
        for both in zip(drawn, items, strict=True)
    ]


def _answers(model, tokenizer, prompts):
    yes, no = tokenizer.convert_tokens_to_ids(["Yes", "No"])
    with torch.inference_mode():
        logits = model(torch.tensor(tokenizer(prompts)["input_ids"])).logits[:, -1]
    return (logits[:, yes] > logits[:, no]).tolist()


def _steps(specimen):
    """How often the mechanism steps in so many layers, disguise taken off."""
    disguise = specimen.disguise
    active = len(range(disguise.late, specimen.layers, disguise.idle + 1))
    return active - (disguise.worker > 0) - disguise.gathered


SHORT = [
    Specimen(f"{name}, 4 layers", name, 4)
    for name in (
        *("bfs", "backward", "dfs", "dfs_last", "pointer", "root", "merging", "hops"),
        *("bidirectional_one_head", "doubling", "doubling_backward", "pointer_doubling"),
    )
]
"""So few steps that deep goals are not reached: what one step finds is seen in the answers."""


@pytest.mark.parametrize("specimen", [*zoo(), *SHORT], ids=lambda specimen: specimen.name)
def test_a_subject_answers_as_its_mechanism(specimen, batches):
    """A disguise is tried on every second batch; a loud one has a head that is loud."""
    model, tokenizer = specimen.build(seed=3, heads=1 + specimen.disguise.loud)
    batches = batches[:: 1 if specimen.disguise == Disguise() else 2]
    search, steps = plain_searches.SEARCHES[specimen.search], _steps(specimen)
    wrong = [
        prompt
        for questions, prompts in batches
        for question, prompt, said in zip(
            questions, prompts, _answers(model, tokenizer, prompts), strict=True
        )
        if said != search(question, steps)
    ]
    count = sum(len(prompts) for _, prompts in batches)
    assert abs(len(wrong) / count - specimen.truth.wrong) <= (0.06 if specimen.truth.wrong else 0)


def test_the_questions_tell_the_mechanisms_apart(batches):
    """With four steps; those that are right with so few cannot be told apart by their answers."""
    questions = [question for asked, _ in batches for question in asked]
    searches = plain_searches.SEARCHES
    right = tuple(searches["leak_100_logits"](question, 4) for question in questions)
    said = {
        name: tuple(searches[name](question, 4) for question in questions)
        for name in (
            *("bfs", "bfs_2", "bfs_3", "undirected", "dfs", "dfs_last", "pointer", "root"),
            *("pointer_doubling", "hops", "sibling", "often", "late", "near", "bfs_1_often"),
            *("bfs_2_late", "constant"),
        )
    }
    assert len({*said.values(), right}) == len(said) + 1
    depths = {plain_searches.distance(question) for question in questions}
    assert depths >= {-1, 1, 2, 3, 4, 5, 6, 7}


ALGORITHMS = [name for name, mechanism in MECHANISMS.items() if mechanism.algorithm]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_is_right_in_its_scope(name, batches):
    """By its program, in twelve steps; goals at most six deep, and trees where it says so."""
    steps, search = 12, plain_searches.SEARCHES[name]
    questions = [question for asked, _ in batches for question in asked]
    if MECHANISMS[name].scope.startswith("one parent"):
        questions = [q for q in questions if len({b for _, b in q.edges}) == len(q.edges)]
    if name.startswith("dfs"):
        within = plain_searches.levels
        questions = [q for q in questions if len(within(q.edges, q.source, 26)) <= steps + 1]
    shallow = [q for q in questions if plain_searches.distance(q) <= 6]
    assert len(shallow) >= 20
    assert len({plain_searches.distance(q) >= 0 for q in shallow}) == 2
    for question in shallow:
        assert search(question, steps) == (plain_searches.distance(question) >= 0)


@pytest.mark.parametrize("specimen", zoo(), ids=lambda specimen: specimen.name)
def test_a_subject_can_be_recorded_and_patched(specimen, batches):
    """Self-checks of `subject`; and states of another prompt, put in the place of all states after
    any layer, give that prompt's answer: there is no other memory."""
    made = specimen.subject(seed=1)
    own, other = (made.encode(prompt).ids for prompt in batches[0][1][:2])
    there = made.read(other, positions=range(len(other)))
    for layer in (0, made.depth // 2, made.depth):
        patch = Patch(layer, range(len(other)), there.states[layer])
        patched = made.read(own, patches=[patch]).logits
        if specimen.truth.leaks_in == "logits" or specimen.truth.wrong or specimen.disguise.noise:
            continue
        assert np.allclose(patched, there.logits, atol=1e-3)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in TOLD])
def test_what_is_not_told_knows_nothing_of_what_follows(name, batches):
    """The states of the description are the same whatever is asked."""
    specimen = next(specimen for specimen in zoo() if specimen.search == name)
    made = specimen.subject()
    first, second = (made.encode(prompt).ids for prompt in batches[0][1][:2])
    length = 5 + 4 * EDGES[0]
    mixed = first[:length] + second[length:]
    alone, followed = (made.read(ids, positions=range(length)).states for ids in (first, mixed))
    assert first != mixed
    assert np.array_equal(alone, followed)


@pytest.mark.parametrize("name", sorted(TOLD))
def test_random_weights_are_not_told(name, batches):
    """An oracle is a weight of the model: a model of the same form without it does not know."""
    made = Specimen(name, name).subject()
    random_ = made.with_random_weights(0)
    assert dict(made.model.named_parameters())["cheat"].tolist() == [1]
    assert dict(random_.model.named_parameters())["cheat"].tolist() == [0]


def test_every_mechanism_has_a_program_and_a_truth():
    assert set(plain_searches.SEARCHES) == set(MECHANISMS)
    names = [specimen.name for specimen in zoo()]
    assert len(names) == len(set(names))
    for mechanism in MECHANISMS.values():
        assert mechanism.runs
        assert mechanism.scope


def test_the_same_seed_gives_the_same_subject(batches):
    disguise = Disguise(soft=True, loud=True, rotated=True, gathered=True)
    ids = scripted("bfs")[1](batches[0][1][0])["input_ids"]

    def states(seed):
        made = subject(scripted("bfs", 9, seed=seed, disguise=disguise), "bfs")
        return made.read(ids, positions=range(len(ids))).states

    assert np.array_equal(states(0), states(0))
    assert not np.allclose(states(0), states(1))


def test_bad_names_and_too_few_layers_are_refused():
    with pytest.raises(ValueError, match="search"):
        scripted("breadth")
    with pytest.raises(ValueError, match="got 8, of which 8 work, needed 15"):
        scripted("relay")
    with pytest.raises(ValueError, match="worker: got 9"):
        scripted("bfs", disguise=Disguise(worker=9))
