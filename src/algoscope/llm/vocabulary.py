"""A tokenizer in Hugging Face's format that is built on the spot: a token a word.

For the small models that this package makes itself. Nothing is downloaded.
"""

import re
from collections.abc import Iterable

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from algoscope.llm.forms import FORMS

UNKNOWN, PADDING = "<unk>", "<pad>"


def word_tokenizer(words: Iterable[str]) -> PreTrainedTokenizerFast:
    """Splits at white space and around punctuation; knows the words given, Yes and No."""
    known = sorted({*words, "Yes", "No"})
    vocabulary = {word: number for number, word in enumerate([PADDING, UNKNOWN, *known])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token=UNKNOWN, pad_token=PADDING, padding_side="left"
    )


def form_tokenizer(form: str, more: Iterable[str] = ()) -> PreTrainedTokenizerFast:
    """Knows the words of one-way edges and of Yes or No questions in one surface form, and more."""
    words = FORMS[form]
    texts = " ".join((words.intro, words.one_way, words.reach, "Answer:"))
    return word_tokenizer([*words.names, *more, *split(re.sub(r"{\w+}", " ", texts))])


def known_form(tokenizer: PreTrainedTokenizerBase) -> str:
    """The first surface form whose nodes the tokenizer all has words for; the first of all where
    there is none."""
    unknown = tokenizer.unk_token_id
    for name, form in FORMS.items():
        ids = tokenizer(list(form.names), add_special_tokens=False)["input_ids"]
        if unknown is None or not any(unknown in word for word in ids):
            return name
    return next(iter(FORMS))


def split(text: str) -> list[str]:
    """Words, and what stands between them."""
    return re.findall(r"\w+|[^\w\s]+", text)
