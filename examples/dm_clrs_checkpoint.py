"""A network that dm-clrs trained and saved. Does it run BFS?

    python examples/dm_clrs_checkpoint.py                             the verdict and its reasons
    algoscope judge examples/dm_clrs_checkpoint.py --task bfs         every measure

The checkpoint beside this file holds a GATv2 with 16 hidden units, which
tests/oracle/make_checkpoint.py trained with dm-clrs.
"""

import pathlib

import jax

from algoscope import measures, networks, tasks
from algoscope.networks import dm_clrs

CHECKPOINT = pathlib.Path(__file__).parent / "bfs_dm_clrs.pkl"

# A network of the same shape, with random weights.
config = networks.NetworkConfig(processor="gatv2", width=16)
network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))

# Its weights are replaced by those of the checkpoint. The pickle is read without executing
# anything in it, and weights that are missing or do not fit are all listed.
parameters = dm_clrs.read_checkpoint(CHECKPOINT)
network = dm_clrs.from_parameters(network, parameters)

if __name__ == "__main__":
    judgement = measures.judge(network, task="bfs", problems=1000)
    print(judgement.verdict, *judgement.verdict.reasons, sep="\n  ")
