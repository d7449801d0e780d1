"""Writes tests/oracle/text/: what dm-clrs writes. Needs `pip install dm-clrs==2.0.3`.

Run from the repository's root with src and tests on PYTHONPATH; it takes some minutes.
"""

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator

import numpy as np
from clrs._src.clrs_text import generate_clrs_text, huggingface_generators
from oracle import dm_clrs_text
from oracle.text_goldens import COUNT, MIXTURES, WHOLE_SPLITS, Case, Mixture, cases, digest, save

from algoscope import tasks

SIZES = {
    "train": generate_clrs_text._DEFAULT_TRAIN_ALGOS_AND_LENGTHS,
    "val": generate_clrs_text._DEFAULT_VAL_ALGOS_AND_LENGTHS,
}
SEEDS_AND_COUNTS = {
    "train": (
        generate_clrs_text._DEFAULT_TRAIN_SEEDS,
        generate_clrs_text._DEFAULT_TRAIN_NUMBER_OF_SAMPLES,
    ),
    "val": (
        generate_clrs_text._DEFAULT_VAL_SEEDS,
        generate_clrs_text._DEFAULT_VAL_NUMBER_OF_SAMPLES,
    ),
}


def ties_ascending(values, *, argsort=np.argsort):
    return argsort(values, kind="stable")


def ties_descending(values, *, argsort=np.argsort):
    return len(values) - 1 - argsort(np.asarray(values)[::-1], kind="stable")


@contextlib.contextmanager
def sorting_by(argsort: Callable) -> Iterator[None]:
    original = np.argsort
    np.argsort = argsort
    try:
        yield
    finally:
        np.argsort = original


def texts(case: Case) -> list[str]:
    drawn = dm_clrs_text.sample(case.task, case.size, COUNT, case.seed, case.traces, case.decimals)
    return ["".join(text) for text in drawn]


def golden(case: Case) -> list[str | None]:
    """Texts and digests; None where the text is not the same however ties are broken."""
    stored: list[str | None] = list(texts(case))
    for argsort in (ties_ascending, ties_descending):
        with sorting_by(argsort):
            others = texts(case)
        stored = [a if a == b else None for a, b in zip(stored, others, strict=True)]
    return [
        text if text is None or number < case.whole_texts else digest([text])
        for number, text in enumerate(stored)
    ]


def mixture_digest(mixture: Mixture) -> str:
    rows = huggingface_generators.clrs_generator(
        mixture.sizes, mixture.count, mixture.traces, mixture.seed, mixture.decimals
    )
    return digest(repr(row) for row in rows)


def split_digest(name: str, part: str) -> str:
    seeds, count = SEEDS_AND_COUNTS[part]
    return digest(
        "".join(text)
        for size, seed in itertools.product(SIZES[part][name], seeds)
        for text in dm_clrs_text.sample(name, size, count, seed, False, None)
    )


def main() -> None:
    logging.disable(logging.WARNING)
    stored = []
    for name, of_task in itertools.groupby(cases(), key=lambda case: case.task):
        stored += [golden(case) for case in of_task]
        print(name, flush=True)
    save(
        {
            "cases": stored,
            "mixtures": [mixture_digest(mixture) for mixture in MIXTURES],
            "splits": [split_digest(name, part) for name, part in WHOLE_SPLITS],
            "sizes": {part: {n: SIZES[part][n] for n in tasks.names()} for part in SIZES},
        }
    )
    dropped = sum(text is None for texts in stored for text in texts)
    print(f"{len(stored) * COUNT} texts, of which {dropped} depend on how ties are broken")


if __name__ == "__main__":
    main()
