"""The causal test: one node's states are those of another problem, and who notices?

Problem p is read with the states of one node i, and of all pairs that i is part of, taken from the
problem before it. The reasoner's decoders answer from the same exchanged states, so they say what
a tower answers that does nothing but read them: for node i another pointer, for the others mostly
the same.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from algoscope.networks import Network
from algoscope.tasks import Batch, Kind, Stage, text
from algoscope.transnar.padding import padded_time
from algoscope.transnar.reasoner import ReasonerStates, problems_on_device, run_of
from algoscope.transnar.scores import tower_answers
from algoscope.transnar.text_dataset import TextDataset
from algoscope.transnar.tower_training import TrainedTower, view_of


class Exchange(NamedTuple):
    """Shares are NaN of nothing. Problems count whose answers, before and after, have the right
    number of elements."""

    problems: int
    """Those in which the reasoner's answer for node i changes."""
    follows: float
    """Of them, in how many the tower's answer for i then is the reasoner's new one."""
    follows_before: float
    """In how many it was so already, without the exchange."""
    stays: float
    """In how many it stays what it was."""
    others: int
    """Answers for other nodes, of the same problems, that the reasoner does not change."""
    others_stay: float
    """Of them, how many the tower does not change either."""


def exchanged(
    trained: TrainedTower, dataset: TextDataset, nodes: Int[np.ndarray, " problem"]
) -> tuple[ReasonerStates, ReasonerStates]:
    """The reasoner on the problems, as it is and with the states of one node of each exchanged."""
    reasoner = trained.reasoner
    if reasoner is None or view_of(trained.config).stages is not None:
        raise ValueError("tower: got one that reads no final states, needed a hybrid that does")
    network = reasoner.network(dataset.task)
    problems, time = problems_on_device(network, dataset), padded_time(dataset.problems)
    found = _both(network, problems, jnp.asarray(nodes), time)
    width, inputs = network.config.width, trained.config.reads_inputs

    def shown(states: Array) -> np.ndarray:
        visible = states if inputs else states.at[..., :width].set(0)
        return np.asarray(visible)[None]

    before, after = (
        ReasonerStates(shown(n), shown(e), jax.tree.map(np.asarray, outputs))
        for n, e, outputs in found
    )
    return before, after


@functools.partial(jax.jit, static_argnames="time")
def _both(network: Network, problems: Batch, nodes: Int[Array, " problem"], time: int):
    states = run_of(network, problems, time).states
    is_node = jnp.arange(problems.nodes)[None] == nodes[:, None]
    is_pair = is_node[:, :, None] | is_node[:, None]

    def decided(states):
        logits = jax.vmap(
            lambda one: {name: d(one) for name, d in network.decoders_at(Stage.OUTPUT).items()}
        )(states)
        return states.nodes, states.edges, network.decide(logits)

    moved = states._replace(
        nodes=jnp.where(is_node[..., None], jnp.roll(states.nodes, 1, 0), states.nodes),
        edges=jnp.where(is_pair[..., None], jnp.roll(states.edges, 1, 0), states.edges),
    )
    return decided(states), decided(moved)


def measure(trained: TrainedTower, dataset: TextDataset, seed: int = 0) -> Exchange:
    """On a dataset whose answers are one pointer for each node."""
    pointers = [f.name for f in dataset.problems.at(Stage.OUTPUT) if f.kind is Kind.POINTER]
    if len(pointers) != 1:
        raise ValueError(f"dataset: got {dataset.task}, needed a task whose answer is one pointer")
    [name] = pointers
    nodes = np.random.default_rng(seed).integers(dataset.nodes, size=len(dataset))

    def of_tower(states: ReasonerStates) -> np.ndarray:
        [texts] = tower_answers(trained.tower, [dataset], [states], seed=trained.config.seed)
        return np.stack([_pointers(dataset, name, answer) for answer in texts])

    def of_reasoner(states: ReasonerStates) -> np.ndarray:
        return np.asarray(states.outputs[name]).astype(int)

    before, after = exchanged(trained, dataset, nodes)
    decoded, read = (of_reasoner(before), of_reasoner(after)), (of_tower(before), of_tower(after))
    return compared(decoded, read, nodes)


def _pointers(dataset: TextDataset, name: str, answer: str) -> np.ndarray:
    """-1 everywhere if their number is wrong."""
    reading = text.read(dataset.task, answer, dataset.nodes, False)
    if name not in reading.arrays:
        return np.full(dataset.nodes, -1)
    return np.nan_to_num(reading.arrays[name], nan=-1).astype(int)


Pointers = Int[np.ndarray, "problem n"]


def compared(
    decoded: tuple[Pointers, Pointers],
    read: tuple[Pointers, Pointers],
    nodes: Int[np.ndarray, " problem"],
) -> Exchange:
    """From the pointers of reasoner and tower before and after the exchange of these nodes."""
    (reasoner, reasoner_after), (tower, tower_after) = decoded, read
    rows = np.arange(len(nodes))
    legible = (tower >= 0).all(1) & (tower_after >= 0).all(1)
    counts = legible & (reasoner[rows, nodes] != reasoner_after[rows, nodes])
    new = reasoner_after[rows, nodes]
    same = counts[:, None] & (reasoner == reasoner_after)
    same[rows, nodes] = False

    def share(agrees: np.ndarray, where: np.ndarray) -> float:
        return float(agrees[where].mean()) if where.any() else float("nan")

    return Exchange(
        int(counts.sum()),
        share(tower_after[rows, nodes] == new, counts),
        share(tower[rows, nodes] == new, counts),
        share(tower_after[rows, nodes] == tower[rows, nodes], counts),
        int(same.sum()),
        share(tower_after == tower, same),
    )
