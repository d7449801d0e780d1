"""Where a training begins that does not begin from random weights: at a compiled program."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from algoscope.networks import Network
    from algoscope.programs.compiler import Compiled

_SIZE, _COUNT, _SEED = 16, 32, 3


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

    def measured(self) -> dict[str, Any]:
        """Of the network before it is trained: the score on the test problems; loss, length of the
        gradient and share of exact traces at n = 16; and what its certificate says."""
        import jax
        import jax.numpy as jnp

        from algoscope import networks, tasks
        from algoscope.measures.evidence import record
        from algoscope.programs.verification import compare_with_reference

        compiled = self.compiled()
        network, task = compiled.network, compiled.program.task
        test, batch = tasks.split(task, "test"), tasks.sample(task, _SIZE, _COUNT, _SEED)
        loss, gradient = jax.value_and_grad(_loss)(network, networks.to_device(network, batch))
        squares = jax.tree.map(lambda array: jnp.sum(array**2), gradient)
        return {
            "test": float(networks.score(record(network, test), test)["score"]),
            "exact_traces": compare_with_reference(network, batch).exact_traces,
            "loss": float(loss),
            "gradient": float(sum(jax.tree.leaves(squares)) ** 0.5),
            "largest_uniform_size": compiled.certificate.largest_uniform_size,
            "largest_random_size": compiled.certificate.largest_random_size,
        }


def _loss(network: "Network", batch: Any) -> Any:
    from algoscope import networks

    return networks.loss(network, batch)
