"""Compiled code: the one place that knows numba. Without numba everything runs as plain Python.

Algorithms and samplers are decorated with `compiled`. They become machine code only as parts of a
task's batch loop (`specialise`), and that loop is what is cached between processes. Numba checks a
cached function against the file it stands in, but not against the files of what it calls; the
cache name therefore carries a digest of all sources of `algoscope.tasks`, so that an edited
algorithm is never run from a stale cache.
"""

import contextlib
import functools
import hashlib
import pathlib
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable)

try:
    import numba
except ImportError:
    numba: Any = None


def compiled(function: F) -> F:
    """Marks a function as compilable; calling it from Python compiles it for the types given."""
    return _with_numba(function)


def cached(function: F) -> F:
    """Compiles a function that Python calls directly, and keeps the code between processes."""
    return _cached(function, function.__qualname__)


def specialise(template: Callable, name: str, **functions: Callable) -> Callable:
    """The template's code with `functions` in place of the globals of those names.

    Compiled and cached under `name`, if all of `functions` are compiled; else left in Python.
    """
    code = types.FunctionType(template.__code__, {**template.__globals__, **functions}, name)
    code.__module__ = template.__module__
    if numba is None or not all(hasattr(f, "py_func") for f in functions.values()):
        return code
    return _cached(code, name)


def in_python(function: Callable) -> Callable:
    """The function as plain Python."""
    return getattr(function, "py_func", function)


def _cached(function: Any, name: str) -> Any:
    function.__qualname__ = f"{name}-{_sources_digest()}"
    try:
        return _with_numba(function, cache=True)
    except RuntimeError:  # Neither the sources' folder nor a home can be written to.
        return _with_numba(function)


def _with_numba(function: Any, **options: Any) -> Any:
    return function if numba is None else numba.njit(**options)(function)


@functools.cache
def _sources_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@compiled
def record(trace):
    """Appends the present values of all hint registers to the trace as its next step.

    `trace` is `(state, rows, count)`: the words behind the registers [width], the recorded rows
    [capacity, width], and how many steps were recorded [1]. Steps beyond the capacity are counted
    and not kept; whoever owns the trace then repeats the run with more room.
    """
    state, rows, count = trace
    if count[0] < rows.shape[0]:
        row = rows[count[0]]
        for i in range(row.shape[0]):  # faster than row[:] = state
            row[i] = state[i]
    count[0] += 1


def order(values):
    """The indices that sort `values` [n], ties as `np.argsort` has them on this processor.

    Where decimals are truncated ties are common, and there dm-clrs's answers depend on them.
    """
    return _ranks(values)


@contextlib.contextmanager
def ties_in_order() -> Iterator[None]:
    """Meanwhile `order` keeps equal values in the order of their indices, in this thread."""
    _sorting.stable = True
    try:
        yield
    finally:
        _sorting.stable = False


_sorting = threading.local()


def _ranks(values):
    return np.argsort(values, kind="stable" if getattr(_sorting, "stable", False) else None)


if numba is not None:
    from numba import objmode
    from numba.extending import overload

    @overload(order)
    def _compiled_order(values):
        def sort(values):
            ranks = np.argsort(values, kind="mergesort")
            for i in range(1, ranks.shape[0]):
                if values[ranks[i]] == values[ranks[i - 1]]:
                    with objmode(ranks="int64[::1]"):
                        ranks = _ranks(values)
                    break
            return ranks

        return sort
