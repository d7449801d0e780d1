"""What heads do: the primitives that are found, whether they are used, and who feeds whom."""

from collections.abc import Sequence
from typing import NamedTuple

from algoscope.llm.composition import Head, Path, compose
from algoscope.llm.minimal_tasks import PRIMITIVES, Primitive
from algoscope.llm.primitives import Ability, examine
from algoscope.llm.subjects import Subject
from algoscope.table import Table

ANSWER = "the answer"


class Heads(NamedTuple):
    abilities: list[Ability]
    paths: list[Path]

    @property
    def shown(self) -> list[Path]:
        return [path for path in self.paths if path.shown]

    @property
    def used(self) -> set[Head]:
        return {(d.layer, d.head) for ability in self.abilities for d in ability.used}

    def name(self, head: Head | None) -> str:
        """What a head is used for, or else its number."""
        if head is None:
            return ANSWER
        used = [a.primitive for a in self.abilities if head in {(d.layer, d.head) for d in a.used}]
        return " and ".join(used) or f"head {number(head)}"


def number(head: Head) -> str:
    """layer.head, from 0."""
    return f"{head[0]}.{head[1]}"


def study(
    subject: Subject,
    count: int = 40,
    seed: int = 0,
    form: str = "rooms",
    permutations: int = 999,
    library: Sequence[Primitive] = PRIMITIVES,
) -> Heads:
    """`count` minimal tasks of each primitive, and a third as many for paths."""
    abilities = examine(subject, count, seed, library, permutations, form)
    paths = compose(subject, abilities, max(8, count // 3), seed, library, permutations, form)
    return Heads(abilities, paths)


def tables(heads: Heads) -> dict[str, Table]:
    rows = []
    for ability in heads.abilities:
        alone = [*ability.alone] or [None] * len(ability.heads)
        for d, exchanged in zip(ability.heads, alone, strict=True):
            told = (
                [
                    str(exchanged.share),
                    f"{exchanged.p:.2g}",
                    "used" if exchanged.used else "looks only",
                ]
                if exchanged
                else ["–", "–", "looks only"]
            )
            looks = [f"{d.excess}", f"{d.p:.2g}", f"{d.control:.2f}"]
            rows.append([d.primitive, number((d.layer, d.head)), str(d.token), *looks, *told])
    paths = [
        [
            heads.name(p.sender),
            number(p.sender),
            heads.name(p.receiver),
            "" if p.receiver is None else number(p.receiver),
            str(p.share),
            f"{p.p:.2g}",
        ]
        for p in heads.shown
    ]
    return {
        "heads": Table(
            "heads that do a primitive: by attention (p corrected for all heads), and by "
            "exchanging what they write (p corrected for heads and primitives)",
            [
                "primitive",
                "layer.head",
                "token",
                "attention above matched",
                "p",
                "random weights' best",
                "share of the answer",
                "p ",
                "head is",
            ],
            rows,
        ),
        "paths": Table(
            "which head feeds which (path patching; p corrected for paths and primitives)",
            ["from", "layer.head", "to", "layer.head ", "share of the answer", "p"],
            paths,
        ),
    }
