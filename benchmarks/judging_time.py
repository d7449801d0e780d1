"""How long does a verdict take? Networks of width 128, as in docs/explanation/scale.md,
are trained for a few hundred steps and judged on about 4,000 problems each, on this machine.

    python benchmarks/judging_time.py            # writes benchmarks/judging_time.json

Seconds are those of the processor, so that a busy machine changes none of them; of the first
network of a task they hold what is compiled, of the second they do not.
"""

import argparse
import json
import pathlib
import tempfile
import time

from algoscope import falsify, measures, training
from algoscope.files import write_bytes
from algoscope.runs.environment import environment

FILE = pathlib.Path(__file__).parent / "judging_time.json"
TASKS = ("bfs", "bellman_ford")
STEPS, SEEDS = 200, 2


def judged(task: str) -> dict:
    """Of one task."""
    config = training.TrainingConfig((task,), seeds=SEEDS, steps=STEPS, scored_on=())
    with tempfile.TemporaryDirectory() as folder:
        ensemble = training.train(config, f"{folder}/run").ensemble()
    seconds, words = [], []
    for index in range(SEEDS):
        begun = time.process_time()
        judgement = measures.judge(ensemble.member(index, task), task, problems=falsify.PROBLEMS)
        seconds.append(round(time.process_time() - begun, 1))
        words.append(judgement.verdict.word)
    return {"task": task, "processor_seconds": seconds, "words": words}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", default=TASKS)
    parser.add_argument("--out", type=pathlib.Path, default=FILE)
    options = parser.parse_args()
    content = {
        "problems": falsify.PROBLEMS,
        "seeds": list(range(SEEDS)),
        "config": {"steps": STEPS, "width": 128},
        "environment": environment(),
        "measured": [],
    }
    for task in options.tasks:
        content["measured"].append(judged(task))
        print(content["measured"][-1], flush=True)
        write_bytes(options.out, (json.dumps(content, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
