"""`algoscope transnar`: train a tower, score it, ask it."""

import dataclasses
import json
import pathlib
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from algoscope.verbs.printing import print_table

if TYPE_CHECKING:
    from algoscope.transnar import TransnarConfig
    from algoscope.transnar.loop import Progress


@dataclasses.dataclass(frozen=True)
class TrainTower:
    """Train a base Transformer, or a hybrid that reads a reasoner, on CLRS-Text."""

    tasks: tyro.conf.Positional[tuple[str, ...]] = ()
    """The tasks, as `algoscope tasks` lists them."""
    out: pathlib.Path | None = None
    """The run folder."""
    reasoner: pathlib.Path | None = None
    """A run of `algoscope train` on the same tasks; without it, the tower reads nothing."""
    reasoner_seed: int | None = None
    """Which seed of that run; its first if not given."""
    reads: Literal["final", "stepwise"] = "final"
    """The reasoner's final states, or one more of its steps in each layer."""
    untrained_reasoner: bool = False
    """Give the reasoner random weights: a control."""
    trains_reasoner: tuple[str, ...] = ()
    """Weights of the reasoner that learn too, such as processor; all others are frozen."""
    positions_in_order: bool = False
    """Positions 0, 1, 2, … instead of random ones."""
    sizes: tuple[int, ...] = (4, 5, 6, 7, 8, 12)
    """Sizes of the problems."""
    samples: int = 10_000
    """Problems of each task and size."""
    steps: int = 10_000
    """Training steps."""
    batch: int = 256
    """Problems in a batch."""
    learning_rate: float = 1e-3
    """The highest."""
    width: int = 384
    """Width of the tower."""
    layers: int = 6
    """Layers of the tower."""
    heads: int = 6
    """Attention heads of each layer."""
    context: int = 2048
    """Most tokens of prompt and answer."""
    seed: int = 0
    """Of weights, order and positions."""
    resume: pathlib.Path | None = None
    """Go on with this run, which was stopped; no other option applies."""
    force: bool = False
    """Replace a run that has this name."""

    def run(self) -> None:
        from algoscope import runs, transnar
        from algoscope.training import Stopped

        try:
            if self.resume is not None:
                run = transnar.resume(self.resume, report=_show)
            else:
                if self.out is None:
                    raise ValueError("--out: got none, needed a name for the run folder")
                reasoner = None
                if self.reasoner is not None:
                    reasoner = transnar.reasoner_of(runs.open(self.reasoner), self.reasoner_seed)
                run = transnar.train(
                    self._config(), self.out, reasoner=reasoner, force=self.force, report=_show
                )
        except Stopped as stopped:
            print(stopped)
            raise SystemExit(130) from None
        results = run.results
        print(
            f"{results['parameters']:,} weights, loss {results['loss']:.4f}; run folder: {run.path}"
        )

    def _config(self) -> "TransnarConfig":
        from algoscope.transnar import TowerConfig, TransnarConfig

        return TransnarConfig(
            tasks=self.tasks,
            sizes=self.sizes,
            samples=self.samples,
            steps=self.steps,
            batch=self.batch,
            learning_rate=self.learning_rate,
            seed=self.seed,
            reasoner_trained=not self.untrained_reasoner,
            trains_reasoner=self.trains_reasoner,
            tower=TowerConfig(
                self.width,
                self.layers,
                self.heads,
                self.context,
                not self.positions_in_order,
                "nothing" if self.reasoner is None else self.reads,
            ),
        )


def _show(progress: "Progress") -> None:
    print(
        f"step {progress.step:,} of {progress.steps:,}  loss {progress.loss:.4f}", file=sys.stderr
    )


@dataclasses.dataclass(frozen=True)
class Evaluate:
    """Score a tower by what it writes: shape, parse, CLRS and exact, by task and size."""

    path: tyro.conf.Positional[pathlib.Path]
    """A run folder of `algoscope transnar train`."""
    sizes: tuple[int, ...] = (10, 12, 14)
    """Sizes of the test problems."""
    problems: int = 100
    """Test problems of each task and size."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import transnar
        from algoscope.tasks.table import Table

        found = transnar.evaluate(transnar.load(self.path), self.sizes, self.problems)
        if self.json:
            print(json.dumps(transnar.scores.as_json(found)))
            return
        fields = ("shape", "parse", "clrs", "exact")
        rows = [
            [
                task,
                str(size),
                *(f"{getattr(score, f):.3f}" for f in fields),
                f"{score.clrs_error:.3f}",
            ]
            for task, by_size in found.items()
            for size, score in by_size.items()
        ]
        print_table(
            Table(
                f"{self.path}: {self.problems} problems of each task and size",
                ["task", "n", *fields, "± clrs"],
                rows,
            )
        )


@dataclasses.dataclass(frozen=True)
class Ask:
    """Ask a tower a problem of CLRS-Text, and check its answer."""

    prompt: tyro.conf.Positional[str]
    """Such as 'bfs:\\ns: 0, A: [[1 1], [1 1]]\\npi:\\n'; \\n may be written so."""
    path: Annotated[pathlib.Path, tyro.conf.arg(name="model")] = pathlib.Path("runs/transnar")
    """A run folder of `algoscope transnar train`."""
    json: bool = False
    """Print JSON."""

    def run(self) -> None:
        from algoscope import transnar

        answer = transnar.ask(transnar.load(self.path), self.prompt.replace("\\n", "\n"))
        if self.json:
            print(json.dumps(answer.as_json()))
            return
        print(f"answer:  {answer.text.strip()}")
        if answer.fault is not None:
            print(f"malformed, so nobody can check it: {answer.fault}")
            return
        assert answer.reading is not None
        assert answer.scores is not None
        for name, array in answer.reading.arrays.items():
            print(f"read as: {name} = {array.tolist()}")
        print(f"right:   {(answer.right or '').strip()}")
        scores = answer.scores
        print(f"shape {scores.shape:g}, parse {scores.parse:g}, CLRS {scores.clrs:.3f}")


@dataclasses.dataclass(frozen=True)
class Transnar:
    """Transformers that read a reasoner: train, evaluate, ask."""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[TrainTower, tyro.conf.subcommand("train")]
        | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
        | Annotated[Ask, tyro.conf.subcommand("ask")]
    ]

    def run(self) -> None:
        self.verb.run()
