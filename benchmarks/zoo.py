"""Does the verdict deserve trust? Compiled subjects of known truth, judged.

Every program of the library is compiled and judged, as it is and in four disguises; so are the
programs of `blind.py`, which nobody had seen when measures and thresholds were fixed. Half of the
library, every other one in alphabetical order among the exact and among the wrong, fixed the
thresholds; the other half tests them.

    python benchmarks/zoo.py measure OUT.json [NAME …]    # judges all programs, or those named
        --processes 15                                    # so many at a time, a thread each
        --seeds 0 1                                       # on the problems of these seeds
        --disguises plain noisy                           # these alone
        --problems 4000                                   # that the falsifier tries
    python benchmarks/zoo.py thresholds OUT.json          # what the tuning half says
    python benchmarks/zoo.py report OUT.json              # words by truth, and every error
    python benchmarks/zoo.py programs OUT.json            # what each program is, and its words

Results are written as they come, and a second run measures what is missing.
"""

import argparse
import functools
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

from algoscope import falsify, networks, programs
from algoscope.falsify import PROBLEMS, Region
from algoscope.falsify.disagreement import compare
from algoscope.falsify.families import domain, families, size, traced
from algoscope.falsify.scope import coordinates
from algoscope.measures import Judgement
from algoscope.measures.examination import examination
from algoscope.measures.thresholds import CRITERIA
from algoscope.measures.verdict import judge
from algoscope.networks import Network
from algoscope.programs import GraphProgram, Role, disguises
from algoscope.programs.compiler import compile_program
from algoscope.programs.interpreter import follow, interpret
from algoscope.recording import Recording
from algoscope.tasks import Batch, Task
from algoscope.verdict import FAILS, RUNS, RUNS_UP_TO, SHORTCUT, WORDS

TEMPERATURES = [2.0**k for k in range(1, 31)]
NOISES = [1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1]
FOLLOWS, FOLLOWS_CLOSELY = 0.999, 0.95
"""What a disguised network has in common with its own program: the share of the trace on plain
problems; and, with noise, the share of close calls (flips) that are answered the same."""


TITLES = {
    "blind": "Blind programs",
    "held_out": "Held-out programs",
    "held_out_2": "Second held-out set",
    "held_out_3": "Third held-out set",
}
DISGUISES = ("plain", "permuted", "softened", "noisy", "padded")
INTERPRETED = "interpreted"
"""The program itself, run by the interpreter: a function that records what it does, without logits.
Nothing is compiled, so that it costs a tenth."""
WIDTHS = {"bfs": 12, "bellman_ford": 12, "minimum": 12, "mst_prim": 16, "dijkstra": 16, "dfs": 56}
"""Programs of one form have networks of one shape, which are compiled for once."""
TASKS = ("bellman_ford", "bfs", "dfs", "dijkstra", "minimum", "mst_prim")
"""Those that had programs when the halves were drawn."""
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
    """Without what joined after the halves were drawn: programs that are rivals in state alone, and
    those of other tasks."""
    library = [programs.get(name) for name in programs.names()]
    return {
        program.name: program.role
        for program in library
        if program.task.name in TASKS and program.role is not Role.STATE
    }


def tuning_half() -> set[str]:
    by_truth: dict[bool, list[str]] = {True: [], False: []}
    for name, role in sorted(library_roles().items()):
        by_truth[role is Role.WRONG].append(name)
    return {name for names in by_truth.values() for name in names[::2]}


def disguised(program: GraphProgram, disguise: str, seed: int) -> tuple[Network, float] | None:
    """The compiled network in a disguise, and how far that goes; none if it bears nothing of it."""
    network = compile_program(program, WIDTHS.get(program.task.name)).network
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


def summary(judgement: Judgement) -> dict:
    """The verdict, and the numbers that thresholds are about."""
    verdict, evidence = judgement.verdict, judgement.evidence
    tried = evidence.falsification
    assert tried is not None
    return {
        "word": verdict.word,
        "which": verdict.which,
        "scope": verdict.scope,
        "reasons": verdict.reasons,
        **evidence.tested,
        "accuracy": evidence.accuracy,
        "nearest": evidence.nearest.reference,
        "problems": tried.problems,
        "rate": tried.rate.value,
        "smallest": tried.smallest.batch.nodes if tried.smallest else None,
    }


def examine(job: tuple[Subject, int]) -> tuple[Subject, dict | None, float]:
    """The subject's numbers, none if its disguise does not exist, and how long that took."""
    subject, problems = job
    start, program = time.time(), get(subject.program)
    if subject.disguise == INTERPRETED:
        network = functools.partial(interpreted, program), 0.0
    else:
        network = disguised(program, subject.disguise, subject.seed)
    if network is None:
        return subject, None, time.time() - start
    judgement = judge(network[0], program.task, subject.seed, problems=problems)
    result = {"amount": network[1], **summary(judgement)}
    tried = judgement.evidence.falsification
    if tried is not None and tried.region is not None:
        result["contradicted"] = contradicted(network[0], tried.region, subject.seed, program.task)
    return subject, result, time.time() - start


def interpreted(program: GraphProgram, batch: Batch) -> Recording:
    return follow(program, batch).recording


def contradicted(network: falsify.Subject, region: Region, seed: int, task: Task) -> int:
    """Of fresh problems of all families inside a scope, how many disagree: there should be none."""
    random, count = np.random.default_rng([seed, 77]), 0
    for n, each in ((8, 16), (16, 16), (32, 2)):
        drawn = [p for family in families(domain(task)) for p in family.draw(n, each, random)]
        for nodes in {size(problem) for problem in drawn}:
            batch = traced(task, [problem for problem in drawn if size(problem) == nodes])
            count += int((compare(network, batch).wrong & region.holds(coordinates(batch))).sum())
    return count


def share(compiled: str) -> None:
    """Processes use what others have compiled: subjects of a program have the same shapes."""
    jax.config.update("jax_compilation_cache_dir", compiled)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


def measure(out: pathlib.Path, wanted: list[Subject], problems: int, processes: int) -> None:
    results = json.loads(out.read_text()) if out.exists() else {}
    wanted.sort(key=lambda subject: get(subject.program).task.name != SLOW_TASK)
    jobs = [(subject, problems) for subject in wanted if subject.key not in results]
    os.environ.update(ONE_THREAD)
    with (
        tempfile.TemporaryDirectory() as compiled,
        multiprocessing.get_context("spawn").Pool(processes, share, [compiled]) as pool,
    ):
        for subject, result, seconds in pool.imap_unordered(examine, jobs):
            results[subject.key] = result
            unfinished = out.with_suffix(".part")
            unfinished.write_text(json.dumps(dict(sorted(results.items())), indent=1))
            unfinished.replace(out)
            word = result["word"] if result else "no such disguise"
            print(f"{subject.key}: {word}, {seconds:.0f} s", flush=True)


def is_exact(name: str) -> bool:
    return roles()[name] is not Role.WRONG


def is_error(name: str, result: dict) -> bool:
    """What must not happen: a wrong program that `runs`, with or without a scope that holds wrong
    problems; an exact one that is something else than the algorithm."""
    if is_exact(name):
        return result["word"] in (SHORTCUT, FAILS)
    return result["word"] == RUNS or result.get("contradicted", 0) > 0


def sections(results: dict[Subject, dict]) -> dict[str, dict[Subject, dict]]:
    """The subjects of each half, and the blind ones, by problem seed."""
    half = tuning_half()

    def title(subject: Subject) -> str:
        for name, members in blind.SETS.items():
            if subject.program in members:
                return TITLES[name]
        return "Tuning half" if subject.program in half else "Test half"

    found: dict[str, dict[Subject, dict]] = {}
    for name in ("Tuning half", "Test half", *TITLES.values()):
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
        exact = {s: v for s, v in of.items() if is_exact(s.program)}
        wrong = {s: v for s, v in of.items() if not is_exact(s.program)}
        least = min(exact, key=lambda s: exact[s])
        below = sorted(v for v in wrong.values() if v < exact[least])
        print(
            f"{number:13s} exact from {exact[least]:.4f} ({least.key}), shortcuts below: "
            f"{len(below)} of {len(wrong)}, the highest {below[-1] if below else float('nan'):.4f}"
        )


def report(results: dict[Subject, dict]) -> None:
    """Words by truth in each section, and every error, in Markdown."""
    for title, mine in sections(results).items():
        counts = Counter((is_exact(s.program), r["word"]) for s, r in mine.items())
        errors = [
            f"- `{s.key}`: {r['word']} ({'; '.join([r['scope'], *r['reasons']])})"
            for s, r in mine.items()
            if is_error(s.program, r)
        ]
        count = len({subject.program for subject in mine})
        print(f"### {title}: {len(mine)} subjects of {count} programs\n")
        print(f"| truth | {' | '.join(WORDS)} |\n|---|{'---|' * len(WORDS)}")
        for exact, truth in ((True, "exact"), (False, "wrong")):
            print(f"| {truth} | {' | '.join(str(counts[exact, word]) for word in WORDS)} |")
        print("\n" + ("\n".join(errors) if errors else "No error.") + "\n")


def programs_table(results: dict[Subject, dict]) -> None:
    """What each program is, and what was said of it, in Markdown."""
    print(
        "| program | truth | accuracy 16, 64 | share wrong | smallest | words |\n"
        + "|---" * 6
        + "|"
    )
    for name in sorted({subject.program for subject in results}):
        mine = {s: r for s, r in results.items() if s.program == name}
        first = next(iter(mine.values()))
        words = Counter(
            f"{r['word']} {r['scope']}" if r["word"] == RUNS_UP_TO else r["word"]
            for r in mine.values()
        )
        print(
            f"| {name} | {'exact' if is_exact(name) else 'wrong'} | "
            f"{first['accuracy']['small']:.3f}, {first['accuracy']['large']:.3f} | "
            f"{first['rate']:.4f} | {first['smallest'] or '–'} | "
            f"{', '.join(f'{n} {w}' for w, n in words.items())} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=["measure", *READERS])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="programs to measure, if not all")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument(
        "--disguises", nargs="+", choices=(*DISGUISES, INTERPRETED), default=list(DISGUISES)
    )
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    options = parser.parse_args()
    if options.verb == "measure":
        wanted = [
            Subject(name, disguise, seed)
            for disguise in options.disguises
            for seed in options.seeds
            for name in options.names or roles()
        ]
        measure(options.out, wanted, options.problems, options.processes)
        return
    stored = json.loads(options.out.read_text())
    READERS[options.verb]({Subject.of(key): r for key, r in stored.items() if r is not None})


READERS = {"thresholds": thresholds, "report": report, "programs": programs_table}

if __name__ == "__main__":
    main()
