"""How good is a learner on unseen mazes, by where the start is, and what does the verdict say?

    python benchmarks/learner.py results/learner/examined.json --model learner --seeds 0 1

Starts are those of lessons: above the goal (its root or another node), the mirror image of such a
one, below the goal, or in another branch of its tree. The verdict is that of `algoscope llm
navigate`, whose starts are roots.
"""

import argparse
import collections
import json
import pathlib
import re

import numpy as np
import torch
from transformers import GPT2LMHeadModel

from algoscope import files, llm
from algoscope.llm.learner import logits_of
from algoscope.llm.lessons import Writer, lesson_tokenizer
from algoscope.llm.navigator_config import FORM, LearnerConfig
from algoscope.llm.subjects import SHIPPED

_QUESTIONS = 10
"""About each maze."""


def kind(parent: dict[str, str], goal: str, source: str) -> str:
    """Where the start is, seen from the goal."""

    def up(node: str) -> list[str]:
        nodes = [node]
        while nodes[-1] in parent:
            nodes.append(parent[nodes[-1]])
        return nodes

    above, own = up(goal), up(source)
    if source == goal:
        return "start is goal"
    if source in above:
        return f"{above.index(source)} above, {'inner' if source in parent else 'root'}"
    if goal in own:
        return "below"
    where = "branch" if above[-1] == own[-1] else "other tree"
    return f"{where}, {'inner' if source in parent else 'root'}"


def by_start(folder: pathlib.Path, config: LearnerConfig, seed: int) -> dict[str, list[int]]:
    """[right, asked] for each kind of start and depth of goal; goals that are roots left out."""
    model, tokenizer = GPT2LMHeadModel.from_pretrained(folder), lesson_tokenizer(config)
    writer = Writer(config, tokenizer)
    texts = writer.questions(_QUESTIONS, np.random.default_rng([seed, 3]))
    with torch.inference_mode():
        right = logits_of(model, texts).argmax(-1).numpy() == texts.answers
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for row, place in np.ndindex(right.shape):
        seen = np.flatnonzero(texts.sees[texts.asked[place]])
        text = tokenizer.decode(texts.ids[row, seen])
        parent = {b: a for a, b in re.findall(r"(\w) > (\w) \.", text)}
        (asked,) = re.findall(r"to (\w) from (\w) \?", text)
        if asked[0] in parent:
            cell = counts[kind(parent, *asked)]
            cell[0] += int(right[row, place])
            cell[1] += 1
    return dict(sorted(counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--model", default="learner")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--items", type=int, default=200)
    options = parser.parse_args()
    torch.set_num_threads(1)
    shipped = SHIPPED / options.model
    folder = shipped if shipped.is_dir() else pathlib.Path(options.model)
    values = json.loads((folder / "training.json").read_text())["config"]
    values |= {"sizes": tuple(values["sizes"]), "batch": 200}
    config, subject = LearnerConfig(**values), llm.load(folder)
    depths, size = tuple(range(1, config.depth + 1)), max(config.sizes)
    verdicts = []
    for seed in options.seeds:
        items = llm.navigation(options.items, form=FORM, size=size, depths=depths, seed=seed)
        study = llm.navigate(subject, items, states=False, seed=seed, report=print)
        cells = [[c.depth, c.reachable, c.accuracy.value, c.count] for c in study.behaviour.cells]
        assert study.causal is not None
        assert study.causal.flow is not None
        conditions = [[c.text, bool(c.met)] for c in study.verdict.conditions]
        verdicts.append(
            {
                "seed": seed,
                "word": str(study.verdict),
                "conditions": conditions,
                "accuracy": [cell for cell in cells if cell[0] is not None],
                "wave": study.causal.flow.passed("question"),
                "fits": [
                    [f.name, f.contested.value, f.share.value, f.clock] for f in study.causal.fits
                ],
                "carried": [[v.layer, v.token, v.share.value] for v in study.causal.variables],
            }
        )
    record = {"starts": by_start(folder, config, seed=1), "verdicts": verdicts}
    files.write_bytes(options.out, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
