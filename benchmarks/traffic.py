"""What a training step reads and writes on an H200, counted without one.

    pip install "jax[cuda12]"
    python benchmarks/traffic.py --task dfs --seeds 128

XLA compiles our step for a GPU that it is only told about. Every kernel of the program reads its
operands and writes its result once; of an array of all steps of a loop, it reads or writes one.
Printed: kernels, gigabytes, and the time that they take at 4 TB/s, for the program and the body of
each of its loops, with the largest kernels. What a kernel computes does not count, so the times of
pair scores are too short.
"""

import argparse
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

from algoscope import networks, tasks, training
from algoscope.training import compile_cache, learning, pool
from algoscope.training.ensemble import start_learners
from algoscope.training.plan import plan_training

H200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 232448
  shared_memory_per_core: 233472
  core_count: 132 fpus_per_core: 128 clock_rate_ghz: 1.98
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 4800000000000 l2_cache_size: 52428800 device_memory_size: 150000000000
  cuda_compute_capability { major: 9 minor: 0 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 }
device_description_str: "NVIDIA H200"
"""
_WITHOUT_GPU = {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False}
_BANDWIDTH = 4e12
_BYTES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s64": 8, "u64": 8, "f64": 8}
_FREE = {"parameter", "constant", "get-tuple-element", "tuple", "bitcast", "while", "after-all"}
_VIEWS = {"bitcast", "reshape"}


def compiled(task: str, size: int, seeds: int) -> jax.stages.Compiled:
    topology = topologies.get_topology_desc(
        "h200", platform="cuda", target_config=H200, topology="1x1x1"
    )
    on_gpu = SingleDeviceSharding(topology.devices[0])
    problems = tasks.sample(task, size, 32, seed=1)
    config = training.TrainingConfig((task,), recipe=tasks.Recipe(sizes=(size,)))
    time = problems.time
    plans = (pool.TaskPlan(task, problems.features, ((time,),)),)
    plan = plan_training(config, plans=plans)
    path = networks.Path(backend="gpu")
    lesson = learning.Lesson(config, plan.layout, task, size, time, path)

    def of_shape(*shape: int, dtype) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, dtype, sharding=on_gpu)

    learners = jax.tree.map(
        lambda a: of_shape(seeds, *a.shape[1:], dtype=a.dtype),
        jax.eval_shape(lambda: start_learners(plan)),
    )
    batches = jax.tree.map(
        lambda a: of_shape(1, *np.shape(a), dtype=np.asarray(a).dtype),
        pool.Material(pool.compact(problems), {}),
    )
    own = [of_shape(seeds, dtype=dtype) for dtype in (jnp.uint32, jnp.int32)]
    of_all = jax.vmap(lesson, in_axes=(0, 0, 0, None, None))
    lowered = jax.jit(of_all, donate_argnums=0).lower(
        learners, *own, of_shape(dtype=jnp.int32), batches
    )
    return lowered.compile(compile_cache.OPTIONS | _WITHOUT_GPU)


class Instruction(NamedTuple):
    name: str
    shape: str
    operation: str
    operands: list[str]
    text: str
    root: bool


def computations(text: str) -> tuple[dict[str, list[Instruction]], str]:
    """The instructions of each computation of a program, and the name of its entry."""
    found: dict[str, list[Instruction]] = {}
    current = entry = ""
    for line in re.sub(r"/\*.*?\*/", "", text).splitlines():
        if head := re.match(r"(ENTRY )?%(\S+) \(.*\{$", line):
            current = head[2]
            found[current] = []
            entry = current if head[1] else entry
        elif part := re.match(r"\s+(ROOT )?%(\S+) = (\([^=]*?\)|\S+) ([\w\-]+)\((.*)$", line):
            operands = re.findall(r"%([\w.\-]+)", part[5].partition(")")[0])
            found[current].append(
                Instruction(part[2], part[3], part[4], operands, part[5], bool(part[1]))
            )
    return found, entry


def size(shape: str) -> int:
    """Bytes of all arrays in a shape."""
    return sum(
        _BYTES.get(kind, 4) * math.prod(int(d) for d in dimensions.split(",") if d)
        for kind, dimensions in re.findall(r"(\w+)\[([\d,]*)\]", shape)
    )


def traffic(instruction: Instruction, shapes: dict[str, str], fused: list[Instruction]) -> int:
    """Bytes that a kernel reads and writes; `fused` is what a fusion computes."""
    match instruction.operation:
        case "dynamic-slice":
            return 2 * size(instruction.shape)
        case "dynamic-update-slice":
            return 2 * size(shapes.get(instruction.operands[1], ""))
        case "fusion":
            return _read(fused) + _written(fused)
    read = sum(size(shapes.get(operand, "")) for operand in instruction.operands)
    return read + size(instruction.shape)


def _read(fused: list[Instruction]) -> int:
    def users(name: str) -> Iterator[Instruction]:
        for one in fused:
            if name in one.operands:
                yield from users(one.name) if one.operation in _VIEWS else (one,)

    total = 0
    for one in fused:
        if one.operation != "parameter":
            continue
        by = list(users(one.name))
        if by and all(user.operation == "dynamic-slice" for user in by):
            total += sum(size(user.shape) for user in by)
        elif not all(
            user.operation == "dynamic-update-slice" and size(user.shape) == size(one.shape)
            for user in by
        ):
            total += size(one.shape)
    return total


def _written(fused: list[Instruction]) -> int:
    by_name = {one.name: one for one in fused}

    def of(name: str) -> int:
        one = by_name[name]
        if one.operation in _VIEWS:
            return of(one.operands[0])
        if one.operation == "dynamic-update-slice":
            return size(by_name[one.operands[1]].shape)
        return size(one.shape)

    root = next(one for one in fused if one.root)
    return sum(map(of, root.operands)) if root.operation == "tuple" else of(root.name)


def report(program: jax.stages.Compiled, largest: int) -> Iterator[str]:
    found, entry = computations(program.as_text() or "")
    for name, times in _loops(found, entry):
        shapes = {one.name: one.shape for one in found[name]}
        kernels = []
        for one in found[name]:
            if one.operation not in _FREE:
                called = re.search(r"calls=%([\w.\-]+)", one.text)
                kernels.append((traffic(one, shapes, found[called[1]] if called else []), one))
        total = sum(count for count, _ in kernels)
        yield (
            f"{'program' if name == entry else f'loop, {times} times'}: {len(kernels)} kernels, "
            f"{total / 1e9:.2f} GB, {1e3 * total / _BANDWIDTH:.2f} ms"
        )
        for count, one in sorted(kernels, key=lambda kernel: -kernel[0])[:largest]:
            yield f"  {count / 1e6:7.0f} MB  {one.name}  {one.shape[:80]}"
    analysis = program.memory_analysis()
    if analysis is not None:
        yield f"memory beside arguments and results: {analysis.temp_size_in_bytes / 1e9:.1f} GB"


def _loops(found: dict[str, list[Instruction]], name: str, times: int = 1):
    """The computation and the bodies of its loops, with how often each runs."""
    yield name, times
    for one in found[name]:
        if one.operation == "while":
            body = re.search(r"body=%([\w.\-]+)", one.text)
            trips = re.search(r"known_trip_count\D*(\d+)", one.text)
            assert body is not None
            yield from _loops(found, body[1], times * int(trips[1]) if trips else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--task", default="dfs")
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--seeds", type=int, default=128)
    parser.add_argument("--largest", type=int, default=12, help="kernels to print")
    chosen = parser.parse_args()
    jax.config.update("jax_platforms", "cpu")
    for line in report(compiled(chosen.task, chosen.size, chosen.seeds), chosen.largest):
        print(line)


if __name__ == "__main__":
    main()
