"""Training speed: one step of ours against one of dm-clrs's, in the same process.

    python benchmarks/training.py --task bfs --size 16
    python benchmarks/training.py --size 8 16 32                        # growth over nodes
    python benchmarks/training.py --seeds 1 8                           # growth over seeds
    python benchmarks/training.py --task bfs bellman_ford dfs --seeds 128 --steps 20   # on a GPU

Both sides learn from the same batch (same seed, hence the same problems), with GATv2 of the same
width, in float32 at the device's own matrix precision (TF32 on a GPU, where JAX's default is that);
both do all of a step: loss, gradient, clipping, Adam. dm-clrs's step is its `feedback` on a batch
that is drawn already; ours is the program that `algoscope train` runs. What dm-clrs needs to draw a
batch is measured beside it; ours are drawn while the device works. Everything is compiled first,
side by side; then each case and dm-clrs take turns, and the best time of each counts, since a
machine is only ever slowed down by others; on a busy one, CPU time says more than the clock. A case
that a side cannot do says why. Needs dm-clrs 2.0.3 beside Algoscope, unless `--alone`.
"""

import argparse
import dataclasses
import importlib.util
import itertools
import json
import os
import sys
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from unittest import mock

import jax
import numpy as np

from algoscope import networks, tasks, training
from algoscope.training import pool
from algoscope.training.ensemble import start_learners
from algoscope.training.graph_objective import GraphObjective
from algoscope.training.plan import plan_training


class Case(NamedTuple):
    task: str
    size: int
    width: int
    batch: int


class Side(NamedTuple):
    """One side of the comparison, ready to run."""

    run: Callable[[], None]
    """Takes all steps, with all seeds."""
    compiled: float
    """Seconds until it was ready, others beside it."""
    about: dict[str, Any]


def ours(case: Case, seeds: int, steps: int) -> Side:
    begun = time.perf_counter()
    problems = tasks.sample(case.task, case.size, case.batch, seed=1)
    config = training.TrainingConfig(
        (case.task,),
        seeds=seeds,
        evaluate_every=10**6,
        # Validation needs problems of the same features, and `tasks.sample` leaves `pred_h` a hint.
        recipe=tasks.Recipe(sizes=(case.size,), count=case.batch, predecessors_as_inputs=False),
        network=networks.NetworkConfig(width=case.width),
    )
    plans = (pool.TaskPlan(case.task, problems.features, ((problems.time,),)),)
    plan = plan_training(config, plans=plans)
    objective = GraphObjective(plan)
    schedule = pool.Schedule(np.zeros(1 + steps, np.int32), np.zeros((seeds, 1 + steps), np.int32))
    one = pool.Material(tasks.Batch.stack([pool.compact(problems)]), {})
    data = objective.on_device(pool.Generation(plans, ((one,),), (schedule,)), 0)
    groups = objective.place(start_learners(plan))
    drawn = time.perf_counter()
    objective.compile(data, groups[0])
    compiled = time.perf_counter() - drawn

    def run() -> None:
        for number, group in enumerate(groups):
            groups[number], _ = objective.take_group(data, group, 1, 1 + steps)

    run()
    about = {"hint steps": problems.time, "seeds at once": plan.placement.at_once}
    return Side(run, compiled, about | {"preparing, s": round(drawn - begun, 1)})


def theirs(case: Case, steps: int) -> Side:
    import clrs
    from clrs._src import baselines

    begun = time.perf_counter()
    sampler, spec = clrs.build_sampler(case.task, seed=1, num_samples=case.batch, length=case.size)
    feedback = sampler.next()
    stream, _ = clrs.build_sampler(case.task, seed=1, num_samples=-1, length=case.size)
    drawing = min(timed(lambda: stream.next(case.batch))[0] for _ in range(3))
    model = baselines.BaselineModel(
        spec=spec,
        dummy_trajectory=feedback,
        processor_factory=clrs.get_processor_factory(
            "gatv2", use_ln=True, nb_triplet_fts=8, nb_heads=1
        ),
        hidden_dim=case.width,
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

    run()
    return Side(run, time.perf_counter() - begun, {"drawing a batch, ms": round(1e3 * drawing, 1)})


def _do_without_tensorflow() -> None:
    """dm-clrs imports TensorFlow for its download of problems, which nothing here uses."""

    @dataclasses.dataclass
    class BuilderConfig:
        name: str = ""

    class Anything:
        def __getattr__(self, name: str) -> type:
            return object

    datasets: Any = types.ModuleType("tensorflow_datasets")
    datasets.core = types.SimpleNamespace(
        BuilderConfig=BuilderConfig,
        GeneratorBasedBuilder=object,
        Version=str,
        DatasetInfo=object,
    )
    datasets.download = types.SimpleNamespace(DownloadManager=object)
    datasets.features = Anything()
    tensorflow = mock.MagicMock()
    tensorflow.Tensor = type("Tensor", (), {})
    sys.modules |= {"tensorflow": tensorflow, "tensorflow_datasets": datasets}


def prepared(make: Callable[..., Side], *arguments: Any) -> Side | str:
    """The side, or why it cannot be."""
    try:
        return make(*arguments)
    except (jax.errors.JaxRuntimeError, MemoryError) as error:
        if "RESOURCE_EXHAUSTED" not in str(error) and not isinstance(error, MemoryError):
            raise
        return "out of memory"


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock, and seconds of all cores together."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(
    case: Case, seeds: int, steps: int, turns: int, own: Side | str, reference: Side | str | None
) -> dict[str, Any]:
    result: dict[str, Any] = {
        **case._asdict(),
        "seeds": seeds,
        "device": f"{jax.local_device_count()} x {jax.local_devices()[0].device_kind}",
    }
    sides = [side for side in (own, reference) if isinstance(side, Side)]
    taken = [[timed(side.run) for side in sides] for _ in range(turns)]
    best = 1e3 * np.min(taken, axis=0) / steps if sides else []
    of = dict(zip([id(side) for side in sides], best, strict=True))
    if not isinstance(own, Side):
        return result | {"ours": own}
    wall, cpu = of[id(own)]
    result |= own.about | {
        "ours, ms per step": round(wall, 3),
        "ours, CPU ms per step": round(cpu, 3),
        "seed-steps per second": round(1e3 * seeds / wall, 1),
        "compiling, s": round(own.compiled, 1),
    }
    if reference is None:
        return result
    if not isinstance(reference, Side):
        return result | {"dm-clrs": reference}
    their_wall, their_cpu = of[id(reference)]
    drawing = reference.about["drawing a batch, ms"]
    return result | {
        "dm-clrs, ms per step": round(their_wall, 3),
        "dm-clrs, CPU ms per step": round(their_cpu, 3),
        "dm-clrs, ms to draw a batch": drawing,
        "dm-clrs compiling, s": round(reference.compiled, 1),
        "ratio": round(their_wall * seeds / wall, 2),
        "ratio with its drawing": round((their_wall + drawing) * seeds / wall, 2),
        "ratio of CPU time": round(their_cpu * seeds / cpu, 2),
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
    parser.add_argument("--alone", action="store_true", help="without dm-clrs")
    chosen = parser.parse_args()
    if not chosen.alone and importlib.util.find_spec("tensorflow") is None:
        _do_without_tensorflow()
    cases = [Case(t, n, chosen.width, chosen.batch) for t in chosen.task for n in chosen.size]
    print(f"preparing {len(cases)} cases", file=sys.stderr, flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        references = {
            case: None if chosen.alone else executor.submit(prepared, theirs, case, chosen.steps)
            for case in cases
        }
        sides = {
            (case, seeds): executor.submit(prepared, ours, case, seeds, chosen.steps)
            for case, seeds in itertools.product(cases, chosen.seeds)
        }
    print("measuring", file=sys.stderr, flush=True)
    for (case, seeds), side in sides.items():
        reference = references[case]
        result = compare(
            case,
            seeds,
            chosen.steps,
            chosen.turns,
            side.result(),
            None if reference is None else reference.result(),
        )
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
