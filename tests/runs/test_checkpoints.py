"""Checkpoints: two are kept, and a damaged one is noticed."""

import numpy as np
import pytest

from algoscope.runs import RunError, checkpoints


def named(value: float) -> dict[str, np.ndarray]:
    return {"a": np.full((2, 3), value), "b.c": np.arange(3, dtype=np.int32).reshape(3, 1).T}


def test_the_last_two_are_kept_and_the_last_is_read(tmp_path):
    for step in (0, 5, 100):
        checkpoints.write(tmp_path, step, named(step))
    found = checkpoints.read(tmp_path)
    assert (found.step, found.notes) == (100, ())
    assert (found.arrays["a"] == 100).all()
    assert (found.arrays["b.c"] == [[0, 1, 2]]).all()
    assert checkpoints.latest_step(tmp_path) == 100
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_one_gives_way_to_the_one_before(tmp_path, damage):
    checkpoints.write(tmp_path, 5, named(5))
    checkpoints.write(tmp_path, 10, named(10))
    path = max(tmp_path.iterdir())
    octets = bytearray(path.read_bytes())
    match damage:
        case "cut":
            octets = octets[:-1]
        case "flipped":
            octets[-3] ^= 1
        case "empty":
            octets.clear()
    path.write_bytes(octets)
    found = checkpoints.read(tmp_path)
    assert found.step == 5
    assert "is damaged" in found.notes[0]
    assert path.name in found.notes[0]


def test_without_a_whole_one_there_is_a_clear_error(tmp_path):
    with pytest.raises(RunError, match="no whole checkpoint"):
        checkpoints.read(tmp_path)
    checkpoints.write(tmp_path, 5, named(5))
    next(tmp_path.iterdir()).write_bytes(b"")
    with pytest.raises(RunError, match=r"from \(each of 1 is damaged\); train anew with --force$"):
        checkpoints.read(tmp_path)
