"""The tokenizer loses nothing and is short."""

import hypothesis
import hypothesis.strategies as st
import pytest
from oracle import text_goldens

from algoscope import tasks
from algoscope.transnar.tokenizer import tokenizer

TEXTS = [
    (case, golden)
    for case, of_case in zip(text_goldens.cases(), text_goldens.load()["cases"], strict=True)
    for golden in of_case
    if golden is not None and "\n" in golden
]
"""Whole texts of dm-clrs's, with and without traces, floats short and in full."""


@pytest.mark.parametrize("name", tasks.names())
def test_every_task_comes_back_character_for_character(name):
    found = [golden for case, golden in TEXTS if case.task == name]
    assert found
    for golden in found:
        tokens = tokenizer().encode(golden)
        assert tokenizer().decode(tokens) == golden
        assert 0 < min(tokens) <= max(tokens) < tokenizer().size


@hypothesis.given(st.text())
def test_so_does_any_other_text(given):
    assert tokenizer().decode(tokenizer().encode(given)) == given


def test_numbers_cost_few_tokens_and_unknown_nodes_are_known_parts():
    def tokens(given):
        return [tokenizer().decode([number]) for number in tokenizer().encode(given)]

    assert tokens("[0.417 -0.72 13]\n\n") == [
        "[",
        "0",
        ".417",
        " -0",
        ".72",
        " 1",
        "3",
        "]",
        "\n\n",
    ]
    assert tokens("bfs:\ns: 0") == ["bfs", ":\n", "s", ": ", "0"]


def test_bytes_that_form_no_text_are_shown_as_such():
    assert tokenizer().decode([1 + 0xFF]) == "\ufffd"
