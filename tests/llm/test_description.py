"""What the case study sees, as numbers: a planted effect is found, and none where nothing is."""

import dataclasses
import json

import numpy as np
import pytest

from algoscope.llm import own_prompts
from algoscope.llm.description import describe
from algoscope.llm.geometry import cast, observed
from algoscope.llm.observe import READOUTS, observe
from algoscope.llm.prompts import from_text, navigation

_SEEN = {
    "start": "the start diverges",
    "goal": "the goal leaves the other rooms",
    "sibling": "goal and sibling separate",
}


@pytest.fixture(scope="module")
def seen(tokenizer):
    from tiny_models import tiny_llama

    from algoscope.llm.subjects import subject

    made = subject((tiny_llama(tokenizer), tokenizer), "tiny")
    return observe(made, navigation(48, form="letters", families=("tree",), depths=(1, 2)))


def _with_states(observation, change):
    """Noise for states, changed from layer to layer."""
    recording = observation.recording
    rng = np.random.default_rng(observation.item.pair)
    shape = recording.states.shape
    noise = rng.normal(size=shape[2:])[None] + 0.3 * rng.normal(size=shape[1:])
    for layer in range(len(noise)):
        change(noise[layer], layer, cast(observation.item))
    changed = dataclasses.replace(recording, hidden=noise[None, 1:], initial=noise[None, 0])
    return dataclasses.replace(observation, recording=changed)


def test_siblings_share_a_parent_and_images_are_images(seen):
    for o in seen:
        who, image = cast(o.item), cast(o.item, image=True)
        (parent,) = np.flatnonzero(o.item.adjacency()[:, who.goal])
        assert who.siblings == [
            n for n in np.flatnonzero(o.item.adjacency()[parent]) if n != who.goal
        ]
        assert len(who.siblings) == 1
        assert sorted(image.siblings) == sorted(o.item.mirror[n] for n in who.siblings)
        assert (image.start, image.goal) == (o.item.mirror[who.start], o.item.mirror[who.goal])
        assert who.rooms == image.rooms
        assert not {who.start, who.goal, image.start, image.goal} & set(who.rooms)


@pytest.mark.parametrize("planted", [*_SEEN, None])
def test_a_planted_divergence_is_found_by_its_own_name(seen, planted):
    def change(states, layer, who):
        if planted in ("start", "goal"):
            states += 1
            states[getattr(who, planted)] -= 2 * (layer > 1)
        elif planted == "sibling":
            for node in who.siblings:
                states[node] = -layer * states[who.goal] + states[node]

    found = {row.seen: row for row in observed([_with_states(o, change) for o in seen])}
    for name, text in _SEEN.items():
        if name == planted:
            assert found[text].p < 0.05
        elif planted is None:
            assert found[text].p > 0.05
    if planted == "sibling":
        assert found[_SEEN["sibling"]].trend.low > 0.5


def test_attention_to_the_sibling_is_found(seen):
    changed = []
    for o in seen:
        attention = np.array(o.recording.attention)
        who = cast(o.item)
        receiver = o.item.nodes + READOUTS.index("goal")
        attention[0, 1, :, receiver, who.siblings] += 0.2
        recording = dataclasses.replace(o.recording, attention=attention)
        changed.append(dataclasses.replace(o, recording=recording))
    found = {row.seen: row for row in observed(changed)}
    assert found["the goal's sibling gets attention from the goal token"].p < 0.05
    assert found["the goal's sibling gets attention from the last token"].p > 0.05


def test_states_before_the_question_cannot_know_it(seen, llama):
    """So no causal model separates the goal from its sibling there because it is the goal."""
    item = seen[0].item
    other = dataclasses.replace(item, goal=cast(item).siblings[0])
    asked = item.prompt.rindex("Can you")
    names = item.names
    question = item.prompt[asked:].replace(f"to {names[item.goal]} ", f"to {names[other.goal]} ")
    swapped = from_text(item.prompt[:asked] + question, names, item.edges, item.source, other.goal)
    first, second = observe(llama, [item, swapped])
    assert np.allclose(first.states, second.states, atol=1e-5)
    assert not np.allclose(first.readout_states("goal"), second.readout_states("goal"), atol=1e-3)


def test_own_prompts_are_described_beside_random_weights(llama):
    prompt = (
        "Edges of a graph: B > C. A > B. A > D. Can you get to C from A? Answer Yes or No. Answer:"
    )
    item = from_text(prompt, "ABCD", ((1, 2), (0, 1), (0, 3)), 0, 2)
    described, again = describe(llama, [item]), describe(llama, [item])
    np.testing.assert_equal(again.orders, described.orders)
    np.testing.assert_equal(again.observed, described.observed)
    assert {order.readout for order in described.orders} == set(READOUTS)
    assert len(described.layer_similarity) == llama.depth
    assert all(not row.mirrored and np.isnan(row.p) for row in described.observed)
    assert [line.split(":")[0] for line in described.unjudged] == [
        "Which algorithm it runs",
        "Whether what is seen is used",
        "Whether its answers are better than a constant one",
        "How sure the numbers are",
    ]


_GIVEN = {
    "prompt": "A > B. Can you get to B from A?",
    "edges": [["A", "B"]],
    "start": "A",
    "goal": "B",
}


def test_prompts_are_read_from_json_and_from_lines(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(_GIVEN, indent=1))
    (tmp_path / "two.json").write_text(json.dumps([_GIVEN, _GIVEN | {"directed": False}]))
    (tmp_path / "two.jsonl").write_text(f"{json.dumps(_GIVEN)}\n\n{json.dumps(_GIVEN)}\n")
    assert [item.reachable for item in own_prompts.read(tmp_path / "one.json")] == [True]
    assert [item.directed for item in own_prompts.read(tmp_path / "two.json")] == [True, False]
    assert len(own_prompts.read(tmp_path / "two.jsonl")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad.json: not valid JSON"),
        ("[" * 100_000, "bad.json: not valid JSON"),
        ("[]", r"got \[\], needed at least one prompt"),
        ("[3]", "prompt 1: got 3, needed the fields of Prompt"),
        ('{"prompt": "A"}', "prompt 1.edges: not there, and needed"),
        (json.dumps(_GIVEN | {"edges": [["A"]]}), r"edges.0: got \['A'\], needed a list of 2"),
        (json.dumps(_GIVEN | {"goal": 3}), "prompt 1.goal: got 3, needed a text"),
        (json.dumps(_GIVEN | {"start": ["A"]}), r"prompt 1.start: got \['A'\], needed a text"),
        (json.dumps(_GIVEN | {"directed": "no"}), "prompt 1.directed: got 'no', needed true or"),
        (json.dumps(_GIVEN | {"colour": 3}), "unknown field of prompt 1: 'colour'; there is"),
        (json.dumps(_GIVEN | {"goal": "C"}), "prompt 1: .* no mention of C"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, message):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        own_prompts.read(tmp_path / "bad.json")
    with pytest.raises(ValueError, match=r"missing\.json: got no file, needed a file"):
        own_prompts.read(tmp_path / "missing.json")
