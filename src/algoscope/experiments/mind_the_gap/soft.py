"""Where a training begins that does not begin from random weights: at a compiled program."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from algoscope.networks import Network
    from algoscope.programs.compiler import Compiled


class Start(NamedTuple):
    """A compiled network; see `programs.soft_start` for the factors."""

    program: str
    width: int
    pointers: float
    masks: float
    rest: float
    """0 leaves the units that the program does not use empty."""
    attention: float | None = None

    def compiled(self) -> "Compiled":
        from algoscope import programs
        from algoscope.programs.soft_start import compile_soft

        factors = self._asdict()
        return compile_soft(programs.get(factors.pop("program")), **factors)

    def network(self) -> "Network":
        return self.compiled().network
