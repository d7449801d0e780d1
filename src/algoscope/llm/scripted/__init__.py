"""Subjects of known mechanism: Transformers whose weights are written by hand to search a maze.

    model, tokenizer = scripted("bfs", layers=8, seed=0)
    subject = zoo()[0].subject(seed=0)      # ready for `llm.navigate`; .truth says what it runs

Each is a causal model in transformers' own form, so that the analyses meet it as they meet any
other: its memory is the residual stream, and tokens learn of each other by attention alone. They
read prompts of the form `letters` with one-way edges. `MECHANISMS` are what they may run; disguises
change how that looks from outside, not what it is.
"""

from algoscope.llm.scripted.build import scripted
from algoscope.llm.scripted.disguises import Disguise
from algoscope.llm.scripted.mechanisms import MECHANISMS
from algoscope.llm.scripted.parts import Mechanism
from algoscope.llm.scripted.specimens import Specimen, zoo

__all__ = ["MECHANISMS", "Disguise", "Mechanism", "Specimen", "scripted", "zoo"]
