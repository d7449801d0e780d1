"""Detectors of primitives: each finds the heads that are built to do it, tells those that are used
from those that only look, and finds none by chance."""

import re

import numpy as np
import pytest
import torch
from scipy import stats
from tiny_models import tiny_llama

from algoscope.llm.composition import compose
from algoscope.llm.forms import FORMS
from algoscope.llm.heads import Heads
from algoscope.llm.minimal_tasks import PRIMITIVES
from algoscope.llm.primitives import Detection, aligned, examine, exchange, find_primitives
from algoscope.llm.scripted import Disguise, scripted
from algoscope.llm.scripted.circuits import circuit
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import word_tokenizer
from algoscope.statistics import Estimate

BY_NAME = {primitive.name: primitive for primitive in PRIMITIVES}
WRITTEN = ("previous token", "induction", "copy", "memory update")
"""Primitives whose heads a circuit has."""


def _library(*names):
    return [BY_NAME[name] for name in names]


@pytest.fixture(scope="module")
def reading_subject():
    prompts = [
        p.make(np.random.default_rng(s), "rooms").prompt for p in PRIMITIVES for s in range(50)
    ]
    tokenizer = word_tokenizer(re.findall(r"\w+|[^\w\s]", " ".join(prompts)))
    return subject((tiny_llama(tokenizer, gain=6.0), tokenizer), "random")


def _said(prompt, span):
    return prompt[slice(*span)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_minimal_tasks_mark_what_they_say(primitive, form):
    for seed in range(20):
        task = primitive.make(np.random.default_rng(seed), form)
        query, target = (_said(task.prompt, span) for span in (task.query, task.target))
        controls = [_said(task.prompt, span) for span in task.controls]
        assert target not in controls
        assert max(span.end for span in (task.target, *task.controls)) <= task.query.end
        match primitive.name:
            case "previous mention":
                assert query == target
            case "previous token":
                assert f"{target} {query}" in task.prompt
            case "induction":
                assert f"{query} {target}" in task.prompt
            case "edge lookup":
                assert FORMS[form].one_way.format(a=target, b=query) in task.prompt
            case "goal match":
                assert query.startswith(target)
                assert f"get to {target} from" in task.prompt
            case "copy":
                assert f"Repeat {target}." in task.prompt
            case "memory update":
                key = query.split()[0]
                assert re.findall(rf"{key} .*?(\w+)\.", task.prompt) == [controls[0], target]
            case "comparison":
                assert int(target) > int(controls[0])
            case name:
                pytest.fail(f"{name}: nothing is said here about what it marks")


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_donors_differ_from_the_prompt_in_what_they_say(primitive):
    """As many words in each, and as many of them other ones in `changed` as in `matched`."""
    for seed in range(20):
        task = primitive.make(np.random.default_rng(seed), "letters")
        if task.donors is None:
            assert primitive.name == "previous mention"
            continue
        words = re.findall(r"\w+", task.prompt)
        others = [re.findall(r"\w+", d.prompt) for d in (task.donors.changed, *task.donors.matched)]
        differ = [[a != b for a, b in zip(words, other, strict=True)] for other in others]
        assert len({sum(row) for row in differ}) == 1
        assert all(row != differ[0] for row in differ[1:])
        if task.donors.answers:
            before, after = task.donors.answers
            assert _said(task.prompt, before) != _said(task.donors.changed.prompt, after)


@pytest.fixture(scope="module")
def written():
    return circuit(seed=3)


@pytest.fixture(scope="module")
def abilities(written):
    made = subject((written.model, written.tokenizer), "circuit", chat=False)
    library = _library(*WRITTEN)
    found = examine(made, 16, library=library, permutations=199, form="letters")
    return Heads(found, compose(made, found, 8, library=library, permutations=199, form="letters"))


@pytest.mark.parametrize("role", WRITTEN)
def test_a_head_that_does_it_is_used_and_its_decoy_only_looks(written, abilities, role):
    """Both attend alike: only what they write tells them apart."""
    found = next(a for a in abilities.abilities if a.primitive == role)
    assert {(d.layer, d.head) for d in found.heads} == {written.working[role], written.decoys[role]}
    assert [(d.layer, d.head) for d in found.used] == [written.working[role]]
    assert found.joint.share.value > 0.75
    idle = next(e for e in found.alone if e.heads == (written.decoys[role],))
    assert abs(idle.share.value) < 1e-6


def test_previous_tokens_feed_induction_and_what_answers_feeds_nobody(written, abilities):
    shown = {(path.sender, path.receiver) for path in abilities.shown}
    working = written.working
    assert shown == {
        (working["previous token"], working["induction"]),
        *((working[role], None) for role in ("induction", "copy", "memory update")),
    }
    named = {(abilities.name(p.sender), abilities.name(p.receiver)) for p in abilities.shown}
    assert ("previous token", "induction") in named
    assert ("induction", "the answer") in named


def test_a_role_that_has_a_decoy_alone_is_not_used():
    made = circuit(seed=4, without=("induction",))
    tested = subject((made.model, made.tokenizer), "without induction", chat=False)
    [found] = examine(tested, 12, library=_library("induction"), permutations=99, form="letters")
    assert found.heads
    assert not found.used


def _working(model, layer, part):
    """The head that brings a part of a hand-written search."""
    attention = model.layers[layer].attention
    width, rows = attention.wide.taken, attention.inbox[part]
    heads = range(model.config.num_attention_heads)
    loud = [attention.o_proj.weight[rows, h * width : (h + 1) * width].any().item() for h in heads]
    return layer, loud.index(True)


def test_edge_lookup_feeds_goal_match_in_a_backward_search():
    model, tokenizer = scripted("backward", 5, seed=1, disguise=Disguise(gathered=True))
    lookup = _working(model, 0, "sender token")
    goal, step = (_working(model, layer, "backward sender sender") for layer in (1, 2))
    made, library = subject((model, tokenizer), "backward"), _library("edge lookup", "goal match")
    found = examine(made, 12, library=library, permutations=99, form="letters")
    assert [[(d.layer, d.head) for d in a.used] for a in found] == [[lookup], [goal]]
    paths = compose(made, found, 8, library=library, permutations=99, form="letters")
    shown = {(p.sender, p.receiver) for p in paths if p.shown}
    assert shown == {(lookup, goal), (goal, step)}


def test_heads_that_mimic_a_search_are_not_used():
    made = subject(scripted("hops_mimic_backward", 8, seed=1), "mimic")
    [found] = examine(made, 12, library=_library("goal match"), permutations=99, form="letters")
    assert found.heads, "they look as a backward search does"
    assert not found.used


def test_previous_mention_is_found_in_weights(reading_subject):
    """A Llama whose first layer compares words: its query and key are the embedding itself."""
    tokenizer = reading_subject.tokenizer
    model = tiny_llama(tokenizer, num_key_value_heads=1, num_attention_heads=1, head_dim=32,
                       gain=1.0, hidden_size=32, num_hidden_layers=1,
                       rope_parameters={"rope_type": "default", "rope_theta": 1e30})  # fmt: skip
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_()
        attention = model.model.layers[0].self_attn
        identity = torch.eye(32)
        identity[[0, 16]] = 0  # the one pair of dimensions that still turns with position
        attention.q_proj.weight.copy_(3 * identity)
        attention.k_proj.weight.copy_(identity)
    made = subject((model, tokenizer), "comparing")
    library = _library("previous mention")
    [found] = find_primitives(made, 20, library=library, permutations=199).values()
    assert (found[0].layer, found[0].head) == (0, 0)
    assert found[0].excess.low > 0.3


def test_random_weights_do_nothing(reading_subject):
    found = examine(reading_subject, 20, permutations=199)
    assert [a.primitive for a in found] == [primitive.name for primitive in PRIMITIVES]
    assert sum(len(a.heads) for a in found) <= 2
    assert not any(a.used for a in found)


def test_p_values_of_exchanges_are_uniform_without_training(tokenizer):
    """All heads of 40 random models, as if they had been found to look: the smallest p of each
    model is uniform (Kolmogorov-Smirnov at 0.01), and no head is said to be used."""
    smallest, used = [], 0
    for seed in range(40):
        made = subject((tiny_llama(tokenizer, seed, 8.0, num_hidden_layers=2), tokenizer), "random")
        heads = [
            Detection("induction", layer, head, -1, Estimate(0, 0, 0), 0, 0)
            for layer, head in np.ndindex(2, 4)
        ]
        tasks = list(
            aligned(made, BY_NAME["induction"], np.random.default_rng(seed), "letters", 16)
        )
        found = exchange(made, "induction", heads, tasks, 199, seed)
        smallest.append(min(e.p for e in [*found.alone, found.joint]))
        used += len(found.used)
    assert stats.kstest(smallest, "uniform").pvalue > 0.01
    assert used <= 40 * 0.05
