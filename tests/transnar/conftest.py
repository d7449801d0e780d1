"""Tiny towers and reasoners, made once: what they are made of costs more than what they do."""

import jax
import numpy as np
import pytest
from tiny_towers import TOWER

from algoscope import networks, tasks
from algoscope.training.model import start_model
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar.pool import graph_of
from algoscope.transnar.reasoner import reason
from algoscope.transnar.text_dataset import TEST, Order, draw
from algoscope.transnar.tower import build


@pytest.fixture(scope="session")
def reasoner():
    """A Triplet-GMPNN for BFS with random weights."""
    config = networks.NetworkConfig(processor="triplet_gmpnn", width=4)
    return start_model({"bfs": tasks.get("bfs").features}, config, jax.random.key(5))


@pytest.fixture(scope="session")
def dataset():
    return draw(Order("bfs", 4, 4, 3, TEST))


@pytest.fixture(scope="session")
def states(reasoner, dataset):
    [states] = reason(reasoner, [dataset])
    return states


@pytest.fixture(scope="session")
def graph(states, dataset):
    return graph_of([(states, np.arange(len(dataset)))], 4)


@pytest.fixture(scope="session")
def hybrid(reasoner):
    return build(TOWER, jax.random.key(0), reasoners.widths_of(reasoner))
