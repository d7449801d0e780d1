"""Transforms: what dm-clrs does to samples before it trains on them, as functions of batches.

None of them changes the batch that it is given.
"""

import dataclasses
from collections.abc import Iterable

import numpy as np

from algoscope.tasks.batch import Batch
from algoscope.tasks.features import Feature, Kind, Location, Stage
from algoscope.tasks.task import Task

PREDECESSOR = Feature("pred", Stage.INPUT, Location.NODE, Kind.POINTER)
"""What `pred_h` becomes where it is given."""


def with_positions(batch: Batch, values: np.ndarray) -> Batch:
    """The batch with the values [batch, nodes], in ascending order, in place of `pos`.

    Of two strings in a sample each has its own order.
    """
    pos = batch.inputs["pos"]
    if values.shape != pos.shape:
        raise ValueError(f"values: got shape {values.shape}, needed {pos.shape}, that of pos")
    string = batch.inputs.get("string", np.zeros(pos.shape))
    order = np.lexsort((values, string))
    inputs = batch.inputs | {"pos": np.take_along_axis(values, order, axis=1)}
    return dataclasses.replace(batch, inputs=inputs)


def with_random_positions(batch: Batch, seed: int) -> Batch:
    """The batch with sorted uniform draws as positions, drawn anew for each sample."""
    draws = np.random.RandomState(seed).uniform(size=batch.inputs["pos"].shape)
    return with_positions(batch, draws)


def with_predecessors_as_inputs(batch: Batch) -> Batch:
    """The batch with the hint `pred_h`, if it has one, turned into the input `pred`.

    The hint has to be the same at every step: then it only says in what order the nodes are.
    """
    hints = dict(batch.hints)
    if "pred_h" not in hints:
        return batch
    pred_h = hints.pop("pred_h")
    counts = np.arange(pred_h.shape[1])[None] < batch.lengths[:, None]
    if (counts[..., None] & (pred_h != pred_h[:, :1])).any():
        raise ValueError(
            f"batch: got {batch.task.name}, whose pred_h changes from step to step, "
            "needed a task whose pred_h stays the same"
        )
    return dataclasses.replace(
        batch,
        inputs=batch.inputs | {"pred": pred_h[:, 0].astype(PREDECESSOR.dense_dtype)},
        hints=hints,
        features=predecessors_as_inputs(batch.features),
    )


def forms(task: Task) -> list[tuple[Feature, ...]]:
    """The features of networks that take what the task's problems say: its own, and those with
    `pred_h` as an input, if it stays the same."""
    turned = [predecessors_as_inputs(task.features)] if task.fixed_predecessors else []
    return [task.features, *turned]


def hints_to_predict(task: Task) -> list[Feature]:
    """All that are inputs for no network (`forms`)."""
    return [f for f in forms(task)[-1] if f.stage is Stage.HINT]


def predecessors_as_inputs(features: Iterable[Feature]) -> tuple[Feature, ...]:
    return tuple(PREDECESSOR if f.name == "pred_h" else f for f in features)


def as_sampled(batch: Batch) -> Batch:
    """The batch with even positions, and with the input `pred` as the hint `pred_h` that it was:
    what `sample` gives, and programs read. Positions keep their order, so a trace stays right."""
    nodes, features = batch.nodes, batch.features
    inputs, hints = dict(batch.inputs), dict(batch.hints)
    inputs["pos"] = np.broadcast_to(np.arange(nodes) / nodes, inputs["pos"].shape)
    if PREDECESSOR in features:
        hint = next(f for f in batch.task.features if f.name == "pred_h")
        pred = inputs.pop("pred").astype(hint.dense_dtype)
        counts = np.arange(batch.time) < batch.lengths[:, None]
        hints["pred_h"] = np.where(counts[..., None], pred[:, None], 0)
        features = tuple(hint if f == PREDECESSOR else f for f in features)
    return dataclasses.replace(batch, inputs=inputs, hints=hints, features=features)


def with_cycles(batch: Batch) -> Batch:
    """The batch with each output that is a permutation closed to a cycle, dm-clrs's form of it.

    The first node then points to the last, and the output NAME_mask says which node is first.
    """
    outputs, features = {}, []
    for feature in batch.features:
        name = feature.name
        if feature.stage is Stage.OUTPUT:
            outputs[name] = batch.outputs[name]
        if feature.kind is Kind.PERMUTATION:
            cycle = dataclasses.replace(feature, kind=Kind.CYCLE)
            first = dataclasses.replace(feature, name=f"{name}_mask", kind=Kind.MASK_ONE)
            outputs[name], outputs[first.name] = _close(batch.outputs[name])
            features += [cycle, first]
        else:
            features.append(feature)
    return dataclasses.replace(batch, outputs=outputs, features=tuple(features))


def _close(pointers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The predecessors [batch, n] that form a line, as a cycle; and its first node. Both one-hot:
    [batch, n, n], [batch, n]"""
    one_hot = np.eye(pointers.shape[1])
    first = one_hot[np.argmax(pointers == np.arange(pointers.shape[1]), axis=1)]
    last = one_hot[np.argmin(one_hot[pointers].sum(1), axis=1)]
    return np.where(first[..., None] == 1, last[:, None], one_hot[pointers]), first


def with_permutations_as_pointers(batch: Batch) -> Batch:
    """The batch with each permutation taken for pointers that may point anywhere."""
    return dataclasses.replace(batch, features=permutations_as_pointers(batch.features))


def permutations_as_pointers(features: Iterable[Feature]) -> tuple[Feature, ...]:
    return tuple(
        dataclasses.replace(f, kind=Kind.POINTER) if f.kind is Kind.PERMUTATION else f
        for f in features
    )
