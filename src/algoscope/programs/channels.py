"""Channels: what a program reads of a problem and of the hints of the step before, by name.

input.s             hint.i              a feature of nodes, edges or the graph
input.key[2]                            a class of a categorical feature: 1 or 0
hint.pi_h                               a pointer of nodes: 1 at the edge from i to pi_i
back.input.A        own.input.A         of edges: that which leads back; loops alone
not hint.i                              1 - hint.i
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from algoscope.networks.encoders import reads_at
from algoscope.programs.language import BACK, NOT, OWN
from algoscope.tasks import Feature, Kind, Location

_NAME = re.compile(r"(not )?(?:(back|own)\.)?((?:input|hint)\.(\w+)(?:\[(\d+)\])?)")


class Channel(NamedTuple):
    """What the name of a channel says."""

    complement: bool
    view: str
    """BACK or OWN, or nothing."""
    plain: str
    """The name without these, such as `input.key[2]`."""
    feature: str
    index: int
    """The class of a categorical feature, else 0."""

    @staticmethod
    def of(name: str) -> "Channel":
        match = _NAME.fullmatch(name)
        if match is None:
            raise ValueError(f"channel: got {name!r}, needed a name such as `not back.input.A`")
        complement, view, plain, feature, index = match.groups()
        return Channel(complement is not None, view or "", plain, feature, int(index or 0))


class Channels(NamedTuple):
    """What can be read, by name."""

    nodes: dict[str, np.ndarray]
    """[batch, n]"""
    edges: dict[str, np.ndarray]
    """[batch, receiver, sender]"""
    graph: dict[str, np.ndarray]
    """[batch]"""


def names(feature: Feature) -> list[str]:
    """By which names a program reads the feature. The pointers of edges reach a network as means
    over nodes, which no program reads."""
    if (feature.location, feature.kind) == (Location.EDGE, Kind.POINTER):
        return []
    if feature.kind is Kind.CATEGORICAL:
        return [f"{feature.name}[{k}]" for k in range(feature.classes)]
    return [feature.name]


def channels(values: Mapping[Feature, np.ndarray], of_edges: Collection[str]) -> Channels:
    """All channels of nodes and of the graph, and those of edges that are asked for. The values are
    in the form of a batch: [batch, …]"""
    plain: dict[Location, dict[str, np.ndarray]] = {location: {} for location in Location}
    asked = {Channel.of(name).plain for name in of_edges}
    for feature, value in values.items():
        known = [f"{feature.stage}.{name}" for name in names(feature)]
        if not known or (reads_at(feature) is Location.EDGE and asked.isdisjoint(known)):
            continue
        plain[reads_at(feature)] |= zip(known, _parts(feature, value), strict=True)
    nodes, edges = plain[Location.NODE], plain[Location.EDGE]
    views = {
        name: _viewed(edges[channel.plain], channel)
        for channel, name in ((Channel.of(name), name) for name in of_edges)
        if channel.plain in edges
    }
    complements = {NOT + name: 1.0 - value for name, value in nodes.items()}
    return Channels(nodes | complements, views, plain[Location.GRAPH])


def _parts(feature: Feature, value: np.ndarray) -> Iterator[np.ndarray]:
    """One array for each of the feature's names."""
    if feature.kind is Kind.CATEGORICAL:
        yield from np.moveaxis(np.asarray(value, float), -1, 0)
    elif feature.is_pointer:
        yield np.eye(value.shape[-1])[value.astype(int)]
    else:
        yield np.asarray(value, float)


def _viewed(edges: np.ndarray, channel: Channel) -> np.ndarray:
    if channel.view == BACK:
        edges = np.swapaxes(edges, 1, 2)
    elif channel.view == OWN:
        edges = edges * np.eye(edges.shape[1])
    return 1.0 - edges if channel.complement else edges
