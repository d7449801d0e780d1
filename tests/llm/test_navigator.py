"""The navigator: texts that say what is true, training that repeats, a model that loads."""

import json
import re

import numpy as np
import pytest
import torch

from algoscope.llm import load, navigator
from algoscope.llm.behaviour import behaviour
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.vocabulary import form_tokenizer

TINY = navigator.NavigatorConfig(layers=3, width=16, heads=2, sizes=(3,), depths=(1,), batch=4,
                                 questions=3, hops=1, steps=6)  # fmt: skip


def _questions(tokenizer, texts, row):
    """What each question says with what it may see, and where in that its answer is asked."""
    for number, end in enumerate(texts.ends):
        seen = np.flatnonzero(texts.sees[end])
        assert np.array_equal(texts.positions[seen], np.arange(len(seen)))
        yield number, tokenizer.decode(texts.ids[row, seen])


def test_training_texts_are_prompts_with_right_answers():
    tokenizer = form_tokenizer(navigator.FORM)
    config = navigator.NavigatorConfig(batch=8, questions=6, hops=3)
    texts = navigator.Writer(tokenizer).batch(config, np.random.default_rng(0))
    assert texts.ancestors.shape == (4, 8, 6)
    for row in range(8):
        for number, text in _questions(tokenizer, texts, row):
            parent = {b: a for a, b in re.findall(r"(\w) > (\w) \.", text)}
            goal = re.search(r"to (\w) from", text)[1]
            chain = [goal]
            while chain[-1] in parent:
                chain.append(parent[chain[-1]])
            source = re.search(r"from (\w) \? Answer Yes or No \. Answer :$", text)[1]
            answer = tokenizer.decode(texts.answers[row, number])
            assert answer == ("Yes" if chain[-1] == source else "No")
            named = [tokenizer.decode(texts.ancestors[hop, row, number]) for hop in range(4)]
            assert named == (chain + 3 * chain[-1:])[:4]
        for head, tail in zip(texts.heads, texts.tails[row], strict=True):
            assert parent[tokenizer.decode(texts.ids[row, head])] == tokenizer.decode(tail)


def test_goals_are_of_every_depth_and_truth_alike():
    config = navigator.NavigatorConfig(batch=400, questions=10, sizes=(7,))
    rng = np.random.default_rng(0)
    _, depths = navigator._trees(config.batch, 7, rng)
    goals = navigator._goals(depths, config, rng)
    of = np.take_along_axis(depths, goals, 1)[depths.max(1) >= 3]
    assert np.bincount(of.ravel(), minlength=4)[1:] / of.size == pytest.approx(1 / 3, abs=0.03)
    texts = navigator.Writer(form_tokenizer(navigator.FORM)).batch(config, rng)
    yes = form_tokenizer(navigator.FORM).get_vocab()["Yes"]
    assert (texts.answers == yes).mean() == pytest.approx(0.5, abs=0.03)


def test_a_question_of_a_text_is_a_prompt():
    tokenizer = form_tokenizer(navigator.FORM)
    config = navigator.NavigatorConfig(batch=1, questions=2, sizes=(3,), depths=(1,))
    texts = navigator.Writer(tokenizer).batch(config, np.random.default_rng(0))
    text = tokenizer.decode(texts.ids[0, np.flatnonzero(texts.sees[texts.ends[0]])])
    item = navigation(2, form="letters", size=3, depths=(1,))[0]
    encoded = tokenizer.encode(item.prompt, add_special_tokens=False)
    assert tokenizer.unk_token_id not in encoded

    def shape(written):
        return re.sub(r"\b[A-Z]\b", "X", written)

    assert shape(tokenizer.decode(encoded)) == shape(text)


def test_training_repeats_and_its_model_loads(tmp_path):
    runs = [navigator.train(TINY, every=3) for _ in range(2)]
    states = [run[0].state_dict() for run in runs]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    model, tokenizer, history = runs[0]
    navigator.save(model, tokenizer, TINY, history, tmp_path / "navigator")
    record = json.loads((tmp_path / "navigator" / "training.json").read_text())
    assert record["config"]["steps"] == 6
    assert [entry["step"] for entry in record["history"]] == [3, 6]
    loaded = load(tmp_path / "navigator")
    found = behaviour(observe(loaded, navigator.evaluation_items(8, TINY, seed=9)))
    assert sum(cell.count for cell in found.cells if cell.depth is None) == 8


def test_questions_are_learned_as_they_are_asked():
    """The answer to a question among others is the model's answer to the prompt alone."""
    tokenizer = form_tokenizer(navigator.FORM)
    model = navigator.build(TINY, tokenizer).eval()
    texts = navigator.Writer(tokenizer).batch(TINY, np.random.default_rng(0))
    with torch.inference_mode():
        together = model(
            input_ids=torch.from_numpy(texts.ids),
            attention_mask=torch.from_numpy(texts.sees)[None, None],
            position_ids=torch.from_numpy(texts.positions)[None],
            use_cache=False,
        ).logits[0, texts.ends]
        for end, among in zip(texts.ends, together, strict=True):
            prompt = texts.ids[:1, np.flatnonzero(texts.sees[end])]
            alone = model(input_ids=torch.from_numpy(prompt), use_cache=False).logits[0, -1]
            assert torch.allclose(among, alone, atol=1e-5)


def test_hops_are_what_is_learned():
    """With hops, the loss is that of the answers, of ancestors by layer, and of tails of edges."""
    tokenizer = form_tokenizer(navigator.FORM)
    model = navigator.build(TINY, tokenizer)
    texts = navigator.Writer(tokenizer).batch(TINY, np.random.default_rng(0))
    readout = torch.nn.Linear(TINY.width, len(tokenizer))
    loss, shares = navigator._loss(model, readout, texts, TINY)
    assert shares.shape == (2,)
    with torch.no_grad():
        hidden = model.model(
            input_ids=torch.from_numpy(texts.ids),
            attention_mask=torch.from_numpy(texts.sees)[None, None],
            position_ids=torch.from_numpy(texts.positions)[None],
            output_hidden_states=True,
        ).hidden_states
        first, second = (model.model.norm(hidden[layer]) for layer in (1, 2))

        def entropy(logits, at, tokens):
            return torch.nn.functional.cross_entropy(
                logits[:, at].flatten(0, 1), torch.from_numpy(tokens).flatten()
            )

        named = [
            entropy(model.lm_head(state), texts.ends, tokens)
            for state, tokens in zip((first, second), texts.ancestors, strict=True)
        ]
        expected = entropy(model.lm_head(hidden[-1]), texts.ends, texts.answers)
        expected += sum(named) / 2 + entropy(readout(first), texts.heads, texts.tails)
    assert torch.allclose(loss.detach(), expected, rtol=1e-4)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="hops: got 5, needed at most 4 with 6 layers"):
        navigator.NavigatorConfig(hops=5)
    with pytest.raises(ValueError, match="needed from 2 to 13 nodes"):
        navigator.NavigatorConfig(sizes=(14,))
