"""Variants of the thirty tasks are trained as they are."""

import numpy as np
import pytest

from algoscope import networks, tasks, training


@pytest.mark.parametrize("name", ["bfs_sequential", "dfs_simplified"])
def test_a_variant_is_trained(name, tmp_path):
    config = training.TrainingConfig(
        tasks=(name,),
        steps=2,
        scored_on=(),
        recipe=tasks.Recipe(sizes=(4,), count=2),
        network=networks.NetworkConfig(width=4),
    )
    run = training.train(config, tmp_path / name)
    assert run.finished
    assert np.isfinite(run.metrics.loss).all()
    assert run.ensemble()[0].features == tasks.get(name).features
