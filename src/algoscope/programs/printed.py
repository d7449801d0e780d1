"""The networks that Mind The Gap prints for BFS and Bellman-Ford (sections 3.2-3.3, appendix C).

They do not come from a program: these are the paper's own matrices, in an ordinary network of width
4 whose hidden state is h = [dist, visit, pi, id] (eq. 30). A node reads z = [X | h] with the inputs
X = [-, v_0, -, x]. With the constants c (how sharply to prefer), k (mask) and the bias of self,

    value   dist: d_h    visit: v_0 + v_h    pi: x                            eq. 20
    in      every unit: k (v_0 + v_h) - c d_h, of the sender                  eq. 21
    edge    every unit: -c A_ij, through an antidiagonal of -c                eq. 21
    skip    id: x        information    dist: A_ij                            eq. 22
    B       bias I       head    ones       out and graph: zero               eq. 23

so a node reads the sender with the largest 4 LeakyReLU(k v_j - c (d_j + A_ij) + B_ij) and adds A_ij
to the distance it finds there. BFS tracks no distance: instead, B_ij = bias I - c j / n prefers low
ids (C.2). There is no LayerNorm, and the activation is on the skip alone (eq. 10).

What the print leaves open, or what cannot work, and the reading chosen:

- The rows of eq. 20-22 run from id to dist, against eq. 30; here they follow eq. 30. An
  antidiagonal W_edge under a head of ones asks for A in all four channels of an edge.
- W_in acts on the sender, as the text says. W_out is not printed: what all senders share has no
  effect on a softmax, nor on an order through equal units; it is zero.
- Eq. 18 has to read: x_j at the j with the smallest d_j + A_ij.
- k stands for the mask and for the bias. One number cannot be both: a node would not leave itself
  for a visited neighbour. Here they are two.
- v_0 + v_h is no Bool: v_0 is there at every step, so the source's v grows by one a step; a node
  that reads it is one behind. v then falls by one along each edge of the tree. In BFS this *helps*:
  a settled node prefers its parent to all later neighbours, and to itself while bias < k - c. With
  Bools, as in listing 2, its pi would move on to itself or a lower neighbour. So BFS counts.
- In Bellman-Ford, counting means the path of fewest edges, not the shortest. So its v is the hint
  msk, read back as v_0, and the two entries for v_h are zero. The source comes with the first hint.
- A node that reads itself gets its own id as pi. A settled node must not, so in Bellman-Ford the
  bias is slightly *negative*: the parent wins the tie, and a node that sees none visited still
  reads itself, if it has no loop. `as_printed` gives the constants of the print instead.
- Eq. 31 is y_ij = -C |pi_i - id_j|, which our pointer decoder computes but for a term of i alone as
  C id_j - 2 C max(pi_i, id_j).
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from algoscope import networks, tasks
from algoscope.networks import Network, NetworkConfig
from algoscope.networks.layers import LEAKY_SLOPE
from algoscope.programs.panels import Panel, network_panels
from algoscope.programs.precision import FLOAT32, MASK_SHARPNESS
from algoscope.tasks import Batch

TASKS = ("bfs", "bellman_ford")
STATE = ("dist", "visit", "pi", "id")
_DIST, _VISIT, _PI, _ID = range(4)
_WIDTH = 4
_BEFORE, _AFTER = _WIDTH, 2 * _WIDTH
"""Where the state begins in what the processor reads, and the new state in what decoders read."""
_DECODER_SHARPNESS = 2.0**20
_FARTHEST = 8.0
_SHORTEST_EDGE, _LONGEST_EDGE = 0.001**0.5, 1.001**0.5
"""As CLRS draws them."""
_TIE_BREAK = 1 / 64
"""About half the shortest edge."""
_ROUNDINGS = 8
"""Sums on the way from the values to a logit, at most."""


class Constants(NamedTuple):
    c: float
    k: float
    bias: float
    counts: bool
    """Whether visit is v_0 + v_h, with the source as v_0, or the hint that is read back."""


class PrintedCertificate(NamedTuple):
    """What the printed network can do in float32; computed from its constants."""

    size: int
    """The number of nodes, the only one that B fits."""
    constants: Constants
    margin: float
    """How much lower (distance, or id) the best sender has to be than the second."""
    largest_steps: int | None
    """After more steps, the count of a node outweighs the mask that hides it from others; None if
    nothing is counted."""
    largest_distance: float | None
    """A visited sender that is farther is taken for one that is not visited; None in BFS."""
    broken: tuple[str, ...]
    """What the algorithm needs and these constants do not give."""

    def as_json(self) -> dict:
        return self._asdict() | {"constants": self.constants._asdict()}


class Printed(NamedTuple):
    network: Network
    certificate: PrintedCertificate


def best(task: str, size: int) -> Constants:
    """The reading that works best, with the largest c that the adjacency mask allows."""
    if task == "bfs":
        return _scaled(size, k=4.0, bias=2.0, counts=True)
    return _scaled(size, k=_FARTHEST, bias=-_TIE_BREAK, counts=False)


def as_printed(task: str, size: int) -> Constants:
    """One k for mask and bias, and v_0 + v_h."""
    k = 4.0 if task == "bfs" else _FARTHEST
    return _scaled(size, k=k, bias=k, counts=True)


def _scaled(size: int, *, k: float, bias: float, counts: bool) -> Constants:
    """Times a power of two, so that no logit outweighs the mask within `size` steps."""
    worst = _WIDTH * (k * (size + 1 if counts else 1) + abs(bias))
    c = float(2.0 ** np.floor(np.log2(FLOAT32.largest_logit / worst)))
    return Constants(c, k * c, bias * c, counts)


def printed(task: str, size: int, constants: Constants | None = None) -> Printed:
    """The printed network for problems of that size, `best` unless told otherwise."""
    if task not in TASKS:
        raise ValueError(
            f"printed: got {task!r}, needed one of {', '.join(TASKS)}; the paper prints no other"
        )
    if size < 1:
        raise ValueError(f"size: got {size}, needed an integer of at least 1")
    constants = constants or best(task, size)
    config = NetworkConfig(
        width=_WIDTH,
        layer_norm=False,
        activation="skip",
        attention_bias=size,
        edge_information=task == "bellman_ford",
        matrix_precision="highest",
    )
    empty = networks.skeleton(tasks.get(task), config)
    networks.check_memory(empty)
    arrays = {name: np.zeros(a.shape) for name, a in networks.arrays(empty).items()}
    _write_processor(arrays, task, constants)
    _write_encoders(arrays, task, constants)
    _write_decoders(arrays, task)
    return Printed(networks.with_arrays(empty, arrays), _certify(task, size, constants))


def _write_processor(arrays: dict[str, np.ndarray], task: str, constants: Constants) -> None:
    c, k, bias, counts = constants
    value, skip = arrays["processor.value.weight"], arrays["processor.skip.weight"]
    value[_VISIT, _VISIT] = 1.0
    value[_BEFORE + _VISIT, _VISIT] = float(counts)
    value[_ID, _PI] = 1.0
    skip[_ID, _ID] = 1.0
    sender = arrays["processor.sender.weight"]
    sender[_VISIT] = k
    sender[_BEFORE + _VISIT] = k * counts
    arrays["processor.head.weight"][:] = 1.0
    size = len(arrays["processor.bias"])
    arrays["processor.bias"] += bias * np.eye(size)
    if task == "bfs":
        arrays["processor.bias"] -= c * np.arange(size) / size
    else:
        value[_BEFORE + _DIST, _DIST] = 1.0
        sender[_BEFORE + _DIST] = -c
        arrays["processor.edge.weight"] -= c * np.eye(_WIDTH)[::-1]
        arrays["processor.information"][0, _DIST] = 1.0


def _write_encoders(arrays: dict[str, np.ndarray], task: str, constants: Constants) -> None:
    visit = "s" if constants.counts else {"bfs": "reach_h", "bellman_ford": "msk"}[task]
    arrays["encoders.pos.weight"][0, _ID] = 1.0
    arrays[f"encoders.{visit}.weight"][0, _VISIT] = 1.0
    if task == "bellman_ford":
        arrays["encoders.A.weight"][:] = 1.0


def _write_decoders(arrays: dict[str, np.ndarray], task: str) -> None:
    for name in ("pi_h", "pi"):
        decoder = f"decoders.{name}"
        arrays[f"{decoder}.receiver.weight"][_AFTER + _PI, 0] = 1.0
        arrays[f"{decoder}.receiver.bias"][1] = -1.0  # below all ids
        arrays[f"{decoder}.sender.weight"][_AFTER + _ID, :2] = 1.0
        arrays[f"{decoder}.score.weight"][:2, 0] = (-2 * _DECODER_SHARPNESS, _DECODER_SHARPNESS)
    visit = "reach_h" if task == "bfs" else "msk"
    arrays[f"decoders.{visit}.node.weight"][_AFTER + _VISIT] = MASK_SHARPNESS
    arrays[f"decoders.{visit}.node.bias"][:] = -MASK_SHARPNESS / 2
    if task == "bellman_ford":
        arrays["decoders.d.node.weight"][_AFTER + _DIST] = 1.0


def _certify(task: str, size: int, constants: Constants) -> PrintedCertificate:
    c, k, bias, counts = constants
    span = 1.0 if task == "bfs" else _FARTHEST
    largest = k * (size + 1 if counts else 1) + abs(bias) + c * span
    silent = -float(np.log(FLOAT32.rounding)) / (_WIDTH * c)
    margin = silent + 2 * _ROUNDINGS * FLOAT32.rounding * largest / c
    steps = int((FLOAT32.largest_logit / _WIDTH - abs(bias)) / k) - 1
    ahead = (k - bias) / c  # a visited neighbour's lead over oneself, but for distances or ids
    if task == "bfs":
        ids = (size - 1) / size
        holds = {
            "a node tells the ids of its neighbours apart": 1 / size > margin,
            "a node that sees nobody visited reads itself": bias / c - ids > margin,
            "a node reads a visited neighbour rather than itself": ahead - ids > margin,
            "a settled node keeps its parent": counts and ahead - ids > margin,
        }
    else:
        # Below zero, the LeakyReLU leaves a hundredth of what tells senders apart.
        lead_of_self = LEAKY_SLOPE * (_SHORTEST_EDGE + min(0.0, bias / c))
        holds = {
            "a node that sees nobody visited reads itself": lead_of_self > silent,
            "a node reads a visited neighbour rather than itself": ahead - _LONGEST_EDGE > margin,
            "a settled node keeps its parent": (k * counts - bias) / c > margin,
            "the shortest path wins, not that of fewest edges": not counts,
            "a node with a loop keeps its distance when it reads itself": False,
        }
    holds["a trace may have as many steps as nodes"] = not counts or steps >= size
    return PrintedCertificate(
        size,
        constants,
        margin,
        steps if counts else None,
        None if task == "bfs" else max(0.0, min(ahead, k / c) - margin),
        tuple(promise for promise, kept in holds.items() if not kept),
    )


def without_loops(batch: Batch) -> Batch:
    """The batch with a zero diagonal of A. No path is shorter for a loop, so the traces stay."""
    lengths = batch.inputs["A"] * (1 - np.eye(batch.inputs["A"].shape[1]))
    return dataclasses.replace(batch, inputs=batch.inputs | {"A": lengths})


_TITLES = {
    "value": "W_value", "skip": "W_skip", "sender": "W_in", "receiver": "W_out", "edge": "W_edge",
    "graph": "W_meta", "head": "attention head", "information": "W_info", "bias": "B",
}  # fmt: skip


def panels(network: Network) -> dict[str, list[Panel]]:
    """Figures 6 and 8 (`main`) and 7 and 9 (`auxiliary`)."""
    drawn = network_panels(network, _names)
    main = [panel._replace(title=_TITLES[panel.title]) for panel in drawn["processor"]]
    auxiliary = [
        panel._replace(title=f"{picture.removesuffix('s')} {panel.title}")
        for picture in ("encoders", "decoders")
        for panel in drawn[picture]
    ]
    return {"main": main, "auxiliary": auxiliary}


def _names(layer: str) -> tuple[list[str], list[str]]:
    """What the rows and columns of a layer stand for."""
    read = ["", "v_0", "", "x"]
    edges = ["A"] * _WIDTH
    match layer.split("."):
        case ["encoders", name]:
            pointer = name in ("pi_h", "pi")
            return [name], edges if name == "A" else [] if pointer or name == "adj" else read
        case ["processor", "bias" | "head" | "graph"]:
            return [], []
        case ["processor", "edge"]:
            return edges, []
        case ["processor", "information"]:
            return edges, list(STATE)
        case ["processor", "value" | "skip"]:
            return [*read, *STATE], list(STATE)
        case ["processor", _]:
            return [*read, *STATE], []
        case ["decoders", _, "score" | "edge"]:
            return [], []
    return [*read, *(f"{name} before" for name in STATE), *STATE], []
