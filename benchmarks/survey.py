"""How many problems a second the falsifier's survey compares: drawn, traced by the algorithm, run
by one network and compared, all where the network runs.

    python benchmarks/survey.py                          # BFS, 16 nodes, a network of width 128
    python benchmarks/survey.py --task bellman_ford --nodes 32 --count 1000000

Each turn prints one JSON line; the first holds what is compiled. The network is untrained: what it
says takes as long as what a trained one says. Beside it stands the way by the host: 4,096 problems,
drawn already, that the reference traces and `compare` takes from there.
"""

import argparse
import json
import time

import jax

from algoscope import networks, tasks
from algoscope.falsify.disagreement import compare
from algoscope.falsify.families import traced, with_uneven_positions
from algoscope.falsify.padding import in_parts
from algoscope.falsify.survey import drawn, survey
from algoscope.networks import NetworkConfig

TOLERANCE = 0.05
_BY_HOST = 4096


def by_host(network: networks.Network, task: tasks.Task, n: int) -> float:
    """Problems a second by way of the host."""
    problems = with_uneven_positions(drawn(task, n, _BY_HOST, jax.random.key(0)))
    in_parts(traced(task, problems), lambda part: compare(network, part, TOLERANCE))
    begun = time.perf_counter()
    in_parts(traced(task, problems), lambda part: compare(network, part, TOLERANCE))
    return _BY_HOST / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="bfs")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    task = tasks.get(options.task)
    network = networks.build(task, NetworkConfig(width=options.width), key=jax.random.key(0))
    host = by_host(network, task, options.nodes)
    for turn in range(options.turns):
        begun = time.perf_counter()
        found = survey(network, task, options.nodes, options.count, TOLERANCE, seed=turn)
        speed = found.count / (time.perf_counter() - begun)
        line = vars(options) | {
            "turn": turn,
            "device": jax.devices()[0].device_kind,
            "problems": found.count,
            "disagreeing": found.disagreeing,
            "problems_a_second": round(speed),
            "by_way_of_the_host": round(host),
            "ratio": round(speed / host, 1),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
