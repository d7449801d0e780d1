"""Compiled programs: kept by function and shapes, and compiled side by side before the first runs.

Threads compile; what is compiled runs in one thread alone, since on a GPU programs of two threads
break each other's captures.
"""

import functools
import os
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import jax
from jax.stages import Compiled

from algoscope import progress

OPTIONS: dict[str, str | bool] = {"xla_disable_hlo_passes": "triton-softmax-rewriter"}
"""With that pass of the GPU's compiler, choosing what to fuse takes nine tenths of all compile
time, and programs are no faster (docs/lab/gpu-training.md)."""
_KEPT = 1024
"""Programs, for further runs of the same shapes."""
_AT_ONCE = 16
_lowering = threading.Lock()
Key = TypeVar("Key", bound=Hashable)


def program_for(
    function: Callable, *arguments: Any, donate: tuple[int, ...] = (), **options: str | bool
) -> Compiled:
    """The function, which is hashed, compiled for arguments of these shapes; it takes over the
    memory of donated ones. Further options are the compiler's."""
    shapes = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=getattr(a, "sharding", None)),
        arguments,
    )
    leaves, structure = jax.tree.flatten(shapes)
    return _compiled(function, donate, tuple(options.items()), structure, tuple(leaves))


@functools.lru_cache(_KEPT)
def _compiled(
    function: Callable, donate: tuple[int, ...], options: tuple, structure: Any, leaves: tuple
) -> Compiled:
    shapes = jax.tree.unflatten(structure, leaves)
    # Python does one thing at a time: lowered in turns, none would begin to compile before all are.
    with _lowering:
        lowered = jax.jit(function, donate_argnums=donate).lower(*shapes)
    return lowered.compile(OPTIONS | dict(options))


def side_by_side(makers: Mapping[Key, Callable[[], Compiled]]) -> dict[Key, Compiled]:
    """What each of them compiles."""
    executor = ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1))
    try:
        with progress.job("compiling", len(makers)) as job:
            compiling = {key: executor.submit(make) for key, make in makers.items()}
            for program in compiling.values():
                program.add_done_callback(lambda _: job.advance())
            return {key: program.result() for key, program in compiling.items()}
    finally:
        # After Ctrl-C nobody waits for what is not compiled yet.
        executor.shutdown(wait=False, cancel_futures=True)
