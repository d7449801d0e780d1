"""Writes docs/reference/architectures.md: which architectures of transformers can be recorded.

    python docs/make_architectures.py

tests/docs/test_architectures_page.py checks that the page is what this script makes.
"""

import collections
import pathlib

import transformers

from algoscope.llm import architectures

PAGE = pathlib.Path(__file__).resolve().parent / "reference" / "architectures.md"


def text() -> str:
    groups = collections.defaultdict(list)
    for found in map(architectures.support, architectures.names()):
        groups["" if found.supported else architectures.reason(found)].append(found.architecture)
    recorded = groups.pop("")
    total = len(recorded) + sum(map(len, groups.values()))
    lines = [
        "# Architectures of language models",
        "",
        f"Of the {total} causal architectures of transformers {transformers.__version__}, "
        f"{len(recorded)} are recorded: a tiny random model of each passes the checks that every",
        "subject has to pass (recorded attention is eager attention, also beyond a sliding window; "
        "a state, or what heads",
        "say, put in its own place changes nothing). `algoscope llm architectures` says so of the "
        "version that is",
        "installed. Made by `python docs/make_architectures.py`.",
        "",
        "| architecture (`model_type`) | recorded |",
        "|---|---|",
        f"| {', '.join(recorded)} | yes |",
    ]
    for why, names in sorted(groups.items(), key=lambda group: -len(group[1])):
        lines.append(f"| {', '.join(names)} | no: {why} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
