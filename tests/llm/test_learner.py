"""The learner that comes with Algoscope: no state of it was supervised, and it navigates."""

import json

import numpy as np
import pytest
from transformers import GPT2LMHeadModel

from algoscope.llm import learner, load, navigation
from algoscope.llm.lessons import Writer, lesson_tokenizer
from algoscope.llm.navigator_config import FORM, LearnerConfig
from algoscope.llm.observe import observe
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import SHIPPED


@pytest.fixture(scope="module")
def shipped():
    return load("learner")


@pytest.fixture(scope="module")
def config() -> LearnerConfig:
    values = json.loads((SHIPPED / "learner" / "training.json").read_text())["config"]
    return LearnerConfig(**values | {"sizes": tuple(values["sizes"])})


def _share_right(subject, items: list[Item]) -> float:
    return float(np.mean([seen.right for seen in observe(subject, items)]))


def test_it_is_right_on_unseen_mazes_for_either_truth(shipped, config):
    """Well above the half that chance gives; almost always after one step."""
    for depth, least in ((1, 0.95), (2, 0.8)):
        items = navigation(120, form=FORM, size=max(config.sizes), depths=(depth,), seed=10 + depth)
        for reachable in (True, False):
            of = [item for item in items if item.reachable == reachable]
            assert _share_right(shipped, of) >= least, (depth, reachable)


def test_it_navigates_from_starts_that_are_no_roots(config):
    """By steps back from the goal and truth value, starts as lessons have them."""
    model = GPT2LMHeadModel.from_pretrained(SHIPPED / "learner")
    writer = Writer(config, lesson_tokenizer(config))
    cells = learner.examine(model, writer, np.random.default_rng(5))
    assert {(cell.steps, cell.reachable) for cell in cells} == {
        (steps, reachable) for steps in range(3) for reachable in (True, False)
    }
    for cell in cells:
        assert cell.right / cell.count >= 0.8, cell


def test_it_reads_which_way_edges_lead(shipped, config):
    """A Yes becomes No when the arrow is turned round."""
    said = []
    for item in navigation(60, form=FORM, size=max(config.sizes), depths=(1,), seed=3)[::2]:
        a, b = item.names[item.source], item.names[item.goal]
        turned = item.prompt.replace(f"{a} > {b}.", f"{b} > {a}.")
        ids = shipped.encode(turned).ids
        logits = shipped.read(ids).logits
        yes, no = (shipped.tokenizer.get_vocab()[word] for word in ("Yes", "No"))
        said.append(logits[yes] > logits[no])
    assert np.mean(said) <= 0.1
