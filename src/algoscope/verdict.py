"""Verdict: the conclusion about a subject in one word, with every condition that was looked at.

Graph networks (`measures`), hybrids (`transnar`) and language models (`llm`) decide by other
conditions and give the same type.
"""

from typing import NamedTuple

from algoscope import markup
from algoscope.table import Table

RUNS, RUNS_UP_TO, APPROXIMATES = "runs", "runs up to", "approximates"
SHORTCUT, FAILS, UNDECIDED = "shortcut", "fails", "undecided"
WORDS = (RUNS, RUNS_UP_TO, APPROXIMATES, SHORTCUT, FAILS, UNDECIDED)
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
    scope: str = ""
    """How far the word goes: the problems that were tried, the region, or the rate."""

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
        if self.word == RUNS_UP_TO:
            return f"runs {self.which} up to {self.scope}"
        if self.which is None:
            return self.word
        if self.word == APPROXIMATES:
            return f"approximates {self.which}: {self.scope}"
        return f"runs {self.which}" if self.word == RUNS else f"{self.word} ({self.which})"

    def _repr_html_(self) -> str:
        """For notebooks: the word, how far it goes, and what speaks against."""
        scope = [self.scope] if self.word == RUNS and self.scope else []
        return markup.element("p", markup.element("strong", markup.escape(self))) + "".join(
            markup.element("p", markup.escape(reason)) for reason in scope + self.reasons
        )
