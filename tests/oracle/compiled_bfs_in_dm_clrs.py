"""Scores compiled BFS inside dm-clrs's own model, on the canonical test split (32 graphs, n = 64).

Needs `pip install dm-clrs==2.0.3`; run from the repository's root with src on PYTHONPATH. Exits
with 1 unless every program for BFS that is exact scores 1.0.
"""

import logging
import sys

import clrs
import jax
from clrs._src import baselines, processors

from algoscope import programs
from algoscope.networks import NetworkConfig, dm_clrs
from algoscope.programs.compiler import compile_program

PROGRAMS = ("bfs", "bfs_locked", "bfs_self")
WIDTHS = (None, 128)
COUNT, SIZE, SEED = 32, 64, 3


def model_of(config: NetworkConfig, spec, feedback) -> baselines.BaselineModel:
    model = baselines.BaselineModel(
        [spec],
        dummy_trajectory=[feedback],
        processor_factory=processors.get_processor_factory(
            config.processor, config.layer_norm, config.triplet_width, config.heads
        ),
        hidden_dim=config.width,
        encode_hints=config.encode_hints,
        decode_hints=config.decode_hints,
        hint_repred_mode=config.hint_repred_mode,
    )
    model.init(feedback.features, 0)
    return model


def main() -> None:
    logging.disable(logging.WARNING)
    sampler, spec = clrs.build_sampler("bfs", num_samples=COUNT, length=SIZE, seed=SEED)
    feedback = sampler.next()
    failed = False
    for width in WIDTHS:
        for name in PROGRAMS:
            network = compile_program(programs.get(name), width).network
            model = model_of(network.config, spec, feedback)
            parameters = dm_clrs.to_parameters(network)
            shapes, needed = jax.tree.map(lambda a: a.shape, (parameters, dict(model.params)))
            assert shapes == needed, (shapes, needed)
            model.params = parameters
            predictions, _ = model.predict(jax.random.PRNGKey(0), feedback.features)
            score = float(clrs.evaluate(feedback.outputs, predictions)["score"])
            failed = failed or score != 1.0
            print(f"{name}, width {network.config.width}: score {score}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
