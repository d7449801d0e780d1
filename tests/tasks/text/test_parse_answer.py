"""Answers are read as they were written, and scores equal those of a second implementation.

That one knows no layouts: it walks through a text character by character into nested lists, and
takes the shape of an answer from the right answer, that of a step from the prompt's first step.
"""

import itertools
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algoscope import tasks
from algoscope.tasks import Kind, text

SORTING = ("insertion_sort", "bubble_sort", "heapsort", "quicksort")


def as_written(feature: tasks.Feature, dense: np.ndarray) -> np.ndarray:
    if feature.kind is Kind.MASK_ONE:
        return np.flatnonzero(dense)[0]
    if feature.kind is Kind.CATEGORICAL:
        return np.where(dense.sum(-1) < 0, -1, dense.argmax(-1))
    return dense


@pytest.mark.parametrize("decimals", [None, 3])
@pytest.mark.parametrize("name", tasks.names())
def test_answers_read_as_the_outputs_they_were_written_from(name, decimals):
    task = tasks.get(name)
    batch = tasks.sample(name, 7, 4, 5, truncate_decimals=decimals)
    for b in range(len(batch)):
        example = text.write(batch, b)
        reading = text.read(name, example.answer, example.nodes)
        assert reading[1:] == ({}, 1, 1, 1)
        for feature in task.at(tasks.Stage.OUTPUT):
            expected = as_written(feature, batch.outputs[feature.name][b])
            if feature.kind is Kind.PERMUTATION:
                expected = np.sort(batch.inputs["key"][b])
            assert reading.arrays[feature.name].dtype == np.float64
            assert np.array_equal(reading.arrays[feature.name], expected)


@pytest.mark.parametrize("name", tasks.names())
def test_traces_read_as_the_hints_they_were_written_from(name):
    batch = tasks.sample(name, 6, 4, 6)
    hints = {feature.name: feature for feature in tasks.get(name).at(tasks.Stage.HINT)}
    for b, steps in enumerate(batch.lengths):
        example = text.write(batch, b, traces=True)
        reading = text.read(name, example.answer, example.nodes, traces=True)
        assert reading[2:] == (1, 1, 1)
        assert bool(reading.trace) == (name != "segments_intersect")
        for hint, array in reading.trace.items():
            between = range(1, steps - 1)
            assert len(array) == len(between)
            for step, row in zip(between, array, strict=True):
                expected = as_written(hints[hint], batch.hints[hint][b, step])
                if name in SORTING:
                    expected = batch.inputs["key"][b][in_order(expected)]
                assert np.array_equal(row, expected)


def in_order(predecessors: np.ndarray) -> list[int]:
    """Node v stands behind as many nodes as there are on the way from it to the first."""

    def depth(node):
        return 0 if predecessors[node] == node else 1 + depth(predecessors[node])

    return sorted(range(len(predecessors)), key=depth)


class Brackets(NamedTuple):
    opening: str
    closing: str


def walk(given: str, brackets: Brackets) -> list | None:
    """Nested lists of words; None if the brackets do not match."""
    open_lists, word = [[]], ""
    for character in given + " ":
        if character not in (*brackets, " ", ",", "\n"):
            word += character
            continue
        if word:
            open_lists[-1].append(word)
            word = ""
        if character == brackets.opening:
            open_lists.append([])
        elif character == brackets.closing:
            if len(open_lists) == 1:
                return None
            closed = open_lists.pop()
            open_lists[-1].append(closed)
    return open_lists[0] if len(open_lists) == 1 else None


def same_shape(a, b) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_shape, a, b))
    return isinstance(a, str) and isinstance(b, str)


def words(given: str, brackets: Brackets) -> list[str]:
    for separator in (*brackets, " ", "\n"):
        if separator:
            given = given.replace(separator, ",")
    return [word for word in given.split(",") if word]


def is_number(word: str, real: bool) -> bool:
    def all_digits(part):
        return part != "" and all(character in "0123456789" for character in part)

    word = word[1:] if word[:1] == "-" else word
    if real and word.count("e") == 1:
        word, exponent = word.split("e")
        if not all_digits(exponent[1:] if exponent[:1] in ("+", "-") else exponent):
            return False
    parts = word.split(".") if real else [word]
    return len(parts) <= 2 and all(map(all_digits, parts))


def answer_in(given: str) -> str:
    while given and given[0] in " \n":
        given = given[1:]
    end = given.find("\n\n")
    given = given if end < 0 else given[:end]
    while given and given[-1] in " \n":
        given = given[:-1]
    return given


def second_opinion(example: text.Example, given: str) -> text.Scores:
    right, given = answer_in(example.answer), answer_in(given)
    exact = right == given
    traced = example.traces and example.task != "segments_intersect"
    if traced and example.task in ("binary_search", "find_maximum_subarray_kadane"):
        brackets = Brackets("(", ")")
    else:
        brackets = Brackets("[", "]") if "[" in right else Brackets("", "")
    real = example.task in SORTING

    def share(right_words, given_words, longest):
        pairs = zip(right_words, given_words, strict=False)
        return sum(is_number(b, real) and float(a) == float(b) for a, b in pairs) / longest

    trace_shape, trace = True, 1.0
    parse = all(is_number(word, real) for word in words(given, brackets))
    if traced:
        first_step = example.prompt.split("initial_trace: ")[1].split("\n")[0]
        step = walk(first_step, brackets)
        right_trace, right = right.split("|")
        parts = given.split("|")
        given_trace, given = "|".join(parts[:-1]), parts[-1]
        trace_words, right_words = words(given_trace, brackets), words(right_trace, brackets)
        parse = all(is_number(word, real) for word in words(given, brackets) + trace_words)
        nested = walk(given_trace, brackets)
        trace_shape = len(parts) > 1 and nested is not None and (
            len(nested) % len(step) == 0
            and same_shape(step * (len(nested) // len(step)), nested)
        )  # fmt: skip
        longest = max(len(right_words), len(trace_words))
        if not trace_shape:
            trace = 0.0
        elif longest:
            trace = share(right_words, trace_words, longest)
    nested = walk(given, brackets)
    shape = nested is not None and same_shape(walk(right, brackets), nested)
    right_words = words(right, brackets)
    clrs = share(right_words, words(given, brackets), len(right_words)) if shape else 0.0
    return text.Scores(shape, parse, clrs, trace_shape, trace, exact)


PIECES = [
    *"0123456789", *"[](){}|,. -+eE\n\t", "\n\n", ", ", " | ", "-1", "0.5", "1e5", "1e-05", "1.",
    ".5", "inf", "nan", "NaN", "_", "0x1", "1_0", "٣", "²", "½", "\u00a0", "\u2009", "\ufeff",
    "\x00", "😀", "x", "pi:", "answer", "9" * 400, "9" * 5000, "1e999", "--1", "[[", "]]", "[]",
]  # fmt: skip


def mutated(answer: str, others: list[str], chance: random.Random) -> str:
    """The answer after one to four random changes."""
    for _ in range(chance.randint(1, 4)):
        a, b = sorted(chance.randint(0, len(answer)) for _ in range(2))
        near = min(a + chance.randint(0, 3), len(answer))
        answer = chance.choice(
            [
                answer[:a] + chance.choice(PIECES) + answer[a:],
                answer[:a] + chance.choice(PIECES) + answer[near:],
                answer[:a] + chance.choice("0123456789") + answer[a + 1 :],
                answer[:a] + answer[near:],
                answer[:a] + answer[b:],
                answer[:a],
                answer[a:],
                answer[:b] + answer[a:],
                answer[:a] + chance.choice(others) + answer[a:],
                answer.replace(chance.choice("[](), |.0"), chance.choice(PIECES), 1),
                answer.replace(" ", ", "),
                answer.replace(", ", " "),
            ]
        )
    return answer


def test_scores_of_mutated_answers_equal_a_second_implementation():
    chance = random.Random(0)
    examples = [
        example
        for name in tasks.names()
        for size, decimals, traces in itertools.product((4, 6), (None, 3), (False, True))
        for example in text.sample(name, size, 2, 1, traces, truncate_decimals=decimals)
    ]
    answers = [example.answer for example in examples]
    seen = []
    for number in range(10_000):
        example = examples[number % len(examples)]
        given = mutated(example.answer, answers, chance)
        scores = text.score(example, given)
        assert scores == second_opinion(example, given), (example, given)
        seen.append(scores)
    seen = np.array(seen)
    for column in ("shape", "parse", "trace_shape"):
        ones = seen[:, text.Scores._fields.index(column)].mean()
        assert 0.1 < ones < 0.9, column
    assert np.sum((seen[:, 2] > 0) & (seen[:, 2] < 1)) > 500
    assert np.sum((seen[:, 4] > 0) & (seen[:, 4] < 1)) > 500
    assert seen[:, 5].sum() > 100


@given(st.text(max_size=40))
def test_no_text_is_an_error(given_text):
    for name in ("bfs", "topological_sort", "binary_search", "quicksort", "lcs_length"):
        for traces in (False, True):
            reading = text.read(name, given_text, 3, traces)
            assert {reading.shape_score, reading.parse_score} <= {0.0, 1.0}


@pytest.mark.parametrize(
    ("task", "answer", "shape", "parse", "clrs"),
    [
        ("bfs", "[0 0 1]", 1, 1, 1),
        ("bfs", "[0, 0, 1]", 1, 1, 1),
        ("bfs", "\n [0 0 1]\n\nbfs:\ns: 2, A:", 1, 1, 1),
        ("bfs", "[0 0 2]", 1, 1, 2 / 3),
        ("bfs", "[0 x 1]", 1, 0, 2 / 3),
        ("bfs", "[0 0.0 1]", 1, 0, 2 / 3),
        ("bfs", "[0 0 1 0]", 0, 1, 0),
        ("bfs", "0 0 1", 0, 1, 0),
        ("bfs", "[0 0 1", 0, 1, 0),
        ("bfs", "(0 0 1)", 0, 0, 0),
        ("bfs", "The answer is [0 0 1]", 0, 0, 0),
        ("bfs", "", 0, 1, 0),
        ("bfs", "[٠ 0 1]", 1, 0, 2 / 3),
        ("insertion_sort", "[0.10 2e-1 0.3]", 1, 1, 1),
        ("insertion_sort", "[0.1 .2 nan]", 1, 0, 1 / 3),
        ("topological_sort", "[0 0 1], 1", 1, 1, 3 / 4),
        ("topological_sort", "[0 0 1]", 0, 1, 0),
        ("topological_sort", "2, [0 0 1]", 0, 1, 0),
    ],
)
def test_scores(task, answer, shape, parse, clrs):
    right = {
        "bfs": "[0 0 1]\n\n",
        "insertion_sort": "[0.1 0.2 0.3]\n\n",
        "topological_sort": "[0 0 1], 2\n\n",
    }
    example = text.Example(task, 3, False, "", right[task])
    assert text.score(example, answer)[:5] == (shape, parse, clrs, 1, 1)


@pytest.mark.parametrize(
    ("answer", "trace_shape", "trace", "clrs"),
    [
        ("[0 1 2], [0 0 2] | [0 0 1]", 1, 1, 1),
        ("[0 1 2] | [0 0 1]", 1, 1 / 2, 1),
        ("[0 1 2], [0 0 2], [0 0 1] | [0 0 1]", 1, 2 / 3, 1),
        (" | [0 0 1]", 1, 0, 1),
        ("[0 1 2], [1 0 2] | [0 0 2]", 1, 5 / 6, 2 / 3),
        ("[0 1 2], [0 0] | [0 0 1]", 0, 0, 1),
        ("[0 0 1]", 0, 0, 1),
        ("[0 1 2] | [0 0 2] | [0 0 1]", 0, 0, 1),
    ],
)
def test_scores_of_traces(answer, trace_shape, trace, clrs):
    example = text.Example("bfs", 3, True, "", "[0 1 2], [0 0 2] | [0 0 1]\n\n")
    scores = text.score(example, answer)
    assert (scores.trace_shape, scores.trace, scores.clrs) == (trace_shape, trace, clrs)


def test_an_illegible_element_is_no_number():
    reading = text.read("bfs", "[0 zero 1]", 3)
    assert np.array_equal(reading.arrays["pi"], [0, np.nan, 1], equal_nan=True)


def test_what_cannot_be_read_says_why():
    with pytest.raises(ValueError, match="unknown task: 'bsf'; did you mean bfs"):
        text.read("bsf", "[0]", 1)
    with pytest.raises(ValueError, match="nodes: got 0, needed an integer of at least 1"):
        text.read("bfs", "[]", 0)
    with pytest.raises(ValueError, match=r"example: got the answer '\[0 1\]', needed one of .* 3"):
        text.score(text.Example("bfs", 3, False, "", "[0 1]"), "[0 1]")
