"""The streams that are compared with dm-clrs's, and how they are digested.

`streams.json` holds for each case a digest of every array, over some batches, by stage and name in
dm-clrs's order. The digests are of values alone: dm-clrs's transforms change types at random.
"""

import dataclasses
import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from algoscope import tasks

PATH = pathlib.Path(__file__).parent / "streams.json"
SEED = 42
SEEDS_AFTER_TRAINING = 2
"""Before the first batch dm-clrs also draws the seeds of its validation and test samplers."""

DM_CLRS_BURN_IN = 1000


@dataclasses.dataclass(frozen=True)
class Case:
    task: str
    recipe: tasks.Recipe
    batches: int

    @property
    def name(self) -> str:
        default = tasks.Recipe()
        changed = {
            field.name: getattr(self.recipe, field.name)
            for field in dataclasses.fields(tasks.Recipe)
            if getattr(self.recipe, field.name) != getattr(default, field.name)
        }
        return " ".join([self.task, *(f"{key}={value}" for key, value in changed.items())])


def _plain(sizes: tuple[int, ...], permutations: tasks.streams.Permutations) -> tasks.Recipe:
    return tasks.Recipe(
        sizes,
        count=3,
        length_needle=None,
        random_positions=False,
        predecessors_as_inputs=False,
        permutations=permutations,
    )


CASES = [
    *(Case(name, tasks.Recipe(count=2, permutations="cycle"), 6) for name in tasks.names()),
    *(
        Case(name, _plain((9, 5), permutations), 3)
        for name in ("insertion_sort", "minimum", "lcs_length", "kmp_matcher")
        for permutations in ("cycle", "pointers")
    ),
    *(
        Case(
            name,
            tasks.Recipe((5, 16), count=2, permutations="pointers", burn_in=DM_CLRS_BURN_IN),
            40,
        )
        for name in ("bfs", "dfs", "quicksort", "naive_string_matcher")
    ),
]

Stages = Mapping[str, Mapping[str, np.ndarray]]
"""The arrays of a batch by stage and name; hints [batch, time, …]."""


def digests(batches: Sequence[Stages], left_out: Sequence[str]) -> dict[str, str]:
    """The digest of each array over all batches, but for those that depend on the CPU."""
    names = [f"{stage}.{name}" for stage in batches[0] for name in batches[0][stage]]
    found = {name: hashlib.sha256() for name in names if name not in left_out}
    for batch in batches:
        for name, content in found.items():
            stage, _, key = name.partition(".")
            values = np.ascontiguousarray(batch[stage][key], "<f8") + 0.0
            content.update(f"{values.shape}".encode())
            content.update(values.data)
    return {name: content.hexdigest()[:32] for name, content in found.items()}


def load() -> dict[str, dict[str, str]]:
    return json.loads(PATH.read_text()) if PATH.exists() else {}
