"""Training speed: one step of ours against one of dm-clrs's, in the same process.

    python benchmarks/training.py --task bfs --size 16
    python benchmarks/training.py --task bfs --size 16 --seeds 1 8      # growth over seeds
    python benchmarks/training.py --task bfs --size 8 16 32             # growth over nodes

Both sides learn from the same batch (same seed, hence the same problems), with GATv2 of the same
width, in float32 at the device's own matrix precision; both do all of a step: loss, gradient,
clipping, Adam. dm-clrs's step is its `feedback` on a batch that is drawn already; ours is the
program that `algoscope train` runs. They take turns, and the best time of each counts, since a
machine is only ever slowed down by others; on a busy one, CPU time says more than the clock. Needs
dm-clrs 2.0.3 beside Algoscope.
"""

import argparse
import json
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from algoscope import networks, tasks, training
from algoscope.training import loop, pool, stretches
from algoscope.training.placement import choose_placement
from algoscope.training.starting import start_learners


def ours(task: str, size: int, width: int, batch: int, seeds: int, steps: int):
    """A function that takes so many steps with all seeds, and the number of hint steps."""
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
    one = jax.tree.map(lambda a: jnp.asarray(a)[None], arrays)
    schedule = pool.Schedule(np.zeros(1 + steps, np.int32), np.zeros((seeds, 1 + steps), np.int32))
    generation = pool.Generation(plans, ((one,),), (schedule,))
    validation = jax.tree.map(jnp.asarray, arrays)
    material = stretches.Material(generation, ((one,),), (validation,), 0)
    groups = loop.groups_of(config, placement, start_learners(config, plans, None))
    taker = stretches.Stretches(config, plans, placement)
    taker.compile(material, groups[0])

    def run() -> None:
        for number, group in enumerate(groups):
            groups[number], _ = taker.take(material, group, 1, 1 + steps)

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

    def run() -> None:
        for step in range(steps):
            loss = model.feedback(jax.random.PRNGKey(step), feedback)
        jax.block_until_ready(loss)

    return run


def measure(task: str, size: int, width: int, batch: int, seeds: int, steps: int, turns: int):
    run_ours, times = ours(task, size, width, batch, seeds, steps)
    run_theirs = theirs(task, size, width, batch, steps)
    first = [timed(run_ours), timed(run_theirs)]
    taken = [[timed(run_ours), timed(run_theirs)] for _ in range(turns)]
    of_step = 1e3 * np.min(taken, axis=0) / steps / [[seeds], [1]]
    (wall_ours, cpu_ours), (wall_theirs, cpu_theirs) = of_step.tolist()
    return {
        "task": task,
        "size": size,
        "width": width,
        "batch": batch,
        "hint steps": times,
        "seeds": seeds,
        "device": f"{jax.local_device_count()} x {jax.local_devices()[0].device_kind}",
        "ours, ms per step and seed": round(wall_ours, 2),
        "dm-clrs, ms per step": round(wall_theirs, 2),
        "ratio": round(wall_theirs / wall_ours, 2),
        "ours, CPU ms": round(cpu_ours, 2),
        "dm-clrs, CPU ms": round(cpu_theirs, 2),
        "ratio of CPU time": round(cpu_theirs / cpu_ours, 2),
        "first call, CPU s": [round(cpu, 1) for _, cpu in first],
    }


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock, and seconds of all cores together."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


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
