"""`algoscope llm architectures` and `convert`: which language models can be recorded, and how their
files are read faster."""

import dataclasses
import pathlib

from algoscope import progress
from algoscope.table import Table
from algoscope.verbs.output import Answer, Verb


@dataclasses.dataclass(frozen=True, kw_only=True)
class Architectures(Verb):
    """Which architectures of the installed transformers can be recorded, and why others cannot."""

    def run(self) -> Answer:
        from transformers.utils import logging

        from algoscope.llm import architectures

        logging.set_verbosity_error()
        found = [
            architectures.support(name)
            for name in progress.over(architectures.names(), "checking architectures")
        ]
        table = Table(
            f"{sum(f.supported for f in found)} of {len(found)} architectures can be recorded",
            ["architecture", "recorded", "difference from eager attention, or why not"],
            [[f.architecture, "yes" if f.supported else "no", f.said] for f in found],
        )
        return Answer(found, (table,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Convert(Verb):
    """Write a GGUF file as a folder of Hugging Face's format, which loads much faster."""

    model: str
    """The GGUF file."""
    out: pathlib.Path
    """The new folder."""

    def run(self) -> Answer:
        from algoscope.llm.subjects import convert

        convert(self.model, self.out)
        return Answer({"out": self.out}, (str(self.out),))
