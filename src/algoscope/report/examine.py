"""From networks, or a user's own models, to findings: every measure of each, and what there is to
look at.

Subjects for whose task the library has an exact program are judged. Others, and networks that work
for one size alone, have accuracy, traces and distances from each other.
"""

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from algoscope import falsify, measures, networks, programs, progress, tasks
from algoscope.falsify import Subject
from algoscope.measures import Evidence, Judgement, across, landscape
from algoscope.measures.basis import basis
from algoscope.measures.evidence import observe
from algoscope.measures.examination import LARGE, SMALL, examination
from algoscope.measures.trace_match import external_faithfulness
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.programs.compiler import Compiled, compile_program
from algoscope.programs.verification import verify
from algoscope.recording import Recording
from algoscope.report import kept
from algoscope.report.findings import Distances, Findings, Program, Shown, Surroundings, read, write
from algoscope.report.rounding import that_may_be_rounded
from algoscope.runs import Run, RunError
from algoscope.runs.environment import environment
from algoscope.tasks import Batch, Kind, Task
from algoscope.tasks.transforms import (
    PREDECESSOR,
    with_permutations_as_pointers,
    with_predecessors_as_inputs,
)
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
    """Those in the run folder if they are of these weights and problems, and made by the same code,
    task and programs; or new ones, which are then kept, each network's judgement as soon as it is
    made.

    About so many `problems` the falsifier tries on each network; if not given, as many as in the
    run folder or else `falsify.PROBLEMS`.
    """
    task = tasks.register(tasks.get(task)).name
    known = None if remeasure else read(run, task)
    seeds = run.seeds_with_weights
    members = members_of(run, task)
    rests_on = " ".join((basis(task), *map(kept.digest_of, members.values())))
    if (
        known
        and (known.problem_seed, known.seeds, known.basis) == (problem_seed, seeds, rests_on)
        and problems in (None, known.problems)
    ):
        return known
    begun = time.monotonic()
    if not members:
        raise RunError(f"{run.path}: got a run without weights, needed some under weights/{task}")
    numbers = dict(zip(members, seeds, strict=True))
    count = kept.problems_kept(run, task) if problems is None else problems

    def judge(name: str) -> Judgement:
        return kept.judge_seed(
            run,
            task,
            numbers[name],
            members[name],
            problem_seed=problem_seed,
            problems=count,
            remeasure=remeasure,
            report=report,
        )

    measured = _measure(members, task, problem_seed, count, judge, report)
    measured = dataclasses.replace(
        measured, seeds=seeds, seconds=time.monotonic() - begun, basis=rests_on
    )
    write(run, measured)
    return measured


def members_of(run: Run, task: str) -> dict[str, Network]:
    """The networks of a run that have weights, by name."""
    seeds = run.seeds_with_weights
    ensemble = run.ensemble(seeds)
    return {f"seed {seed}": ensemble.member(index, task) for index, seed in enumerate(seeds)}


def findings_of(
    subjects: Mapping[str, Subject | Compiled],
    task: Task | str,
    *,
    problem_seed: int = 0,
    problems: int = falsify.PROBLEMS,
    report: Callable[[str], None] = lambda text: None,
) -> Findings:
    """Those of subjects that are of no run, such as a user's own models, by name."""
    task = tasks.register(tasks.get(task)).name
    begun = time.monotonic()

    def judge(name: str) -> Judgement:
        judgement = measures.judge(
            subjects[name], task, problem_seed, problems=problems, report=report
        )
        report(f"{name}: {judgement.verdict.word}")
        return judgement

    members = {n: s.network if isinstance(s, Compiled) else s for n, s in subjects.items()}
    measured = _measure(members, task, problem_seed, problems, judge, report)
    return dataclasses.replace(measured, seconds=time.monotonic() - begun)


class _Problems(NamedTuple):
    """On which the subjects of a task are looked at, and what exact programs do on them."""

    batches: dict[str, Batch]
    """Small and large."""
    parts: dict[str, slice]
    """Of the small ones."""
    shown: dict[str, int]
    """So many problems of each part are shown."""
    references: dict[str, Recording]
    """What exact programs do on the plain problems; none for subjects that there is no verdict for,
    which have accuracy and traces alone."""
    reason: str
    """Why there is none."""


def _measure(
    members: Mapping[str, Subject],
    task: str,
    problem_seed: int,
    count: int,
    judge: Callable[[str], Judgement],
    report: Callable[[str], None],
) -> Findings:
    """`judge` is asked by name for the judgement of a member that can be judged."""
    problems = _problems(task, problem_seed, next(iter(members.values())))
    small = problems.batches["small"]
    chosen, titles = _choose(problems)
    judgements, plain, shown = {}, {}, {}
    for name, member in progress.over(members.items(), "judging"):
        judgement = judge(name) if problems.references else _answers(member, problems)
        recording = judgement.recordings.get("small") or _recorded(member, small)
        judgements[name] = judgement._replace(recordings={})
        plain[name] = _part(recording, problems.parts["plain"])
        shown[name] = _part(recording, chosen)
    program = control = distances = None
    landscapes: list[Surroundings] = []
    names = _spread(judgements)
    if problems.references:
        program, compiled = _program(task, problem_seed, judgements)
        name = f"compiled {program.name}"
        with progress.job(f"judging {name}, the control"):
            control = measures.judge(compiled, task, problem_seed, problems=count)
        shown[name] = _part(control.recordings["small"], chosen)
        control = control._replace(recordings={})
        report(f"{name}, the control: {control.verdict.word}")
        names = [name, *names]
        landscapes = _landscapes(members, judgements, name, compiled, problem_seed, report)
    compared = {name: recording for name, recording in plain.items() if recording.has_attention}
    if compared and len(compared | problems.references) > 1:
        compared |= problems.references
        between = across.pairwise_total_variation(list(compared.values()))
        distances = Distances(list(compared), len(problems.references), between)
    return Findings(
        task,
        problem_seed,
        count,
        (),
        judgements,
        control,
        program,
        distances,
        landscapes,
        Shown(titles, small.take(chosen), {n: shown[n] for n in names if _can_be_seen(shown[n])}),
        environment(),
        0.0,
        that_may_be_rounded(members, task, problem_seed),
    )


def _can_be_seen(recording: Recording) -> bool:
    """Whether there is more to look at than answers."""
    return recording.has_attention or bool(recording.hints)


def _part(recording: Recording, samples: slice | np.ndarray) -> Recording:
    """To be kept: some samples, without logits."""
    return dataclasses.replace(recording, logits={}).take(samples)


def _problems(task: str, problem_seed: int, subject: Subject) -> _Problems:
    """For subjects like this one."""
    network = subject if isinstance(subject, Network) else None
    only_size = network.config.attention_bias if network else None
    reason = kept.why_not_judged(network, task)
    if not reason:
        exam = examination(task, problem_seed)
        references = {r.name: r.recording.take(exam.parts["plain"]) for r in exam.references}
        batches = {"small": exam.small, "large": exam.large}
        return _Problems(batches, exam.parts, _SHOWN, references, "")
    batches = {}
    for place, size, count in (("small", SMALL, 32), ("large", LARGE, 16)):
        batch = tasks.sample(task, only_size or size, count, problem_seed)
        batches[place] = _as_read_by(network, batch) if network else batch
    parts = {"plain": slice(0, len(batches["small"]))}
    return _Problems(batches, parts, {"plain": sum(_SHOWN.values())}, {}, reason)


def _recorded(subject: Subject, batch: Batch) -> Recording:
    """What the subject shows; of one that gives answers alone, these."""
    observed = observe(subject, batch)
    if isinstance(observed, Recording):
        return observed
    return Recording.from_arrays(outputs=observed, lengths=np.asarray(batch.lengths))


def _answers(subject: Subject, problems: _Problems) -> Judgement:
    """Accuracy and traces of a subject that cannot be judged."""
    recordings = {place: _recorded(subject, batch) for place, batch in problems.batches.items()}
    pairs = {place: (recordings[place], batch) for place, batch in problems.batches.items()}
    evidence = Evidence(
        {place: networks.score(*pair)["score"] for place, pair in pairs.items()},
        {p: external_faithfulness(*pair) for p, pair in pairs.items() if pair[0].hints},
    )
    verdict = Verdict(NOT_JUDGED, None, [Condition(problems.reason, False)])
    return Judgement(verdict, evidence, recordings)


def _landscapes(
    members: Mapping[str, Subject],
    judgements: Mapping[str, Judgement],
    control: str,
    compiled: Compiled,
    problem_seed: int,
    report: Callable[[str], None],
) -> list[Surroundings]:
    """Around the best network and the control; none of subjects that are no networks."""
    best = max(judgements, key=lambda name: judgements[name].evidence.accuracy["large"])
    network = members[best]
    if not isinstance(network, Network):
        return []
    report(f"the loss around {best} and {control}")
    centres = {best: network, control: compiled.network}
    batch = tasks.sample(compiled.program.task, SMALL, _LANDSCAPE_PROBLEMS, problem_seed)
    return [
        Surroundings(
            name,
            landscape.landscape(centre, batch, landscape.WIDE, _RESOLUTION),
            landscape.sharpness(centre, batch, _ITERATIONS),
        )
        for name, centre in progress.over(centres.items(), "the loss around networks")
    ]


def _as_read_by(network: Network, batch: Batch) -> Batch:
    """The batch in the form in which the network was trained on such ones."""
    read_features = {f.name: f for f in network.features}
    if PREDECESSOR in network.features:
        batch = with_predecessors_as_inputs(batch)
    pointers = [f for f in batch.features if f.kind is Kind.PERMUTATION and f.name in read_features]
    if any(read_features[f.name].kind is Kind.POINTER for f in pointers):
        batch = with_permutations_as_pointers(batch)
    return batch


def _choose(problems: _Problems) -> tuple[np.ndarray, list[str]]:
    """The problems with the longest traces of each part, in their order, and their titles."""
    chosen, titles = [], []
    for name, count in problems.shown.items():
        if name in problems.parts:
            samples = problems.parts[name]
            lengths = problems.batches["small"].lengths[samples]
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
    """The reference that is nearest to the most subjects, or the first, compiled."""
    evidence = [judgement.evidence for judgement in judgements.values()]
    nearest = Counter(each.nearest.reference for each in evidence if each.internal)
    first = programs.of_task(task, Role.REFERENCE)[0]
    program = programs.get(nearest.most_common(1)[0][0]) if nearest else first
    compiled = compile_program(program)
    about = Program(
        program.name,
        program.text,
        compiled.network.config.width,
        sum(array.size for array in networks.arrays(compiled.network).values()),
        verify(program, tasks.sample(task, SMALL, _VERIFIED, problem_seed)),
    )
    return about, compiled
