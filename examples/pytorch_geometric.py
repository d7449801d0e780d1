"""Does a trained GATv2 run BFS? `algoscope judge examples/pytorch_geometric.py --task bfs` says."""

# fmt: off
import numpy as np
import torch
from torch_geometric.nn import GATv2Conv

from algoscope import measures, recording, tasks

torch.manual_seed(0)
asks, offers = torch.nn.Linear(66, 32), torch.nn.Linear(66, 32)
parts = torch.nn.ModuleList([asks, offers, GATv2Conv(34, 32, add_self_loops=False)])
def forward(batch):
    x = torch.tensor(np.stack([batch.inputs["pos"], batch.inputs["s"]], -1)).float()
    near = torch.tensor(batch.inputs["adj"] + np.eye(x.shape[1]) > 0)
    b, receiver, sender = near.nonzero(as_tuple=True)
    edges = torch.stack([sender, receiver]) + b * x.shape[1]
    h, steps = torch.zeros(*x.shape[:2], 32), []
    for _ in range(batch.hints["pi_h"].shape[1] - 1):
        z, attention = torch.cat([x, h], -1), torch.zeros(near.shape)
        h, (_, weights) = parts[2](z.flatten(0, 1), edges, return_attention_weights=True)
        attention[b, receiver, sender], h = weights[:, 0].detach(), h.relu().view(*x.shape[:2], 32)
        y = torch.cat([z, h], -1)
        steps.append(((asks(y) @ offers(y).mT).masked_fill(~near, -1e9), attention, h))
    return [torch.stack(of_steps, 1) for of_steps in zip(*steps, strict=True)]
optimiser = torch.optim.Adam(parts.parameters(), 3e-3)
for _, batch in zip(range(400), tasks.stream("bfs", seed=1), strict=False):
    valid = torch.arange(1, batch.hints["pi_h"].shape[1]) < torch.tensor(batch.lengths)[:, None]
    truth = torch.tensor(batch.hints["pi_h"])[:, 1:][valid].long()
    loss = torch.nn.functional.cross_entropy(forward(batch)[0][valid].mT, truth)
    _ = optimiser.zero_grad(), loss.backward(), optimiser.step()
def record(batch):
    pi, attention, h = (x.detach().numpy() for x in forward(batch))
    hint, last = pi.argmax(-1), (np.arange(len(pi)), np.maximum(batch.lengths - 2, 0))
    return recording.Recording.from_arrays(attention=attention[:, :, None], hidden=h,
        hints={"pi_h": hint}, outputs={"pi": hint[last]}, lengths=batch.lengths)
if __name__ == "__main__":
    judgement = measures.judge(record, task="bfs")
    print(judgement.word, *judgement.reasons, sep="\n  ")
