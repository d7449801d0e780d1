"""A feature's value as somebody reads it: in few characters, or by the names of the nodes."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from algoscope.tasks.features import Feature, Kind, Location


def cell(feature: Feature, value: np.ndarray, labels: Sequence[Hashable]) -> str:
    """A value of the feature in few characters: sets of nodes, nodes by their labels, numbers."""
    if feature.one_hot:
        value = np.argmax(np.abs(value), axis=-1)
    elif feature.kind is Kind.MASK and feature.location is not Location.GRAPH:
        places = np.argwhere(value == 1)
        return "{" + " ".join("-".join(str(labels[i]) for i in place) for place in places) + "}"
    rows = value if np.ndim(value) == 2 else [np.atleast_1d(value)]
    if feature.is_pointer or feature.kind is Kind.MASK_ONE:
        return "; ".join(" ".join(_label(node, labels) for node in row) for row in rows)
    return "; ".join(" ".join(f"{number:.3g}" for number in row) for row in rows)


def _label(node: float, labels: Sequence[Hashable]) -> str:
    """Of a number that is no node, the number."""
    return str(labels[int(node)]) if 0 <= node < len(labels) else f"{node:g}"


def named(feature: Feature, value: np.ndarray, labels: Sequence[Hashable]) -> Any:
    """A value of the feature by the labels of the nodes.

    A pointer is a dictionary from node to node, a mask the set of nodes in it, a mask_one the node
    itself, anything else a dictionary from node to value. At edges, pairs of nodes stand for nodes;
    at the graph there is the value alone.
    """
    if feature.one_hot:
        value = np.argmax(np.abs(value), axis=-1)
    if feature.kind is Kind.MASK_ONE:
        return labels[int(value)]
    if feature.location is Location.GRAPH:
        return value.item()
    if feature.location is Location.NODE:
        places = labels
    else:
        places = [(sender, receiver) for sender in labels for receiver in labels]
    values = value.ravel().tolist()
    if feature.kind is Kind.MASK:
        return {place for place, inside in zip(places, values, strict=True) if inside == 1}
    if feature.is_pointer:
        values = [labels[int(node)] for node in values]
    return dict(zip(places, values, strict=True))
