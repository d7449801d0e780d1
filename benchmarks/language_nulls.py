"""The word for random models of 20 shapes, and the p-values of their attention and exchanges.
Each is written as it comes, and a file that has some is gone on with.

    python benchmarks/language_nulls.py benchmarks/language_nulls.json --seconds 600
"""

import argparse
import itertools
import json
import pathlib
import time

import numpy as np
import torch
import transformers

from algoscope import files
from algoscope.llm import order
from algoscope.llm.behaviour import behaviour
from algoscope.llm.hypotheses import by_name
from algoscope.llm.minimal_tasks import PRIMITIVES
from algoscope.llm.observe import observe
from algoscope.llm.primitives import Detection, aligned, examine, exchange
from algoscope.llm.prompts import navigation
from algoscope.llm.subjects import Subject, subject
from algoscope.llm.verdict import decide
from algoscope.llm.vocabulary import form_tokenizer
from algoscope.statistics import Estimate

ITEMS, TASKS = 60, 16
EXCHANGED = "induction"
"""All heads are exchanged on its tasks, as if they had been found to look."""
SHAPES = [
    dict(zip(("layers", "heads", "width", "gain"), shape, strict=True))
    for shape in itertools.product((1, 2, 4, 6, 8), (2, 4), (32,), (1.0, 8.0))
]
_SIZES = {"max_position_embeddings": 512, "pad_token_id": 0}
_NO_ENDS = {"bos_token_id": None, "eos_token_id": None}


def random_model(seed: int, layers: int, heads: int, width: int, gain: float) -> Subject:
    """Two Llamas, two GPT-2s, and so on."""
    tokenizer = form_tokenizer("letters", ("Repeat", "Ignore"))
    torch.manual_seed(seed)
    words = {"vocab_size": len(tokenizer), **_NO_ENDS}
    if seed // 2 % 2:
        sizes = {"n_layer": layers, "n_head": heads, "n_embd": width, "n_positions": 512}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**words, **sizes))
    else:
        sizes = {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": width}
        sizes |= {"num_key_value_heads": heads // 2, "intermediate_size": 2 * width, **_SIZES}
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**words, **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.mul_(gain)
    return subject((model.eval(), tokenizer), f"random {seed}", chat=False)


def judged(seed: int, shape: dict) -> dict:
    made = random_model(seed, **shape)
    seen = observe(made, navigation(ITEMS, form="letters", depths=(1, 2, 3), seed=seed))
    verdict = decide(behaviour(seen), None)
    matched = order.match(seen, by_name("BFS"), next(iter(order.CHANNELS)), 199, seed)
    found = examine(made, TASKS, seed, permutations=199, form="letters")
    heads = [
        Detection(EXCHANGED, layer, head, -1, Estimate(0, 0, 0), 0, 0)
        for layer, head in np.ndindex(shape["layers"], shape["heads"])
    ]
    [primitive] = [p for p in PRIMITIVES if p.name == EXCHANGED]
    tasks = list(aligned(made, primitive, np.random.default_rng(seed), "letters", TASKS))
    exchanged = exchange(made, EXCHANGED, heads, tasks, 199, seed)
    everybody = [*exchanged.alone, exchanged.joint]
    return {
        "seed": seed,
        **shape,
        "verdict": str(verdict),
        "steps_p": matched.p,
        "looking": sum(len(a.heads) for a in found),
        "used": sum(len(a.used) for a in found),
        "exchange_p": min(float(e.p) for e in everybody if e),
        "exchange_used": len(exchanged.used),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    rows = json.loads(options.path.read_text()) if options.path.exists() else []
    done, started = {row["seed"] for row in rows}, time.monotonic()
    for seed, shape in enumerate(SHAPES):
        if seed in done:
            continue
        if time.monotonic() - started > options.seconds:
            break
        rows.append(judged(seed, shape))
        lines = ",\n ".join(map(json.dumps, rows))
        files.write_bytes(options.path, f"[\n {lines}\n]\n".encode())
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
