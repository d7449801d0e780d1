"""`algoscope llm`: language models as subjects."""

import dataclasses
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from algoscope import progress
from algoscope.configuration import shared_fields
from algoscope.llm.navigator_config import NavigatorConfig
from algoscope.table import Table
from algoscope.verbs.output import Answer, Verb

if TYPE_CHECKING:
    from algoscope.llm.prompts import Item
    from algoscope.llm.subjects import Subject


@dataclasses.dataclass(frozen=True, kw_only=True)
class _AboutModel(Verb):
    model: str
    """A folder of Hugging Face's format, a GGUF file, or a name in the local cache."""
    chat: bool | None = None
    """Put prompts into the tokenizer's chat template; if it has one, unless said otherwise."""
    device: str = "cpu"
    """Where the model runs, such as cpu or cuda."""
    download: bool = False
    """Ask a hub for the model if it is not here."""
    seed: int = 0
    """Seed of the questions, of random weights and of resampling."""

    def subject(self) -> "Subject":
        from algoscope import llm

        with progress.job(f"loading {self.model}"):
            return llm.load(self.model, download=self.download, device=self.device, chat=self.chat)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _AboutMazes(Verb):
    items: int = 200
    """Number of questions, in twins: the goal of one can be reached, that of the other cannot."""
    families: tuple[str, ...] = ("random_tree",)
    """Families of mazes: line, tree, random_tree, star, clusters, random, cogeval_…"""
    depths: tuple[int, ...] = (1, 2, 3)
    """Steps to the goal."""
    form: str = "rooms"
    """What nodes are: rooms, people, cities or letters."""
    seed: int = 0
    """Seed of the mazes, of random weights and of resampling."""

    def questions(self, **options: Any) -> "list[Item]":
        """`options` are further ones of `llm.navigation`."""
        from algoscope import llm

        options |= {name: getattr(self, name) for name in ("families", "depths", "form", "seed")}
        return llm.navigation(self.items, **options)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Navigate(_AboutMazes, _AboutModel):
    """Which algorithm does a language model run on navigation? Tables, a verdict, and a page."""

    size: int | None = None
    """Nodes of the part of a maze that can be reached; there are as many that cannot."""
    branching: int | None = None
    """Children of a node at most."""
    undirected: bool = False
    """Doors open both ways."""
    causal: bool | None = None
    """Make the causal tests; if answers are better than chance, unless said otherwise."""
    out: pathlib.Path | None = None
    """Write a run folder here (study.json, recordings.safetensors, page.html); in runs/, unless
    said otherwise."""

    def run(self) -> Answer:
        from algoscope import files, llm

        items = self.questions(
            size=self.size, branching=self.branching, directed=not self.undirected
        )
        files.check_new(self.out)
        subject = self.subject()
        from algoscope.llm.page import page
        from algoscope.llm.results import study_json, tables, write_folder

        study = llm.navigate(
            subject, items, causal_tests=self.causal, seed=self.seed, report=self.output.report
        )
        out = self.out or files.unused_folder(f"navigate-{subject.name}")
        write_folder(study, out, page(study))
        return Answer(study_json(study), (*tables(study).values(), str(out / "page.html")))


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainNavigator(NavigatorConfig, Verb):
    """Train a small Llama that really navigates, and save it in Hugging Face's format."""

    out: pathlib.Path
    """Write the model to this new folder."""
    items: int = 600
    """Number of unseen questions that it is tested on."""

    def __post_init__(self) -> None:
        """Options are checked when a configuration is made of them, which gives a plain error."""

    def run(self) -> Answer:
        from algoscope import files

        files.check_new(self.out)
        from algoscope.llm import navigator
        from algoscope.llm.behaviour import behaviour
        from algoscope.llm.observe import observe
        from algoscope.llm.subjects import subject

        config = NavigatorConfig(**shared_fields(NavigatorConfig, self))

        def report(progress: navigator.Progress, _model: Any) -> None:
            self.output.step(
                progress.step,
                self.steps,
                f"loss {progress.loss:.4f}, right Yes and No {progress.accuracy:.3f}, "
                f"right last hops {progress.hops:.3f}, {progress.seconds:.0f} s",
            )

        self.output.report(f"training a navigator on {self.device} into {self.out}")
        model, tokenizer, history = navigator.train(config, report)
        navigator.save(model, tokenizer, config, history, self.out)
        items = navigator.evaluation_items(self.items, config, seed=self.seed + 1_000_000)
        cells = behaviour(observe(subject((model, tokenizer), "navigator"), items)).cells
        lines = []
        for cell in cells:
            depth = "all depths" if cell.depth is None else f"depth {cell.depth}"
            truth = "reachable" if cell.reachable else "unreachable"
            lines.append(f"{depth}, {truth}: {cell.accuracy}, n = {cell.count}")
        return Answer({"out": str(self.out), "accuracy": cells}, tuple(lines))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Primitives(_AboutModel):
    """Which heads do which low-level operation? A table of heads, against random weights."""

    chat: bool | None = False
    """Put prompts into the tokenizer's chat template."""
    count: int = 40
    """Minimal tasks of each primitive."""
    form: str = "rooms"
    """What is looked at: rooms, people, cities or letters."""

    def run(self) -> Answer:
        from algoscope import llm

        subject = self.subject()
        primitives = llm.find_primitives(subject, self.count, self.seed, form=self.form)
        rows = [
            [d.primitive, f"{d.layer}.{d.head}", str(d.excess), f"{d.p:.2g}", f"{d.control:.2f}"]
            for detections in primitives.values()
            for d in detections
        ]
        table = Table(
            f"{subject.name}: heads that do a primitive (p corrected for all heads)",
            ["primitive", "layer.head", "attention above matched", "p", "random weights' best"],
            rows,
        )
        return Answer(primitives, (table,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(_AboutMazes, _AboutModel):
    """Score written steps (chains of thought) against each algorithm's trace."""

    items: int = 40
    depths: tuple[int, ...] = (2, 3)
    tokens: int = 160
    """How much the model may write."""
    question: str = "path"
    """What is asked: reach, path or next."""

    def run(self) -> Answer:
        from algoscope.llm.chain_of_thought import judge

        items = self.questions(question=self.question)
        subject = self.subject()
        texts = [
            subject.generate(item.prompt, self.tokens) for item in progress.over(items, "writing")
        ]
        study = judge(texts, items, seed=self.seed)
        table = Table(
            f"{subject.name}: written steps; right answers {study.right}, "
            f"nodes written per item {study.nodes:.1f}",
            ["hypothesis", "order above chance", "corrected p", "share of its visits written"],
            [[h.hypothesis, str(h.order), f"{h.p:.2g}", str(h.coverage)] for h in study.hypotheses],
        )
        return Answer(study, (table, study.verdict.table))


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClrsText(_AboutModel):
    """Score what a language model writes on a task of CLRS-Text, and whose trace it writes."""

    task: str = "insertion_sort"
    """The task, as `algoscope tasks` lists it."""
    size: int = 8
    """Problem size."""
    items: int = 32
    """Number of problems."""
    traces: bool = False
    """Ask for the trace of the algorithm, too."""
    tokens: int = 256
    """How much the model may write."""
    seed: int = 7
    """Seed of the problems."""

    def run(self) -> Answer:
        from algoscope import llm
        from algoscope.llm.clrs_text import study_clrs_text

        items = llm.clrs_items(self.task, self.size, self.items, self.seed, self.traces)
        subject = self.subject()
        study = study_clrs_text(subject, items, self.tokens)
        scores = {name: getattr(study, name) for name in ("clrs", "shape", "parse", "exact")}
        scores |= {f"trace of {name}": value for name, value in study.traces.items()}
        table = Table(
            f"{subject.name}: {self.task}, {self.items} problems of size {self.size}",
            ["score", "mean"],
            [[name, str(value)] for name, value in scores.items()],
        )
        return Answer(study, (table,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Items(_AboutMazes):
    """Write navigation items, each with the trace of every candidate algorithm."""

    out: pathlib.Path
    """A .jsonl file of JSON lines; or a folder of tasks for lm_eval --include_path FOLDER."""
    question: str = "reach"
    """What is asked: reach, path or next."""

    def run(self) -> Answer:
        from algoscope.llm.harnesses import rows, write_jsonl, write_lm_eval

        if self.out.suffix not in ("", ".jsonl"):
            raise ValueError(
                f"--out: got {self.out}, needed a name that ends in .jsonl, or that of a folder"
            )
        items = self.questions(question=self.question)
        data = {"items": len(items), "out": self.out}
        if self.out.suffix:
            write_jsonl(self.out, rows(items))
            return Answer(data, (f"{len(items)} items written to {self.out}",))
        tasks = write_lm_eval(self.out, rows(items))
        command = f"lm_eval --include_path {self.out} --tasks {','.join(tasks)}"
        return Answer(data | {"tasks": tasks}, (f"{len(items)} items written; {command}",))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Convert(Verb):
    """Write a GGUF file as a folder of Hugging Face's format, which loads much faster."""

    model: str
    """The GGUF file."""
    out: pathlib.Path
    """The new folder."""

    def run(self) -> Answer:
        from algoscope.llm.subjects import convert

        convert(self.model, self.out)
        return Answer({"out": self.out}, (str(self.out),))


@dataclasses.dataclass(frozen=True)
class Llm:
    """Which algorithm does a language model run inside?"""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Navigate, tyro.conf.subcommand("navigate")]
        | Annotated[TrainNavigator, tyro.conf.subcommand("train-navigator")]
        | Annotated[Primitives, tyro.conf.subcommand("primitives")]
        | Annotated[Steps, tyro.conf.subcommand("steps")]
        | Annotated[ClrsText, tyro.conf.subcommand("clrs-text")]
        | Annotated[Items, tyro.conf.subcommand("items")]
        | Annotated[Convert, tyro.conf.subcommand("convert")]
    ]

    def main(self) -> int:
        return self.verb.main()
