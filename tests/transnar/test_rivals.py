"""What towers are compared with, and what they read."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_towers import TOWER, logits, planted

from algoscope import tasks
from algoscope.recording import Recording
from algoscope.transnar import mechanism
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.mechanism import record, token_reads
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import View, reason
from algoscope.transnar.scores import (
    constant_answers,
    pipeline_answers,
    scores_of,
    solver_answers,
)
from algoscope.transnar.text_dataset import TEST, Order, draw, reread
from algoscope.transnar.tower import build, positions_of, unembed


@pytest.mark.parametrize("name", ["bfs", "quicksort", "lcs_length", "graham_scan", "minimum"])
def test_the_reference_algorithm_reads_prompts_and_is_right(name):
    dataset = draw(Order(name, 5, 4, 1, TEST))
    score = scores_of([dataset], solver_answers([reread(dataset)]))[name][5]
    assert (score.shape, score.parse, score.clrs, score.exact, score.problems) == (1, 1, 1, 1, 4)


@pytest.mark.parametrize("name", ["bfs", "quicksort", "lcs_length", "graham_scan", "minimum"])
def test_right_outputs_of_a_reasoner_are_written_as_the_right_answers(name):
    dataset = draw(Order(name, 5, 4, 1, TEST))
    assert reasoners.answers(dataset.problems, dataset.problems.outputs) == [
        example.answer for example in dataset.examples()
    ]


def test_one_answer_for_all_problems_has_the_commonest_words():
    dataset = draw(Order("bfs", 5, 40, 1, TEST))
    [answers] = constant_answers([dataset])
    assert len(answers) == 40
    assert len(set(answers)) == 1
    score = scores_of([dataset], [answers])["bfs"][5]
    assert (score.shape, score.parse) == (1, 1)
    # Most nodes of so small a graph are not reached: the commonest pointer is to oneself.
    itself = np.mean(dataset.problems.outputs["pi"] == np.arange(5))
    assert score.clrs == pytest.approx(itself)


def test_a_cell_is_drawn_from_its_seed_and_purpose():
    dataset, again = (draw(Order("minimum", 5, 4, 1, TEST)) for _ in range(2))
    assert dataset.examples() == again.examples()
    assert dataset.examples() != draw(Order("minimum", 5, 4, 1, 0)).examples()


def test_the_pipeline_is_not_told_when_to_stop(reasoner, dataset, states):
    """Its steps are the same for all problems; those that need as many are answered alike."""
    alone = reasoners.answers(dataset.problems, states.outputs)
    [piped] = pipeline_answers(reasoner, [reread(dataset)])
    full = dataset.problems.lengths == dataset.problems.lengths.max()
    assert [a for a, f in zip(alone, full, strict=True) if f] == [
        p for p, f in zip(piped, full, strict=True) if f
    ]


def test_states_step_by_step_end_with_the_final_ones(reasoner, dataset, states):
    stages = int(dataset.problems.lengths.max())
    [stepwise] = reason(reasoner, [dataset], View(stages))
    assert stepwise.nodes.shape[0] == stages
    assert np.allclose(stepwise.nodes[-1], states.nodes[0], atol=1e-6)
    assert np.allclose(stepwise.edges[-1], states.edges[0], atol=1e-6)
    assert not np.allclose(stepwise.nodes[0], states.nodes[0], atol=1e-3)


def test_hidden_states_alone_have_zeros_in_place_of_encoded_inputs(reasoner, dataset, states):
    [hidden] = reason(reasoner, [dataset], View(inputs=False))
    width = reasoner.parts["bfs"].config.width
    for alone, whole in ((hidden.nodes, states.nodes), (hidden.edges, states.edges)):
        assert not alone[..., :width].any()
        assert whole[..., :width].any()
        assert np.array_equal(alone[..., width:], whole[..., width:])


def test_the_first_problems_of_a_cell_are_the_same_problems(dataset):
    assert dataset.take(slice(2)).examples() == dataset.examples()[:2]


def test_a_stepwise_hybrid_reads_one_more_step_in_each_layer(reasoner, dataset):
    config = dataclasses.replace(TOWER, reads="stepwise")
    tower = build(config, jax.random.key(0), reasoners.widths_of(reasoner))
    reader = dataclasses.replace(tower.reader, gate=jnp.full(2, 0.2))
    tower = dataclasses.replace(tower, reader=reader)
    [states] = reason(reasoner, [dataset], View(2))
    graph = graph_of([(states, np.arange(len(dataset)))], 4)
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    positions = positions_of(config, jax.random.key(1), *tokens.shape)
    forwards = logits(tower, tokens, positions, graph)
    turned = graph._replace(nodes=graph.nodes[::-1], edges=graph.edges[::-1])
    backwards = logits(tower, tokens, positions, turned)
    assert not np.allclose(forwards, backwards, atol=1e-4)


def test_a_reasoner_for_other_tasks_is_refused(reasoner):
    with pytest.raises(ValueError, match="got one for bfs, needed one for dfs too"):
        reason(reasoner, [draw(Order("dfs", 4, 1, 0))])


def test_weights_of_a_reasoner_come_back_from_their_folder(reasoner, tmp_path):
    reasoners.save(reasoner, tmp_path / "reasoner")
    back = reasoners.load(tmp_path / "reasoner")
    for before, after in zip(jax.tree.leaves(reasoner), jax.tree.leaves(back), strict=True):
        assert np.array_equal(before, after)


def test_an_untrained_reasoner_has_the_same_form_and_other_weights(reasoner):
    other = reasoners.untrained(reasoner, 1)
    assert jax.tree.structure(other) == jax.tree.structure(reasoner)
    own, random = (model.parts["bfs"].encoders["A"].weight for model in (reasoner, other))
    assert not np.array_equal(own, random)


def test_a_hybrid_is_recorded_at_the_tokens_that_answer(hybrid, dataset, states, graph):
    recording = mechanism.record(hybrid, dataset, states)
    cross = mechanism.cross_attention_of(recording)
    assert recording.attention.shape == (4, 2, 2, 4, 4)
    assert cross.pairs.shape == (4, 2, 2, 4, 4, 4)
    assert np.array_equal(cross.states, np.moveaxis(states.nodes, 0, 1))
    assert recording.valid.all()
    places = np.stack([mechanism._answering(dataset, sample) for sample in range(4)])
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    positions = positions_of(TOWER, jax.random.key(0), *tokens.shape)
    predicted = logits(hybrid, tokens, positions, graph)[np.arange(4)[:, None], places]
    assert np.allclose(unembed(hybrid, jnp.asarray(recording.hidden[:, -1])), predicted, atol=1e-5)
    decode = mechanism.tokenizer().decode
    for sample, example in enumerate(dataset.examples()):
        answers = dataset.tokens[sample, places[sample] + 1]
        written = [decode([token]).strip() for token in answers]
        assert written == example.answer.strip("[]\n").split(" ")
        before = dataset.tokens[sample, places[sample]]
        assert np.array_equal(recording.states[sample, 0], np.asarray(hybrid.embedding)[before])


def test_every_token_of_an_answer_reads_as_it_does_in_a_recording(reasoner, dataset, states):
    config = dataclasses.replace(TOWER, random_positions=False)
    hybrid = build(config, jax.random.key(0), reasoners.widths_of(reasoner))
    graph = graph_of([(states, np.arange(1))], 4)
    start, end = int(dataset.prompt_lengths[0]), int(dataset.lengths[0])
    prompt, answer = dataset.tokens[0, :start].tolist(), dataset.tokens[0, start:end].tolist()
    read = token_reads(hybrid, prompt, answer, len(answer) + 9, graph, key=jax.random.key(0))
    assert "".join(read.tokens) == dataset.examples()[0].answer
    own = states._replace(nodes=states.nodes[:, :1], edges=states.edges[:, :1])
    recording = record(hybrid, dataset.take([0]), own)
    numbers = [k for k, token in enumerate(read.tokens) if token.strip(" []\n")]
    attention, pairs = recording.attention[0], recording.cross_attention.pairs[0]
    np.testing.assert_allclose(read.nodes[:, :, numbers], attention, atol=1e-5)
    np.testing.assert_allclose(read.pairs[:, :, numbers], pairs, atol=1e-5)


def test_who_is_no_hybrid_has_no_cross_attention(dataset, states):
    base = build(dataclasses.replace(TOWER, reads="nothing"), jax.random.key(0))
    with pytest.raises(ValueError, match="needed a hybrid"):
        mechanism.record(base, dataset, states)
    plain = dataclasses.replace(planted(np.zeros((1, 3), int)), cross_attention=None)
    with pytest.raises(ValueError, match="got one without cross_attention"):
        mechanism.reads(plain, np.zeros((1, 3), int))


def test_a_recording_of_cross_attention_is_checked_and_cut():
    answers = tasks.sample("bfs", 6, 5, 1, p=0.5).outputs["pi"]
    recording = planted(answers)
    last = recording.take(np.array([4]))
    assert mechanism.reads(last, answers[4:]) == mechanism.reads(planted(answers[4:]), answers[4:])
    assert "cross_attention.pairs" in recording._repr_html_()
    whole = mechanism.cross_attention_of(recording)
    changed = {
        "pairs: got receivers with sums from 0 to 0": {"pairs": 0 * whole.pairs},
        "pairs: got shape": {"pairs": whole.pairs[..., :2]},
        "gates: got shape": {"gates": np.ones(3)},
        "states: got shape": {"states": whole.states[:, :, :2]},
    }
    for fault, parts in changed.items():
        with pytest.raises(ValueError, match=f"cross_attention.{fault}"):
            Recording.from_arrays(
                attention=recording.attention,
                hidden=recording.hidden,
                lengths=recording.lengths,
                cross_attention=dataclasses.replace(whole, **parts),
            )


def test_who_reads_itself_is_told_from_who_reads_the_answer():
    answers = tasks.sample("bfs", 6, 5, 1, p=0.5).outputs["pi"]
    own = np.broadcast_to(np.arange(6), answers.shape)
    reads = mechanism.reads(planted(own), answers)
    assert reads.own == [1.0]
    assert reads.predecessor == [0.0]
    assert reads.own_edges == [1.0]
    assert reads.answer_edge == [0.0]
    reads = mechanism.reads(planted(answers), answers)
    assert reads.predecessor == [1.0]
    assert reads.answer_edge == [1.0]
    assert reads.own[0] == pytest.approx((answers == own).mean())
    nowhere = (own + 1) % 6
    other = np.where(nowhere == answers, (own + 2) % 6, nowhere)
    assert mechanism.reads(planted(other), answers).predecessor == [0.0]


def test_ablations_take_away_what_they_name(hybrid, dataset, states, graph):
    reader = dataclasses.replace(hybrid.reader, gate=jnp.full(2, 0.2))
    opened = dataclasses.replace(hybrid, reader=reader)
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    positions = positions_of(TOWER, jax.random.key(1), *tokens.shape)
    base = build(dataclasses.replace(TOWER, reads="nothing"), jax.random.key(0))
    shut = logits(mechanism.without_gates(opened), tokens, positions, graph)
    assert np.array_equal(shut, logits(base, tokens, positions))
    for stream, spared in (("nodes", "edges"), ("edges", "nodes")):
        blind = mechanism.without(opened, stream)
        noise = {stream: getattr(graph, stream) * -3 + 1}
        same = logits(blind, tokens, positions, graph._replace(**noise))
        assert np.array_equal(same, logits(blind, tokens, positions, graph))
        noise = {spared: jnp.roll(getattr(graph, spared), 1, 1)}
        other = logits(blind, tokens, positions, graph._replace(**noise))
        assert not np.array_equal(other, same)
    cross = mechanism.cross_attention_of(mechanism.record(opened, dataset, states))
    assert cross.gates.tolist() == pytest.approx([float(np.tanh(2.0))] * 2)
