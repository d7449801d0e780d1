"""Does the verdict deserve trust? Subjects of known truth, judged.

Every program of the library is compiled and examined as it is and in four disguises. Half of the
programs, every other one in alphabetical order among the exact and among the wrong, fix the
thresholds; the other half tests them.

    python benchmarks/zoo.py measure OUT.json [NAME …]    # examines all programs, or those named
    python benchmarks/zoo.py thresholds OUT.json          # what the tuning half says
    python benchmarks/zoo.py report OUT.json              # the confusion table of both halves
    python benchmarks/zoo.py programs OUT.json            # what each program is and scores
"""

import json
import pathlib
import sys
import time
from collections import Counter

import numpy as np

from algoscope import networks, programs
from algoscope.measures.evidence import Evidence, gather
from algoscope.measures.examination import examination
from algoscope.measures.problems import part
from algoscope.measures.verdict import (
    FAILS,
    RUNS,
    SHORTCUT,
    SOLVES,
    THRESHOLDS,
    UNDECIDED,
    decide,
    tested,
)
from algoscope.programs import GraphProgram, Role, disguises
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import interpret

TEMPERATURES = [2.0**k for k in range(1, 31)]
NOISES = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]
FOLLOWS, FOLLOWS_CLOSELY = 0.999, 0.95
"""What a disguised network has in common with its own program: the share of the trace on plain
problems; and, with noise, the share of close calls (flips) that are answered the same."""


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
    close = [exam.parts[name] for name in ("near", "far") if name in exam.parts]
    answers = [interpret(program, part(exam.small, where)).outputs for where in close]

    def follows(network) -> bool:
        for (batch, where), hints in zip(accounts, expected, strict=True):
            recording = networks.run(network, batch)
            valid = np.arange(1, recording.attention.shape[1] + 1) < batch.lengths[where][:, None]
            for name, hint in recording.hints.items():
                same = np.abs(np.asarray(hint, float)[where] - hints[name]) < 0.05
                if same[valid].mean() < FOLLOWS:
                    return False
        return True

    def follows_closely(network) -> bool:
        outputs = networks.run(network, exam.small).outputs
        for where, wanted in zip(close, answers, strict=True):
            for name, output in outputs.items():
                same = np.asarray(output)[where] == np.asarray(wanted[name])
                if same.reshape(len(same), -1).all(-1).mean() < FOLLOWS_CLOSELY:
                    return False
        return follows(network)

    network = compile_program(program).network
    yield "plain", network, 0.0
    yield "permuted", disguises.permuted(network, 1), 0.0
    soft = disguises.as_far_as(lambda t: disguises.softened(network, t), TEMPERATURES, follows)
    if soft:
        yield "softened", *soft
    noisy = disguises.as_far_as(lambda s: disguises.noisy(network, s, 2), NOISES, follows_closely)
    if noisy:
        yield "noisy", *noisy
    wide = compile_program(program, 2 * network.config.width + 3).network
    yield "padded", disguises.permuted(wide, 3), 0.0


def summary(evidence: Evidence) -> dict:
    """The numbers that thresholds are about, and some more."""
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


def truth(name: str, result: dict) -> str:
    """What the verdict has to be. A wrong program that answers right is a shortcut."""
    if roles()[name] is not Role.WRONG:
        return RUNS
    return SHORTCUT if max(result["accuracy"][p] for p in ("small", "large")) >= SOLVES else FAILS


def thresholds(results: dict) -> None:
    """For each number the least of the exact programs of the tuning half, and the wrong ones below:
    what `THRESHOLDS` was fixed by."""
    half = tuning_half()
    mine = {k: r for k, r in results.items() if k.split("/")[0] in half}
    print(f"{len(mine)} subjects of {len({k.split('/')[0] for k in mine})} programs")
    for number in THRESHOLDS:
        of = {k: r[number] for k, r in mine.items() if r[number] == r[number]}
        exact = {k: v for k, v in of.items() if truth(k.split("/")[0], mine[k]) == RUNS}
        wrong = {k: v for k, v in of.items() if truth(k.split("/")[0], mine[k]) == SHORTCUT}
        least = min(exact, key=lambda k: exact[k])
        below = sorted(v for v in wrong.values() if v < exact[least])
        print(
            f"{number:13s} exact from {exact[least]:.4f} ({least}), shortcuts below: "
            f"{len(below)} of {len(wrong)}, the highest {below[-1] if below else float('nan'):.4f}"
        )


def report(results: dict) -> None:
    """The confusion table of each half, and every error, in Markdown."""
    half, order = tuning_half(), (RUNS, SHORTCUT, FAILS, UNDECIDED)
    for title, inside in (("Tuning half", True), ("Test half", False)):
        mine = {k: r for k, r in results.items() if (k.split("/")[0] in half) is inside}
        programs_ = sorted({key.split("/")[0] for key in mine})
        counts, errors = {t: dict.fromkeys(order, 0) for t in order[:3]}, []
        for key, result in sorted(mine.items()):
            wanted = truth(key.split("/")[0], result)
            word, reasons = decide(result["accuracy"], {n: result[n] for n in THRESHOLDS})
            counts[wanted][word] += 1
            if word != wanted:
                errors.append(f"- `{key}`: {word} instead of {wanted} ({'; '.join(reasons)})")
        print(f"### {title}: {len(mine)} subjects of {len(programs_)} programs\n")
        print(f"| truth | {' | '.join(order)} |\n|---|{'---|' * len(order)}")
        for wanted, row in counts.items():
            print(f"| {wanted} | {' | '.join(str(row[word]) for word in order)} |")
        print("\n" + ("\n".join(errors) if errors else "No error.") + "\n")


def programs_table(results: dict) -> None:
    """What each program is and scores, in Markdown."""
    half = tuning_half()
    print(
        "| program | truth | half | accuracy 16, 64 | softened | noisy | verdicts |\n"
        + "|---" * 7
        + "|"
    )
    for name in sorted({key.split("/")[0] for key in results}):
        mine = {k.split("/")[1]: r for k, r in results.items() if k.split("/")[0] == name}
        plain = mine["plain"]
        words = Counter(
            decide(r["accuracy"], {n: r[n] for n in THRESHOLDS})[0] for r in mine.values()
        )
        amounts = [
            f"{mine[d]['amount']:.0e}" if d in mine else "none" for d in ("softened", "noisy")
        ]
        print(
            f"| {name} | {truth(name, plain)} | {'tuning' if name in half else 'test'} | "
            f"{plain['accuracy']['small']:.3f}, {plain['accuracy']['large']:.3f} | "
            f"{' | '.join(amounts)} | {', '.join(f'{n} {w}' for w, n in words.items())} |"
        )


def main() -> None:
    verb, out, *names = sys.argv[1:]
    if verb == "measure":
        measure(pathlib.Path(out), names)
        return
    results = json.loads(pathlib.Path(out).read_text())
    {"thresholds": thresholds, "report": report, "programs": programs_table}[verb](results)


if __name__ == "__main__":
    main()
