"""A table of short texts, for terminals, pages and Markdown."""

from typing import NamedTuple


class Table(NamedTuple):
    title: str
    columns: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = (
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([self.title, *texts])

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        texts = ("| " + " | ".join(line) + " |" for line in lines)
        return "\n".join([f"**{self.title}**", "", *texts])
