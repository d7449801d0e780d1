"""CLRS-Text: problems as prompts, answers as text, and the way back.

    from algoscope.tasks import text

    [example] = text.sample("bfs", size=5, count=1, seed=0)
    example.prompt, example.answer
    text.score(example, "[0 0 2 0 1]")

Prompts and answers equal those of dm-clrs 2.0.3 character for character, with floats in full or
truncated (`truncate_decimals`), with or without the trace of the algorithm.
"""

from algoscope.tasks.text.examples import rows, sample, stream
from algoscope.tasks.text.parse_answer import Reading, read
from algoscope.tasks.text.parse_prompt import Problem, PromptError, parse
from algoscope.tasks.text.scoring import Scores, score
from algoscope.tasks.text.splits import split, split_sizes
from algoscope.tasks.text.writing import Example, write

__all__ = [
    "Example",
    "Problem",
    "PromptError",
    "Reading",
    "Scores",
    "parse",
    "read",
    "rows",
    "sample",
    "score",
    "split",
    "split_sizes",
    "stream",
    "write",
]
