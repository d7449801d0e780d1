"""Samples and canonical splits equal dm-clrs's: values, shapes, lengths and types.

The golden files are made by tests/oracle/make_task_goldens.py.
"""

import json

import numpy as np
import pytest
from drawing import trace
from oracle.task_goldens import CPU_DEPENDENT, FOLDER, SPLITS, arrays_of, digests, draws

from algoscope import tasks

GOLDEN_DIGESTS = json.loads(SPLITS.read_text())


def assert_within_ulps(ours: np.ndarray, theirs: np.ndarray, ulps: int, what: str) -> None:
    bound = ulps * np.spacing(np.maximum(np.abs(ours), np.abs(theirs)))
    assert (np.abs(ours - theirs) <= bound).all(), what


@pytest.mark.parametrize("name", tasks.names())
def test_samples_equal_those_of_dm_clrs(name):
    with np.load(FOLDER / f"{name}.npz") as golden:
        compared = set()
        for number, draw in enumerate(draws(name)):
            ours = tasks.sample(name, draw.size, draw.count, draw.seed, **draw.options)
            for key, array in arrays_of(ours).items():
                theirs = golden[f"{number}.{key}"]
                compared.add(f"{number}.{key}")
                assert array.dtype == theirs.dtype, key
                if draw.size == 1 and not key.startswith("hints."):
                    theirs = theirs.reshape(array.shape)  # dm-clrs drops axes of length 1
                assert array.shape == theirs.shape, key
                if key not in CPU_DEPENDENT.get(name, ()):
                    assert np.array_equal(array, theirs), f"{key} of {draw}"
                elif key.startswith("inputs."):
                    assert_within_ulps(array, theirs, 4, f"{key} of {draw}")
        assert compared == set(golden)


@pytest.mark.parametrize("name", CPU_DEPENDENT)
def test_hull_traces_of_dm_clrs_own_points_equal_its_traces(name):
    """dm-clrs's points, bit for bit, so that nothing depends on the CPU but the angles."""
    with np.load(FOLDER / f"{name}.npz") as golden:
        for number, draw in enumerate(draws(name)):
            points = (draw.count, -1)
            samples = trace(
                name,
                x=golden[f"{number}.inputs.x"].reshape(points),
                y=golden[f"{number}.inputs.y"].reshape(points),
            )
            for b, sample in enumerate(samples):
                for key, array in sample.hints.items():
                    theirs = golden[f"{number}.hints.{key}"][b, : len(array)]
                    if key == "atans":
                        assert_within_ulps(array, theirs, 2, f"{key} of {draw}")
                    else:
                        assert np.array_equal(array, theirs), f"{key} of {draw}"
                in_hull = golden[f"{number}.outputs.in_hull"].reshape(points)[b]
                assert np.array_equal(sample.outputs["in_hull"], in_hull)
                assert len(sample.hints["phase"]) == golden[f"{number}.lengths"][b]


def test_every_task_has_goldens():
    assert list(GOLDEN_DIGESTS) == tasks.names()
    assert sorted(path.stem for path in FOLDER.glob("*.npz")) == tasks.names()


@pytest.mark.parametrize("part", ["train", "val", "test"])
@pytest.mark.parametrize("name", tasks.names())
def test_canonical_splits_equal_those_of_dm_clrs(name, part):
    ours = digests(name, arrays_of(tasks.split(name, part)))
    assert ours == GOLDEN_DIGESTS[name][part]


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="unknown split: 'tests'; did you mean test"):
        tasks.split("bfs", "tests")
    with pytest.raises(ValueError, match="unknown task: 'bsf'; did you mean bfs"):
        tasks.split("bsf", "test")
