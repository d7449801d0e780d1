"""A tokenizer in Hugging Face's format that is built on the spot: a token a word.

For the small models that this package makes itself. Nothing is downloaded.
"""

import re
from collections.abc import Iterable

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from algoscope.llm.forms import FORMS

UNKNOWN, PADDING = "<unk>", "<pad>"


def word_tokenizer(words: Iterable[str] | None = None) -> PreTrainedTokenizerFast:
    """Splits at white space and around punctuation; knows the words given, or all of navigation."""
    known = sorted(set(_navigation_words() if words is None else words) | {"Yes", "No"})
    vocabulary = {word: number for number, word in enumerate([PADDING, UNKNOWN, *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token=UNKNOWN, pad_token=PADDING, padding_side="left"
    )


def _navigation_words() -> set[str]:
    texts = [text for form in FORMS.values() for text in (*form.names, *form[1:])]
    written = re.sub(r"{\w+}", "x", " ".join([*texts, "Answer: None first"]))
    return set(re.findall(r"\w+|[^\w\s]+", written)) - {"x"}
