"""Verdict: the conclusion about a subject in one word, with every condition that was looked at.

Graph networks (`measures`) and language models (`llm`) decide by other conditions and give the same
type.
"""

from typing import NamedTuple

RUNS, SHORTCUT, FAILS, UNDECIDED = "runs", "shortcut", "fails", "undecided"
WORDS = (RUNS, SHORTCUT, FAILS, UNDECIDED)


class Condition(NamedTuple):
    text: str
    met: bool


class Verdict(NamedTuple):
    word: str
    """One of `WORDS`."""
    which: str | None
    """The algorithm or the heuristic, if the word names one."""
    conditions: list[Condition]

    def __str__(self) -> str:
        if self.which is None:
            return self.word
        return f"runs {self.which}" if self.word == RUNS else f"{self.word} ({self.which})"
