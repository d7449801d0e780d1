"""What a compiled program is: how large, what it is certified for, how often it is right."""

from typing import NamedTuple

import numpy as np

from algoscope import networks, tasks
from algoscope.programs.certificate import Certificate
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import show
from algoscope.programs.language import GraphProgram
from algoscope.programs.panels import panels
from algoscope.programs.verification import agreement
from algoscope.report.library.weight_strips import Strip, strips
from algoscope.tasks import Stage

NODES, PROBLEMS, CERTIFIED_PROBLEMS = 12, 64, 16
_SEED = 2


class Measured(NamedTuple):
    width: int
    heads: int
    rounds: int
    parameters: int
    used: int
    """Parameters that are not zero."""
    certificate: Certificate
    certain: int
    """Of CERTIFIED_PROBLEMS: on how many no rounding of float32 can change anything, by running
    error analysis."""
    exact_traces: float
    """The share of PROBLEMS on which the program does at every step what the algorithm does."""
    right_answers: float
    """The share on which it ends with the same outputs."""
    strips: list[Strip]


def measure(program: GraphProgram) -> Measured:
    compiled = compile_program(program)
    config, arrays = compiled.network.config, networks.arrays(compiled.network).values()
    task = program.task
    batch = tasks.sample(task, max(NODES, task.smallest), PROBLEMS, _SEED)
    same = agreement(show(program, batch).account, batch)
    right = np.all([same[feature.name] for feature in task.at(Stage.OUTPUT)], axis=0)
    return Measured(
        config.width,
        config.heads,
        config.rounds,
        sum(array.size for array in arrays),
        sum(int(np.count_nonzero(array)) for array in arrays),
        compiled.certificate,
        int(compiled.certified(batch.take(slice(CERTIFIED_PROBLEMS))).sum()),
        float(np.all(list(same.values()), axis=0).mean()),
        float(right.mean()),
        strips(panels(program)),
    )
