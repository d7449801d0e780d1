"""Writes tests/oracle/streams.json: what dm-clrs's `examples/run.py` draws for training.

Needs `pip install dm-clrs==2.0.3 requests`; run from the repository's root with src and
tests/oracle on PYTHONPATH. It takes some minutes. Cases that exist already are left alone; name
tasks to make only theirs.
"""

import itertools
import json
import logging
import sys

import clrs
import numpy as np
import stream_goldens
from clrs.examples import run
from stream_goldens import Case, Stages
from task_goldens import CPU_DEPENDENT

_build_sampler = clrs.build_sampler


def dm_clrs_batches(case: Case) -> list[Stages]:
    recipe = case.recipe
    run.FLAGS.length_needle = recipe.length_needle or 0
    run.FLAGS.random_pos = recipe.random_positions
    run.FLAGS.enforce_pred_as_input = recipe.predecessors_as_inputs
    run.FLAGS.enforce_permutations = recipe.permutations == "cycle"

    def build_sampler(name, num_samples, **options):
        """Without the burn-in unless asked for, and without what no batch comes from."""
        return _build_sampler(
            name,
            num_samples=min(num_samples, 1),
            track_max_steps=recipe.burn_in == stream_goldens.DM_CLRS_BURN_IN,
            **options,
        )

    clrs.build_sampler = build_sampler
    samplers, *_ = run.create_samplers(
        np.random.RandomState(stream_goldens.SEED),
        list(recipe.sizes),
        algorithms=[case.task],
        train_batch_size=recipe.count,
        val_batch_size=1,
        test_lengths=[max(recipe.sizes)],
        test_batch_size=1,
    )
    return [stages(feedback) for feedback in itertools.islice(samplers[0], case.batches)]


def stages(feedback) -> Stages:
    features = feedback.features
    return {
        "inputs": {x.name: np.asarray(x.data) for x in features.inputs},
        "hints": {x.name: np.swapaxes(x.data, 0, 1) for x in features.hints},
        "outputs": {x.name: np.asarray(x.data) for x in feedback.outputs},
        "lengths": {"lengths": np.asarray(features.lengths)},
    }


def main() -> None:
    logging.disable(logging.WARNING)
    run.FLAGS(["run"])
    named = sys.argv[1:]
    goldens = stream_goldens.load()
    for case in stream_goldens.CASES:
        if case.task in named or (not named and case.name not in goldens):
            goldens[case.name] = stream_goldens.digests(
                dm_clrs_batches(case), CPU_DEPENDENT.get(case.task, ())
            )
            print(case.name, flush=True)
            stream_goldens.PATH.write_text(json.dumps(goldens, indent=1) + "\n")


if __name__ == "__main__":
    main()
