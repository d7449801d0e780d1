"""Networks equal to dm-clrs's that show what they attend to.

from algoscope import networks, tasks

network = networks.build(tasks.get("bfs"), networks.NetworkConfig(), key=jax.random.key(0))
recording = networks.run(network, tasks.sample("bfs"))
recording.attention, recording.hidden, recording.hints["pi_h"], recording.outputs["pi"]
"""

from algoscope.networks.config import ConfigError, NetworkConfig
from algoscope.networks.ensemble import Ensemble, one_by_one, side_by_side
from algoscope.networks.network import Network, Noise, Start, build, check_memory, skeleton
from algoscope.networks.objective import hint_scores, loss, score, score_outputs
from algoscope.networks.processors import PROCESSORS
from algoscope.networks.running import (
    PLAIN,
    Path,
    fast_path,
    read_as,
    run,
    run_from,
    state_after,
    to_device,
    trajectories,
)
from algoscope.networks.showing import Showing
from algoscope.networks.weights import (
    Source,
    WeightsError,
    arrays,
    load,
    load_source,
    save,
    with_arrays,
)

__all__ = [
    "PLAIN",
    "PROCESSORS",
    "ConfigError",
    "Ensemble",
    "Network",
    "NetworkConfig",
    "Noise",
    "Path",
    "Showing",
    "Source",
    "Start",
    "WeightsError",
    "arrays",
    "build",
    "check_memory",
    "fast_path",
    "hint_scores",
    "load",
    "load_source",
    "loss",
    "one_by_one",
    "read_as",
    "run",
    "run_from",
    "save",
    "score",
    "score_outputs",
    "side_by_side",
    "skeleton",
    "state_after",
    "to_device",
    "trajectories",
    "with_arrays",
]
