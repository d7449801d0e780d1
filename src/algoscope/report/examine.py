"""From a run folder to findings: every measure of every network, and what there is to look at.

Networks for whose task the library has an exact program are judged. Others, and those that work for
one size alone, have accuracy, traces and distances from each other.
"""

import dataclasses
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope import falsify, measures, networks, programs, tasks
from algoscope.measures import Evidence, Judgement, across, landscape
from algoscope.measures.evidence import record
from algoscope.measures.examination import LARGE, SMALL, examination
from algoscope.measures.trace_match import external_faithfulness
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.programs.compiler import Compiled, compile_program
from algoscope.programs.verification import verify
from algoscope.recording import Recording
from algoscope.report.findings import Distances, Findings, Program, Shown, Surroundings, read, write
from algoscope.runs import Run, RunError
from algoscope.runs.environment import environment
from algoscope.tasks import Batch, Kind, Stage, Task
from algoscope.tasks.transforms import with_permutations_as_pointers, with_predecessors_as_inputs
from algoscope.verdict import NOT_JUDGED, Condition, Verdict

_SHOWN = {"plain": 3, "deep": 2, "sparse": 1}
"""Problems to look at, of each part of an examination."""
_MOST_SHOWN = 8
"""Networks whose recordings are kept to be looked at."""
_VERIFIED = 64
_LANDSCAPE_PROBLEMS, _RESOLUTION, _ITERATIONS = 8, 21, 20


def findings(
    run: Run,
    task: Task | str,
    *,
    problem_seed: int = 0,
    problems: int | None = None,
    remeasure: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> Findings:
    """Those in the run folder if they are of these problems, or new ones, which are then kept.

    About so many `problems` the falsifier tries on each network; if not given, as many as in the
    run folder or else `falsify.PROBLEMS`.
    """
    task = tasks.register(tasks.get(task)).name
    known = None if remeasure else read(run, task)
    if known and known.problem_seed == problem_seed and problems in (None, known.problems):
        return known
    begun = time.monotonic()
    count = falsify.PROBLEMS if problems is None else problems
    measured = _measure(run, task, problem_seed, count, report)
    measured = dataclasses.replace(measured, seconds=time.monotonic() - begun)
    write(run, measured)
    return measured


class _Examiner(NamedTuple):
    """How the networks of a task are judged, and on which problems."""

    judge: Callable[[Network | Compiled], Judgement]
    problems: Batch
    """The small ones, which recordings named `small` are of."""
    parts: dict[str, slice]
    shown: dict[str, int]
    """So many problems of each part are shown."""
    references: dict[str, Recording]
    """What exact programs do on the plain problems; none for networks that there is no verdict for,
    which have accuracy and traces alone."""


def _measure(
    run: Run, task: str, problem_seed: int, count: int, report: Callable[[str], None]
) -> Findings:
    ensemble = run.ensemble(run.seeds_with_weights)
    if not len(ensemble):
        raise RunError(f"{run.path}: got a run without weights, needed some under weights/{task}")
    members = {
        f"seed {seed}": ensemble.member(index, task) for index, seed in enumerate(ensemble.seeds)
    }
    examiner = _examiner(task, problem_seed, count, next(iter(members.values())))
    chosen, titles = _choose(examiner)
    judgements, plain, shown = {}, {}, {}

    def examine(name: str, subject: Network | Compiled) -> Judgement:
        judgement = examiner.judge(subject)
        recording = dataclasses.replace(judgement.recordings["small"], logits={})
        shown[name] = recording.take(chosen)
        if name in members:
            plain[name] = recording.take(examiner.parts["plain"])
        return judgement._replace(recordings={})

    for number, (name, network) in enumerate(members.items(), 1):
        judgements[name] = examine(name, network)
        report(f"{name} ({number} of {len(members)}): {judgements[name].verdict.word}")
    program = control = distances = None
    landscapes: list[Surroundings] = []
    names = _spread(judgements)
    if examiner.references:
        program, compiled = _program(task, problem_seed, judgements)
        name = f"compiled {program.name}"
        control = examine(name, compiled)
        report(f"{name}, the control: {control.verdict.word}")
        names = [name, *names]
        best = max(judgements, key=lambda name: judgements[name].evidence.accuracy["large"])
        report(f"the loss around {best} and {name}")
        batch = tasks.sample(task, SMALL, _LANDSCAPE_PROBLEMS, problem_seed)
        landscapes = [
            Surroundings(
                name,
                landscape.landscape(network, batch, landscape.WIDE, _RESOLUTION),
                landscape.sharpness(network, batch, _ITERATIONS),
            )
            for name, network in ((best, members[best]), (name, compiled.network))
        ]
    compared = plain | examiner.references
    if len(compared) > 1:
        between = across.pairwise_total_variation(list(compared.values()))
        distances = Distances(list(compared), len(examiner.references), between)
    return Findings(
        task,
        problem_seed,
        count,
        ensemble.seeds,
        judgements,
        control,
        program,
        distances,
        landscapes,
        Shown(titles, examiner.problems.take(chosen), {name: shown[name] for name in names}),
        environment(),
        0.0,
    )


def _examiner(task: str, problem_seed: int, count: int, network: Network) -> _Examiner:
    """For networks like this one, with so many problems for the falsifier."""
    only_size = network.config.attention_bias
    if only_size:
        reason = f"the network works for {only_size} nodes alone, and an examination has two sizes"
    elif not programs.of_task(task, Role.REFERENCE) or network.features != tasks.get(task).features:
        reason = f"the library has no exact program for {task} as these networks read it"
    else:
        exam = examination(task, problem_seed)
        references = {r.name: r.recording.take(exam.parts["plain"]) for r in exam.references}
        return _Examiner(
            lambda subject: measures.judge(subject, task, problem_seed, problems=count),
            exam.small,
            exam.parts,
            _SHOWN,
            references,
        )
    batches = {
        place: _as_read_by(network, tasks.sample(task, only_size or size, count, problem_seed))
        for place, size, count in (("small", SMALL, 32), ("large", LARGE, 16))
    }

    def judge_answers(subject: Network | Compiled) -> Judgement:
        network = subject.network if isinstance(subject, Compiled) else subject
        recordings = {place: record(network, batch) for place, batch in batches.items()}
        pairs = {place: (recordings[place], batch) for place, batch in batches.items()}
        evidence = Evidence(
            {place: networks.score(*pair)["score"] for place, pair in pairs.items()},
            {p: external_faithfulness(*pair) for p, pair in pairs.items() if pair[0].hints},
        )
        verdict = Verdict(NOT_JUDGED, None, [Condition(reason, False)])
        return Judgement(verdict, evidence, recordings)

    problems, shown = batches["small"], {"plain": sum(_SHOWN.values())}
    return _Examiner(judge_answers, problems, {"plain": slice(0, len(problems))}, shown, {})


def _as_read_by(network: Network, batch: Batch) -> Batch:
    """The batch in the form in which the network was trained on such ones."""
    read_features = {f.name: f for f in network.features}
    if "pred" in read_features and read_features["pred"].stage is Stage.INPUT:
        batch = with_predecessors_as_inputs(batch)
    pointers = [f for f in batch.features if f.kind is Kind.PERMUTATION and f.name in read_features]
    if any(read_features[f.name].kind is Kind.POINTER for f in pointers):
        batch = with_permutations_as_pointers(batch)
    return batch


def _choose(examiner: _Examiner) -> tuple[np.ndarray, list[str]]:
    """The problems with the longest traces of each part, in their order, and their titles."""
    chosen, titles = [], []
    for name, count in examiner.shown.items():
        if name in examiner.parts:
            samples = examiner.parts[name]
            lengths = examiner.problems.lengths[samples]
            longest = sorted(np.argsort(-lengths, kind="stable")[:count].tolist())
            chosen += [samples.start + sample for sample in longest]
            kind = "" if name == "plain" else f", {name}"
            titles += [f"problem {sample}{kind}" for sample in longest]
    return np.array(chosen), titles


def _spread(judgements: dict[str, Judgement]) -> list[str]:
    """All networks, or some that are spread evenly over what they score; in their order."""
    names = list(judgements)
    if len(names) <= _MOST_SHOWN:
        return names
    ranked = sorted(names, key=lambda name: judgements[name].evidence.accuracy["large"])
    picked = {ranked[i] for i in np.linspace(0, len(names) - 1, _MOST_SHOWN).round().astype(int)}
    return [name for name in names if name in picked]


def _program(
    task: str, problem_seed: int, judgements: dict[str, Judgement]
) -> tuple[Program, Compiled]:
    """The reference that is nearest to the most networks, compiled."""
    nearest = Counter(judgement.evidence.nearest.reference for judgement in judgements.values())
    program = programs.get(nearest.most_common(1)[0][0])
    compiled = compile_program(program)
    about = Program(
        program.name,
        program.text,
        compiled.network.config.width,
        sum(array.size for array in networks.arrays(compiled.network).values()),
        verify(program, tasks.sample(task, SMALL, _VERIFIED, problem_seed)),
    )
    return about, compiled
