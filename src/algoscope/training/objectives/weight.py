"""The weight of an objective over training, as it is written:

1.0                 constant
0:1@1000            from 0 at the first step to 1 at step 1,000, in a straight line; then 1
0:1@500-1500        0 until step 500, in a straight line to 1 at step 1,500; then 1
0:1@500-500         a jump: 0 before step 500, 1 from then on
"""

import re
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from algoscope.errors import ConfigError

_NUMBER = r"(\d+(?:\.\d*)?(?:e-?\d+)?)"
_FORM = re.compile(rf"{_NUMBER}(?::{_NUMBER}@(?:(\d+)-)?(\d+))?")
NEEDED = "a number such as 1.0, or FROM:TO@STEP or FROM:TO@FIRST-LAST, such as 0:1@1000"


class Weight(NamedTuple):
    """w(t) = start + (end - start) · clip((t - first) / (last - first), 0, 1)"""

    start: float = 1.0
    end: float = 1.0
    first: int = 0
    last: int = 0

    @property
    def constant(self) -> bool:
        return self.start == self.end

    def at(self, step: Int[Array, ""] | int) -> Float[Array, ""]:
        """With first = last, the jump is at that step."""
        if self.first == self.last:
            part = jnp.where(jnp.asarray(step) >= self.last, 1.0, 0.0)
        else:
            part = jnp.clip((jnp.asarray(step) - self.first) / (self.last - self.first), 0.0, 1.0)
        return self.start + (self.end - self.start) * part

    def times(self, term: Float[Array, ""], step: Int[Array, ""]) -> Float[Array, ""]:
        """The weighted term, which a weight of 1 leaves as it is, to the last bit."""
        if not self.constant:
            return self.at(step) * term
        return term if self.start == 1 else self.start * term


def parse_weight(text: str) -> Weight:
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigError(f"got the weight {text!r}, needed {NEEDED}")
    start, end, first, last = match.groups()
    if end is None:
        return Weight(float(start), float(start))
    weight = Weight(float(start), float(end), int(first or 0), int(last))
    if weight.first > weight.last:
        raise ConfigError(f"got the weight {text!r}, whose last step is before the first")
    return weight
