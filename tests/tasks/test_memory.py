"""Blocks of memory go from array to array, never to two at a time."""

import gc

import numpy as np

from algoscope.tasks.memory import Memory

LARGE = (300, 1000)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_an_array_has_the_shape_and_type_asked_for_and_can_be_written():
    memory = Memory()
    for shape in ((2, 3), LARGE, (0, 5)):
        for dtype in (np.int8, np.float64):
            array = memory.empty(shape, dtype)
            assert (array.shape, array.dtype) == (shape, dtype)
            assert array.flags.c_contiguous
            assert array.flags.aligned
            array[:] = 1


def test_the_memory_of_an_array_that_is_gone_is_used_again():
    memory = Memory()
    array = memory.empty(LARGE, np.int8)
    place = address(array)
    del array
    gc.collect()
    assert address(memory.empty(LARGE, np.int8)) == place


def test_a_slightly_larger_array_fits_too_and_a_much_larger_one_gets_its_own():
    memory = Memory()
    array = memory.empty(LARGE, np.int8)
    place = address(array)
    del array
    larger = memory.empty((360, 1000), np.int8)
    assert address(larger) == place
    del larger
    much_larger = memory.empty((900, 1000), np.int8)
    much_larger[:] = 1
    assert much_larger.all()


def test_memory_is_not_used_again_while_a_view_of_a_view_is_left():
    memory = Memory()
    array = memory.empty(LARGE, np.float64)
    array[:] = 7.0
    view = array[10:20].T.reshape(-1)[::2].view(np.int64)
    kept = array[3:5].view(np.uint8)[:, 8:16]
    before = kept.copy()
    del array, view
    gc.collect()
    other = memory.empty(LARGE, np.float64)
    other[:] = 0.0
    assert np.array_equal(kept, before)
    assert not np.shares_memory(other, kept)


def test_arrays_that_live_together_do_not_overlap():
    memory = Memory()
    arrays = []
    for round_ in range(4):
        arrays = arrays[round_ % 2 :: 2] + [memory.empty(LARGE, np.int8) for _ in range(5)]
        for number, array in enumerate(arrays):
            array[:] = number
        assert all((array == number).all() for number, array in enumerate(arrays))
