"""AlgEval: which algorithm does a language model run inside, if any?

    from algoscope import llm

    items = llm.navigation(count=200, depths=(1, 2, 3), seed=0)
    subject = llm.load("path/to/a/model")  # a folder, a GGUF file, a live object
    study = llm.navigate(subject, items)
    str(study.verdict), study.verdict.conditions

After Eberle et al. (2025), "We need an algorithmic understanding of generative AI", with what its
case study lacks: prompts that are matched in what a room's name alone gives away, models of known
mechanism, random weights, and null distributions. torch and transformers (the extra `llm`) are
imported only when a subject is loaded.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from algoscope.llm.chain_of_thought import read_steps, score_steps
    from algoscope.llm.clrs_text import clrs_items
    from algoscope.llm.examination import examine
    from algoscope.llm.primitives import find_primitives
    from algoscope.llm.prompts import Item, from_text, navigation
    from algoscope.llm.study import navigate
    from algoscope.llm.subjects import load

_MODULES = {
    "Item": "prompts",
    "clrs_items": "clrs_text",
    "examine": "examination",
    "find_primitives": "primitives",
    "from_text": "prompts",
    "load": "subjects",
    "navigate": "study",
    "navigation": "prompts",
    "read_steps": "chain_of_thought",
    "score_steps": "chain_of_thought",
}

__all__ = [
    "Item",
    "clrs_items",
    "examine",
    "find_primitives",
    "from_text",
    "load",
    "navigate",
    "navigation",
    "read_steps",
    "score_steps",
]


def __getattr__(name: str) -> Any:
    """Imports on first use: prompts need no torch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
