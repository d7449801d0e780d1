"""dm-clrs's CLRS-Text, to compare `tasks.text` with. Needs `pip install dm-clrs==2.0.3`.

Run as a script, it compares all tasks (or those named) live, ties included:

    python tests/oracle/dm_clrs_text.py [TASK ...]
"""

import logging
import sys
from typing import NamedTuple


class Text(NamedTuple):
    prompt: str
    answer: str


def sample(
    name: str, size: int, count: int, seed: int, traces: bool, decimals: int | None
) -> list[Text]:
    """The first examples that `generate_clrs_text.py` would generate."""
    import clrs
    from clrs._src.clrs_text import clrs_utils

    sampler, _ = clrs.build_sampler(
        name,
        seed=seed,
        num_samples=-1,
        length=size,
        track_max_steps=False,
        truncate_decimals=decimals,
    )
    drawn = (sampler.next(batch_size=1) for _ in range(count))
    return [Text(*clrs_utils.format_clrs_example(name, x, use_hints=traces)) for x in drawn]


def main() -> None:
    from algoscope import tasks

    logging.disable(logging.WARNING)
    failed = compared = 0
    for name in sys.argv[1:] or tasks.names():
        smallest = max(2, tasks.get(name).smallest)
        for size in sorted({smallest, max(smallest, 5), 16, 24}):
            for seed in (0, 2**31):
                for decimals in (None, 1, 3) if "hull" not in tasks.get(name).table else (None, 3):
                    for traces in (False, True):
                        theirs = sample(name, size, 6, seed, traces, decimals)
                        ours = tasks.text.sample(
                            name, size, 6, seed, traces, truncate_decimals=decimals
                        )
                        for a, b in zip(ours, theirs, strict=True):
                            compared += 1
                            if (a.prompt, a.answer) != b:
                                failed += 1
                                print(f"{name} {size} {seed} {traces} {decimals}:\n{a.text}\n{b}")
        print(f"{name}: {compared} texts compared, {failed} differ", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
