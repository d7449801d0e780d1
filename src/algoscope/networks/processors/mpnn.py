"""Message-passing neural network (Gilmer et al., 2017): a PGN in which all nodes are neighbours."""

import jax.numpy as jnp

from algoscope.networks.processors.base import Encoded
from algoscope.networks.processors.pgn import PGN


class MPNN(PGN):
    def neighbours(self, encoded: Encoded):
        return jnp.ones_like(encoded.adjacency)
