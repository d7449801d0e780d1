"""The navigator: texts that say what is true, training that repeats, a model that loads."""

import dataclasses
import json
import re

import numpy as np
import torch

from algoscope.llm import load, navigator
from algoscope.llm.behaviour import behaviour
from algoscope.llm.observe import observe
from algoscope.llm.prompts import navigation
from algoscope.llm.vocabulary import word_tokenizer

TINY = navigator.NavigatorConfig(layers=1, width=16, heads=2, sizes=(3,), depths=(1,), batch=4,
                                 questions=3, steps=6)  # fmt: skip


def test_training_texts_are_prompts_with_right_answers():
    tokenizer = word_tokenizer()
    writer = navigator.Writer(tokenizer)
    config = navigator.NavigatorConfig(batch=8, questions=6)
    texts = writer.batch(config, (1, 2, 3), np.random.default_rng(0))
    checked = 0
    for ids, labels, verdicts in zip(*texts, strict=True):
        text = tokenizer.decode(ids, skip_special_tokens=False)
        edges = re.findall(r"(\w) > (\w) \.", text)
        parent = {b: a for a, b in edges}
        pattern = r"get to (\w) from (\w) \? Answer Yes or No \. Answer : (Yes|No)"
        questions = re.findall(pattern, text)
        assert len(questions) == 2
        assert verdicts.sum() == 2
        for goal, source, answer in questions:
            root = goal
            while root in parent:
                root = parent[root]
            assert (answer == "Yes") == (root == source)
            checked += 1
        for goal, named in re.findall(r"way to (\w) \. Answer : (\w)", text):
            root = goal
            while root in parent:
                root = parent[root]
            assert named == root
        answered = np.flatnonzero(labels >= 0)
        assert np.array_equal(labels[answered], ids[answered + 1])
    assert checked == 16


def test_prompts_begin_as_training_texts_do():
    tokenizer = word_tokenizer()
    writer = navigator.Writer(tokenizer)
    item = navigation(2, form="letters", size=3, depths=(1,))[0]
    encoded = tokenizer.encode(item.prompt, add_special_tokens=False)
    assert encoded[: len(writer.intro)] == writer.intro
    assert len(encoded) == len(writer.intro) + 4 * len(writer.edge) + len(writer.asked["reach"])
    assert tokenizer.unk_token_id not in encoded


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


def test_workers_write_the_same_texts():
    alone = navigator.train(TINY, every=3)[0].state_dict()
    helped = navigator.train(dataclasses.replace(TINY, workers=1), every=3)[0].state_dict()
    assert all(torch.equal(alone[name], helped[name]) for name in alone)
