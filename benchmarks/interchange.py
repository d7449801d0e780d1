"""What does interchange say of networks whose mechanism is known, beyond the zoo's?

bfs_prefetching   compiled; breadth-first search, exactly, that looks a step ahead for whom it
                  will read, and so keeps facts about its graph in the state
fine-tuned        compiled with spare width, then trained: a trained network of known origin

python benchmarks/interchange.py OUT.json --steps 300
"""

import argparse
import json
import pathlib

import jax
import numpy as np
import optax

from algoscope import networks, programs, tasks
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
    """The compiled network in disguise after so many steps of Adam, the last weights, not the
    best: those would be the first."""
    network = noisy(permuted(compile_program(program, WIDTH).network, seed=0), NOISE, seed=0)
    arrays = networks.batch_arrays(network, tasks.sample(program.task, 16, 64, seed=11))
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(LEARNING_RATE))

    @jax.jit
    def train(network: Network) -> tuple[Network, jax.Array]:
        def step(carry, _):
            network, state = carry
            loss, gradient = jax.value_and_grad(networks.loss)(network, arrays)
            updates, state = optimiser.update(gradient, state)
            return (optax.apply_updates(network, updates), state), loss

        carry, losses = jax.lax.scan(step, (network, optimiser.init(network)), None, steps)
        return carry[0], losses

    tuned, losses = train(network)
    before, after = networks.arrays(network), networks.arrays(tuned)
    moved = max(float(np.abs(np.asarray(after[n]) - before[n]).max()) for n in before)
    print(f"loss {losses[0]:.2e} to {losses[-1]:.2e}, weights moved by up to {moved:.3f}")
    return tuned


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
        accuracy = judgement.evidence.accuracy["large"]
        print(f"{name}: {judgement.word}, accuracy 64 {accuracy:.3f}, {numbers}", flush=True)


if __name__ == "__main__":
    main()
