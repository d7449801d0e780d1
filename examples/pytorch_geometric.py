"""A GATv2 of PyTorch Geometric is trained on BFS for some seconds. Does it run BFS?

    python examples/pytorch_geometric.py                              the verdict and its reasons
    algoscope judge examples/pytorch_geometric.py --task bfs          every measure

Algoscope needs one function from the model, `record`: what it reads, keeps and predicts in every
step on a batch of problems.
"""

import numpy as np
import torch
from torch_geometric.nn import GATv2Conv

from algoscope import measures, tasks
from algoscope.recording import Recording

WIDTH = 32
TRAINING_STEPS = 400


class Reasoner(torch.nn.Module):
    """One GATv2 layer, applied once for each step of the algorithm.

    A node sees its position, whether it is the source, and its own state. After each step it
    points to a neighbour, its parent in the search tree: the one with the largest product of
    "asks" and "offers". And it says whether it has been reached.
    """

    def __init__(self):
        super().__init__()
        inputs = 2  # position and source
        self.asks = torch.nn.Linear(inputs + 2 * WIDTH, WIDTH)
        self.offers = torch.nn.Linear(inputs + 2 * WIDTH, WIDTH)
        self.reached = torch.nn.Linear(inputs + 2 * WIDTH, 1)
        self.layer = GATv2Conv(inputs + WIDTH, WIDTH, add_self_loops=False)

    def forward(self, batch: tasks.Batch) -> tuple[torch.Tensor, ...]:
        """Parent logits [batch, step, node, node], logits of being reached [batch, step, node],
        attention [batch, step, node, node], states [batch, step, node, width].

        A batch of graphs is one large graph to PyTorch Geometric: node i of sample b is node
        b * nodes + i there.
        """
        inputs = torch.tensor(np.stack([batch.inputs["pos"], batch.inputs["s"]], -1)).float()
        samples, nodes = inputs.shape[:2]
        neighbours = torch.tensor(batch.inputs["adj"] + np.eye(nodes) > 0)
        sample, receiver, sender = neighbours.nonzero(as_tuple=True)
        edges = torch.stack([sender, receiver]) + sample * nodes

        state = torch.zeros(samples, nodes, WIDTH)
        steps = []
        for _ in range(batch.steps):
            seen = torch.cat([inputs, state], -1)
            new, (_, weights) = self.layer(seen.flatten(0, 1), edges, return_attention_weights=True)
            state = new.relu().view(samples, nodes, WIDTH)
            attention = torch.zeros(neighbours.shape)
            attention[sample, receiver, sender] = weights[:, 0].detach()

            known = torch.cat([seen, state], -1)
            logits = self.asks(known) @ self.offers(known).mT
            parents = logits.masked_fill(~neighbours, -1e9)
            steps.append((parents, self.reached(known)[..., 0], attention, state))
        return tuple(torch.stack(values, 1) for values in zip(*steps, strict=True))


def train(model: Reasoner) -> None:
    """Cross-entropy of both hints after every step; problems are never repeated."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    stream = tasks.stream("bfs", seed=1)
    for _ in range(TRAINING_STEPS):
        batch = next(stream)
        logits, reached, _, _ = model(batch)
        valid = torch.arange(1, batch.time) < torch.tensor(batch.lengths)[:, None]
        parents = torch.tensor(batch.hints["pi_h"])[:, 1:].long()
        loss = torch.nn.functional.cross_entropy(logits[valid].mT, parents[valid])
        known = torch.tensor(batch.hints["reach_h"])[:, 1:].float()
        loss += torch.nn.functional.binary_cross_entropy_with_logits(reached[valid], known[valid])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def record(batch: tasks.Batch) -> Recording:
    """What the model does on a batch. Its answer is its prediction after the last step."""
    with torch.no_grad():
        logits, reached, attention, states = (values.numpy() for values in model(batch))
    parents = logits.argmax(-1)
    last_step = np.maximum(batch.lengths - 2, 0)
    return Recording.from_arrays(
        attention=attention[:, :, None],  # one head
        hidden=states,
        hints={"pi_h": parents, "reach_h": (reached > 0).astype(float)},
        outputs={"pi": parents[np.arange(len(batch)), last_step]},
        lengths=batch.lengths,
    )


torch.manual_seed(0)
model = Reasoner()
train(model)

if __name__ == "__main__":
    judgement = measures.judge(record, task="bfs", problems=1000)
    print(judgement.verdict, *judgement.verdict.reasons, sep="\n  ")
