"""What does interchange say of networks whose mechanism is known, beyond the zoo's?

bfs_prefetching   compiled; breadth-first search, exactly, that looks a step ahead for whom it
                  will read, and so keeps facts about its graph in the state
fine-tuned        compiled with spare width, then trained: a trained network of known origin

python benchmarks/interchange.py OUT.json --steps 300
"""

import argparse
import json
import pathlib
import tempfile

from algoscope import programs, training
from algoscope.measures import judge, summary
from algoscope.networks import Network
from algoscope.programs import GraphProgram
from algoscope.programs.compiler import compile_program
from algoscope.programs.disguises import noisy, permuted
from algoscope.programs.reading import rewritten

WIDTH, NOISE, LEARNING_RATE = 16, 1e-4, 1e-4

PREFETCHING = rewritten(
    "bfs_prefetching",
    programs.get("bfs"),
    {
        "pi: Node": "pi: Node\nstarted: Bool\nready: Bool\ngiver: Node",
        "found = parent.visit and not input.s": """
started = started or not started
found = found or (ready and not visit) or (parent.visit and not visit and not started)""",
        "pi = once(parent.idx, when=parent.visit and not visit)": """
pi = pi + (giver if ready and not visit else 0) + (
    parent.idx if parent.visit and not visit and not started else 0
)

then

coming = minimum(other.idx, where=other.visit)

ready = coming.visit and not visit
giver = coming.idx if coming.visit and not visit else 0
""",
    },
)


def fine_tuned(program: GraphProgram, steps: int) -> Network:
    start = noisy(permuted(compile_program(program, WIDTH).network, seed=0), NOISE, seed=0)
    config = training.TrainingConfig(
        tasks=(program.task,), steps=steps, learning_rate=LEARNING_RATE, network=start.config
    )
    with tempfile.TemporaryDirectory() as folder:
        run = training.train(config, pathlib.Path(folder) / "run", start=start)
        return run.ensemble()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    makers = {
        "bfs": lambda: compile_program(programs.get("bfs")).network,
        "bfs_prefetching": lambda: compile_program(PREFETCHING).network,
        "bfs, fine-tuned": lambda: fine_tuned(programs.get("bfs"), options.steps),
        "bfs_leaping, fine-tuned": lambda: fine_tuned(programs.get("bfs_leaping"), options.steps),
    }
    found = {}
    for name, make in makers.items():
        network = make()
        judgement = judge(network, "bfs")
        found[name] = summary.as_json(judgement)
        options.out.write_text(json.dumps(found, indent=1))
        numbers = ", ".join(f"{n} {v:.3f}" for n, v in judgement.tested.items())
        print(
            f"{name}: {judgement.word}, accuracy {judgement.evidence.accuracy}; {numbers}",
            flush=True,
        )


if __name__ == "__main__":
    main()
