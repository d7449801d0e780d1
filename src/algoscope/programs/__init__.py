"""Graph programs: write an algorithm, interpret it, and compile it into the weights of a network.

from algoscope import programs, tasks
from algoscope.programs.verification import verify

verify(programs.get("bfs"), tasks.sample("bfs")).network.exact_traces
"""

from algoscope.programs.language import GraphProgram, Role
from algoscope.programs.registry import get, load, names, of_task, register

__all__ = ["GraphProgram", "Role", "get", "load", "names", "of_task", "register"]
