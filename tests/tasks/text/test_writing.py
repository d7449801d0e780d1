"""Prompts and answers equal dm-clrs's character for character.

The golden texts are made by tests/oracle/make_text_goldens.py.
"""

import re

import numpy as np
import pytest
from oracle import text_goldens

from algoscope import tasks
from algoscope.tasks import text

GOLDENS = text_goldens.load()["cases"]
CASES = text_goldens.cases()
FLOAT = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def assert_equal_within_ulps(ours: str, theirs: str) -> None:
    """All characters but the last digits of floats."""
    assert FLOAT.sub("float", ours) == FLOAT.sub("float", theirs)
    a, b = (np.array([float(number) for number in FLOAT.findall(t)]) for t in (ours, theirs))
    assert (np.abs(a - b) <= 4 * np.spacing(np.abs(b))).all()


@pytest.mark.parametrize("name", tasks.names())
def test_texts_equal_those_of_dm_clrs(name):
    for case, golden in zip(CASES, GOLDENS, strict=True):
        if case.task != name:
            continue
        ours = text.sample(
            name,
            case.size,
            text_goldens.COUNT,
            case.seed,
            case.traces,
            truncate_decimals=case.decimals,
        )
        for number, (example, theirs) in enumerate(zip(ours, golden, strict=True)):
            if case.cpu_dependent:
                assert_equal_within_ulps(example.text, theirs)
            elif number < case.whole_texts:
                assert example.text == theirs
            elif theirs is not None:
                assert text_goldens.digest([example.text]) == theirs, f"{case}: {example.text}"


def test_hardly_a_golden_text_is_left_out_for_its_ties():
    left_out = [t is None for golden in GOLDENS for t in golden]
    assert len(left_out) == len(CASES) * text_goldens.COUNT
    assert sum(left_out) < 0.01 * len(left_out)


def test_floats_are_written_as_numpy_writes_them():
    random = np.random.RandomState(0)
    batch = tasks.sample("minimum", 1000, 3, 0)
    keys = batch.inputs["key"]
    keys[0] = random.uniform(-1, 1, 1000) * 10.0 ** random.randint(-20, 20, 1000)
    keys[1] = np.trunc(random.uniform(-1, 1, 1000) * 1000) / 1000
    keys[2] = np.frombuffer(random.bytes(8000))
    keys[2, ~np.isfinite(keys[2])] = -0.0
    for sample in range(3):
        written = " ".join(str(value) for value in keys[sample])
        assert text.write(batch, sample).prompt == f"minimum:\nkey: [{written}]\nmin:\n"


def test_a_padded_trace_is_written_up_to_its_own_length():
    batch = tasks.sample("bfs", 7, 20, 3)
    assert len(set(batch.lengths)) > 1
    for sample, steps in enumerate(batch.lengths):
        trace, _, answer = text.write(batch, sample, traces=True).answer.partition(" | ")
        assert trace.count("[") == max(0, steps - 2)
        assert answer == text.write(batch, sample).answer


@pytest.mark.parametrize("name", [n for n in tasks.names() if tasks.get(n).smallest == 1])
def test_problems_of_one_node_keep_their_brackets(name):
    """dm-clrs fails on most of them."""
    for traces in (False, True):
        [example] = text.sample(name, 1, 1, 0, traces)
        assert text.score(example, example.answer) == (1,) * 6


def test_segments_have_no_trace_to_write():
    assert text.sample("segments_intersect", traces=True)[0].text == (
        text.sample("segments_intersect")[0].text
    )


@pytest.mark.parametrize("name", sorted({*tasks.names(variants=True)} - {*tasks.names()}))
def test_variants_ask_what_the_tasks_ask_whose_variants_they_are(name):
    for example, other in zip(
        text.sample(name, 6), text.sample(tasks.get(name).variant_of, 6), strict=True
    ):
        assert example.text.removeprefix(name) == other.text.removeprefix(other.task)


@pytest.mark.parametrize("sample", [-1, 3])
def test_a_sample_that_is_not_there_is_refused(sample):
    with pytest.raises(ValueError, match=f"sample: got {sample}, needed an integer from 0 to 2"):
        text.write(tasks.sample("bfs", 4, 3, 0), sample)
