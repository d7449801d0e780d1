"""Writes tests/oracle/tasks/: what dm-clrs samples. Needs `pip install dm-clrs==2.0.3`.

Run from the repository's root with src and tests/oracle on PYTHONPATH. It takes some 20 minutes,
most of them for the canonical splits. Tasks that are there already are left alone; name tasks to
make only those.
"""

import json
import logging
import sys

import dm_clrs
import numpy as np
from clrs._src import samplers, specs
from task_goldens import FOLDER, HINT_DTYPES, SPLITS, Draw, digests, draws

from algoscope import tasks


def arrays_of(name: str, draw: Draw) -> dict[str, np.ndarray]:
    reference = dm_clrs.sample(name, draw.size, draw.count, draw.seed, **draw.options)
    arrays = {"lengths": reference.lengths}
    arrays |= {f"inputs.{key}": array for key, array in reference.inputs.items()}
    arrays |= {f"outputs.{key}": array for key, array in reference.outputs.items()}
    for key, array in reference.hints.items():
        compact = array.astype(HINT_DTYPES[specs.SPECS[name][key][2]])
        if not np.array_equal(compact, array):
            raise ValueError(f"{name}: {key} does not fit {compact.dtype}")
        arrays[f"hints.{key}"] = compact
    return arrays


def whole_draws(name: str) -> dict[str, np.ndarray]:
    return {
        f"{number}.{key}": array
        for number, draw in enumerate(draws(name))
        for key, array in arrays_of(name, draw).items()
    }


def split_digests(name: str) -> dict[str, dict[str, str]]:
    splits = {}
    for part, given in samplers.CLRS30.items():
        multiplier = specs.CLRS_30_ALGS_SETTINGS[name]["num_samples_multiplier"]
        count = given["num_samples"] * (1 if part == "train" else multiplier)
        arrays = arrays_of(name, Draw(given["length"], count, given["seed"], {}))
        splits[part] = digests(name, arrays)
    return splits


def main() -> None:
    logging.disable(logging.WARNING)
    FOLDER.mkdir(exist_ok=True)
    named = sys.argv[1:]
    for name in named or tasks.names():
        path = FOLDER / f"{name}.npz"
        if named or not path.exists():
            np.savez_compressed(path, **whole_draws(name))
            print(f"{path}: {path.stat().st_size} bytes", flush=True)
    for name in named or tasks.names():
        splits = json.loads(SPLITS.read_text()) if SPLITS.exists() else {}
        if named or name not in splits:
            splits[name] = split_digests(name)
            SPLITS.write_text(json.dumps(splits, indent=1, sort_keys=True) + "\n")
            print(f"{name}: splits digested", flush=True)


if __name__ == "__main__":
    main()
