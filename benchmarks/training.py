"""Training speed: one step of ours against one of dm-clrs's, in the same process.

    python benchmarks/training.py --task bfs --size 16
    python benchmarks/training.py --task bfs --size 16 --seeds 1 8      # growth over seeds
    python benchmarks/training.py --task bfs --size 8 16 32             # growth over nodes

Both sides learn from the same batch (same seed, hence the same problems), with GATv2 of the same
width, in float32 at the device's own matrix precision; both do all of a step: loss, gradient,
clipping, Adam. dm-clrs's step is its `feedback` on a batch that is drawn already; ours is the program
that `algoscope train` runs. They take turns, and the best time of each counts, since a machine is
only ever slowed down by others. Needs dm-clrs 2.0.3 beside Algoscope.
"""

import argparse
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import networks, tasks, training
from algoscope.training import learning, loop, pool
from algoscope.training.placement import choose_placement


def ours(task: str, size: int, width: int, batch: int, seeds: int, steps: int):
    """A function that takes some steps with all seeds, and returns seconds per step."""
    problems = tasks.sample(task, size, batch, seed=1)
    config = training.TrainingConfig(
        (task,),
        seeds=seeds,
        evaluate_every=10**6,
        recipe=tasks.Recipe(sizes=(size,), count=batch),
        network=networks.NetworkConfig(width=width),
    )
    arrays = pool.compact(problems)
    times = next(iter(problems.hints.values())).shape[1]
    plans = (pool.TaskPlan(task, problems.features, ((times,),)),)
    placement = choose_placement(config, plans)
    program = learning.Program(config, plans, steps)
    one = jax.tree.map(lambda a: jnp.asarray(a)[None], arrays)
    data = learning.Data(
        ((one,),),
        (jnp.zeros(2 * steps + 1, jnp.int32),),
        (arrays,),
        *(jnp.int32(n) for n in (1, 1 + steps, 0)),
    )
    rows = (jnp.zeros((seeds, 2 * steps + 1), jnp.int32),)
    numbers = jnp.arange(seeds, dtype=jnp.uint32)
    learners = loop.start_learners(config, plans, None)

    def run() -> float:
        nonlocal learners
        begun = time.perf_counter()
        learners, progress = loop.advance_all(
            program, placement.mesh, placement.at_once, learners, numbers, rows, data
        )
        jax.block_until_ready(progress)
        return (time.perf_counter() - begun) / steps

    return run, times


def theirs(task: str, size: int, width: int, batch: int, steps: int):
    import clrs
    from clrs._src import baselines

    sampler, spec = clrs.build_sampler(task, seed=1, num_samples=batch, length=size)
    feedback = sampler.next()
    model = baselines.BaselineModel(
        spec=spec,
        dummy_trajectory=feedback,
        processor_factory=clrs.get_processor_factory(
            "gatv2", use_ln=True, nb_triplet_fts=8, nb_heads=1
        ),
        hidden_dim=width,
        encode_hints=True,
        decode_hints=True,
        encoder_init="xavier_on_scalars",
        use_lstm=False,
        learning_rate=1e-4,
        grad_clip_max_norm=1.0,
        checkpoint_path="/nonexistent",
        freeze_processor=False,
        dropout_prob=0.0,
        hint_teacher_forcing=0.0,
        hint_repred_mode="soft",
        nb_msg_passing_steps=1,
    )
    model.init(feedback.features, 1)

    def run() -> float:
        begun = time.perf_counter()
        for step in range(steps):
            loss = model.feedback(jax.random.PRNGKey(step), feedback)
        jax.block_until_ready(loss)
        return (time.perf_counter() - begun) / steps

    return run


def measure(task: str, size: int, width: int, batch: int, seeds: int, steps: int, turns: int):
    run_ours, times = ours(task, size, width, batch, seeds, steps)
    run_theirs = theirs(task, size, width, batch, steps)
    begun = time.perf_counter()
    run_ours()
    compiled = time.perf_counter() - begun
    run_theirs()
    turns_taken = [(run_ours() / seeds, run_theirs()) for _ in range(turns)]
    best_ours, best_theirs = np.min(turns_taken, axis=0)
    return {
        "task": task,
        "size": size,
        "width": width,
        "batch": batch,
        "hint steps": times,
        "seeds": seeds,
        "device": f"{jax.local_device_count()} x {jax.local_devices()[0].device_kind}",
        "ours, ms per step and seed": round(1e3 * float(best_ours), 2),
        "dm-clrs, ms per step": round(1e3 * float(best_theirs), 2),
        "ratio": round(float(best_theirs / best_ours), 2),
        "ours, first call s": round(compiled, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", nargs="+", default=["bfs"])
    parser.add_argument("--size", nargs="+", type=int, default=[16])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    for task in chosen.task:
        for size in chosen.size:
            for seeds in chosen.seeds:
                result = measure(
                    task, size, chosen.width, chosen.batch, seeds, chosen.steps, chosen.turns
                )
                print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
