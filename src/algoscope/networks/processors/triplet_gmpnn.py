"""Triplet-GMPNN (Ibarz et al., 2022): a gated MPNN that also gives each edge new features.

    t_ijk  = W_1 z_i + W_2 z_j + W_3 z_k + V_12 e_ij + V_13 e_ik + V_23 e_jk + W_g g
    edge_jk = ReLU(W_out max_i t_ijk)

z [n, 2 width], t [n, n, n, triplet width], edge [n, n, width].
"""

from typing import ClassVar

import jax
from jaxtyping import Array, Float, PRNGKeyArray

from algoscope.networks.config import NetworkConfig
from algoscope.networks.encoders import Encoded
from algoscope.networks.layers import Linear
from algoscope.networks.processors.pgn import MPNN, PGN


class TripletGMPNN(MPNN):
    makes_edges: ClassVar[bool] = True

    first: Linear
    second: Linear
    third: Linear
    first_second: Linear
    first_third: Linear
    second_third: Linear
    triplet_graph: Linear
    triplet_out: Linear

    def __init__(self, config: NetworkConfig, key: PRNGKeyArray):
        width, narrow = config.width, config.triplet_width
        key, *keys = jax.random.split(key, 9)
        PGN.__init__(self, config, key)
        self.first, self.second, self.third = (Linear.start(k, 2 * width, narrow) for k in keys[:3])
        self.first_second, self.first_third, self.second_third, self.triplet_graph = (
            Linear.start(k, width, narrow) for k in keys[3:7]
        )
        self.triplet_out = Linear.start(keys[7], narrow, width)

    def new_edges(self, z: Float[Array, "n inputs"], encoded: Encoded) -> Float[Array, "n n width"]:
        edges = encoded.edges
        triplets = (
            self.first(z)[:, None, None]
            + self.second(z)[None, :, None]
            + self.third(z)[None, None]
            + self.first_second(edges)[:, :, None]
            + self.first_third(edges)[:, None]
            + self.second_third(edges)[None]
            + self.triplet_graph(encoded.graph)[None, None, None]
        )
        return jax.nn.relu(self.triplet_out(triplets.max(0)))
