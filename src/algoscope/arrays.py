"""Arrays that users give: of numpy, JAX or torch, or lists of numbers."""

from typing import Any

import numpy as np

from algoscope.errors import short


def given_array(name: str, given: Any, needed: str = "an array of numbers") -> np.ndarray:
    """What was given, as numpy's array; a ValueError in one sentence if it is none."""
    try:
        array = np.asarray(given)
    except MemoryError:
        raise
    except Exception as error:  # Other libraries' arrays raise whatever they like.
        reason, *_ = str(error).splitlines() or [type(error).__name__]
        reason = "rows of different lengths" if "inhomogeneous" in reason else reason
        raise ValueError(f"{name}: got {short(given)}, needed {needed} ({reason})") from None
    if np.ma.is_masked(given):
        raise ValueError(f"{name}: got masked values, needed a number in each place")
    return array
