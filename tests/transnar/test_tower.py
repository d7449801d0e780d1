"""Towers: what they may see, what padding and caches may change, and how they start."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_towers import TOWER, logits

from algoscope.configuration import TowerConfig
from algoscope.networks import ConfigError
from algoscope.transnar.config import POSITIONS
from algoscope.transnar.generation import ContextError, generate
from algoscope.transnar.learning import answers, loss, whole_texts
from algoscope.transnar.padding import TEXTS, padded
from algoscope.transnar.pool import Bucket, graph_of
from algoscope.transnar.tokenizer import PAD, tokenizer
from algoscope.transnar.tower import build, embed, positions_of


@pytest.fixture(scope="module")
def tokens(dataset):
    return jnp.asarray(dataset.tokens, jnp.int32)


@pytest.fixture(scope="module")
def positions(tokens):
    return positions_of(TOWER, jax.random.key(1), *tokens.shape)


@pytest.fixture(scope="module")
def opened(hybrid):
    """The hybrid with its gates open."""
    reader = dataclasses.replace(hybrid.reader, gate=jnp.full(2, 0.2))
    return dataclasses.replace(hybrid, reader=reader)


def test_gates_at_zero_give_the_base_transformers_logits_exactly(
    hybrid, opened, tokens, positions, graph
):
    base = build(dataclasses.replace(TOWER, reads="nothing"), jax.random.key(0))
    expected = np.asarray(logits(base, tokens, positions))
    assert np.array_equal(logits(hybrid, tokens, positions, graph), expected)
    assert not np.allclose(logits(opened, tokens, positions, graph), expected, atol=1e-3)


def test_no_token_sees_later_ones(opened, tokens, positions, graph):
    place = 20
    changed = tokens.at[:, place:].set(7)
    before = logits(opened, tokens, positions, graph)
    after = logits(opened, changed, positions, graph)
    assert np.array_equal(before[:, :place], after[:, :place])
    assert not np.array_equal(before[:, place:], after[:, place:])


def test_padding_of_texts_and_graphs_changes_nothing(
    opened, tokens, positions, graph, states, dataset
):
    more = 9
    longer = jnp.pad(tokens, [(0, 0), (0, more)], constant_values=PAD)
    further = positions_of(TOWER, jax.random.key(2), len(tokens), tokens.shape[1] + more)
    further = further.at[:, : tokens.shape[1]].set(positions)
    wider = graph_of([(states, np.arange(len(dataset)))], 7)
    padded = logits(opened, longer, further, wider)[:, : tokens.shape[1]]
    assert np.allclose(padded, logits(opened, tokens, positions, graph), atol=2e-5)


@pytest.mark.parametrize("random_positions", [True, False])
def test_cached_and_uncached_generation_agree(opened, dataset, graph, random_positions):
    config = dataclasses.replace(TOWER, random_positions=random_positions)
    tower = dataclasses.replace(opened, config=config)
    prompts = [
        row[: length - cut].tolist()
        for row, length, cut in zip(
            dataset.tokens, dataset.prompt_lengths, (0, 3, 1, 5), strict=True
        )
    ]
    room, key = 6, jax.random.key(4)
    length = padded(max(map(len, prompts)) + room, TEXTS)
    positions = positions_of(config, key, len(prompts), length)
    texts = np.full((len(prompts), length), PAD, np.int32)
    for row, prompt in zip(texts, prompts, strict=True):
        row[: len(prompt)] = prompt
    ends = np.array([len(prompt) for prompt in prompts])
    for step in range(room):
        predicted = logits(tower, jnp.asarray(texts), positions, graph)
        for row, end in enumerate(ends):
            texts[row, end + step] = int(jnp.argmax(predicted[row, end + step - 1]))
    uncached = [row[end : end + room].tolist() for row, end in zip(texts, ends, strict=True)]
    assert not any(tokenizer().end in answer for answer in uncached)
    assert generate(tower, prompts, room, graph, key=key) == uncached


def test_the_gradient_of_an_embedding_is_the_sum_over_the_places_of_its_token():
    tokens = jnp.array([[3, 1, 3], [3, 0, 1]])
    gradient = jax.random.normal(jax.random.key(0), (2, 3, 8))
    _, backward = jax.vjp(lambda rows: embed(rows, tokens), jnp.zeros((5, 8)))
    expected = np.zeros((5, 8))
    np.add.at(expected, np.asarray(tokens), np.asarray(gradient))
    np.testing.assert_allclose(backward(gradient)[0], expected, rtol=1e-6, atol=1e-6)


def test_the_loss_is_that_of_the_answers_tokens(opened, dataset, tokens, positions, graph):
    lengths = np.where(np.arange(len(tokens)) % 2, dataset.lengths, dataset.lengths - 2)
    batch = Bucket(tokens, jnp.asarray(dataset.prompt_lengths), jnp.asarray(lengths), graph)
    surprise = -jax.nn.log_softmax(logits(opened, tokens, positions, graph))
    expected = np.mean(
        [
            np.mean([row[place - 1, text[place]] for place in range(start, end)])
            for row, text, start, end in zip(
                np.asarray(surprise),
                np.asarray(tokens),
                dataset.prompt_lengths,
                lengths,
                strict=True,
            )
        ]
    )
    longest = int((dataset.lengths - dataset.prompt_lengths).max())
    for room in (longest, longest + 30):
        found = float(loss(opened, batch, positions, answers(batch, room)))
        assert found == pytest.approx(expected, rel=1e-5)


def test_the_loss_of_whole_texts_counts_every_token_but_the_first(
    opened, dataset, tokens, positions, graph
):
    batch = Bucket(tokens, jnp.asarray(dataset.prompt_lengths), jnp.asarray(dataset.lengths), graph)
    surprise = -jax.nn.log_softmax(logits(opened, tokens, positions, graph))
    each = [
        np.mean([row[place - 1, text[place]] for place in range(1, end)])
        for row, text, end in zip(
            np.asarray(surprise), np.asarray(tokens), dataset.lengths, strict=True
        )
    ]
    found = float(loss(opened, batch, positions, whole_texts(batch)))
    assert found == pytest.approx(np.mean(each), rel=1e-5)


def test_the_loss_against_a_teacher_is_least_for_the_teacher_itself(
    opened, hybrid, dataset, tokens, positions, graph
):
    """Then it is the entropy of what the teacher expects."""
    batch = Bucket(tokens, jnp.asarray(dataset.prompt_lengths), jnp.asarray(dataset.lengths), graph)
    span = answers(batch, int(dataset.answer_lengths.max()))
    own = float(loss(opened, batch, positions, span, opened))
    expected = np.asarray(logits(opened, tokens, positions, graph), np.float64)
    expected -= np.log(np.exp(expected).sum(-1, keepdims=True))
    entropy = -(np.exp(expected) * expected).sum(-1)
    ends = zip(entropy, dataset.prompt_lengths, dataset.lengths, strict=True)
    each = [row[start - 1 : end - 1].mean() for row, start, end in ends]
    assert own == pytest.approx(np.mean(each), rel=1e-5)
    assert float(loss(hybrid, batch, positions, span, opened)) > own


def test_a_prompt_beyond_the_context_is_refused_with_both_numbers(hybrid):
    with pytest.raises(ContextError, match=r"got 120 tokens and room for 20 .* at most 128"):
        generate(hybrid, [[5] * 120], 20, key=jax.random.key(0))


def test_randomised_positions_ascend_within_their_range_and_differ_between_texts():
    drawn = np.asarray(positions_of(TOWER, jax.random.key(0), 50, 100))
    assert (np.diff(drawn) > 0).all()
    assert drawn.min() >= 0
    assert POSITIONS / 2 < drawn.max() < POSITIONS
    assert len({tuple(row) for row in drawn.tolist()}) == 50
    in_order = dataclasses.replace(TOWER, random_positions=False)
    assert (positions_of(in_order, jax.random.key(0), 2, 3) == jnp.arange(3)[None]).all()


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (TowerConfig(width=0), "tower.width: got 0"),
        (TowerConfig(width=9, heads=2), "heads of even width"),
        (TowerConfig(context=9000), "needed at most 8192"),
        (TowerConfig(reads="final"), "reasoner: got none"),
        (TowerConfig(mix="product"), "unknown tower.mix"),
        (TowerConfig(reading_layers="second"), "unknown tower.reading_layers"),
    ],
)
def test_a_wrong_configuration_is_refused(config, complaint):
    with pytest.raises(ConfigError, match=complaint):
        build(config, jax.random.key(0))
