"""Verdict: the conclusion about a subject in one word, with every condition that was looked at.

Graph networks (`measures`), hybrids (`transnar`) and language models (`llm`) decide by other
conditions and give the same type.
"""

from typing import NamedTuple

from algoscope import markup
from algoscope.table import Table

RUNS, SHORTCUT, FAILS, UNDECIDED = "runs", "shortcut", "fails", "undecided"
WORDS = (RUNS, SHORTCUT, FAILS, UNDECIDED)
NOT_JUDGED = "not judged"
"""In place of a word, where there is nothing to judge by."""


class Condition(NamedTuple):
    text: str
    met: bool
    measure: str = ""
    """The key of the number that the condition is about, if it is about one."""


class Verdict(NamedTuple):
    word: str
    """One of `WORDS`, or `NOT_JUDGED`."""
    which: str | None
    """The algorithm or the heuristic, if the word names one."""
    conditions: list[Condition]

    @property
    def reasons(self) -> list[str]:
        """What speaks against `runs`: the conditions that are not met."""
        return [condition.text for condition in self.conditions if not condition.met]

    @property
    def table(self) -> Table:
        """Every condition, and whether it is met."""
        rows = [["yes" if c.met else "no", c.text] for c in self.conditions]
        return Table(f"verdict: {self}", ["", "condition"], rows)

    def __str__(self) -> str:
        if self.which is None:
            return self.word
        return f"runs {self.which}" if self.word == RUNS else f"{self.word} ({self.which})"

    def _repr_html_(self) -> str:
        """For notebooks: the word, and what speaks against."""
        return markup.element("p", markup.element("strong", markup.escape(self))) + "".join(
            markup.element("p", markup.escape(reason)) for reason in self.reasons
        )
