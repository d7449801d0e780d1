"""From a run folder to findings: every measure of every network, and what there is to look at.

Networks for whose task the library has an exact program are judged. Others, and those that work for
one size alone, have accuracy, traces and distances from each other.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from algoscope import measures, networks, programs, tasks
from algoscope.measures import across, landscape, summary
from algoscope.measures.evidence import record
from algoscope.measures.examination import LARGE, SMALL, Examination, examination
from algoscope.measures.trace_match import external_faithfulness
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.programs.verification import verify
from algoscope.recording import Recording
from algoscope.report.findings import Distances, Findings, Hill, Program, Shown
from algoscope.runs import Run, RunError
from algoscope.tasks import Batch, Kind, Stage
from algoscope.tasks.transforms import with_permutations_as_pointers, with_predecessors_as_inputs

_SHOWN = {"plain": 3, "deep": 2, "sparse": 1}
"""Problems to look at, of each part of an examination."""
_MOST_SHOWN = 8
"""Networks whose recordings are kept to be looked at."""
_VERIFIED = 64
_HILL_PROBLEMS, _HILL_RESOLUTION, _HILL_ITERATIONS = 8, 21, 20


def examine(run: Run, task: str, problem_seed: int, tell: Callable[[str], None]) -> Findings:
    ensemble = run.ensemble(run.seeds_with_weights)
    if not len(ensemble):
        raise RunError(f"{run.path}: got a run without weights, needed some under weights/{task}")
    members = {
        f"seed {seed}": ensemble.member(index, task) for index, seed in enumerate(ensemble.seeds)
    }
    first = next(iter(members.values()))
    if _can_be_judged(first, task):
        subjects = _Judged(task, problem_seed)
    else:
        subjects = _Unjudged(task, problem_seed, first)
    judgements, recordings = {}, {}
    for number, (name, network) in enumerate(members.items(), 1):
        judgements[name] = subjects.judge(network)
        recordings[name] = record(network, subjects.problems)
        tell(f"{name} ({number} of {len(members)}): {judgements[name]['verdict'] or 'not judged'}")
    chosen, titles = subjects.choose()
    plain = {name: recording.take(subjects.plain) for name, recording in recordings.items()}
    shown = {name: recordings[name].take(chosen) for name in _some(judgements)}
    program = control = None
    hills: list[Hill] = []
    if isinstance(subjects, _Judged):
        program = subjects.program(judgements)
        compiled = compile_program(programs.get(program.name)).network
        control = subjects.judge(compiled)
        tell(f"compiled {program.name}, the control: {control['verdict']}")
        by_program = record(compiled, subjects.problems).take(chosen)
        shown = {f"compiled {program.name}": by_program} | shown
        best = max(judgements, key=lambda name: judgements[name]["accuracy"]["large"])
        tell(f"the loss around {best} and compiled {program.name}")
        around = tasks.sample(task, SMALL, _HILL_PROBLEMS, problem_seed)
        both = {best: members[best], f"compiled {program.name}": compiled}
        hills = [_hill(name, network, around) for name, network in both.items()]
    return Findings(
        task,
        problem_seed,
        ensemble.seeds,
        judgements,
        control,
        program,
        _distances(plain, subjects.references),
        hills,
        Shown(titles, subjects.problems.take(chosen), shown),
        {},
        0.0,
    )


def _can_be_judged(network: Network, task: str) -> bool:
    return (
        bool(programs.of_task(task, Role.REFERENCE))
        and network.features == tasks.get(task).features
        and network.config.attention_bias is None
    )


class _Judged:
    """Networks that are examined and judged."""

    def __init__(self, task: str, problem_seed: int):
        self.task, self.problem_seed = task, problem_seed
        self.exam: Examination = examination(task, problem_seed)
        self.problems: Batch = self.exam.small
        self.plain = self.exam.parts["plain"]

    @property
    def references(self) -> dict[str, Recording]:
        return {r.name: r.recording.take(self.plain) for r in self.exam.references}

    def judge(self, network: Network) -> dict[str, Any]:
        return summary.as_json(measures.judge(network, self.task, self.problem_seed))

    def choose(self) -> tuple[np.ndarray, list[str]]:
        chosen, titles = [], []
        for name, count in _SHOWN.items():
            if name in self.exam.parts:
                where = self.exam.parts[name]
                longest = _longest(self.problems.lengths[where], count)
                chosen += [where.start + sample for sample in longest]
                kind = "" if name == "plain" else f", {name}"
                titles += [f"problem {sample}{kind}" for sample in longest]
        return np.array(chosen), titles

    def program(self, judgements: dict[str, dict[str, Any]]) -> Program:
        """The reference that is nearest to the most networks."""
        nearest = Counter(judgement["reference"] for judgement in judgements.values())
        program = programs.get(nearest.most_common(1)[0][0])
        network, certificate = compile_program(program)
        batch = tasks.sample(self.task, SMALL, _VERIFIED, self.problem_seed)
        return Program(
            program.name,
            program.text,
            network.config.width,
            sum(array.size for array in networks.arrays(network).values()),
            certificate._asdict(),
            verify(program, batch).as_json(),
        )


class _Unjudged:
    """Networks that there is no verdict for."""

    references: dict[str, Recording] = {}  # noqa: RUF012

    def __init__(self, task: str, problem_seed: int, network: Network):
        own_size = network.config.attention_bias
        sizes = {"small": own_size or SMALL, "large": own_size or LARGE}
        counts = {"small": 32, "large": 16}
        self.sets = {
            name: _as_read_by(network, tasks.sample(task, size, counts[name], problem_seed))
            for name, size in sizes.items()
        }
        self.problems = self.sets["small"]
        self.plain = slice(0, len(self.problems))
        self.reason = (
            f"the network works for {own_size} nodes alone, and an examination has two sizes"
            if own_size
            else f"the library has no exact program for {task} as these networks read it"
        )

    def judge(self, network: Network) -> dict[str, Any]:
        recordings = {name: record(network, batch) for name, batch in self.sets.items()}
        return summary.unjudged(
            self.reason,
            {name: networks.score(r, self.sets[name])["score"] for name, r in recordings.items()},
            {
                name: external_faithfulness(r, self.sets[name])
                for name, r in recordings.items()
                if r.hints
            },
        )

    def choose(self) -> tuple[np.ndarray, list[str]]:
        longest = _longest(self.problems.lengths, sum(_SHOWN.values()))
        return np.array(longest), [f"problem {sample}" for sample in longest]


def _as_read_by(network: Network, batch: Batch) -> Batch:
    """The batch in the form in which the network was trained on such ones."""
    own = {f.name: f for f in network.features}
    if "pred" in own and own["pred"].stage is Stage.INPUT:
        batch = with_predecessors_as_inputs(batch)
    pointers = [f for f in batch.features if f.kind is Kind.PERMUTATION and f.name in own]
    if any(own[f.name].kind is Kind.POINTER for f in pointers):
        batch = with_permutations_as_pointers(batch)
    return batch


def _longest(lengths: np.ndarray, count: int) -> list[int]:
    """The samples with the longest traces, in their order."""
    return sorted(np.argsort(-lengths, kind="stable")[:count].tolist())


def _some(judgements: dict[str, dict[str, Any]]) -> list[str]:
    """All networks, or some that are spread evenly over what they score; in their order."""
    names = list(judgements)
    if len(names) <= _MOST_SHOWN:
        return names
    ranked = sorted(names, key=lambda name: judgements[name]["accuracy"]["large"])
    picked = {ranked[i] for i in np.linspace(0, len(names) - 1, _MOST_SHOWN).round().astype(int)}
    return [name for name in names if name in picked]


def _distances(
    recordings: dict[str, Recording], references: dict[str, Recording]
) -> Distances | None:
    everybody = recordings | references
    if len(everybody) < 2:
        return None
    between = across.pairwise_total_variation(list(everybody.values()))
    return Distances(list(everybody), len(references), between)


def _hill(name: str, network: Network, batch: Batch) -> Hill:
    around = landscape.landscape(network, batch, landscape.WIDE, _HILL_RESOLUTION)
    sharp = landscape.sharpness(network, batch, _HILL_ITERATIONS)
    return Hill(name, around.offsets, around.losses, sharp.largest_eigenvalue, sharp.residual)
