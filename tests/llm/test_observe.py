"""From tokens to nodes: whatever the tokenizer does to names, and in the common Recording."""

import dataclasses

import numpy as np
import pytest
from tiny_models import tiny_llama
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from algoscope.llm.behaviour import behaviour
from algoscope.llm.observe import answer_tokens, observe, places
from algoscope.llm.prompts import from_text, navigation
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import form_tokenizer, word_tokenizer


def _byte_tokenizer(merges):
    """A byte-level BPE learned from a few texts: names fall into pieces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + merges, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(["leads to kitchen library Yes No"] * 5, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=None, pad_token=None)


def _merging_tokenizer():
    """Every sentence of an edge is one token: two names in one piece."""
    words = ["Edges of a graph:", "Can you get to", "from", "? Answer Yes or No. Answer:"]
    pairs = [f"{a} > {b}." for a in "AB" for b in "CD"]
    known = {w: i for i, w in enumerate(["<unk>", *words, *pairs, *"ABCD", "Yes", "No"])}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" | ", "removed")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


@pytest.mark.parametrize("merges", [0, 30])
def test_names_that_fall_into_pieces_are_put_together_again(merges):
    tokenizer = _byte_tokenizer(merges)
    made = subject((tiny_llama(tokenizer), tokenizer), "bytes")
    split = 0
    for item in navigation(4, depths=(1,), size=3):
        at = places(made, item)
        for node, name in enumerate(item.names):
            tokens = np.flatnonzero(at.membership[node])
            text = tokenizer.decode([at.ids[t] for t in tokens])
            assert text.replace(" ", "") == name * int(at.mentions[node])
            assert len(tokens) >= at.mentions[node]
            split += len(tokens) > at.mentions[node]
        assert (at.membership.sum(0) <= 1).all()
    assert split > 10


def test_a_token_of_two_names_belongs_to_both_by_halves():
    tokenizer = _merging_tokenizer()
    made = subject((tiny_llama(tokenizer), tokenizer), "merging")
    prompt = "Edges of a graph: | A > C. | B > D. | Can you get to | D | from | B | ? Answer:"
    item = from_text(prompt, "ABCD", ((0, 2), (1, 3)), 1, 3)
    at = places(made, item)
    assert at.membership[:, 1].tolist() == [0.5, 0, 0.5, 0]
    assert at.membership[:, 2].tolist() == [0, 0.5, 0, 0.5]
    assert observe(made, [item])[0].attention("last").shape == (3, 4, 4)


def test_a_question_without_the_goal_is_refused(llama):
    item = navigation(2, form="letters")[0]
    mute = dataclasses.replace(item, mentions=tuple(m for m in item.mentions if m.role != "goal"))
    with pytest.raises(ValueError, match="a question without the goal"):
        places(llama, mute)
    lost = dataclasses.replace(item, mentions=tuple(m for m in item.mentions if m.node != 3))
    with pytest.raises(ValueError, match="needed at least one of every node"):
        places(llama, lost)


def test_names_that_the_tokenizer_does_not_know_are_refused():
    letters = form_tokenizer("letters")
    made = subject((tiny_llama(letters), letters), "letters")
    observe(made, navigation(2, form="letters"))
    with pytest.raises(ValueError, match=r"letters has no word for, needed another surface form"):
        observe(made, navigation(2, form="rooms"))


def test_node_attention_sums_what_the_tokens_get(llama):
    item = navigation(2, form="letters")[0]
    [seen] = observe(llama, [item])
    rows = llama.read(seen.places.ids, rows=[len(seen.places.ids) - 1]).attention[:, :, 0]
    for node in range(item.nodes):
        tokens = [t for t in range(len(seen.places.ids)) if seen.places.membership[node, t]]
        attended = seen.attention("last")[:, :, node]
        assert np.allclose(attended, rows[..., tokens].sum(-1), atol=1e-6)
    assert np.allclose(seen.per_mention("last") * seen.places.mentions, seen.attention("last"))


def test_a_recording_holds_nodes_then_readouts_then_the_rest(llama):
    """A step is a layer; rows sum to 1, what goes to no node goes to the rest."""
    item = navigation(2, form="letters")[0]
    [seen] = observe(llama, [item])
    recorded = seen.recording
    assert item.nodes == 14
    assert recorded.attention.shape == (1, 3, 4, 17, 17)
    assert recorded.hidden.shape == (1, 3, 17, 32)
    assert recorded.initial.shape == (1, 17, 32)
    assert recorded.valid.all()
    assert np.allclose(recorded.attention.sum(-1), 1, atol=1e-4)
    assert not recorded.attention[0, :, :, :, 14:16].any()
    assert (recorded.attention[0, :, :, 16, 16] == 1).all()
    for number, readout in enumerate(("last", "goal")):
        token = seen.places.readouts[readout]
        reading = llama.read(seen.places.ids, rows=[token], positions=[token])
        row = reading.attention[:, :, 0] @ seen.places.membership.T
        assert np.allclose(recorded.attention[0, :, :, 14 + number, :14], row, atol=1e-6)
        assert np.allclose(seen.readout_states(readout), reading.states[:, 0], atol=1e-6)


def test_a_recorded_node_reads_as_its_mentions_do_on_average(llama):
    item = navigation(2, form="letters")[0]
    [seen] = observe(llama, [item])
    for node, ends in enumerate(seen.places.ends):
        reading = llama.read(seen.places.ids, rows=ends, positions=ends)
        row = (reading.attention @ seen.places.membership.T).mean(2)
        assert np.allclose(seen.recording.attention[0, :, :, node, :14], row, atol=1e-6)
        assert np.allclose(seen.states[:, node], reading.states[:, -1], atol=1e-6)


def test_answers_that_are_neither_yes_nor_no_are_counted_as_such(llama):
    seen = observe(llama, navigation(12, form="letters"))
    found = behaviour(seen)
    assert sum(found.written.values()) == 12
    assert found.written["neither"] == 12
    total = [cell for cell in found.cells if cell.depth is None]
    assert sum(cell.count for cell in total) == 12
    with pytest.raises(ValueError, match="one truth value only"):
        behaviour([o for o in seen if o.item.reachable])


def test_yes_and_no_have_to_be_told_apart(tokenizer):
    blind = word_tokenizer(["x"])
    made = subject((tiny_llama(blind), blind), "blind")
    assert answer_tokens(made) == ([blind.convert_tokens_to_ids("Yes")],
                                   [blind.convert_tokens_to_ids("No")])  # fmt: skip
    known = {"<unk>": 0, "x": 1}
    deaf = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    deaf = PreTrainedTokenizerFast(tokenizer_object=deaf, unk_token="<unk>")
    with pytest.raises(ValueError, match="begin with the same token"):
        answer_tokens(dataclasses.replace(made, tokenizer=deaf))
