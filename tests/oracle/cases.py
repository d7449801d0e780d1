"""The networks that are compared with dm-clrs's, and the batches they run on."""

import dataclasses

from algoscope import tasks
from algoscope.networks import NetworkConfig

DRAWS = (0, 1, 2)
COUNT = 3
SEED = 11
FEW = ("bfs", "bellman_ford", "dfs", "insertion_sort")


@dataclasses.dataclass(frozen=True)
class Case:
    task: str
    config: NetworkConfig
    x64: bool = False

    @property
    def name(self) -> str:
        parts = [self.task, self.config.processor]
        parts += [f"{self.config.heads}heads"] if self.config.heads > 1 else []
        parts += ["gated"] if self.config.gated else []
        parts += [f"{self.config.rounds}rounds"] if self.config.rounds > 1 else []
        parts += [] if self.config.layer_norm else ["no-norm"]
        parts += [] if self.config.encode_hints else ["decoded-only"]
        parts += [] if self.config.decode_hints else ["no-hints"]
        parts += [] if self.config.hint_repred_mode == "soft" else [self.config.hint_repred_mode]
        return "-".join(parts + (["x64"] if self.x64 else []))

    @property
    def size(self) -> int:
        return 6 if "matcher" in self.task or self.task == "articulation_points" else 5


def _config(**options) -> NetworkConfig:
    if options.get("processor") == "triplet_gmpnn":
        options["triplet_width"] = 3
    return NetworkConfig(width=8, **options)


CASES = [
    *(Case(t, _config(processor=p)) for t in tasks.names() for p in ("gatv2", "triplet_gmpnn")),
    *(
        Case(t, _config(processor=p))
        for t in FEW
        for p in ("gat", "gat_full", "gatv2_full", "mpnn", "pgn", "deepsets")
    ),
    *(Case("bfs", _config(processor=p, heads=2)) for p in ("gat", "gatv2")),
    *(Case("bfs", _config(processor=p, gated=True)) for p in ("mpnn", "pgn")),
    Case("bellman_ford", _config(rounds=3)),
    Case("bellman_ford", _config(layer_norm=False)),
    Case("dfs", _config(encode_hints=False)),
    Case("dfs", _config(encode_hints=False, decode_hints=False)),
    *(
        Case(t, _config(hint_repred_mode=m))
        for t in ("bfs", "insertion_sort")
        for m in ("hard", "hard_on_eval")
    ),
    *(
        Case(t, _config(processor=p), x64=True)
        for t in ("bellman_ford", "floyd_warshall", "quicksort")
        for p in ("gatv2", "triplet_gmpnn")
    ),
]


def batch(case: Case) -> tasks.Batch:
    return tasks.sample(case.task, case.size, COUNT, SEED)
