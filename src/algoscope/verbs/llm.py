"""`algoscope llm`: language models as subjects."""

import contextlib
import dataclasses
import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from algoscope import progress
from algoscope.table import Table
from algoscope.verbs.llm_models import Architectures, Convert
from algoscope.verbs.llm_training import TrainLearner, TrainNavigator
from algoscope.verbs.output import WITHOUT_JAX, Answer, Verb

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
    device_map: str | None = None
    """Share the model out over devices, memory and disk, instead of --device: auto, balanced,
    sequential, or JSON such as {"model": 0, "lm_head": "cpu"}."""
    dtype: str = "float32"
    """In what numbers: float32, bfloat16, float16, or auto for those of the checkpoint."""
    download: bool = False
    """Ask a hub for the model if it is not here."""
    seed: int = 0
    """Seed of the questions, of random weights and of resampling."""

    def subject(self) -> "Subject":
        from algoscope import llm

        with progress.job(f"loading {self.model}"):
            return llm.load(
                self.model,
                download=self.download,
                device=self.device,
                device_map=self.device_map,
                dtype=self.dtype,
                chat=self.chat,
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _AboutMazes(Verb):
    items: int = 200
    """Number of questions, in twins: the goal of one can be reached, that of the other cannot."""
    families: tuple[str, ...] = ("random_tree",)
    """Families of mazes: line, tree, random_tree, star, clusters, random, cogeval_…"""
    depths: tuple[int, ...] = (1, 2, 3)
    """Steps to the goal."""
    form: str | None = None
    """What nodes are: rooms, people, cities or letters; the first that the model has words for,
    unless said otherwise."""
    seed: int = 0
    """Seed of the mazes, of random weights and of resampling."""

    def questions(self, subject: "Subject | None" = None, **options: Any) -> "list[Item]":
        """For a subject in words that it has. `options` are further ones of `llm.navigation`."""
        from algoscope import llm
        from algoscope.llm.vocabulary import known_form

        options |= {name: getattr(self, name) for name in ("families", "depths", "seed")}
        form = self.form or (known_form(subject.tokenizer) if subject else None)
        if form:
            options["form"] = form
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
    """Write a run folder here (study.json, recordings.safetensors, page.html, abilities.json); in
    runs/, unless said otherwise."""

    def run(self) -> Answer:
        from algoscope import files, llm

        options = {"size": self.size, "branching": self.branching, "directed": not self.undirected}
        self.questions(**options)
        files.check_new(self.out)
        subject = self.subject()
        items = self.questions(subject, **options)
        from algoscope.llm.page import page
        from algoscope.llm.results import study_json, tables, write_folder

        study = llm.navigate(
            subject, items, causal_tests=self.causal, seed=self.seed, report=self.output.report
        )
        with contextlib.ExitStack() as place:
            made = files.unused_folder(f"navigate-{subject.name}")
            out = self.out or place.enter_context(made)
            write_folder(study, out, page(study), subject, form=items[0].form)
        return Answer(study_json(study), (*tables(study).values(), str(out / "page.html")))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Examine(_AboutModel):
    """Which algorithm does a language model run when it adds, sorts or reasons? Tables, a verdict,
    and a page."""

    task: str
    """addition, sorting or modus-ponens."""
    items: int = 60
    """Number of problems, in twins that differ in the fewest words."""
    out: pathlib.Path | None = None
    """Write a run folder here (examination.json, page.html); in runs/, unless said otherwise."""

    def run(self) -> Answer:
        from algoscope import files
        from algoscope.llm import domains

        domain = domains.get(self.task)
        files.check_new(self.out)
        subject = self.subject()
        from algoscope.llm import examination, examination_page

        found = examination.examine(subject, domain, self.items, self.seed, self.output.report)
        with contextlib.ExitStack() as place:
            made = files.unused_folder(f"{domain.name}-{subject.name}")
            out = self.out or place.enter_context(made)
            examination_page.write_folder(found, out)
        shown = examination_page.tables(found).values()
        return Answer(examination_page.examination_json(found), (*shown, str(out / "page.html")))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Describe(_AboutModel):
    """Attention, states and the order of layers on prompts of one's own: tables and a page, no
    verdict."""

    prompts: pathlib.Path
    """A .json or .jsonl file with the prompt, edges, start and goal of each."""
    out: pathlib.Path | None = None
    """Write a folder here (description.json, page.html); in runs/, unless said otherwise."""

    def run(self) -> Answer:
        from algoscope import files
        from algoscope.llm import own_prompts

        items = own_prompts.read(self.prompts)
        files.check_new(self.out)
        subject = self.subject()
        from algoscope.llm import description, description_page

        described = description.describe(subject, items, self.seed)
        with contextlib.ExitStack() as place:
            made = files.unused_folder(f"describe-{subject.name}")
            out = self.out or place.enter_context(made)
            description_page.write_folder(described, out)
        shown = description_page.tables(described).values()
        unjudged = (f"not judged: {line}" for line in described.unjudged)
        data = description_page.description_json(described)
        return Answer(data, (*shown, *unjudged, str(out / "page.html")))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Primitives(_AboutModel):
    """Which heads do which low-level operation, is what they write used, and who feeds whom?
    Tables, a page, and rows for `algoscope llm abilities`."""

    chat: bool | None = False
    """Put prompts into the tokenizer's chat template."""
    count: int = 40
    """Minimal tasks of each primitive."""
    form: str | None = None
    """What is looked at: rooms, people, cities or letters; the first that the model has words for,
    unless said otherwise."""
    out: pathlib.Path | None = None
    """Write a run folder here (primitives.json, page.html, abilities.json); in runs/, unless said
    otherwise."""

    def run(self) -> Answer:
        from algoscope import files
        from algoscope.llm import forms

        if self.form:
            forms.form(self.form)
        files.check_new(self.out)
        subject = self.subject()
        from algoscope.llm import heads, heads_page
        from algoscope.llm.vocabulary import known_form

        form = self.form or known_form(subject.tokenizer)
        found = heads.study(subject, self.count, self.seed, form)
        with contextlib.ExitStack() as place:
            made = files.unused_folder(f"primitives-{subject.name}")
            out = self.out or place.enter_context(made)
            config = {"count": self.count, "form": form, "seed": self.seed}
            heads_page.write_folder(found, subject, out, config)
        return Answer(found, (*heads.tables(found).values(), str(out / "page.html")))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Abilities(Verb):
    """The registry of abilities: what models were found to do by `navigate` and `primitives`, with
    which heads, and on what evidence."""

    least_memory = WITHOUT_JAX
    root: pathlib.Path = pathlib.Path("runs")
    """The folder that holds the runs."""
    model: str | None = None
    """Those of this model alone."""
    used: bool = False
    """Only what was shown: algorithms that are run, heads that are used."""

    def run(self) -> Answer:
        from algoscope.runs import index
        from algoscope.runs.abilities import Abilities as Kept
        from algoscope.runs.abilities import shown

        rows = [
            {"run": entry.name, **dataclasses.asdict(found)}
            for entry in index.entries(self.root)
            if entry.facts and (kept := Kept.read(entry.path))
            for found in kept.found
            if self.model in (None, found.model) and (shown(found) or not self.used)
        ]
        cells = [
            [
                row["run"],
                row["model"],
                row["kind"],
                row["ability"],
                row["word"],
                ", ".join(row["heads"]),
                f"{row['share']:.2f} [{row['low']:.2f}, {row['high']:.2f}]",
                f"{row['p']:.2g}",
            ]
            for row in rows
        ]
        columns = ["run", "model", "kind", "ability", "word", "heads", "share", "p"]
        table = Table(f"{len(rows)} abilities in {self.root}", columns, cells)
        return Answer(rows, (table,))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(_AboutMazes, _AboutModel):
    """Score written steps (chains of thought) against each algorithm's trace: their order, returns
    and backtracking, and what is written against what happens inside on the same mazes."""

    items: int = 40
    depths: tuple[int, ...] = (2, 3)
    tokens: int = 160
    """How much the model may write."""
    question: str = "path"
    """What is asked: reach, path or next."""

    def run(self) -> Answer:
        from algoscope.llm.chain_of_thought import judge
        from algoscope.llm.walks import walks

        self.questions(question=self.question)
        subject = self.subject()
        items = self.questions(subject, question=self.question)
        from algoscope.llm.offloading import offloading

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
        moved = walks(texts, items, self.seed)
        joined = offloading(subject, items, texts, self.seed)
        moves = Table(
            f"moves between newly named nodes, {moved.texts} texts; nodes named again per text: "
            f"{moved.returns}; nearest: {moved.nearest or 'none for sure'}",
            ["move", "written", "BFS", "DFS", "random order"],
            [
                [m.move, str(m.written), *map(str, m.traces.values()), str(m.random)]
                for m in moved.moves
            ],
        )
        right = ", ".join(f"{n.replace('_', ' ')} {v}" for n, v in joined.answers._asdict().items())
        sides = Table(
            f"written against inside, on the same mazes (mazes answered right: {right})",
            ["nodes", "written", "attention above images", "p", "answers follow edges", "where"],
            [
                [
                    j.nodes,
                    str(j.written),
                    f"{j.inside.value:.3f}",
                    f"{j.p:.2g}",
                    str(j.follows),
                    j.where,
                ]
                for j in joined.kinds
            ],
        )
        data = {**study._asdict(), "walks": moved, "offloading": joined}
        return Answer(data, (table, moves, sides, study.verdict.table))


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


@dataclasses.dataclass(frozen=True)
class Llm:
    """Which algorithm does a language model run inside?"""

    verb: tyro.conf.OmitSubcommandPrefixes[
        Annotated[Navigate, tyro.conf.subcommand("navigate")]
        | Annotated[Examine, tyro.conf.subcommand("examine")]
        | Annotated[Describe, tyro.conf.subcommand("describe")]
        | Annotated[TrainNavigator, tyro.conf.subcommand("train-navigator")]
        | Annotated[TrainLearner, tyro.conf.subcommand("train-learner")]
        | Annotated[Primitives, tyro.conf.subcommand("primitives")]
        | Annotated[Abilities, tyro.conf.subcommand("abilities")]
        | Annotated[Steps, tyro.conf.subcommand("steps")]
        | Annotated[ClrsText, tyro.conf.subcommand("clrs-text")]
        | Annotated[Items, tyro.conf.subcommand("items")]
        | Annotated[Architectures, tyro.conf.subcommand("architectures")]
        | Annotated[Convert, tyro.conf.subcommand("convert")]
    ]

    def main(self) -> int:
        return self.verb.main()
