"""AlgEval: which algorithm does a language model run inside, if any?

    from algoscope import llm

    items = llm.navigation(count=200, depths=(1, 2, 3), seed=0)
    subject = llm.load("path/to/a/model")  # a folder, a GGUF file, a live object
    study = llm.navigate(subject, items)
    study.verdict.word, study.verdict.evidence

After Eberle et al. (2025), "We need an algorithmic understanding of generative AI", with what its
case study lacks: prompts that are matched in what a room's name alone gives away, models of known
mechanism, random weights, and null distributions. torch and transformers (the extra `llm`) are
imported only when a subject is loaded.
"""

from algoscope.llm.prompts import FORMS, Item, navigation

__all__ = ["FORMS", "Item", "load", "navigate", "navigation"]


def load(source, **options):
    """A language model as a subject: see `subjects.load`."""
    from algoscope.llm import subjects

    return subjects.load(source, **options)


def navigate(subject, items, **options):
    """Which algorithm the subject runs on the items: see `study.navigate`."""
    from algoscope.llm import study

    return study.navigate(subject, items, **options)
