"""Trains one navigator and prints how often it is right on unseen mazes, by depth and truth.

    python benchmarks/navigator.py OUT --hops 3 --device cuda --batch 256 --steps 10000

Weights are saved at every report as OUT/latest, and at the end as OUT/final with OUT/unseen.json.
Needs torch and transformers alone.
"""

import argparse
import dataclasses
import json
import pathlib

from algoscope.llm import navigator
from algoscope.llm.behaviour import behaviour
from algoscope.llm.observe import observe
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import form_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    for field in dataclasses.fields(navigator.NavigatorConfig):
        if isinstance(field.default, int | float | str):
            parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    parser.add_argument("--every", type=int, default=250)
    parser.add_argument("--items", type=int, default=1200)
    given = vars(parser.parse_args())
    out, every, count = (given.pop(name) for name in ("out", "every", "items"))
    config = navigator.NavigatorConfig(**given)
    history, tokenizer = [], form_tokenizer(navigator.FORM)

    def report(progress, model):
        history.append(progress)
        print(" ".join(f"{k} {v:.4g}" for k, v in progress._asdict().items()), flush=True)
        navigator.save(model, tokenizer, config, history, out / "latest")

    model, tokenizer, history = navigator.train(config, report, every)
    navigator.save(model, tokenizer, config, history, out / "final")
    items = navigator.evaluation_items(count, config, seed=config.seed + 1_000_000)
    cells = behaviour(observe(subject((model, tokenizer), "navigator"), items)).cells
    for cell in cells:
        print(f"depth {cell.depth or 'any'}, {cell.reachable}: {cell.accuracy}, n = {cell.count}")
    rows = [cell._replace(accuracy=cell.accuracy._asdict())._asdict() for cell in cells]
    (out / "unseen.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
