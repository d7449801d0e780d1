"""What the runs of a folder are like now, looked at as often as somebody asks and they change."""

import math
import pathlib
import threading
import time
from collections import Counter
from typing import NamedTuple

import numpy as np

from algoscope import runs
from algoscope.errors import short
from algoscope.files import read_arrays
from algoscope.report import kept
from algoscope.report.findings import read_judgements
from algoscope.runs import Metrics, Run, RunError, State, abilities, live, lock
from algoscope.runs.abilities import Abilities
from algoscope.runs.folder import METRICS, STUDY, STUDY_PAGE, has_begun, run_folders
from algoscope.runs.live import Live
from algoscope.verdict import NOT_JUDGED, WORDS

_PAGES = ("report.html", STUDY_PAGE)
_WATCHED = (
    "run.json", "results.json", live.FILE, abilities.FILE, *_PAGES, "findings/*", "findings/*/*",
)  # fmt: skip
"""The files of a run that a page tells of."""


class Page(NamedTuple):
    """What a folder has to be read, whether there is a run in it or not."""

    path: pathlib.Path
    version: int
    """Tells it from an earlier one."""

    @classmethod
    def of(cls, folder: pathlib.Path) -> "Page | None":
        """Links to elsewhere are left out."""
        paths = (folder / name for name in _PAGES)
        there = (path for path in paths if path.is_file() and not path.is_symlink())
        return next((cls(path, path.stat().st_mtime_ns) for path in there), None)


class Summary(NamedTuple):
    """What the list, a comparison and the page of a run say of it."""

    name: str
    """The path below the folder: runs of a sweep are in one of its own."""
    run: Run
    state: State
    live: Live
    """How far it is; of a finished run, how it went."""
    test: str
    """The mean test score."""
    words: dict[str, str]
    """The verdicts so far, by network."""
    means: dict[str, str]
    """Over networks, of what was measured."""
    page: Page | None
    """Its report, or what a study of a language model found."""

    @property
    def steps(self) -> str:
        if self.run.kind == STUDY:
            return "–"
        return f"{self.live.step:,} of {self.live.steps:,}"

    @property
    def counts(self) -> Counter[str]:
        """How many networks have which word."""
        return Counter(self.words.values())


Entries = dict[str, Summary | Page | str]
"""Folders that should be runs, by path: what is in them, a page alone, or why nothing is shown of
them."""
_Signature = tuple[object, ...]


class Watch:
    """The runs in a folder, or the one run that the folder is. A run is read anew if one of its
    files has changed; for any number of threads."""

    def __init__(self, root: pathlib.Path):
        if not root.is_dir():
            raise RunError(f"{root}: got no folder, needed one that holds runs, or a run")
        self.root = root
        self._lock = threading.Lock()
        self._looked = -math.inf
        self._signatures: dict[str, _Signature] = {}
        self._entries: Entries = {}

    def entries(self, age: float = 0.0) -> Entries:
        """As they were at most so many seconds ago; the same object if nothing has changed."""
        with self._lock:
            if time.monotonic() - self._looked >= age:
                self._look()
                self._looked = time.monotonic()
            return self._entries

    def _look(self) -> None:
        folders = self._folders()
        signatures = {name: _signature(path) for name, path in folders.items()}
        if signatures == self._signatures:
            return
        self._entries = {
            name: self._entries[name]
            if self._signatures.get(name) == signatures[name]
            else _entry(name, path)
            for name, path in folders.items()
        }
        self._signatures = signatures

    def _folders(self) -> dict[str, pathlib.Path]:
        """By path below the root; a folder without any run is there itself. Links to elsewhere are
        left out."""
        root = self.root.resolve()
        if (root / "run.json").is_file():
            return {root.name: root}
        inside = sorted(path for path in root.iterdir() if not path.name.startswith("."))
        own = [path for path in inside if path.is_dir() and path.resolve().parent == root]
        below = (path for folder in own for path in [*run_folders(folder)] or [folder])
        return {str(path.relative_to(root)): path for path in below}


def _signature(folder: pathlib.Path) -> _Signature:
    """Differs if a file does, or if a process begins or ends to train the run."""
    files = []
    for path in sorted(path for pattern in _WATCHED for path in folder.glob(pattern)):
        try:
            stat = path.stat()
        except OSError:
            continue
        files.append((str(path), stat.st_mtime_ns, stat.st_size))
    return (lock.is_held(folder), *files)


def _entry(name: str, path: pathlib.Path) -> Summary | Page | str:
    # The description comes last: a run without one that a process holds is about to begin.
    if lock.is_held(path) and not (path / "run.json").exists():
        return "being prepared"
    try:
        if not has_begun(path) and (page := Page.of(path)):
            return page
        return _summary(name, runs.open(path))
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        return f"unreadable: {str(error) or repr(error)}"


def _summary(name: str, run: Run) -> Summary:
    scores = run.results.get("test", {}) if run.finished else {}
    means = [sum(s["score"]) / len(s["score"]) for s in scores.values() if s.get("score")]
    found = Abilities.read(run.path)
    words = {row.model: row.word for row in found.found if row.kind == "algorithm"} if found else {}
    values: dict[str, list[float]] = {}
    for task in run.tasks if not run.kind else ():
        start = f"{task}, " if len(run.tasks) > 1 else ""
        judgements = read_judgements(run, task)
        own = {network: judgement.verdict.word for network, judgement in judgements.items()}
        words |= {f"{start}{n}": word for n, word in (own or kept.words_kept(run, task)).items()}
        for judgement in judgements.values():
            for label, value in judgement.numbers.items():
                if not math.isnan(value):
                    values.setdefault(f"{task}: {label}", []).append(value)
    known = (*WORDS, NOT_JUDGED)
    if unknown := [word for word in words.values() if word not in known]:
        raise RunError(f"verdict: got {short(unknown[0])}, needed one of {', '.join(known)}")
    return Summary(
        name,
        run,
        run.state,
        _progress(run),
        f"{sum(means) / len(means):.4f}" if means else "–",
        words,
        {label: f"{sum(numbers) / len(numbers):.3f}" for label, numbers in values.items()},
        Page.of(run.path),
    )


def _progress(run: Run) -> Live:
    steps = run.config["steps"]
    none = live.Curves([], [])
    if not run.finished:
        return live.read(run.path) or Live(run.step, steps, math.nan, math.nan, none)
    try:
        curves = live.curves(*_metrics(run))
    except (RunError, ValueError, KeyError):
        # A finished run may have come here without its metrics; a study has none.
        curves = none
    return Live(steps, steps, math.nan, math.nan, curves)


def _metrics(run: Run) -> Metrics:
    if not run.kind:
        return Metrics(*map(np.asarray, run.metrics))
    # A tower has the loss of each step alone.
    loss = np.asarray(read_arrays(run.path / METRICS)["loss"])
    return Metrics(loss.reshape(-1, 1, 1), np.zeros(0, np.int32), np.zeros((0, 1, 1), np.float32))
