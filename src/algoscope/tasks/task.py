"""Task: a name, its features, its input sampler and its reference algorithm, in one value.

The sampler and the algorithm are functions over registers, bound by the names of their parameters:

    draw(stream, …)      the random stream, then input registers to fill and options of the task
    algorithm(trace, …)  the trace, then any registers: hints and outputs to fill, and inputs that
                         `draw` does not fill

Positions `pos` are even, and `adj` says where the graph `A` has edges, unless `draw` fills them. An
output NAME that the algorithm has no parameter for is what its hint NAME_h is in the end.

A register that `draw` fills is part of the *problem*: what a user has to give to have a problem of
their own traced. A parameter that ends in an underscore stands for the feature without it, where
the feature's name is a word of Python's (`return_`).
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from algoscope.tasks.compilation import in_python
from algoscope.tasks.features import Feature, Stage, parse_features
from algoscope.tasks.options import Option


@dataclasses.dataclass(frozen=True, eq=False)
class Task:
    name: str
    table: str
    """The features, those of one form on a line: see `parse_features`."""
    draw: Callable
    algorithm: Callable
    options: Mapping[str, Option] = dataclasses.field(default_factory=dict)
    """The sampler's options by name, as dm-clrs names them."""
    smallest: int = 1
    """The smallest size for which the problem makes sense."""
    nodes: Callable[[int, Mapping[str, Any]], int] = lambda size, options: size
    """The number of nodes of a problem of the given size, with these options of its sampler."""
    evaluation_multiplier: int = 1
    """How many times 32 samples the canonical val and test splits have."""
    needs: tuple[Callable, ...] = ()
    """What a user's own problem has to be: see `needs`."""
    fixed_predecessors: bool = False
    """Is the hint `pred_h` the same at every step? Training then takes it for an input."""
    long_traces: bool = False
    """Do traces grow with the number of edges? Training then draws graphs half as dense."""
    plain: bool = False
    """Are sampler and algorithm plain Python? They are far slower, and training probes fewer."""
    variant_of: str | None = None
    """The task of CLRS-30 that this is another form of; None for those of CLRS-30 themselves."""

    @functools.cached_property
    def features(self) -> tuple[Feature, ...]:
        return parse_features(self.table)

    def at(self, stage: Stage) -> tuple[Feature, ...]:
        return tuple(f for f in self.features if f.stage is stage)

    @functools.cached_property
    def problem(self) -> tuple[str, ...]:
        """The input features that define a problem; the other inputs follow from them."""
        inputs = {f.name for f in self.at(Stage.INPUT)}
        return tuple(name for name in self.draw_parameters if name in inputs)

    @functools.cached_property
    def draw_parameters(self) -> tuple[str, ...]:
        return _names_after_first(self.draw)

    @functools.cached_property
    def algorithm_parameters(self) -> tuple[str, ...]:
        return _names_after_first(self.algorithm)

    @functools.cached_property
    def summary(self) -> str:
        """The first line of the algorithm's docstring."""
        return (inspect.getdoc(in_python(self.algorithm)) or "").partition("\n")[0]

    def __repr__(self) -> str:
        return f"Task({self.name!r})"


def _names_after_first(function: Callable) -> tuple[str, ...]:
    parameters = list(inspect.signature(in_python(function)).parameters)
    return tuple(name.removesuffix("_") for name in parameters[1:])
