"""A counterexample: one small problem, with what the algorithm and the subject say about it.

It holds plain lists alone, so that it goes into a JSON file and comes back; the trace of the
algorithm is computed again when somebody asks for it.
"""

import dataclasses
import functools

import numpy as np

from algoscope import markup, tasks
from algoscope.falsify.account import Account
from algoscope.falsify.disagreement import Disagreement, wrong_entries
from algoscope.falsify.families import Problem, traced
from algoscope.table import Table
from algoscope.tasks import Batch, Feature, Kind, Location, Stage, display
from algoscope.tasks.given_problems import call


@dataclasses.dataclass(frozen=True)
class Counterexample:
    family: str
    """The one that it was found in."""
    task: str
    problem: dict[str, list]
    """The features of `Task.problem` by name, as registers; `pos` too, if positions are not
    even."""
    hints: dict[str, list]
    """What the subject says, in the form of `Recording.hints`, without the batch's axis:
    [step, …]; empty for a subject that shows no trace."""
    outputs: dict[str, list]
    """The same of the answer: [1, …]."""
    wrong_answer: bool
    first_step: int
    """The first step with a wrong hint, counted from 0; -1 if only the answer is wrong."""
    wrong: dict[str, list[int]]
    """By variable that is wrong, at the first wrong step or in the answer: at which nodes; none of
    a variable of the whole graph."""

    @functools.cached_property
    def batch(self) -> Batch:
        """The problem alone, with the algorithm's trace."""
        problem = {name: np.array(values) for name, values in self.problem.items()}
        return traced(tasks.get(self.task), [problem])

    @property
    def wrong_nodes(self) -> list[int]:
        return sorted({node for nodes in self.wrong.values() for node in nodes})

    @property
    def python(self) -> str:
        """What reproduces the problem, ready to be run."""
        plain = {name: np.array(self.problem[name]) for name in tasks.get(self.task).problem}
        lines = ["from algoscope import tasks", f"batch = {call(self.task, plain)}"]
        if "pos" in self.problem and "pos" not in plain:
            lines[:1] = [
                "import numpy as np",
                "from algoscope import tasks",
                "from algoscope.tasks.transforms import with_positions",
            ]
            lines.append(f"batch = with_positions(batch, np.array([{self.problem['pos']}]))")
        return "\n".join(lines)

    @property
    def inputs(self) -> str:
        """The problem in words: edges with their weights, the source, numbers."""
        batch = self.batch
        parts = [f"{batch.nodes} nodes"]
        for feature in batch.at(Stage.INPUT):
            if feature.name in self.problem:
                value = np.asarray(batch.inputs[feature.name][0])
                if feature.name == "A":
                    parts.append(f"edges {', '.join(map(str, edges(value))) or 'none'}")
                else:
                    name = "source" if feature.name == "s" else feature.name
                    parts.append(f"{name} {display.cell(feature, value, range(batch.nodes))}")
        return "; ".join(parts)

    @property
    def comparison(self) -> Table:
        """What algorithm and subject say at the first wrong step, and in a wrong answer."""
        rows = []
        if self.first_step >= 0:
            rows += [self._row(feature) for feature in self.batch.at(Stage.HINT)]
        if self.wrong_answer:
            rows += [self._row(feature) for feature in self.batch.at(Stage.OUTPUT)]
        columns = ["", "algorithm", "subject", "wrong at"]
        return Table(f"what the subject says: {self}", columns, [row for row in rows if row])

    def _row(self, feature: Feature) -> list[str]:
        """Empty where the subject says nothing."""
        is_hint = feature.stage is Stage.HINT
        said = (self.hints if is_hint else self.outputs).get(feature.name)
        if said is None:
            return []
        truth = self.batch.values(feature.stage)[feature.name][0]
        truth, step = (truth[self.first_step + 1], self.first_step) if is_hint else (truth, 0)
        texts = [
            display.cell(feature, np.array(value, float), range(self.batch.nodes))
            for value in (truth, said[step])
        ]
        where = f"{feature.name}, {f'step {self.first_step + 1}' if is_hint else 'answer'}"
        nodes = self.wrong.get(feature.name)
        return [where, *texts, "" if nodes is None else " ".join(map(str, nodes)) or "graph"]

    def __str__(self) -> str:
        where = f"the trace from step {self.first_step + 1} on" if self.first_step >= 0 else ""
        what = [where] * bool(where) + ["the answer"] * self.wrong_answer
        return f"{self.batch.nodes} nodes ({self.family}): {' and '.join(what)} wrong"

    def _repr_html_(self) -> str:
        """For notebooks: the problem, the comparison, and what reproduces it."""
        return (
            markup.element("p", markup.escape(self.inputs))
            + markup.table(self.comparison)
            + markup.element("pre", markup.escape(self.python))
        )


@dataclasses.dataclass(frozen=True)
class Edge:
    sender: int
    receiver: int
    weight: float
    both: bool
    """Whether there is the same one back."""

    def __str__(self) -> str:
        weight = "" if self.weight == 1 else f" ({self.weight:.3g})"
        return f"{self.sender}{'-' if self.both else '→'}{self.receiver}{weight}"


def edges(A: np.ndarray) -> list[Edge]:
    """Those of an adjacency matrix [n, n]; one and the same back are one."""
    listed = []
    for i, j in np.argwhere(A != 0).tolist():
        both = i != j and A[i, j] == A[j, i]
        if not both or i < j:
            listed.append(Edge(i, j, float(A[i, j]), both))
    return listed


def describe(
    family: str,
    problem: Problem,
    batch: Batch,
    account: Account,
    result: Disagreement,
    tolerance: float,
) -> Counterexample:
    """From the batch of the problem alone, what the subject says about it (of which the first
    sample counts), and the disagreement."""
    first_step, wrong_answer = int(result.first_step[0]), bool(result.wrong_answer[0])
    steps = max(1, int(batch.lengths[0]) - 1)
    said = Account(
        {name: np.asarray(values)[:1, :steps] for name, values in account.hints.items()},
        {name: np.asarray(values)[:1] for name, values in account.outputs.items()},
        {},
    )
    wrong = {}
    for feature in batch.at(Stage.HINT) if first_step >= 0 else ():
        if feature.name in said.hints:
            entries = wrong_entries(feature, said, batch, tolerance)[0, first_step]
            wrong |= _places(feature, entries, said.hints[feature.name][0, first_step])
    for feature in batch.at(Stage.OUTPUT) if wrong_answer else ():
        entries = wrong_entries(feature, said, batch, tolerance)[0]
        wrong |= _places(feature, entries, said.outputs[feature.name][0])
    return Counterexample(
        family,
        batch.task.name,
        {name: np.atleast_1d(values).tolist() for name, values in problem.items()},
        {name: values[0].tolist() for name, values in said.hints.items()},
        {name: values.tolist() for name, values in said.outputs.items()},
        wrong_answer,
        first_step,
        wrong,
    )


def _places(feature: Feature, entries: np.ndarray, said: np.ndarray) -> dict[str, list[int]]:
    """The feature with the nodes at which it is wrong, of a pair the first, of a choice the one
    that was chosen; nothing if it is right."""
    if not entries.any():
        return {}
    if feature.kind is Kind.MASK_ONE:
        return {feature.name: [int(said.argmax())]}
    if feature.location is Location.GRAPH:
        return {feature.name: []}
    at_nodes = entries.reshape(len(entries), -1).any(1)
    return {feature.name: np.flatnonzero(at_nodes).tolist()}
