"""Does the verdict deserve trust? Subjects of known truth, judged.

Every program of the library is compiled and examined as it is and in four disguises. Half of the
programs, every other one in alphabetical order among the exact and among the wrong, fix the
thresholds; the other half tests them.

    python benchmarks/zoo.py measure OUT.json [NAME …]    # examines all programs, or those named
    python benchmarks/zoo.py thresholds OUT.json          # what the tuning half says
    python benchmarks/zoo.py report OUT.json              # the confusion table of both halves
"""

import json
import pathlib
import sys
import time

import numpy as np

from algoscope import networks, programs
from algoscope.measures.evidence import Evidence, gather
from algoscope.measures.examination import examination
from algoscope.measures.problems import part
from algoscope.programs import GraphProgram, Role, disguises
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import interpret

TEMPERATURES = [2.0**k for k in range(1, 19)]
NOISES = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]
FOLLOWS = 0.999


def roles() -> dict[str, Role]:
    return {
        program.name: role
        for task in sorted({programs.get(name).task for name in programs.names()})
        for role in Role
        for program in programs.of_task(task, role)
    }


def tuning_half() -> set[str]:
    by_truth: dict[bool, list[str]] = {True: [], False: []}
    for name, role in sorted(roles().items()):
        by_truth[role is Role.WRONG].append(name)
    return {name for names in by_truth.values() for name in names[::2]}


def subjects(program: GraphProgram):
    """The compiled network and its disguises, by name, with how far each goes."""
    exam = examination(program.task)
    accounts = [(exam.small, exam.parts["plain"]), (exam.large, slice(None))]
    expected = [interpret(program, part(batch, where)).hints for batch, where in accounts]

    def follows(network) -> bool:
        for (batch, where), hints in zip(accounts, expected, strict=True):
            recording = networks.run(network, batch)
            valid = np.arange(1, recording.attention.shape[1] + 1) < batch.lengths[where][:, None]
            for name, hint in recording.hints.items():
                same = np.abs(np.asarray(hint, float)[where] - hints[name]) < 0.05
                if same[valid].mean() < FOLLOWS:
                    return False
        return True

    network = compile_program(program).network
    yield "plain", network, 0.0
    yield "permuted", disguises.permuted(network, 1), 0.0
    soft = disguises.as_far_as(lambda t: disguises.softened(network, t), TEMPERATURES, follows)
    if soft:
        yield "softened", *soft
    noisy = disguises.as_far_as(lambda s: disguises.noisy(network, s, 2), NOISES, follows)
    if noisy:
        yield "noisy", *noisy
    wide = compile_program(program, 2 * network.config.width + 3).network
    yield "padded", disguises.permuted(wide, 3), 0.0


def summary(evidence: Evidence) -> dict:
    """The numbers that thresholds are about, and some more."""
    from algoscope.measures.verdict import tested

    return {
        **tested(evidence),
        "accuracy": evidence.accuracy,
        "eq25": {n: e.eq25 for n, e in evidence.external.items()},
        "eq24": evidence.nearest.eq24,
        "nearest": evidence.nearest.reference,
        "probes": evidence.probes._asdict(),
        "untrained_probes": evidence.untrained_probes._asdict(),
        "variables": evidence.interchange.variables if evidence.interchange else {},
    }


def measure(out: pathlib.Path, names: list[str]) -> None:
    results = json.loads(out.read_text()) if out.exists() else {}
    for name in names or list(roles()):
        start, program = time.time(), programs.get(name)
        for disguise, network, amount in subjects(program):
            evidence = gather(network, examination(program.task))
            results[f"{name}/{disguise}"] = {"amount": amount, **summary(evidence)}
            out.write_text(json.dumps(results, indent=1))
        print(f"{name}: {time.time() - start:.0f} s", flush=True)


def main() -> None:
    verb, out, *names = sys.argv[1:]
    if verb == "measure":
        measure(pathlib.Path(out), names)


if __name__ == "__main__":
    main()
