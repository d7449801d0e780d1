"""One thread for torch, and subjects that are made on the spot; nothing is downloaded."""

import pytest
import torch
import transformers
from tiny_models import tiny_llama

from algoscope.llm.subjects import subject
from algoscope.llm.vocabulary import word_tokenizer

torch.set_num_threads(1)
transformers.utils.logging.set_verbosity_error()


@pytest.fixture(scope="session")
def tokenizer():
    return word_tokenizer()


@pytest.fixture
def llama(tokenizer):
    return subject((tiny_llama(tokenizer), tokenizer), "tiny llama")
