"""The network as it is fastest, equal to `networks.plain` up to rounding.

| what                                                          | where        | when             |
|---------------------------------------------------------------|--------------|------------------|
| encoders of edges and graph merged into layers that read them | `encoders`   | always           |
| encoders of nodes likewise                                    | `encoders`   | GPU, TF32        |
| pair scores, a few receivers at a time                        | `pairs`      | always           |
| pair scores by kernels                                        | `kernels`    | GPU, float32     |
| layers of all decoders together, outputs decoded once         | `decoders`   | always           |
| short loops unrolled, long ones recomputed backwards          | `trajectory` | GPU              |
"""

from algoscope.networks.fast.trajectory import trajectories

__all__ = ["trajectories"]
