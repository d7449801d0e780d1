"""Encoding: what the encoders make of a problem and its present hints.

Features at nodes are summed up. Those at edges and of the graph stay in factors, see `pairs`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from algoscope.networks.config import NetworkConfig
from algoscope.networks.fused_encoders import Folding
from algoscope.networks.kinds import adds_edges, reads_at, rows_of, scalars_of
from algoscope.networks.layers import summed
from algoscope.networks.pairs import Factored, Rows
from algoscope.networks.processors import Encoded
from algoscope.tasks import Feature, Kind, Location, Stage


class Encoding(eqx.Module):
    """All encoders, with what depends on their weights alone."""

    encoders: Mapping[str, Any]
    """By feature name."""
    edges: Rows
    graph: Rows
    nodes: Folding
    features: tuple[Feature, ...] = eqx.field(static=True)

    @staticmethod
    def of(
        encoders: Mapping[str, Any], features: Sequence[Feature], config: NetworkConfig, dtype: Any
    ) -> "Encoding":
        width = config.width

        def rows(location: Location) -> Rows:
            each = [rows_of(encoders[f.name]) for f in _read_at(features, encoders, location)]
            return Rows(
                jnp.concatenate([jnp.zeros((0, width), dtype), *(rows for rows, _ in each)]),
                sum((bias for _, bias in each), jnp.zeros(width, dtype)),
            )

        # Scalars are exact, choices and masks may be rounded.
        at_nodes = _read_at(features, encoders, Location.NODE)
        kinds = [f.kind for f in at_nodes for _ in range(len(rows_of(encoders[f.name])[0]))]
        exact = [k for k, kind in enumerate(kinds) if kind is Kind.SCALAR]
        return Encoding(
            encoders,
            rows(Location.EDGE),
            rows(Location.GRAPH),
            Folding.of(rows(Location.NODE), exact, config),
            tuple(features),
        )

    def __call__(self, values: Mapping[str, Array], nodes: int) -> Encoded:
        """Of the values that there are, as `kinds` describes them."""
        adjacency = jnp.eye(nodes, dtype=bool)
        for feature in self.features:
            if feature.name in values:
                added = adds_edges(feature, values[feature.name])
                if added is not None:
                    adjacency |= added
        read = _read_at(self.features, values, Location.NODE)
        rows, biases = zip(*(rows_of(self.encoders[f.name]) for f in read), strict=True)
        scalars = [scalars_of(f, values[f.name]) for f in read]
        x = summed(scalars, rows, biases)
        return Encoded(
            x,
            self.nodes.read(x, scalars),
            self._factored(values, Location.EDGE, (nodes, nodes), self.edges),
            self._factored(values, Location.GRAPH, (), self.graph),
            adjacency,
        )

    def _factored(
        self, values: Mapping[str, Array], location: Location, shape: tuple[int, ...], rows: Rows
    ) -> Factored:
        read = _read_at(self.features, values, location)
        scalars = [scalars_of(f, values[f.name]) for f in read]
        fixed = sum(
            s.shape[-1] for f, s in zip(read, scalars, strict=True) if f.stage is Stage.INPUT
        )
        none = jnp.zeros((*shape, 0), rows.bias.dtype)
        return Factored(jnp.concatenate([none, *scalars], -1), rows, fixed)


def _read_at(
    features: Sequence[Feature], names: Iterable[str], location: Location
) -> list[Feature]:
    """Those of the names that are read at a location, inputs first."""
    read = [f for f in features if f.name in names and reads_at(f) is location]
    return sorted(read, key=lambda f: f.stage is not Stage.INPUT)
