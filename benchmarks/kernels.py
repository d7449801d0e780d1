"""What the pair kernels wait for on an H200, from their machine code, without one.

    pip install "jax[cuda12]" triton      # XLA's compiler; ptxas and nvdisasm
    python benchmarks/kernels.py          # DFS's two decoders
    python benchmarks/kernels.py --several 1 --join leaky_sum    # its attention

XLA compiles `fast.kernels` for a GPU that it is only told about, nvdisasm prints the machine
code, and warps run it here: each scheduler of an SM has as many as registers allow, and issues one
instruction a cycle, of each warp in order, once the registers that it reads are there. Loads from
memory take 700 cycles; those of a line that the same turn of the loop has asked for come with it.
Shuffles, shared memory and loads share a pipe. Printed: registers, instructions and their kinds,
the part of all cycles in which one is issued, and the time of a call with 128 seeds, 32 samples and
16 nodes.
"""

import argparse
import collections
import functools
import importlib.util
import math
import os
import pathlib
import re
import subprocess
import tempfile
from typing import NamedTuple

_FAR, _NEAR = 700, 38
_LATENCY = {"SHFL": 23, "LDS": 29, "LDSM": 33, "LDC": 30, "S2R": 25, "S2UR": 25}
_ARITHMETIC = {"FFMA", "FADD", "FMUL"}
_MEMORY = {"SHFL", "LDG", "STG", "LDS", "STS", "LDSM", "STSM", "BAR", "LDC"}
_NO_RESULT = {"STG", "STS", "STSM", "BRA", "BAR", "EXIT", "NOP", "WARPSYNC"}
_QUEUE = 24
_SMS, _SCHEDULERS, _REGISTERS, _HERTZ = 132, 4, 65536, 1.85e9
_SEEDS, _SAMPLES, _NODES, _WIDTH = 128, 32, 16, 128


class Instruction(NamedTuple):
    name: str
    operands: str
    predicate: str | None

    @property
    def kind(self) -> str:
        return self.name.partition(".")[0]

    def registers(self) -> tuple[list[str], list[str]]:
        """Those that it writes and those that it reads."""
        parts = [part.strip() for part in self.operands.split(",")]
        wide = 4 if ".128" in self.name else 2 if ".64" in self.name or "WIDE" in self.name else 1
        written: list[str] = []
        if self.kind not in _NO_RESULT:
            while parts and (first := re.match(r"(UR|R|UP|P)(\d+|T)$", parts[0])):
                known = first[1] in ("R", "UR")
                count = wide if known else 1
                if first[2] != "T":
                    written += [f"{first[1]}{int(first[2]) + k}" for k in range(count)]
                parts = parts[1:]
                if known:
                    break
        read = [self.predicate] if self.predicate else []
        for part in parts:
            for found in re.finditer(r"(UR|R|UP|P)(\d+)", part):
                count = 2 if ".64" in part else 1
                read += [f"{found[1]}{int(found[2]) + k}" for k in range(count)]
        if self.kind in _NO_RESULT and (last := re.search(r"R(\d+)$", self.operands)):
            read += [f"R{int(last[1]) + k}" for k in range(wide)]
        return written, read


class Kernel(NamedTuple):
    name: str
    registers: int
    before: list[Instruction]
    turn: list[Instruction]
    after: list[Instruction]

    @property
    def warps(self) -> int:
        """Of a scheduler."""
        of_a_warp = 32 * 8 * math.ceil(self.registers / 8)
        return max(1, _REGISTERS // of_a_warp // _SCHEDULERS)


def machine_code(several: int, channels: int, fixed: int, join: str) -> list[Kernel]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={folder}"
        _compile(several, channels, fixed, join)
        ptx = [p for p in pathlib.Path(folder).glob("*.ptx") if "_kernel(" in p.read_text()]
        return [_assembled(path) for path in sorted(ptx)]


def _compile(several: int, channels: int, fixed: int, join: str) -> None:
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding
    from traffic import H200

    from algoscope.networks.fast import kernels

    jax.config.update("jax_platforms", "cpu")
    topology = topologies.get_topology_desc(
        "h200", platform="cuda", target_config=H200, topology="1x1x1"
    )
    on_gpu = SingleDeviceSharding(topology.devices[0])
    one = functools.partial(kernels.pair_scores, kernels.Form(join, fixed))
    all_scores = jax.vmap(jax.vmap(one, (0, None, 0, None, None)))

    def both(*given):
        scores, pull = jax.vjp(all_scores, *given[:-1])
        return scores, pull(given[-1])

    seeds, of_samples = (_SEEDS,), (_SEEDS, _SAMPLES)
    shapes = [
        (*of_samples, _NODES, 2 * several, _WIDTH),
        (*seeds, 2 * several, _WIDTH),
        (*of_samples, _NODES, _NODES, channels),
        (*seeds, several, channels, _WIDTH),
        (*seeds, several, _WIDTH),
        (*of_samples, several, _NODES, _NODES),
    ]
    given = [jax.ShapeDtypeStruct(shape, jnp.float32, sharding=on_gpu) for shape in shapes]
    jax.jit(both).lower(*given).compile()


def _assembled(ptx: pathlib.Path) -> Kernel:
    found = importlib.util.find_spec("triton")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("ptxas and nvdisasm are not there; pip install triton brings them")
    tools = pathlib.Path(found.submodule_search_locations[0]) / "backends/nvidia/bin"
    binary = ptx.with_suffix(".cubin")
    said = subprocess.run(
        [tools / "ptxas", "-arch=sm_90a", "-v", "-O3", ptx, "-o", binary],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    text = subprocess.run(
        [tools / "nvdisasm", "-c", binary], capture_output=True, text=True, check=True
    ).stdout
    name = re.search(r"\.entry (\w+)", ptx.read_text())
    registers = re.search(r"Used (\d+) registers", said)
    assert name is not None
    assert registers is not None
    code: list[Instruction] = []
    labels: dict[str, int] = {}
    turn, end = (0, 0), 0
    for line in text.partition(f".text.{name[1]}:")[2].splitlines():
        if label := re.match(r"(\.L_x_\d+):", line.strip()):
            labels[label[1]] = len(code)
        line = re.match(r"\s*/\*\w+\*/\s+(?:@!?(U?P\d+)\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;", line)
        if line is None:
            continue
        code.append(Instruction(line[2], line[3], line[1]))
        if line[2] == "EXIT" and line[1] is None:
            end = len(code)
        target = re.search(r"\.L_x_\d+", line[3])
        if line[2].startswith("BRA") and target and target[0] in labels:
            back = (labels[target[0]], len(code))
            turn = max(turn, back, key=lambda one: one[1] - one[0])
    start, stop = turn
    return Kernel(name[1], int(registers[1]), code[:start], code[start:stop], code[stop:end])


def cycles(kernel: Kernel, turns: int) -> tuple[int, float]:
    """Until all warps of an SM have run their program, and the part of them that issues."""
    program = [*kernel.before, *kernel.turn * turns, *kernel.after]
    used = {one: one.registers() for one in set(program)}
    count = _SCHEDULERS * kernel.warps
    place, ready = [0] * count, [collections.defaultdict(int) for _ in range(count)]
    wakes, asked = [0] * count, [{} for _ in range(count)]
    pipe, busy, latest = 0.0, [0] * _SCHEDULERS, [0] * _SCHEDULERS
    now, issued = 0, 0
    while any(at < len(program) for at in place):
        for scheduler in range(_SCHEDULERS):
            warps = range(scheduler, count, _SCHEDULERS)
            for warp in sorted(warps, key=lambda w: (w != latest[scheduler], w)):
                if place[warp] == len(program) or wakes[warp] > now:
                    continue
                one = program[place[warp]]
                written, read = used[one]
                wakes[warp] = max([ready[warp][r] for r in written + read], default=now)
                if wakes[warp] > now:
                    continue
                takes = 4 if one.kind in _ARITHMETIC else _LATENCY.get(one.kind, 5)
                if one.kind in _MEMORY:
                    if pipe > now + _QUEUE:
                        continue
                    pipe = max(pipe, now) + 1
                elif one.kind not in _ARITHMETIC:
                    if busy[scheduler] > now:
                        continue
                    busy[scheduler] = now + 2
                if one.kind == "LDG":
                    turn = (place[warp] - len(kernel.before)) // len(kernel.turn)
                    line = (turn, re.findall(r"\[(R\d+)", one.operands)[-1])
                    comes = asked[warp].setdefault(line, now + _FAR)
                    takes = max(_NEAR, comes - now)
                for register in written:
                    ready[warp][register] = now + takes
                wakes[warp] = now + (20 if one.kind == "BAR" else 1)
                place[warp] += 1
                issued, latest[scheduler] = issued + 1, warp
                break
        now += 1
    return now, issued / (_SCHEDULERS * now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--several", type=int, default=2, help="scores of each pair")
    parser.add_argument("--channels", type=int, default=4, help="scalars of each pair")
    parser.add_argument("--fixed", type=int, default=2, help="how many of them are data")
    parser.add_argument("--join", default="maximum", help="maximum, or leaky_sum")
    chosen = parser.parse_args()
    from algoscope.networks.fast import kernels

    tiles = _WIDTH // kernels._COLUMNS
    programs = _SEEDS * _SAMPLES * chosen.several * tiles
    for kernel in machine_code(chosen.several, chosen.channels, chosen.fixed, chosen.join):
        kinds = collections.Counter(one.kind for one in kernel.turn)
        receivers = 2 if "backward" in kernel.name else 1  # in a turn
        taken, part = cycles(kernel, _NODES // receivers)
        rounds = programs / (_SMS * _SCHEDULERS * kernel.warps)
        common = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common(6))
        print(
            f"{kernel.name}: {kernel.registers} registers, {kernel.warps} warps a scheduler, "
            f"{len(kernel.turn) / receivers:.0f} instructions a receiver ({common} a turn), "
            f"{part:.0%} of cycles issue, {1e3 * rounds * taken / _HERTZ:.3f} ms"
        )


if __name__ == "__main__":
    main()
