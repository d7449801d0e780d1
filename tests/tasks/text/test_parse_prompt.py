"""Prompts back to problems."""

import pytest

from algoscope import tasks
from algoscope.tasks import text


@pytest.mark.parametrize("name", tasks.names())
def test_a_parsed_prompt_is_solved_to_the_text_that_it_came_from(name):
    batch = tasks.sample(name, max(5, tasks.get(name).smallest), 3, 1, truncate_decimals=3)
    for traces in (False, True):
        for sample in range(3):
            example = text.write(batch, sample, traces)
            problem = text.parse(example.prompt)
            assert problem.nodes == example.nodes
            assert text.write(problem.solved(), 0, traces).text == example.text


@pytest.mark.parametrize(
    ("prompt", "complaint"),
    [
        ("bfs", "got 1 lines, needed three"),
        ("bfs:\ns: 0, A: [[1 1], [1 1]]\npi:", "needed three that end in a line break"),
        ("bsf:\ns: 0, A: [[1 1], [1 1]]\npi:\n", "did you mean bfs"),
        ("bfs:\ns: 0, A: [[1 1], [1 1]]\npa:\n", "needed 'pi:' for bfs"),
        ("bfs:\ns: 7, A: [[1 1], [1 1]]\npi:\n", "s holds 7 to 7, needed numbers from 0 to 1"),
        ("bfs:\ns: 0, A: [[1 1], [1]]\npi:\n", r"rows of lengths \[1, 2\]"),
        ("bfs:\ns: 0, A: [[1 1 1], [1 1 1]]\npi:\n", "needed one number of nodes"),
        ("bfs:\ns: 0, A: [[1 1], [1 0.5]]\npi:\n", "needed whole numbers"),
        ("bfs:\nA: [[1 1], [1 1]]\npi:\n", "needed 's: …' with a number"),
        ("bfs:\ns: 0, A: [[1 1], [1 1]], q: 3\npi:\n", "after the inputs of bfs"),
        ("minimum:\nkey: [0.5 x]\nmin:\n", "with a row such as"),
        ("binary_search:\nkey: [0.5 0.1], target: 0.3\nreturn:\n", "for binary_search"),
    ],
)
def test_a_malformed_prompt_is_refused_with_what_is_wrong(prompt, complaint):
    with pytest.raises(text.PromptError, match=complaint):
        text.parse(prompt)


@pytest.mark.parametrize("task", ["kmp_matcher", "naive_string_matcher", "lcs_length"])
@pytest.mark.parametrize("string", ["0 1 0 0 1", "0 0 0 0 0", "1 1 1 1 1"])
def test_strings_that_are_mixed_are_refused(task, string):
    """Found by fuzzing: the matchers never ended."""
    asked = "b" if task == "lcs_length" else "match"
    with pytest.raises(ValueError, match="needed 0 for each character of the first, then 1"):
        text.parse(f"{task}:\nstring: [{string}], key: [1 3 0 0 3]\n{asked}:\n")
