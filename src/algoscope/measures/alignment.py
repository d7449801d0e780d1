"""Distributed alignment search (Geiger et al., 2023): a subspace of the state that is exchanged.

Where a network keeps a variable of a program is learnt: k directions R [width, k] of the hidden
state, orthonormal, such that the network goes on as the program does after the same exchange,

    h' = h_A + R Rᵀ (h_B - h_A)

where the hints that show the variable are read as the program has them. R minimises the loss of
the hints that follow, on one half of the exchanges, and is scored on the other half, as
`interchange` scores: the share of the entries that the exchange changes, for the program or the
network, in which the network does what the program does.

A search finds something in every network: the same search in an untrained network of the same shape
is its null, and without that null its score says little. It takes some seconds for each network and
is no part of an examination.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Array, Bool, Float

from algoscope import networks
from algoscope.measures import nulls
from algoscope.measures.exchanges import cut, draw_steps
from algoscope.measures.interchange import STEPS, follows
from algoscope.networks import Network, Start
from algoscope.networks.kinds import KINDS
from algoscope.programs import GraphProgram
from algoscope.programs.exchange import Continuation, features_that_show, resume, states_after
from algoscope.tasks import Batch, Stage

_ITERATIONS = 60


class Alignment(NamedTuple):
    """Shares of the entries that the exchange changes."""

    score: float
    """On the half of the exchanges that was held out."""
    learnt: float
    """On the half that the subspace was learnt from."""
    entries: int
    """Of the half that was held out."""


class AlignmentSearch(NamedTuple):
    dimensions: int
    variables: list[str]
    subject: Alignment
    untrained: Alignment
    """The same search in a network of the same shape with random weights."""


def alignment_search(
    network: Network,
    program: GraphProgram,
    base: Batch,
    donor: Batch,
    dimensions: int,
    variables: Sequence[str] | None = None,
    *,
    seed: int = 0,
    iterations: int = _ITERATIONS,
) -> AlignmentSearch:
    """Looks for the variables, or for all of the program's, in a subspace of so many dimensions.
    States come from runs on `donor`, sample by sample (`interchange.partners`)."""
    width = network.config.width
    if not 1 <= dimensions <= width:
        raise ValueError(
            f"dimensions: got {dimensions}, needed 1 to {width}, the width of the network"
        )
    names = [variable.name for variable in program.variables]
    variables = names if variables is None else list(variables)
    if unknown := sorted(set(variables) - set(names)):
        raise ValueError(
            f"variables: got {', '.join(unknown)}, needed some of {', '.join(names)}, those of "
            f"{program.name}"
        )
    random = np.random.default_rng(seed)
    steps = [draw_steps(batch, random) for batch in (base, donor)]
    states, others = (
        states_after(program, batch, at) for batch, at in zip((base, donor), steps, strict=True)
    )
    mixed = states | {name: others[name] for name in variables}
    short = cut(base, STEPS)
    accounts = [resume(program, short, state, STEPS) for state in (states, mixed)]
    shown = {name for v in variables for name in features_that_show(program, v)}
    found = []
    for each in (network, nulls.untrained(network, seed)):
        starts = [
            networks.state_after(each, networks.run(each, batch), at)
            for batch, at in zip((base, donor), steps, strict=True)
        ]
        read = {
            name: networks.read_as(each, name, accounts[1].initial_hints[name])
            if name in shown
            else value
            for name, value in starts[0].hints.items()
        }
        ends = _Ends(starts[0], starts[1].hidden, read)
        found.append(_align(each, short, ends, accounts, dimensions, seed, iterations))
    return AlignmentSearch(dimensions, variables, *found)


class _Ends(NamedTuple):
    """What an exchange leads from, and to."""

    start: Start
    """The base's state."""
    hidden: Float[Array, "exchange n width"]
    """The donor's hidden state."""
    hints: dict[str, Array]
    """What the encoders read after the exchange."""

    def exchanged(self, matrix: Float[Array, "width k"]) -> Start:
        directions = jnp.linalg.qr(matrix)[0]
        difference = self.hidden - self.start.hidden
        moved = self.start.hidden + difference @ directions @ directions.T
        return Start(moved, self.hints)


def _align(
    network: Network,
    short: Batch,
    ends: _Ends,
    accounts: Sequence[Continuation],
    dimensions: int,
    seed: int,
    iterations: int,
) -> Alignment:
    """`accounts`: how the program goes on without the exchange, and with it."""
    usable = accounts[0].kept & accounts[1].kept
    even = np.arange(len(usable)) % 2 == 0
    learnt_from, held_out = usable & even, usable & ~even
    batch = networks.to_device(network, short)
    truths = {
        name: jnp.asarray(accounts[1].hints[name], hint.dtype) for name, hint in batch.hints.items()
    }
    shape = network.config.width, dimensions

    def flat_loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = jnp.asarray(flat.reshape(shape), network.dtype)
        value, gradient = _loss(matrix, network, batch, ends, truths, jnp.asarray(learnt_from))
        return float(value), np.asarray(gradient, float).ravel()

    best = scipy.optimize.minimize(
        flat_loss,
        np.random.default_rng(seed).normal(size=shape).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": iterations},
    )
    matrix = jnp.asarray(best.x.reshape(shape), network.dtype)
    predicted = [
        networks.run_from(network, short, start).hints
        for start in (ends.start, ends.exchanged(matrix))
    ]
    expected = [account.hints for account in accounts]
    features = [feature for feature in short.at(Stage.HINT) if feature.name in predicted[0]]
    score, entries = follows(features, expected, predicted, held_out)
    return Alignment(score, follows(features, expected, predicted, learnt_from)[0], entries)


@jax.jit
@jax.value_and_grad
def _loss(
    matrix: Float[Array, "width k"],
    network: Network,
    batch: Batch,
    ends: _Ends,
    truths: dict[str, Array],
    counted: Bool[Array, " exchange"],
) -> Float[Array, ""]:
    """The sum over hints of the mean loss after the exchanges that count."""
    run = networks.trajectories(network, batch, start=ends.exchanged(matrix))
    total = jnp.zeros((), network.dtype)
    for feature in network.at(Stage.HINT):
        logits = run.hints[feature.name][:, :STEPS]
        values, weights = KINDS[feature.kind].losses(logits, truths[feature.name])
        weights *= counted.reshape(-1, *(1,) * (weights.ndim - 1))
        total += jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), 1)
    return total
