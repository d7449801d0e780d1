"""A network that dm-clrs trained and saved: does it run BFS?

The checkpoint beside this file has 16 hidden units; tests/oracle/make_checkpoint.py made it.
`algoscope judge examples/dm_clrs_checkpoint.py --task bfs` prints every measure.
"""

import pathlib

import jax

from algoscope import measures, networks, tasks
from algoscope.networks import dm_clrs

config = networks.NetworkConfig(processor="gatv2", width=16)
network = networks.build(tasks.get("bfs"), config, key=jax.random.key(0))
checkpoint = pathlib.Path(__file__).parent / "bfs_dm_clrs.pkl"
network = dm_clrs.from_parameters(network, dm_clrs.read_checkpoint(checkpoint))

if __name__ == "__main__":
    judgement = measures.judge(network, task="bfs")
    print(judgement.word, *judgement.reasons, sep="\n  ")
