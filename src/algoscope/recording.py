"""Recording: what a subject of any kind did on a batch of problems, step by step.

Every measure is written once, against this type. For a graph network a step is one pass through the
processor, and step t predicts hint t + 1. For a language model a step is a layer, and the nodes are
those of the prompt's graph, then the tokens that the answer is read from, then the rest of the
prompt (`llm.observe`). For a hybrid a step is a layer of its Transformer, receiver i is the token
that answers for node i, and senders are the nodes of its reasoner (`transnar.mechanism`).
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from algoscope import markup
from algoscope.arrays import given_array
from algoscope.errors import short
from algoscope.table import Table
from algoscope.tasks.batch import Batch, valid_steps

Array = jax.Array | np.ndarray
Given = Any
"""What a user's model gives: all that numpy takes as an array, or a mapping of such by name; what
is neither is refused by a sentence."""
_MOST_MAPS = 8
jax.tree_util.register_dataclass(
    Batch,
    data_fields=["inputs", "hints", "outputs", "lengths"],
    meta_fields=["task", "features", "labels"],
)


class CrossAttention(eqx.Module):
    """What a hybrid's layers read of a frozen reasoner, beside `Recording.attention`, which is that
    to the reasoner's nodes."""

    pairs: Array
    """Attention to pairs of nodes: [batch, step, head, receiver, node, node], each receiver's sums
    to 1."""
    gates: Array
    """How far each layer's gate is open, from -1 to 1: [step]."""
    states: Array
    """The states of the reasoner's nodes that are read: [batch, stage, node, width], one stage if
    all layers read the same, else one a layer."""

    def take(self, samples: slice | np.ndarray) -> "CrossAttention":
        return CrossAttention(self.pairs[samples], self.gates, self.states[samples])


class Recording(eqx.Module):
    attention: Array
    """Who reads whom: [batch, step, head, receiver, sender], each row sums to 1; no heads of a
    subject that shows none."""
    hidden: Array
    """The state after each step: [batch, step, node, width]; of no width where it is not shown."""
    hints: dict[str, Array]
    """Predicted hints in the form of `Batch.hints`, without its first step: [batch, step, …]."""
    outputs: dict[str, Array]
    """Predicted outputs in the form of `Batch.outputs`: [batch, …]."""
    lengths: Array
    """The number of hint steps of each sample, as in the batch: [batch]. Steps from
    max(1, lengths - 1) on are padding."""
    logits: dict[str, Any]
    """The raw predictions behind `hints` and `outputs`, of subjects that have any."""
    initial: Array | None = None
    """The state before the first step, where it is kept: [batch, node, width]. For a language model
    or a hybrid the embedding."""
    cross_attention: CrossAttention | None = None
    """A hybrid's."""

    @property
    def has_attention(self) -> bool:
        return np.shape(self.attention)[2] > 0

    @property
    def has_states(self) -> bool:
        return np.shape(self.hidden)[-1] > 0

    @property
    def states(self) -> np.ndarray:
        """The state before the first step and after each: [batch, step + 1, node, width]."""
        if self.initial is None:
            raise ValueError("recording: got one without initial states, needed them (initial=)")
        return np.concatenate([np.asarray(self.initial)[:, None], np.asarray(self.hidden)], 1)

    @property
    def valid(self) -> np.ndarray:
        """Which steps are no padding: bool [batch, step]."""
        return valid_steps(np.asarray(self.lengths), np.shape(self.attention)[1])

    def take(self, samples: slice | np.ndarray) -> "Recording":
        """The samples of a slice, of indices or of a mask."""

        def cut(values):
            return type(values)(*map(cut, values)) if isinstance(values, tuple) else values[samples]

        return Recording(
            self.attention[samples],
            self.hidden[samples],
            {name: cut(values) for name, values in self.hints.items()},
            {name: cut(values) for name, values in self.outputs.items()},
            np.asarray(self.lengths)[samples],
            {name: cut(values) for name, values in self.logits.items()},
            None if self.initial is None else self.initial[samples],
            None if self.cross_attention is None else self.cross_attention.take(samples),
        )

    def _repr_html_(self) -> str:
        """For notebooks: what there is, and the attention of the first sample over time."""
        arrays = {"attention": self.attention, "hidden": self.hidden}
        arrays |= {f"hints[{name!r}]": array for name, array in self.hints.items()}
        arrays |= {f"outputs[{name!r}]": array for name, array in self.outputs.items()}
        if self.cross_attention is not None:
            parts = vars(self.cross_attention).items()
            arrays |= {f"cross_attention.{name}": array for name, array in parts}
        rows = [[name, " × ".join(map(str, np.shape(array)))] for name, array in arrays.items()]
        table = markup.table(Table("Recording", ["array", "shape"], rows))
        if not self.has_attention:
            return table
        steps = min(int(self.valid[0].sum()), _MOST_MAPS)
        maps = np.asarray(self.attention)[0, :steps].mean(1)
        pictures = " ".join(markup.heat_map(step, f"step {t + 1}") for t, step in enumerate(maps))
        return (
            table
            + f"<p>attention of sample 0, steps 1 to {steps}, mean of heads; row reads column</p>"
            + f"<div>{pictures}</div>"
        )

    @staticmethod
    def from_arrays(
        *,
        lengths: Given,
        attention: Given = None,
        hidden: Given = None,
        hints: Given = None,
        outputs: Given = None,
        logits: Given = None,
        initial: Given = None,
        cross_attention: CrossAttention | None = None,
    ) -> "Recording":
        """A recording of any model, from plain arrays; checks that they fit together.

        A model that shows no attention, no states or no trace is recorded without.
        """
        hints, outputs = _arrays("hints", hints), _arrays("outputs", outputs)
        lengths = _array("lengths", lengths)
        attention, hidden, initial = (
            None if given is None else _array(name, given)
            for name, given in (("attention", attention), ("hidden", hidden), ("initial", initial))
        )
        if lengths.ndim != 1 or not len(lengths):
            raise ValueError(f"lengths: got shape {lengths.shape}, needed one for each problem")
        start = _batch_steps_nodes(attention, hidden, hints, lengths)
        if attention is None:
            attention = np.zeros((*start[:2], 0, start[2], start[2]))
        if hidden is None:
            hidden = np.zeros((*start, 0))
        faults = []
        if attention.ndim != 5 or attention.shape[-1] != attention.shape[-2]:
            faults.append(
                f"attention: got shape {attention.shape}, "
                "needed [batch, step, head, receiver, sender] with as many receivers as senders"
            )
        if hidden.ndim != 4:
            faults.append(f"hidden: got shape {hidden.shape}, needed [batch, step, node, width]")
        if not faults:
            batch, steps, heads, nodes, _ = attention.shape
            expected = {
                "hidden": (hidden, (batch, steps, nodes)),
                "lengths": (lengths, (batch,)),
                **{f"hints[{k!r}]": (v, (batch, steps)) for k, v in hints.items()},
                **{f"outputs[{k!r}]": (v, (batch,)) for k, v in outputs.items()},
            }
            if initial is not None:
                expected["initial"] = (initial, (batch, nodes))
            if cross_attention is not None:
                stages = cross_attention.states.shape[1]
                of_pairs = (batch, steps, heads, nodes, nodes, nodes)
                expected |= {
                    "cross_attention.pairs": (cross_attention.pairs, of_pairs),
                    "cross_attention.gates": (cross_attention.gates, (steps,)),
                    "cross_attention.states": (cross_attention.states, (batch, stages, nodes)),
                }
            faults = [
                f"{name}: got shape {array.shape}, needed one that starts with {list(start)}, "
                "as the others do"
                for name, (array, start) in expected.items()
                if tuple(array.shape[: len(start)]) != start
            ]
        if not faults:
            sums = {"attention: got rows": (np.asarray(attention).sum(-1), "senders")}
            if cross_attention is not None:
                pairs = np.asarray(cross_attention.pairs).sum((-1, -2))
                sums["cross_attention.pairs: got receivers"] = (pairs, "pairs")
            faults = [
                f"{name} with sums from {total.min():.4g} to {total.max():.4g}, "
                f"needed sums of 1 over {senders}"
                for name, (total, senders) in sums.items()
                if total.size and not np.allclose(total, 1, atol=1e-3)
            ]
        if faults:
            raise ValueError("\n".join(faults))
        raw = dict(logits or {})
        return Recording(attention, hidden, hints, outputs, lengths, raw, initial, cross_attention)


def _array(name: str, given: Any) -> Array:
    """What was given, if it is an array of numbers, or a list of some."""
    array = given if isinstance(given, jax.Array) else given_array(name, given)
    if array.dtype.kind not in "biufV":  # JAX's narrow floats are V to numpy.
        raise ValueError(f"{name}: got {short(given)}, needed an array of numbers")
    return array


def _arrays(name: str, given: Any) -> dict[str, Array]:
    if not isinstance(given, Mapping | None):
        raise ValueError(f"{name}: got {short(given)}, needed arrays by name")
    return {key: _array(f"{name}[{key!r}]", values) for key, values in (given or {}).items()}


def _batch_steps_nodes(
    attention: Array | None, hidden: Array | None, hints: Mapping[str, Array], lengths: Array
) -> tuple[int, int, int]:
    """How many there are, as far as what is shown says so: no nodes without attention or states."""
    if hidden is not None and np.ndim(hidden) == 4:
        batch, count, nodes, _ = np.shape(hidden)
        return batch, count, nodes
    if attention is not None and np.ndim(attention) == 5:
        batch, count, _, nodes, _ = np.shape(attention)
        return batch, count, nodes
    steps = [np.shape(hint)[1] for hint in hints.values() if np.ndim(hint) > 1]
    return len(lengths), (steps or [max(1, int(np.max(lengths)) - 1)])[0], 0
