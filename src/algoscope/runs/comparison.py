"""What came of a run, and in what runs differ."""

import json
import pathlib
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from algoscope.files import RunError
from algoscope.runs.folder import Run, flat


def outcome(run: Run) -> dict[str, float]:
    """Means over seeds, such as `test bfs`; of a run that stopped, its step."""
    if not run.finished:
        return {"step": run.step}
    results = run.results
    return {
        f"{name} {task}": statistics.fmean(scores["score"])
        for name in ("test", "fresh", "seen")
        for task, scores in results.get(name, {}).items()
    } | {
        name.replace("_", " "): statistics.fmean(results[name])
        for name in ("best_validation", "best_step")
        if name in results
    }


def differences(descriptions: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each name that differ between descriptions; None where one has no value."""
    names = dict.fromkeys(name for description in descriptions for name in description)
    values = {name: [description.get(name) for description in descriptions] for name in names}
    return {name: row for name, row in values.items() if len(set(map(json.dumps, row))) > 1}


def check_same(path: pathlib.Path, there: Mapping[str, Any], needed: Mapping[str, Any]) -> None:
    """Refuses to go on with what was made with other settings."""
    for name, (wanted, found) in differences([flat(needed), flat(there)]).items():
        raise RunError(
            f"{path}: was made with other settings ({name}: there {found!r}, needed {wanted!r}); "
            "give another folder, or remove that one"
        )
