"""Makes tests/report/trained: a small network of every processor, trained for a minute.

    python tests/report/train_briefly.py          # all of them
    python tests/report/train_briefly.py gat pgn  # these

Weights that have learnt are larger and less even than those that networks begin with, so rounding
shows more.
"""

import pathlib
import sys
import tempfile

from algoscope import networks, tasks, training
from algoscope.networks import NetworkConfig

TRAINED = pathlib.Path(__file__).with_name("trained")
TASK = "bellman_ford"


def trained(processor: str) -> tuple[networks.Network, str]:
    """The network of the processor, and its task."""
    return networks.load(TRAINED / f"{processor}.safetensors")


def train(processor: str) -> None:
    config = training.TrainingConfig(
        (TASK,),
        seeds=1,
        steps=300,
        learning_rate=3e-3,
        time_buckets=1,
        recipe=tasks.Recipe(sizes=(6,), count=16, predecessors_as_inputs=False),
        network=NetworkConfig(processor=processor, width=16),
    )
    with tempfile.TemporaryDirectory() as folder:
        run = training.train(config, pathlib.Path(folder) / "run")
        network = run.ensemble([0])[0]
    networks.save(network, TRAINED / f"{processor}.safetensors", TASK)


if __name__ == "__main__":
    TRAINED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or sorted(networks.PROCESSORS):
        train(name)
