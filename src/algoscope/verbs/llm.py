"""`algoscope llm`: language models as subjects."""

import dataclasses
import itertools
import json
import pathlib
import sys
from typing import Annotated

import tyro

from algoscope.verbs.printing import print_table


@dataclasses.dataclass(frozen=True)
class Navigate:
    """Which algorithm does a language model run on navigation? Tables, a verdict, and a page."""

    model: str
    """A folder of Hugging Face's format, a GGUF file, or a name in the local cache."""
    items: int = 200
    """Number of questions, in twins of which one is answered Yes and one No."""
    families: tuple[str, ...] = ("random_tree",)
    """Families of mazes: line, tree, random_tree, star, clusters, random, cogeval_…"""
    size: int | None = None
    """Nodes of the part of a maze that can be reached; there are as many that cannot."""
    branching: int | None = None
    """Children of a node at most."""
    depths: tuple[int, ...] = (1, 2, 3)
    """Steps to the goal."""
    form: str = "rooms"
    """What nodes are: rooms, people, cities or letters."""
    undirected: bool = False
    """Doors open both ways."""
    seed: int = 0
    """Seed of the mazes, of random weights and of resampling."""
    chat: bool | None = None
    """Put prompts into the tokenizer's chat template; if it has one, unless said otherwise."""
    device: str = "cpu"
    """Where the model runs, such as cpu or cuda."""
    download: bool = False
    """Ask a hub for the model if it is not here."""
    causal: bool | None = None
    """Make the causal tests; if answers are better than chance, unless said otherwise."""
    out: pathlib.Path | None = None
    """Write a run folder here (study.json, recordings.safetensors, page.html); in runs/, unless
    said otherwise."""
    json: bool = False
    """Print JSON instead of tables."""

    def run(self) -> None:
        from algoscope import llm

        items = llm.navigation(
            self.items,
            families=self.families,
            size=self.size,
            branching=self.branching,
            depths=self.depths,
            directed=not self.undirected,
            form=self.form,
            seed=self.seed,
        )
        if self.out and self.out.exists():
            raise ValueError(f"--out: got {self.out}, which exists; needed a new folder")
        subject = llm.load(self.model, download=self.download, device=self.device, chat=self.chat)
        from algoscope.llm.page import page
        from algoscope.llm.results import study_json, tables, write_folder

        study = llm.navigate(subject, items, causal_tests=self.causal, seed=self.seed, report=_say)
        out = self.out or _new_folder(f"navigate-{subject.name}")
        write_folder(study, out, page(study))
        if self.json:
            print(json.dumps(study_json(study)))
            return
        for table in tables(study):
            print_table(table)
        print(out / "page.html")


@dataclasses.dataclass(frozen=True)
class TrainNavigator:
    """Train a small Llama that really navigates, and save it in Hugging Face's format."""

    out: pathlib.Path
    """Write the model to this new folder."""
    layers: int = 6
    width: int = 64
    heads: int = 2
    sizes: tuple[int, ...] = (3, 4, 5, 6, 7)
    """Nodes of the reachable part of the mazes that are learned."""
    depths: tuple[int, ...] = (1, 2, 3)
    """Steps to the goals that are learned."""
    batch: int = 128
    steps: int = 4000
    rate: float = 2e-3
    seed: int = 0
    device: str = "cpu"
    """Where it is trained, such as cpu or cuda."""
    threads: int = 1
    """Threads of the CPU."""
    hops: int = 3
    """Teach that many steps back from the goal, a layer each; 0 teaches answers alone."""
    items: int = 600
    """Number of unseen questions that it is tested on."""

    def run(self) -> None:
        if self.out.exists():
            raise ValueError(f"--out: got {self.out}, which exists; needed a new folder")
        from algoscope.llm import navigator
        from algoscope.llm.behaviour import behaviour
        from algoscope.llm.observe import observe
        from algoscope.llm.subjects import subject

        config = navigator.NavigatorConfig(
            layers=self.layers,
            width=self.width,
            heads=self.heads,
            sizes=self.sizes,
            depths=self.depths,
            batch=self.batch,
            steps=self.steps,
            rate=self.rate,
            seed=self.seed,
            device=self.device,
            threads=self.threads,
            hops=self.hops,
        )
        model, tokenizer, history = navigator.train(
            config,
            lambda p, _: _say(
                f"step {p.step}: loss {p.loss:.4f}, right Yes and No {p.accuracy:.3f}, "
                f"right last hops {p.hops:.3f}, {p.seconds:.0f} s"
            ),
        )
        navigator.save(model, tokenizer, config, history, self.out)
        items = navigator.evaluation_items(self.items, config, seed=self.seed + 1_000_000)
        seen = observe(subject((model, tokenizer), "navigator"), items)
        for cell in behaviour(seen).cells:
            depth = "all depths" if cell.depth is None else f"depth {cell.depth}"
            truth = "reachable" if cell.reachable else "unreachable"
            print(f"{depth}, {truth}: {cell.accuracy}, n = {cell.count}")


@dataclasses.dataclass(frozen=True)
class Primitives:
    """Which heads do which low-level operation? A table of heads, against random weights."""

    model: str
    """A folder of Hugging Face's format, a GGUF file, or a name in the local cache."""
    count: int = 40
    """Minimal tasks of each primitive."""
    form: str = "rooms"
    """What is looked at: rooms, people, cities or letters."""
    seed: int = 0
    chat: bool | None = False
    device: str = "cpu"
    download: bool = False
    """Ask a hub for the model if it is not here."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import llm
        from algoscope.serialise import to_json
        from algoscope.table import Table

        subject = llm.load(self.model, download=self.download, device=self.device, chat=self.chat)
        found = llm.find_primitives(subject, self.count, self.seed, form=self.form)
        if self.json:
            print(json.dumps(to_json(found)))
            return
        rows = [
            [d.primitive, f"{d.layer}.{d.head}", str(d.excess), f"{d.p:.2g}", f"{d.control:.2f}"]
            for detections in found.values()
            for d in detections
        ]
        print_table(
            Table(
                f"{subject.name}: heads that do a primitive (p corrected for all heads)",
                ["primitive", "layer.head", "attention above matched", "p", "random weights' best"],
                rows,
            )
        )


@dataclasses.dataclass(frozen=True)
class Written:
    """Score written steps (chains of thought) against each algorithm's trace."""

    model: str
    """A folder of Hugging Face's format, a GGUF file, or a name in the local cache."""
    items: int = 40
    """Number of questions."""
    tokens: int = 160
    """How much the model may write."""
    depths: tuple[int, ...] = (2, 3)
    form: str = "rooms"
    """What nodes are: rooms, people, cities or letters."""
    question: str = "path"
    """What is asked: reach, path or next."""
    seed: int = 0
    chat: bool | None = None
    device: str = "cpu"
    download: bool = False
    """Ask a hub for the model if it is not here."""
    json: bool = False
    """Print JSON instead of tables."""

    def run(self) -> None:
        from algoscope import llm
        from algoscope.llm.chain_of_thought import study_written
        from algoscope.serialise import to_json
        from algoscope.table import Table

        items = llm.navigation(
            self.items, depths=self.depths, form=self.form, question=self.question, seed=self.seed
        )
        subject = llm.load(self.model, download=self.download, device=self.device, chat=self.chat)
        found = study_written(subject, items, self.tokens, seed=self.seed)
        if self.json:
            print(json.dumps(to_json(found)))
            return
        rows = [
            [s.hypothesis, str(s.order), f"{s.p:.2g}", str(s.coverage)] for s in found.hypotheses
        ]
        print_table(
            Table(
                f"{subject.name}: {found.verdict}; right answers {found.right}, "
                f"nodes written per item {found.nodes:.1f}",
                ["hypothesis", "order above chance", "corrected p", "share of its visits written"],
                rows,
            )
        )


@dataclasses.dataclass(frozen=True)
class ClrsText:
    """Score what a language model writes on a task of CLRS-Text, and whose trace it writes."""

    model: str
    """A folder of Hugging Face's format, a GGUF file, or a name in the local cache."""
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
    chat: bool | None = None
    device: str = "cpu"
    download: bool = False
    """Ask a hub for the model if it is not here."""
    json: bool = False
    """Print JSON instead of a table."""

    def run(self) -> None:
        from algoscope import llm
        from algoscope.llm.clrs_text import study_clrs_text
        from algoscope.serialise import to_json
        from algoscope.table import Table

        items = llm.clrs_items(self.task, self.size, self.items, self.seed, self.traces)
        subject = llm.load(self.model, download=self.download, device=self.device, chat=self.chat)
        found = study_clrs_text(subject, items, self.tokens)
        if self.json:
            print(json.dumps(to_json(found)))
            return
        named = [(name, getattr(found, name)) for name in ("clrs", "shape", "parse", "exact")]
        named += [(f"trace of {name}", value) for name, value in found.traces.items()]
        print_table(
            Table(
                f"{subject.name}: {self.task}, {self.items} problems of size {self.size}",
                ["score", "mean"],
                [[name, str(value)] for name, value in named],
            )
        )


@dataclasses.dataclass(frozen=True)
class Items:
    """Write navigation items, each with the trace of every candidate algorithm."""

    out: pathlib.Path
    """A .jsonl file of JSON lines; or a folder of tasks for lm_eval --include_path FOLDER."""
    items: int = 200
    families: tuple[str, ...] = ("random_tree",)
    depths: tuple[int, ...] = (1, 2, 3)
    form: str = "rooms"
    """What nodes are: rooms, people, cities or letters."""
    question: str = "reach"
    """What is asked: reach, path or next."""
    seed: int = 0

    def run(self) -> None:
        from algoscope import llm
        from algoscope.llm.harnesses import rows, write_jsonl, write_lm_eval

        if self.out.suffix not in ("", ".jsonl"):
            raise ValueError(
                f"--out: got {self.out}, needed a name that ends in .jsonl, or that of a folder"
            )
        items = llm.navigation(
            self.items,
            families=self.families,
            depths=self.depths,
            form=self.form,
            question=self.question,
            seed=self.seed,
        )
        if self.out.suffix:
            write_jsonl(self.out, rows(items))
            print(f"{len(items)} items written to {self.out}")
        else:
            tasks = ",".join(write_lm_eval(self.out, rows(items)))
            print(f"{len(items)} items written; lm_eval --include_path {self.out} --tasks {tasks}")


@dataclasses.dataclass(frozen=True)
class Convert:
    """Write a GGUF file as a folder of Hugging Face's format, which loads much faster."""

    model: str
    """The GGUF file."""
    out: pathlib.Path
    """The new folder."""

    def run(self) -> None:
        from algoscope.llm.subjects import convert

        convert(self.model, self.out)
        print(self.out)


@dataclasses.dataclass(frozen=True)
class Llm:
    """Which algorithm does a language model run inside?"""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Navigate, tyro.conf.subcommand("navigate")]
        | Annotated[TrainNavigator, tyro.conf.subcommand("train-navigator")]
        | Annotated[Primitives, tyro.conf.subcommand("primitives")]
        | Annotated[Written, tyro.conf.subcommand("written")]
        | Annotated[ClrsText, tyro.conf.subcommand("clrs-text")]
        | Annotated[Items, tyro.conf.subcommand("items")]
        | Annotated[Convert, tyro.conf.subcommand("convert")]
    ]

    def run(self) -> None:
        try:
            self.verb.run()
        except ModuleNotFoundError as error:
            if error.name in ("torch", "transformers", "sklearn", "tokenizers", "scipy", "gguf"):
                raise ValueError(
                    f"{error.name} is not installed; it comes with pip install 'algoscope[llm]'"
                ) from None
            raise


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _new_folder(name: str) -> pathlib.Path:
    """The first of runs/name, runs/name-2, … that is not there yet."""
    numbers = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    candidates = (pathlib.Path("runs") / f"{name}{number}" for number in numbers)
    return next(folder for folder in candidates if not folder.exists())
