"""Streams and mixtures of examples, and the canonical splits, are dm-clrs's."""

import itertools

import pytest
from oracle import text_goldens

from algoscope import tasks
from algoscope.tasks import text

GOLDENS = text_goldens.load()


def test_a_stream_goes_on_where_a_sample_ends():
    drawn = text.stream("quickselect", 5, 3, traces=True, truncate_decimals=2)
    assert list(itertools.islice(drawn, 50)) == text.sample(
        "quickselect", 5, 50, 3, traces=True, truncate_decimals=2
    )


@pytest.mark.parametrize(
    ("mixture", "golden"), list(zip(text_goldens.MIXTURES, GOLDENS["mixtures"], strict=True))
)
def test_mixtures_equal_those_of_dm_clrs(mixture, golden):
    rows = text.rows(*mixture)
    assert text_goldens.digest(repr(row) for row in rows) == golden


def test_rows_without_a_count_do_not_end():
    sizes = {"minimum": [3], "bfs": [4]}
    assert list(itertools.islice(text.rows(sizes), 100)) == list(text.rows(sizes, 100))


@pytest.mark.parametrize("part", ["train", "val"])
def test_sizes_of_canonical_splits_equal_those_of_dm_clrs(part):
    ours = {name: list(text.split_sizes(name, part)) for name in tasks.names()}
    assert ours == GOLDENS["sizes"][part]


@pytest.mark.parametrize(
    ("name_and_part", "golden"),
    list(zip(text_goldens.WHOLE_SPLITS, GOLDENS["splits"], strict=True)),
)
def test_canonical_splits_equal_those_of_dm_clrs(name_and_part, golden):
    examples = text.split(*name_and_part)
    assert text_goldens.digest(example.text for example in examples) == golden


def test_splits_pass_on_how_to_write():
    example = next(text.split("minimum", "val", traces=True, truncate_decimals=2))
    assert [example] == text.sample("minimum", 4, 1, 3, traces=True, truncate_decimals=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: text.sample("bsf"), "unknown task: 'bsf'; did you mean bfs"),
        (lambda: text.sample("bfs", 0), "size: got 0"),
        (lambda: text.sample("bfs", count=0), "count: got 0"),
        (lambda: text.stream("bfs", truncate_decimals=0), "truncate_decimals: got 0"),
        (lambda: text.stream("bfs", q=1), "unknown option of bfs: 'q'"),
        (lambda: text.rows({}), "sizes: got {}, needed at least one task"),
        (lambda: text.rows({"bfs": []}), "sizes: got {'bfs': \\[\\]}, needed at least one task"),
        (lambda: text.rows({"bfs": 4}), "sizes: got 4 for bfs, needed a list of sizes"),
        (lambda: text.rows({"bfs": [4]}, -1), "count: got -1"),
        (lambda: text.rows({"bfs": [4]}, seed=-1), "seed: got -1"),
        (lambda: text.rows({"bfs": [4, 0]}), "size: got 0"),
        (lambda: text.split("bfs", "test"), "unknown split: 'test'; there is train, val"),
        (lambda: text.split("bsf", "val"), "unknown task of CLRS-Text: 'bsf'; did you mean bfs"),
    ],
)
def test_bad_arguments_are_refused_at_once(call, message):
    with pytest.raises(ValueError, match=message):
        call()
