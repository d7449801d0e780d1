"""From a mechanism and a disguise to a live model."""

import string
from typing import Any

import torch

from algoscope.errors import unknown_name
from algoscope.llm.scripted.disguises import Disguise, ScriptedConfig, schedule
from algoscope.llm.scripted.machine import ScriptedForCausalLM
from algoscope.llm.scripted.mechanisms import MECHANISMS
from algoscope.llm.scripted.reading import GOAL, PLACES, SOURCE
from algoscope.llm.scripted.writing import write
from algoscope.llm.vocabulary import form_tokenizer


@torch.no_grad()
def scripted(
    search: str = "bfs",
    layers: int = 8,
    heads: int = 3,
    seed: int = 0,
    disguise: Disguise | None = None,
) -> tuple[ScriptedForCausalLM, Any]:
    """A live (model, tokenizer) that runs the mechanism of this name.

    `heads` a layer, or as many as the mechanism needs where that is more; the seed says which of
    them do its work, what the others attend to, and how the stream is rotated.
    """
    if search not in MECHANISMS:
        raise ValueError(unknown_name("search", search, MECHANISMS))
    disguise = disguise or Disguise()
    if disguise.worker not in PLACES:
        raise ValueError(
            f"worker: got {disguise.worker}, needed 0 to {SOURCE}, or {GOAL}: a token of the "
            "question that knows whom it asks for"
        )
    tokenizer = form_tokenizer("letters")
    vocabulary = tokenizer.get_vocab()
    config = ScriptedConfig(
        vocab_size=len(tokenizer),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        search=search,
        seed=seed,
        words={word: vocabulary[word] for word in (">", ".", ":", "?", "to", "from", "Yes", "No")},
        **disguise._asdict(),
    )
    config.num_attention_heads = max([heads, *(len(step.heads) for step in schedule(config))])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ScriptedForCausalLM(config)
    letters = torch.zeros(len(tokenizer), len(string.ascii_uppercase))
    for number, letter in enumerate(string.ascii_uppercase):
        letters[vocabulary[letter], number] = 1
    write(model, letters)
    return model.eval(), tokenizer
