"""Does the verdict deserve trust? Subjects of known truth, judged.

Every program of the library is compiled and examined as it is and in four disguises. Half of the
programs, every other one in alphabetical order among the exact and among the wrong, fix the
thresholds; the other half tests them.

The programs of `blind.py` were written before any of these numbers were seen, after measures and
thresholds had been fixed.

    python benchmarks/zoo.py measure OUT.json [NAME …]    # examines all programs, or those named
        --processes 15                                    # so many at a time, a thread each
        --seeds 0 1                                       # on the problems of these seeds
    python benchmarks/zoo.py thresholds OUT.json          # what the tuning half says
    python benchmarks/zoo.py report OUT.json              # the confusion tables
    python benchmarks/zoo.py programs OUT.json            # what each program is and scores

Results are written as they come, and a second run measures what is missing.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import tempfile
import time
from collections import Counter
from typing import NamedTuple

import blind
import jax
import numpy as np

from algoscope import networks, programs
from algoscope.measures import Evidence
from algoscope.measures.examination import examination
from algoscope.measures.thresholds import CRITERIA, SOLVES
from algoscope.measures.verdict import decide, judge
from algoscope.networks import Network
from algoscope.programs import GraphProgram, Role, disguises
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import interpret
from algoscope.verdict import FAILS, RUNS, SHORTCUT, WORDS, Verdict

TEMPERATURES = [2.0**k for k in range(1, 31)]
NOISES = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]
FOLLOWS, FOLLOWS_CLOSELY = 0.999, 0.95
"""What a disguised network has in common with its own program: the share of the trace on plain
problems; and, with noise, the share of close calls (flips) that are answered the same."""


DISGUISES = ("plain", "permuted", "softened", "noisy", "padded")
SLOW_TASK = "dfs"
"""Measured first, lest one process be at work when all others are done."""
ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}


class Subject(NamedTuple):
    program: str
    disguise: str
    seed: int
    """Of the problems."""

    @property
    def key(self) -> str:
        return "/".join(map(str, self))

    @staticmethod
    def of(key: str) -> "Subject":
        program, disguise, seed = key.split("/")
        return Subject(program, disguise, int(seed))


def get(name: str) -> GraphProgram:
    return blind.PROGRAMS.get(name) or programs.get(name)


def roles() -> dict[str, Role]:
    """Of all programs of the library, and the blind ones."""
    return library_roles() | {name: p.role for name, p in blind.PROGRAMS.items()}


def library_roles() -> dict[str, Role]:
    """Without programs that are rivals in state alone: they joined after the halves were drawn."""
    roles = {name: programs.get(name).role for name in programs.names()}
    return {name: role for name, role in roles.items() if role is not Role.STATE}


def tuning_half() -> set[str]:
    by_truth: dict[bool, list[str]] = {True: [], False: []}
    for name, role in sorted(library_roles().items()):
        by_truth[role is Role.WRONG].append(name)
    return {name for names in by_truth.values() for name in names[::2]}


def disguised(program: GraphProgram, disguise: str, seed: int) -> tuple[Network, float] | None:
    """The compiled network in a disguise, and how far that goes; none if it bears nothing of it."""
    network = compile_program(program).network
    match disguise:
        case "plain":
            return network, 0.0
        case "permuted":
            return disguises.permuted(network, 1), 0.0
        case "softened":
            follows, _ = followers(program, seed)
            return disguises.as_far_as(
                lambda t: disguises.softened(network, t), TEMPERATURES, follows
            )
        case "noisy":
            _, follows = followers(program, seed)
            return disguises.as_far_as(lambda s: disguises.noisy(network, s, 2), NOISES, follows)
        case _:
            wide = compile_program(program, 2 * network.config.width + 3).network
            return disguises.permuted(wide, 3), 0.0


def followers(program: GraphProgram, seed: int):
    """Whether a network still follows the program: on plain problems, and on close calls, too."""
    exam = examination(program.task.name, seed)
    accounts = [(exam.small, exam.parts["plain"]), (exam.large, slice(None))]
    expected = [interpret(program, batch.take(where)).hints for batch, where in accounts]
    close = [exam.parts[name] for name in ("near", "far") if name in exam.parts]
    answers = [interpret(program, exam.small.take(where)).outputs for where in close]

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

    return follows, follows_closely


def summary(evidence: Evidence) -> dict:
    """The numbers that thresholds are about, and some more."""
    return {
        **evidence.tested,
        "accuracy": evidence.accuracy,
        "eq25": {n: e.eq25 for n, e in evidence.external.items()},
        "eq24": evidence.nearest.eq24,
        "nearest": evidence.nearest.reference,
        "probes": evidence.probes._asdict(),
        "untrained_probes": evidence.untrained_probes._asdict(),
        "variables": evidence.interchange.variables if evidence.interchange else {},
    }


def examine(subject: Subject) -> tuple[Subject, dict | None, float]:
    """The subject's numbers, none if its disguise does not exist, and how long that took."""
    start, program = time.time(), get(subject.program)
    found = disguised(program, subject.disguise, subject.seed)
    if found is None:
        return subject, None, time.time() - start
    network, amount = found
    judgement = judge(network, program.task, subject.seed)
    return subject, {"amount": amount, **summary(judgement.evidence)}, time.time() - start


def share(compiled: str) -> None:
    """Processes use what others have compiled: subjects of a program have the same shapes."""
    jax.config.update("jax_compilation_cache_dir", compiled)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def measure(out: pathlib.Path, names: list[str], seeds: list[int], processes: int) -> None:
    results = json.loads(out.read_text()) if out.exists() else {}
    wanted = [Subject(n, d, s) for d in DISGUISES for s in seeds for n in names or roles()]
    wanted.sort(key=lambda subject: get(subject.program).task != SLOW_TASK)
    missing = [subject for subject in wanted if subject.key not in results]
    os.environ.update(ONE_THREAD)
    with (
        tempfile.TemporaryDirectory() as compiled,
        multiprocessing.get_context("spawn").Pool(processes, share, [compiled]) as pool,
    ):
        for subject, result, seconds in pool.imap_unordered(examine, missing):
            results[subject.key] = result
            unfinished = out.with_suffix(".part")
            unfinished.write_text(json.dumps(dict(sorted(results.items())), indent=1))
            unfinished.replace(out)
            print(f"{subject.key}: {seconds:.0f} s", flush=True)


def truth(name: str, result: dict) -> str:
    """What the verdict has to be. A wrong program that answers right is a shortcut."""
    if roles()[name] is not Role.WRONG:
        return RUNS
    return SHORTCUT if max(result["accuracy"][p] for p in ("small", "large")) >= SOLVES else FAILS


def verdict(result: dict) -> Verdict:
    return decide(result["accuracy"], {key: result[key] for key in CRITERIA}, result["nearest"])


def sections(results: dict[Subject, dict]) -> dict[str, dict[Subject, dict]]:
    """The subjects of each half, and the blind ones, by problem seed."""
    half = tuning_half()

    def title(subject: Subject) -> str:
        if subject.program in blind.PROGRAMS:
            return "Blind programs"
        return "Tuning half" if subject.program in half else "Test half"

    found: dict[str, dict[Subject, dict]] = {}
    for name in ("Tuning half", "Test half", "Blind programs"):
        for seed in sorted({subject.seed for subject in results}):
            mine = {s: r for s, r in results.items() if s.seed == seed and title(s) == name}
            if mine:
                found[f"{name}, problem seed {seed}"] = mine
    return found


def thresholds(results: dict[Subject, dict]) -> None:
    """For each number the least of the exact programs of the tuning half, and the wrong ones below:
    what the thresholds were fixed by."""
    mine = sections(results)["Tuning half, problem seed 0"]
    print(f"{len(mine)} subjects of {len({s.program for s in mine})} programs")
    for number in CRITERIA:
        of = {s: r[number] for s, r in mine.items() if r[number] == r[number]}
        exact = {s: v for s, v in of.items() if truth(s.program, mine[s]) == RUNS}
        wrong = {s: v for s, v in of.items() if truth(s.program, mine[s]) == SHORTCUT}
        least = min(exact, key=lambda s: exact[s])
        below = sorted(v for v in wrong.values() if v < exact[least])
        print(
            f"{number:13s} exact from {exact[least]:.4f} ({least.key}), shortcuts below: "
            f"{len(below)} of {len(wrong)}, the highest {below[-1] if below else float('nan'):.4f}"
        )


def report(results: dict[Subject, dict]) -> None:
    """The confusion table of each section, and every error, in Markdown."""
    for title, mine in sections(results).items():
        counts, errors = Counter(), []
        for subject, result in mine.items():
            wanted, given = truth(subject.program, result), verdict(result)
            counts[wanted, given.word] += 1
            if given.word != wanted:
                reasons = "; ".join(given.reasons)
                errors.append(f"- `{subject.key}`: {given.word} instead of {wanted} ({reasons})")
        count = len({subject.program for subject in mine})
        print(f"### {title}: {len(mine)} subjects of {count} programs\n")
        print(f"| truth | {' | '.join(WORDS)} |\n|---|{'---|' * len(WORDS)}")
        for wanted in (RUNS, SHORTCUT, FAILS):
            print(f"| {wanted} | {' | '.join(str(counts[wanted, said]) for said in WORDS)} |")
        print("\n" + ("\n".join(errors) if errors else "No error.") + "\n")


def programs_table(results: dict[Subject, dict]) -> None:
    """What each program is and scores, in Markdown."""
    half = tuning_half()
    print(
        "| program | truth | half | accuracy 16, 64 | softened | noisy | verdicts |\n"
        + "|---" * 7
        + "|"
    )
    for name in sorted({subject.program for subject in results}):
        mine = {s: r for s, r in results.items() if s.program == name}
        first = {s.disguise: r for s, r in mine.items() if s.seed == 0}
        plain = first["plain"]
        where = "blind" if name in blind.PROGRAMS else "tuning" if name in half else "test"
        words = Counter(verdict(result).word for result in mine.values())
        amounts = [
            f"{first[d]['amount']:.0e}" if d in first else "none" for d in ("softened", "noisy")
        ]
        print(
            f"| {name} | {truth(name, plain)} | {where} | "
            f"{plain['accuracy']['small']:.3f}, {plain['accuracy']['large']:.3f} | "
            f"{' | '.join(amounts)} | {', '.join(f'{n} {w}' for w, n in words.items())} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=["measure", *READERS])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="programs to measure, if not all")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    if options.verb == "measure":
        measure(options.out, options.names, options.seeds, options.processes)
        return
    stored = json.loads(options.out.read_text())
    READERS[options.verb]({Subject.of(key): r for key, r in stored.items() if r is not None})


READERS = {"thresholds": thresholds, "report": report, "programs": programs_table}

if __name__ == "__main__":
    main()
