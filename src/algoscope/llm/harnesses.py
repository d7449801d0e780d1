"""The same items for other harnesses, so that models behind an API can be asked, too.

`rows` is the one source: JSON lines with the traces, the dataset of inspect_ai (`inspect_tasks`),
and the files of lm_eval (data and task descriptions; `lm_eval --include_path FOLDER`).
"""

import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from algoscope.files import write_bytes
from algoscope.llm.clrs_text import ClrsItem
from algoscope.llm.hypotheses import CANDIDATES, trace
from algoscope.llm.prompts import Item


def rows(items: Sequence[Item]) -> list[dict[str, Any]]:
    """One dictionary an item; a trace lists the names of the nodes that each step visits."""
    question = ("prompt", "answer", "reachable", "depth", "pair", "family", "form", "question")
    graph = ("names", "edges", "directed", "source", "goal", "matched")
    return [
        {name: getattr(item, name) for name in question + graph}
        | {
            "source": item.names[item.source],
            "goal": item.names[item.goal],
            "traces": {
                c.name: [[item.names[n] for n in np.flatnonzero(step)] for step in trace(c, item)]
                for c in CANDIDATES
            },
        }
        for item in items
    ]


def clrs_rows(items: Sequence[ClrsItem]) -> list[dict[str, Any]]:
    return [
        {
            "prompt": item.example.prompt,
            "answer": item.example.answer,
            "task": item.example.task,
            "traces": {name: trace.answer for name, trace in item.candidates.items()},
        }
        for item in items
    ]


def write_jsonl(path: pathlib.Path, lines: Iterable[dict[str, Any]]) -> None:
    write_bytes(path, "".join(json.dumps(line) + "\n" for line in lines).encode())


_CHOICE = {
    "output_type": "multiple_choice",
    "doc_to_choice": ["No", "Yes"],
    "doc_to_target": "{{reachable | int}}",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}
_EXACT = {"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True}
_GENERATE = {
    "output_type": "generate_until",
    "doc_to_target": "{{answer}}",
    "generation_kwargs": {"until": ["\n", "."], "max_gen_toks": 32, "do_sample": False},
    "filter_list": [
        {
            "name": "answer",
            "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}],
        }
    ],
    "metric_list": [_EXACT | {"aggregation": "mean", "higher_is_better": True}],
}


def write_lm_eval(
    folder: pathlib.Path, lines: Sequence[dict[str, Any]], task: str = "algoscope_navigation"
) -> list[str]:
    """Writes data and task descriptions of lm_eval; returns the names of its tasks.

    Yes or No questions come as `multiple_choice` and, since APIs of chat models give no
    likelihoods, as `generate_until`; everything else as the latter alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{task}.jsonl"
    write_jsonl(data, lines)
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data.resolve())}},
        "test_split": "test",
        "doc_to_text": "{{prompt}}",
    }
    yes_or_no = all(line.get("question") == "reach" for line in lines)
    names = []
    for kind in (_GENERATE, _CHOICE) if yes_or_no else (_GENERATE,):
        name = f"{task}_{kind['output_type']}"
        # lm_eval reads YAML, which JSON is.
        text = json.dumps({"task": name} | common | kind, indent=1) + "\n"
        write_bytes(folder / f"{name}.yaml", text.encode())
        names.append(name)
    return names
