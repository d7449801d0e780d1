"""Searching for problems on which a subject does not do what the algorithm does.

    from algoscope import falsify

    result = falsify.falsify(network, "bfs")
    print(result)

`families` are the problems by construction, `disagreement` compares accounts, `search` looks for
disagreements and shrinks them, `scope` names the region without any.
"""

from algoscope.falsify.disagreement import Subject
from algoscope.falsify.result import Counterexample, Falsification
from algoscope.falsify.scope import Region
from algoscope.falsify.search import PROBLEMS, falsify

__all__ = ["PROBLEMS", "Counterexample", "Falsification", "Region", "Subject", "falsify"]
