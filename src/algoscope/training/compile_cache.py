"""Compiling: programs that threads compile side by side before the first of them runs."""

import threading
from typing import Any

from jax.stages import Compiled, Wrapped

OPTIONS: dict[str, str | bool] = {"xla_disable_hlo_passes": "triton-softmax-rewriter"}
"""With that pass of the GPU's compiler, choosing what to fuse takes nine tenths of all compile
time, and programs are no faster (docs/lab/gpu-training.md)."""
_lowering = threading.Lock()


def program_for(function: Wrapped, *arguments: Any, **options: str | bool) -> Compiled:
    """The function compiled for arguments of these shapes, with further options."""
    # Python does one thing at a time: lowered in turns, none would begin to compile before all are.
    with _lowering:
        lowered = function.lower(*arguments)
    return lowered.compile(OPTIONS | options)
