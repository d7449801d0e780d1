"""Graph programs: write an algorithm, interpret it, and compile it into the weights of a network.

from algoscope import programs, tasks
from algoscope.programs.verification import verify

verify(programs.get("bfs"), tasks.sample("bfs")).network.exact_traces
programs.parse("way_out", task, text)  # a program of one's own, for any Task
programs.define("way_out", features, draw, text).task  # a Task whose algorithm is the program
"""

from algoscope.programs.definition import define
from algoscope.programs.language import GraphProgram, Role
from algoscope.programs.parser import parse
from algoscope.programs.registry import get, load, names, of_task, register, tasks_with_references

__all__ = [
    "GraphProgram",
    "Role",
    "define",
    "get",
    "load",
    "names",
    "of_task",
    "parse",
    "register",
    "tasks_with_references",
]
