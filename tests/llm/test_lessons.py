"""Lessons: texts whose every answer is true, starts of every kind, learning that repeats."""

import collections
import json
import re

import numpy as np
import pytest
import torch

from algoscope.llm import learner, lessons, load
from algoscope.llm.behaviour import behaviour
from algoscope.llm.navigator_config import FORM, LearnerConfig
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation

CONFIG = LearnerConfig(batch=32, sizes=(3, 5), depth=3, shorts=5, questions=4)
TINY = LearnerConfig(layers=2, width=16, heads=2, sizes=(2, 3), depth=1, shorts=2, questions=2,
                     batch=4, learned=0.0, steps=6)  # fmt: skip


def _asked(tokenizer, texts):
    """Each place of each text: its number, the edges, what is written up to it, the answer."""
    for row, place in np.ndindex(texts.answers.shape):
        seen = np.flatnonzero(texts.sees[texts.asked[place]])
        assert np.array_equal(texts.positions[seen], np.arange(len(seen)))
        text = tokenizer.decode(texts.ids[row, seen])
        parent = {b: a for a, b in re.findall(r"(\w) > (\w) \.", text)}
        yield (row, place), parent, text, tokenizer.decode(texts.answers[row, place])


def _way(parent, goal, source):
    """Nodes back from the goal, which is the first, to the start or the root."""
    way = [goal]
    while way[-1] != source and way[-1] in parent:
        way.append(parent[way[-1]])
    return way


def _read(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return found.groups()


@pytest.fixture
def writer():
    return lessons.Writer(CONFIG, lessons.lesson_tokenizer(CONFIG))


@pytest.fixture
def tokenizer():
    return lessons.lesson_tokenizer(CONFIG)


@pytest.mark.parametrize("lesson", [1, 3, 5])
def test_lists_name_the_nodes_before(writer, tokenizer, lesson):
    texts = writer.batch(lesson, CONFIG.sizes, np.random.default_rng(1))
    listed, lists = collections.Counter(), set()
    for (row, place), parent, text, answer in _asked(tokenizer, texts):
        if texts.kinds[place] < 0:
            continue
        (back,) = _read(r"Back (\d) : [^:]*$", text)
        node = text.split()[-1]
        way = _way(parent, node, None)
        assert answer == (way[int(back)] if int(back) < len(way) else "No")
        assert node in {*parent, *parent.values()}
        assert texts.kinds[place] == int(back)
        listed[row, back, node] += 1
        lists.add(int(back))
    assert set(listed.values()) == {1}
    assert len(listed) == (texts.kinds > 0).sum() * CONFIG.batch
    assert lesson in lists if lesson <= CONFIG.depth else len(lists) == 1
    assert max(lists) <= lesson
    assert (texts.kinds < 0).any() == (lesson > CONFIG.depth)


@pytest.mark.parametrize("lesson", [4, 5, 6])
def test_every_yes_and_no_is_true(writer, tokenizer, lesson):
    texts = writer.batch(lesson, CONFIG.sizes, np.random.default_rng(lesson))
    full = r"Can you get to (\w) from (\w) \? Answer Yes or No \. Answer :$"
    patterns = {lessons.ASKED: full, lessons.ASKED_IN_SHORT: r"(\w) from (\w) :$"}
    for (row, place), parent, text, answer in _asked(tokenizer, texts):
        if texts.kinds[place] > 0:
            continue
        goal, source = _read(patterns[texts.kinds[place]], text)
        way = _way(parent, goal, source)
        assert answer == ("Yes" if way[-1] == source else "No")
        assert len(way) - 1 == texts.steps[row, place] <= lesson - CONFIG.depth
    assert (texts.kinds == lessons.ASKED).sum() == CONFIG.questions
    assert (texts.kinds == lessons.ASKED_IN_SHORT).sum() == CONFIG.shorts


def test_where_a_start_is_does_not_give_the_answer_away(tokenizer):
    """Yes and No alike at each depth; starts are of every kind with No."""
    config = LearnerConfig(batch=500, sizes=(6,), depth=3)
    texts = lessons.Writer(config, tokenizer).questions(4, np.random.default_rng(0))
    yes, roots, places, deep = [], {True: [], False: []}, collections.Counter(), []
    for _, parent, text, answer in _asked(tokenizer, texts):
        goal, source = _read(r"to (\w) from (\w) \?", text)
        if source == goal or goal not in parent:
            continue
        up, down = _way(parent, goal, None), _way(parent, source, None)
        yes.append(answer == "Yes")
        roots[yes[-1]].append(source not in parent)
        deep.append(len(up) - 1)
        if not yes[-1]:
            other = "other tree" if up[-1] != down[-1] else "branch"
            places["below" if goal in down else other] += 1
    assert np.mean(yes) == pytest.approx(0.5, abs=0.05)
    assert np.corrcoef(yes, deep)[0, 1] == pytest.approx(0, abs=0.06)
    assert min(np.mean(of) for of in roots.values()) > 0.3
    assert min(places[kind] for kind in ("below", "branch", "other tree")) > 0.04 * len(yes)


def test_a_question_of_a_text_is_a_prompt(writer, tokenizer):
    texts = writer.questions(1, np.random.default_rng(0))
    text = tokenizer.decode(texts.ids[0, np.flatnonzero(texts.sees[texts.asked[0]])])
    item = navigation(2, form=FORM, size=5)[0]
    encoded = tokenizer.encode(item.prompt, add_special_tokens=False)
    assert tokenizer.unk_token_id not in encoded

    def shape(written):
        return re.sub(r"\b[A-Z]\b", "X", written)

    assert shape(tokenizer.decode(encoded)) == shape(text)


def test_questions_are_learned_as_they_are_asked(writer, tokenizer):
    """What the model says to a question among others is what it says to the prompt alone."""
    model = learner.build(CONFIG, tokenizer).eval()
    texts = writer.batch(5, (5,), np.random.default_rng(0))
    with torch.inference_mode():
        together = learner.logits_of(model, texts)[0]
        for token, among in zip(texts.asked, together, strict=True):
            prompt = torch.from_numpy(texts.ids[:1, np.flatnonzero(texts.sees[token])])
            alone = model(input_ids=prompt, use_cache=False).logits[0, -1]
            assert torch.allclose(among, alone, atol=1e-4)


def test_the_loss_is_of_words_alone(writer, tokenizer):
    model = learner.build(CONFIG, tokenizer)
    texts = writer.batch(6, (5,), np.random.default_rng(0))
    loss, right = learner._loss(model, texts)
    with torch.no_grad():
        chances = learner.logits_of(model, texts).log_softmax(-1).numpy()
    said = np.take_along_axis(chances, texts.answers[..., None], 2)
    assert loss.item() == pytest.approx(-said.mean(), rel=1e-4)
    assert np.array_equal(right, chances.argmax(-1) == texts.answers)


def test_learning_repeats_and_its_model_loads(tmp_path):
    runs = [learner.train(TINY, every=2) for _ in range(2)]
    states = [run.model.state_dict() for run in runs]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    learner.save(runs[0], TINY, tmp_path / "learner")
    record = json.loads((tmp_path / "learner" / "training.json").read_text())
    assert LearnerConfig(**record["config"] | {"sizes": TINY.sizes}) == TINY
    assert [(p["lesson"], p["size"]) for p in record["history"]] == [(1, 2), (1, 3), (2, 3)]
    assert sum(cell["count"] for cell in record["history"][-1]["cells"]) == 4 * 8
    items = navigation(8, form=FORM, size=3, depths=(1,), seed=9)
    found = behaviour(observe(load(tmp_path / "learner"), items))
    assert sum(cell.count for cell in found.cells if cell.depth is None) == 8


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="needed from 2 to 13 nodes"):
        LearnerConfig(sizes=(14,))
    with pytest.raises(ValueError, match="depth: got 5, needed from 1 to 4"):
        LearnerConfig(depth=5)
