"""Interchange interventions (Geiger et al., 2021): the field's causal test of a mechanism.

Run problems A and B up to a step, put state of B into A, and go on with A. If the subject runs a
program, the same exchange in the program tells what happens next.

B is the problem after A in the batch, with A's source, since who is the source is no state (on any
graph: with A's inputs at nodes); the two steps are drawn independently.

    state      the whole state of all nodes: hidden states, and the hints read back
    variables  one variable of the program at a time: of the hidden state the direction in which a
               linear probe reads the variable, and the hints that show it

The score is the share of hint entries in which the subject goes on as the program does, over the
entries of the next two steps that the exchange changes in the program's or in the subject's
account. Exchanges after which the program breaks a promise are left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from algoscope import networks
from algoscope.measures.counterfactual import traced
from algoscope.measures.exchanges import cut, differ, draw_steps, in_margins
from algoscope.measures.references import Reference
from algoscope.networks import Network, Start
from algoscope.programs.exchange import Continuation, features_that_show, resume
from algoscope.recording import Recording
from algoscope.regression import fit_line
from algoscope.statistics import share
from algoscope.tasks import Batch, Feature, Location, Stage
from algoscope.tasks.sampling import problems_of

STEPS = 2
"""The steps after an exchange that count."""


class Interchange(NamedTuple):
    state: float
    state_entries: int
    variables: dict[str, float]
    """By variable of the reference; NaN where exchanging it changes nothing."""
    problems: int


class Run(NamedTuple):
    """What subject and reference did on the same batch."""

    batch: Batch
    recording: Recording
    reference: Reference


def partners(batch: Batch) -> Batch:
    """Each problem's B."""
    problems = problems_of(batch)
    others = problems[1:] + problems[:1]
    task = batch.task
    at_nodes = [f.name for f in task.at(Stage.INPUT) if f.location is Location.NODE]
    kept = [name for name in at_nodes if "A" in task.problem and name in task.problem]
    pairs = zip(problems, others, strict=True)
    return traced(batch, [b | {name: a[name] for name in kept} for a, b in pairs])


def interchange(network: Network, a: Run, b: Run, seed: int = 0) -> Interchange:
    """Exchanges from the runs on the partners b into the runs a."""
    random = np.random.default_rng(seed)
    runs = [(run, draw_steps(run.batch, random)) for run in (a, b)]
    usable = np.minimum(a.batch.lengths, b.batch.lengths) >= 2
    samples = np.arange(len(a.batch))
    program = a.reference.program
    names = [v.name for v in program.variables]
    states, others = (
        np.asarray(run.reference.recording.hidden)[samples, steps] for run, steps in runs
    )
    start, other_start = (
        networks.state_after(network, run.recording, steps) for run, steps in runs
    )
    short = cut(a.batch, STEPS)

    def program_after(state: np.ndarray) -> Continuation:
        by_name = dict(zip(names, np.moveaxis(state, -1, 0), strict=True))
        return resume(program, short, by_name, STEPS)

    def subject_after(begin: Start) -> dict[str, np.ndarray]:
        run = networks.run_from(network, short, begin)
        return {name: np.asarray(hint) for name, hint in run.hints.items()}

    def score(expected: Continuation, begin: Start) -> tuple[float, int]:
        accounts, kept = (unchanged.hints, expected.hints), unchanged.kept & expected.kept
        return follows(features, accounts, (predicted, subject_after(begin)), usable & kept)

    unchanged, predicted = program_after(states), subject_after(start)
    features = [f for f in short.at(Stage.HINT) if f.name in predicted]
    whole = score(program_after(others), other_start)
    variables = {}
    for index, name in enumerate(names):
        mixed = states.copy()
        mixed[..., index] = others[..., index]
        expected = program_after(mixed)
        begin = _with_variable(network, a, index, start, other_start, expected.initial_hints)
        variables[name] = score(expected, begin)[0]
    return Interchange(*whole, variables, int(usable.sum()))


def follows(
    features: Sequence[Feature],
    program: Sequence[Mapping[str, Any]],
    subject: Sequence[Mapping[str, Any]],
    kept: np.ndarray,
) -> tuple[float, int]:
    """Of the entries that an exchange changes, for the program or for the subject, the share in
    which the subject does what the program does, and how many there are. Both are the hints of the
    next steps without the exchange and with it; of the exchanges `kept`."""
    before, after, said_before, said_after = (
        in_margins(features, hints)[kept, :STEPS] for hints in (*program, *subject)
    )
    changed = differ(before, after) | differ(said_before, said_after)
    total = int(changed.sum())
    return share(int((changed & ~differ(said_after, after)).sum()), total), total


def _with_variable(
    network: Network,
    run: Run,
    index: int,
    start: Start,
    other: Start,
    shown: dict[str, np.ndarray],
) -> Start:
    """A's state with one variable of B: along the probe's direction w in standardised units z,
    z_A + w (w · (z_B - z_A)) / |w|²."""
    program, valid = run.reference.program, run.recording.valid
    hidden = np.asarray(run.recording.hidden, float)[valid]
    target = np.asarray(run.reference.recording.hidden)[valid][..., index]
    line = fit_line(hidden.reshape(-1, hidden.shape[-1]), target.reshape(-1, 1))
    direction = line.weights[:, 0]
    spread = np.where(np.isfinite(line.spread), line.spread, 0.0)
    difference = (np.asarray(other.hidden, float) - np.asarray(start.hidden, float)) / line.spread
    along = difference @ direction / max(direction @ direction, 1e-24)
    moved = np.asarray(start.hidden, float) + along[..., None] * direction * spread
    hints = dict(start.hints)
    for name in features_that_show(program, program.variables[index].name):
        if name in hints:
            read = networks.read_as(network, name, shown[name])
            hints[name] = jnp.asarray(read, hints[name].dtype)
    return Start(jnp.asarray(moved, start.hidden.dtype), hints)
