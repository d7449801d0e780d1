"""One thread for torch, and subjects that are made on the spot; nothing is downloaded."""

import re

import pytest
import torch
import transformers
from tiny_models import tiny_llama

from algoscope.llm.forms import FORMS
from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import split, word_tokenizer

torch.set_num_threads(1)
transformers.utils.logging.set_verbosity_error()


@pytest.fixture(scope="session")
def tokenizer():
    """Knows all words of navigation."""
    texts = [text for form in FORMS.values() for text in (*form.names, *form[1:])]
    written = re.sub(r"{\w+}", " ", " ".join([*texts, "Answer: None first"]))
    return word_tokenizer(split(written))


@pytest.fixture
def llama(tokenizer):
    return subject((tiny_llama(tokenizer), tokenizer), "tiny llama")
