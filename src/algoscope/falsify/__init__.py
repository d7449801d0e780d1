"""Searching for problems on which a subject does not do what the algorithm does.

    from algoscope import falsify

    result = falsify.falsify(network, "bfs")
    print(result)

`families` are the problems by construction, `cover` has some of each, `disagreement` compares
accounts, `search` looks for disagreements and shrinks them, `scope` names the region without any,
`many` does it for all networks of an ensemble at once.
"""

from algoscope.falsify.account import Subject
from algoscope.falsify.counterexample import Counterexample
from algoscope.falsify.many import COVERS, SHRUNK, covers_of, falsify_all
from algoscope.falsify.result import Falsification
from algoscope.falsify.scope import Region
from algoscope.falsify.search import PROBLEMS, falsify

__all__ = [
    "COVERS",
    "PROBLEMS",
    "SHRUNK",
    "Counterexample",
    "Falsification",
    "Region",
    "Subject",
    "covers_of",
    "falsify",
    "falsify_all",
]
