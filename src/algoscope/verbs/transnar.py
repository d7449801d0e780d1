"""`algoscope transnar`: train a tower, score it, ask it."""

import dataclasses
import pathlib
from typing import Annotated

import tyro

from algoscope import progress
from algoscope.configuration import TowerConfig, TransnarConfig, shared_fields
from algoscope.table import Table
from algoscope.verbs.output import Answer, Verb
from algoscope.verbs.train import report_progress


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainTower(TransnarConfig, Verb):
    """Train a base Transformer, or a hybrid that reads a reasoner, on CLRS-Text."""

    tasks: tyro.conf.Positional[tuple[str, ...]] = ()
    """The tasks, as `algoscope tasks` lists them."""
    tower: tyro.conf.OmitArgPrefixes[TowerConfig] = dataclasses.field(default_factory=TowerConfig)
    """The Transformer; with a reasoner, it reads final states if nothing else is said."""
    out: pathlib.Path | None = None
    """The run folder."""
    reasoner: pathlib.Path | None = None
    """A run of `algoscope train` on the same tasks; without it, the tower reads nothing."""
    reasoner_seed: int | None = None
    """Which seed of that run; its first if not given."""
    teacher: pathlib.Path | None = None
    """A run of `algoscope transnar train`, of a hybrid for instance: with --loss teacher, the tower
    learns what that one expects."""
    resume: pathlib.Path | None = None
    """Go on with this run, which was stopped; no other option applies."""
    force: bool = False
    """Replace a run that has this name, unless it is being trained or its folder holds other
    files."""

    def run(self) -> Answer:
        from algoscope import runs, transnar
        from algoscope.runs.environment import device_name

        report = report_progress(self.output)
        if self.resume is not None:
            self.output.report(f"training on {device_name()}, going on in {self.resume}")
            run = transnar.resume(self.resume, report=report)
        else:
            if self.out is None:
                raise ValueError("--out: got none, needed a name for the run folder")
            reasoner, names = None, ", ".join(self.tasks)
            if self.reasoner is not None:
                reasoner = transnar.reasoner_of(runs.open(self.reasoner), self.reasoner_seed)
            self.output.report(f"training {names} on {device_name()} into {self.out}")
            run = transnar.train(
                self._config(),
                self.out,
                reasoner=reasoner,
                teacher=None if self.teacher is None else transnar.load(self.teacher),
                force=self.force,
                report=report,
            )
        results = run.results
        summary = f"{results['parameters']:,} weights, loss {results['loss']:.4f}"
        return Answer({"run": run.path, **results}, (f"{summary}; run folder: {run.path}",))

    def _config(self) -> TransnarConfig:
        config = TransnarConfig(**shared_fields(TransnarConfig, self))
        if self.reasoner is None or self.tower.reads != "nothing":
            return config
        return dataclasses.replace(config, tower=dataclasses.replace(self.tower, reads="final"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluate(Verb):
    """Score a tower by what it writes: shape, parse, CLRS and exact, by task and size."""

    path: tyro.conf.Positional[pathlib.Path]
    """A run folder of `algoscope transnar train`."""
    sizes: tuple[int, ...] = (10, 12, 14)
    """Sizes of the test problems."""
    problems: int = 100
    """Test problems of each task and size."""

    def run(self) -> Answer:
        from algoscope import transnar

        with progress.job("writing and scoring"):
            scores = transnar.evaluate(transnar.load(self.path), self.sizes, self.problems)
        fields = ("shape", "parse", "clrs", "exact")
        shown = (*fields, "clrs_error")
        rows = [
            [task, str(size), *(f"{getattr(score, field):.3f}" for field in shown)]
            for task, by_size in scores.items()
            for size, score in by_size.items()
        ]
        title = f"{self.path}: {self.problems} problems of each task and size"
        table = Table(title, ["task", "n", *fields, "± clrs"], rows)
        return Answer(transnar.scores.as_json(scores), (table,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ask(Verb):
    """Ask a tower a problem of CLRS-Text, and check its answer."""

    prompt: tyro.conf.Positional[str]
    """Such as 'bfs:\\ns: 0, A: [[1 1], [1 1]]\\npi:\\n'; \\n may be written so."""
    path: Annotated[pathlib.Path, tyro.conf.arg(name="model")] = pathlib.Path("runs/transnar")
    """A run folder of `algoscope transnar train`."""
    html: pathlib.Path | None = None
    """Write a page to this file: prompt, answer, and what each token reads."""

    def run(self) -> Answer:
        from algoscope import transnar
        from algoscope.files import make_room, write_bytes

        if self.html is not None:
            if self.html.suffix != ".html":
                raise ValueError(f"--html: got {self.html}, needed a name that ends in .html")
            make_room(self.html)
        prompt = self.prompt.replace("\\n", "\n")
        answer = transnar.ask(transnar.load(self.path), prompt, reads=self.html is not None)
        lines = [f"answer:  {answer.text.strip()}"]
        if answer.reading is None or answer.scores is None:
            lines.append(f"malformed, so nobody can check it: {answer.fault}")
        else:
            arrays, scores = answer.reading.arrays.items(), answer.scores
            lines += [f"read as: {name} = {array.tolist()}" for name, array in arrays]
            lines.append(f"right:   {(answer.right or '').strip()}")
            lines.append(f"shape {scores.shape:g}, parse {scores.parse:g}, CLRS {scores.clrs:.3f}")
        if self.html is not None:
            from algoscope.transnar.page import page

            write_bytes(self.html, page(prompt, answer, self.path.name).encode())
            lines.append(f"Open {self.html.resolve()}")
        return Answer(answer.as_json(), tuple(lines))


@dataclasses.dataclass(frozen=True)
class Transnar:
    """Transformers that read a reasoner: train, evaluate, ask."""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[TrainTower, tyro.conf.subcommand("train")]
        | Annotated[Evaluate, tyro.conf.subcommand("evaluate")]
        | Annotated[Ask, tyro.conf.subcommand("ask")]
    ]

    def main(self) -> int:
        return self.verb.main()
