"""What towers are compared with, and what they read."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_towers import TOWER

from algoscope import tasks
from algoscope.recording import Recording
from algoscope.transnar import mechanism
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import View, reason
from algoscope.transnar.scores import (
    constant_answers,
    pipeline_answers,
    scores_of,
    solver_answers,
)
from algoscope.transnar.text_dataset import TEST, Order, draw, reread
from algoscope.transnar.tower import build, observe, positions_of

_logits = jax.jit(lambda *arguments: observe(*arguments)[0])


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
    forwards = _logits(tower, tokens, positions, graph)
    turned = graph._replace(nodes=graph.nodes[::-1], edges=graph.edges[::-1])
    backwards = _logits(tower, tokens, positions, turned)
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


def test_cross_attention_is_recorded_at_the_tokens_that_answer(hybrid, dataset, states):
    observed = mechanism.record(hybrid, dataset, states)
    assert observed.recording.attention.shape == (4, 2, 2, 4, 4)
    assert observed.edges.shape == (4, 2, 2, 4, 4, 4)
    assert np.allclose(observed.edges.sum((-1, -2)), 1, atol=1e-3)
    assert observed.recording.valid.all()
    for sample, example in enumerate(dataset.examples()):
        start = dataset.prompt_lengths[sample]
        places = mechanism._answering(dataset, sample) + 1
        decode = mechanism.tokenizer().decode
        written = [decode([dataset.tokens[sample, place]]).strip() for place in places]
        assert written == example.answer.strip("[]\n").split(" ")
        assert (places >= start).all()


def planted(answers: np.ndarray, towards: np.ndarray) -> mechanism.Observed:
    """One layer and head whose token i attends to towards[i] and the pair of it and i alone."""
    count, n = answers.shape
    attention = np.eye(n)[towards][:, None, None]
    edges = np.zeros((count, 1, 1, n, n, n))
    for problem in range(count):
        edges[problem, 0, 0, np.arange(n), towards[problem], np.arange(n)] = 1
    recording = Recording.from_arrays(
        attention=attention, hidden=np.zeros((count, 1, n, 2)), lengths=np.full(count, 2)
    )
    return mechanism.Observed(recording, edges)


def test_who_reads_itself_is_told_from_who_reads_the_answer():
    answers = tasks.sample("bfs", 6, 5, 1, p=0.5).outputs["pi"]
    own = np.broadcast_to(np.arange(6), answers.shape)
    reads = mechanism.reads(planted(answers, own), answers)
    assert reads.own == [1.0]
    assert reads.predecessor == [0.0]
    assert reads.own_edges == [1.0]
    assert reads.answer_edge == [0.0]
    reads = mechanism.reads(planted(answers, answers), answers)
    assert reads.predecessor == [1.0]
    assert reads.answer_edge == [1.0]
    assert reads.own[0] == pytest.approx((answers == own).mean())
    nowhere = (own + 1) % 6
    other = np.where(nowhere == answers, (own + 2) % 6, nowhere)
    assert mechanism.reads(planted(answers, other), answers).predecessor == [0.0]


def test_ablations_take_away_what_they_name(hybrid, dataset, graph):
    reader = dataclasses.replace(hybrid.reader, gate=jnp.full(2, 0.2))
    opened = dataclasses.replace(hybrid, reader=reader)
    tokens = jnp.asarray(dataset.tokens, jnp.int32)
    positions = positions_of(TOWER, jax.random.key(1), *tokens.shape)
    base = build(dataclasses.replace(TOWER, reads="nothing"), jax.random.key(0))
    shut = _logits(mechanism.without_gates(opened), tokens, positions, graph)
    assert np.array_equal(shut, _logits(base, tokens, positions))
    for stream, spared in (("nodes", "edges"), ("edges", "nodes")):
        blind = mechanism.without(opened, stream)
        noise = {stream: getattr(graph, stream) * -3 + 1}
        same = _logits(blind, tokens, positions, graph._replace(**noise))
        assert np.array_equal(same, _logits(blind, tokens, positions, graph))
        noise = {spared: jnp.roll(getattr(graph, spared), 1, 1)}
        other = _logits(blind, tokens, positions, graph._replace(**noise))
        assert not np.array_equal(other, same)
    assert mechanism.gates(opened) == pytest.approx([float(np.tanh(2.0))] * 2)
    with pytest.raises(ValueError, match="needed a hybrid"):
        mechanism.gates(base)
