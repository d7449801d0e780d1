"""Judgements that a run folder keeps, one file for each network and task:

    findings/TASK/seed-00003.json

Each is written as soon as it is made, so that `judge`, `report` and `demo` take what another of
them measured, and go on where one was stopped.
"""

import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Callable

import numpy as np

from algoscope import falsify, measures, networks, programs, tasks
from algoscope.files import RunError, explained, read_bytes, write_bytes
from algoscope.measures import Judgement
from algoscope.measures.basis import basis
from algoscope.networks import Network
from algoscope.programs import Role
from algoscope.report.findings import FORMAT
from algoscope.runs import Run
from algoscope.serialise import from_json, parse_json, to_json
from algoscope.tasks.transforms import forms
from algoscope.verdict import NOT_JUDGED


@dataclasses.dataclass(frozen=True)
class Kept:
    problem_seed: int
    problems: int
    """About so many the falsifier tried."""
    weights: str
    """The SHA-256 digest of the network that was judged."""
    judgement: Judgement
    """Without recordings."""
    basis: str = ""
    """What judged it, see `basis`."""
    format: int = FORMAT


def judge_seed(
    run: Run,
    task: str,
    seed: int,
    network: Network,
    *,
    problem_seed: int,
    problems: int,
    remeasure: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> Judgement:
    """The judgement in the run folder, without recordings, if it is of this network and these
    problems, and judged by the same code, task and programs; or a new one, which is then kept."""
    asked = (problem_seed, problems, digest_of(network))
    rests_on = basis(task)
    kept = None if remeasure else _read(run, task, seed)
    if kept and (kept.problem_seed, kept.problems, kept.weights) == asked:
        if kept.basis == rests_on:
            report(f"seed {seed}: {kept.judgement.verdict.word}, as measured before")
            return kept.judgement
        report(
            f"seed {seed}: {kept.judgement.verdict.word} by another version of Algoscope, of the "
            "task or of its programs; judged anew"
        )
    judgement = measures.judge(network, task, problem_seed, problems=problems, report=report)
    report(f"seed {seed}: {judgement.verdict.word}")
    try:
        _write(run, task, seed, Kept(*asked, judgement._replace(recordings={}), rests_on))
    except RunError as error:
        report(f"seed {seed}: what was measured is not kept: {error}")
    return judgement


def words_kept(run: Run, task: str) -> dict[str, str]:
    """The words of the networks that were judged so far, by name."""
    kept = ((seed, _path(run, task, seed)) for seed in run.seeds)
    words = {seed: _word(path, path.stat().st_mtime_ns) for seed, path in kept if path.is_file()}
    return {f"seed {seed}": word for seed, word in words.items() if word}


@functools.lru_cache(maxsize=4096)
def _word(path: pathlib.Path, _written: int) -> str | None:
    """Of the judgement in a file that was written at this moment."""
    kept = _read_path(path)
    return kept.judgement.verdict.word if kept else None


def judge_run(
    run: Run,
    task: str,
    *,
    problem_seed: int = 0,
    problems: int,
    report: Callable[[str], None] = lambda text: None,
) -> list[str]:
    """The words of all networks of a run, by seed; those that are there are not judged again."""
    ensemble = run.ensemble()
    reason = why_not_judged(ensemble.member(0, task), task)
    if reason:
        report(f"{task}: not judged: {reason}")
        return [NOT_JUDGED] * len(ensemble.seeds)
    judgements = (
        judge_seed(
            run,
            task,
            seed,
            ensemble.member(index, task),
            problem_seed=problem_seed,
            problems=problems,
            report=report,
        )
        for index, seed in enumerate(ensemble.seeds)
    )
    return [judgement.verdict.word for judgement in judgements]


def why_not_judged(network: Network | None, task: str) -> str:
    """Why there is no verdict on subjects like this network, or on any if None; empty if there is
    one."""
    only_size = network.config.attention_bias if network else None
    features = network.features if network else tasks.get(task).features
    if only_size:
        return f"the network works for {only_size} nodes alone, and an examination has two sizes"
    if not programs.of_task(task, Role.REFERENCE) or features not in forms(tasks.get(task)):
        return f"the library has no exact program for {task} as these networks read it"
    return ""


def problems_kept(run: Run, task: str) -> int:
    """How many problems the falsifier tried on networks of the run; `falsify.PROBLEMS` if on
    none."""
    kept = (_read(run, task, seed) for seed in run.seeds)
    return max((one.problems for one in kept if one), default=falsify.PROBLEMS)


def digest_of(network: Network) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(networks.arrays(network).items()):
        digest.update(f"{name} {np.shape(array)}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _path(run: Run, task: str, seed: int) -> pathlib.Path:
    return run.path / "findings" / task / f"seed-{seed:05d}.json"


def _read(run: Run, task: str, seed: int) -> Kept | None:
    return _read_path(_path(run, task, seed))


def _read_path(path: pathlib.Path) -> Kept | None:
    """None if there is nothing, something damaged, or of another format."""
    try:
        content = parse_json(read_bytes(path))
        kept = from_json(Kept, content, where="judgement")
    except (OSError, ValueError):
        return None
    return kept if kept.format == FORMAT else None


def _write(run: Run, task: str, seed: int, kept: Kept) -> None:
    path = _path(run, task, seed)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, json.dumps(to_json(kept), indent=1).encode())
