"""What does interchange say of networks whose mechanism is known?

`bfs_prefetching` is breadth-first search, exactly, that looks a step ahead for whom it will read,
and so keeps facts about its graph in the state. States come from a run on another graph with the
same source, as in the verdict, or on the same graph with another source, where such facts stay
true.

    python benchmarks/interchange.py [RUN …]    # also judges the seeds of these runs of BFS
"""

import sys

import numpy as np

from algoscope import networks, programs, runs
from algoscope.measures.counterfactual import problems_of, traced
from algoscope.measures.evidence import record
from algoscope.measures.examination import examination
from algoscope.measures.interchange import Run, interchange, partners
from algoscope.measures.references import reference_class
from algoscope.networks import Network
from algoscope.programs.compiler import compile_program

COMPILED = [programs.get(n) for n in ("bfs", "bfs_two_heads", "bfs_leaping", "bfs_prefetching")]


def subjects(paths: list[str]) -> dict[str, Network]:
    found = {program.name: compile_program(program).network for program in COMPILED}
    for path in paths:
        ensemble = runs.load_ensemble(path)
        found |= {f"{path}, seed {s}": ensemble[k] for k, s in enumerate(ensemble.seeds)}
    return found


def main() -> None:
    exam = examination("bfs")
    plain = exam.small.take(exam.parts["plain"])
    problems = problems_of(plain)
    other_source = [
        own | {"s": other["s"]}
        for own, other in zip(problems, problems[1:] + problems[:1], strict=True)
    ]
    sources = {"other graph": partners(plain), "same graph": traced(plain, other_source)}
    references = {name: reference_class(batch) for name, batch in sources.items()}
    own_references = reference_class(plain)
    for name, network in subjects(sys.argv[1:]).items():
        recording = record(network, plain)
        exact = np.mean([
            (np.asarray(recording.hints[hint])[valid] == truth[:, 1:][valid]).mean()
            for valid in [recording.valid]
            for hint, truth in plain.hints.items()
        ])  # fmt: skip
        scores = {}
        for source, batch in sources.items():
            other = record(network, batch)
            scores[source] = max(
                interchange(network, Run(plain, recording, a), Run(batch, other, b)).state
                for a, b in zip(own_references, references[source], strict=True)
            )
        accuracy = networks.score(recording, plain)["score"]
        numbers = ", ".join(f"{source} {score:.3f}" for source, score in scores.items())
        print(f"{name}: accuracy {accuracy:.3f}, trace {exact:.3f}, {numbers}", flush=True)


if __name__ == "__main__":
    main()
