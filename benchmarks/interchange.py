"""Whose state do networks have whose mechanism is known, and trained ones?

Two exchanges, each against every exact program of BFS: valid ones, as in an examination, and states
of any other run, on another graph with the same source.

    python benchmarks/interchange.py [RUN …]         # also the seeds of these runs of BFS
    python benchmarks/interchange.py --search 8 RUN  # and a learnt subspace of 8 dimensions
"""

import argparse

import numpy as np

from algoscope import programs, runs
from algoscope.measures import nulls
from algoscope.measures.alignment import alignment_search
from algoscope.measures.evidence import record
from algoscope.measures.examination import examination
from algoscope.measures.exchanges import Exchanges, between, draw_steps
from algoscope.measures.interchange import partners
from algoscope.measures.state_match import StateMatch, go_on, state_match
from algoscope.networks import Network
from algoscope.programs.compiler import compile_program

COMPILED = (
    "bfs",
    "bfs_levels",
    "bfs_two_heads",
    "bfs_frontier",
    "bfs_prefetching",
    "bfs_leaping",
    "bfs_drifting",
)
SEARCHED = ("bfs", "bfs_levels")


def subjects(paths: list[str]) -> dict[str, Network]:
    by_name = {name: compile_program(programs.get(name)).network for name in COMPILED}
    for path in paths:
        ensemble = runs.load_ensemble(path)
        by_name |= {f"{path}, seed {s}": ensemble[k] for k, s in enumerate(ensemble.seeds)}
        by_name |= {f"{path}, untrained": nulls.untrained(ensemble[0], seed=1)}
    return by_name


def match(network: Network, exchanges: Exchanges) -> StateMatch:
    continued, null = (
        go_on(each, record(each, exchanges.donor), exchanges)
        for each in (network, nulls.untrained(network, seed=0))
    )
    return state_match(exchanges, continued, null)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--seed", type=int, default=0, help="of the problems")
    parser.add_argument("--search", type=int, help="dimensions of a subspace to be learnt")
    options = parser.parse_args()
    exam = examination("bfs", options.seed)
    assert exam.exchanges
    plain = exam.small.take(exam.parts["plain"])
    other = partners(plain)
    steps = draw_steps(other, np.random.default_rng(options.seed))
    kinds = {"valid": exam.exchanges, "any": between(plain, other, steps)}
    for name, network in subjects(options.runs).items():
        for kind, exchanges in kinds.items():
            found = match(network, exchanges)
            rivals = found.programs | found.nulls
            shares = ", ".join(f"{n} {rival.score.value:.3f}" for n, rival in rivals.items())
            print(f"{name}, {kind}: {found}, moves {found.moves:.3f}; {shares}", flush=True)
        for program in SEARCHED if options.search else ():
            dimensions = min(options.search, network.config.width)
            search = alignment_search(network, programs.get(program), plain, other, dimensions)
            print(
                f"{name}, {dimensions} dimensions for {program}: {search.subject.score:.3f}, "
                f"untrained {search.untrained.score:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
