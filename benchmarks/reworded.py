"""Words of stored results, after a rule has changed that needs no new measurement: disagreements
that are not rare approximate nothing (`measures.verdict.rare`).

    python benchmarks/reworded.py benchmarks/zoo.json results/words/bfs.jsonl …

Everything else that a file has stays as it was measured.
"""

import json
import pathlib
import sys

from algoscope import files
from algoscope.measures.verdict import rare
from algoscope.verdict import APPROXIMATES, SHORTCUT


def reworded(result: dict) -> dict:
    """What was measured of a subject, with the word that its rate of disagreements allows."""
    rate = result.get("rate")
    condition = rare(rate["value"] if isinstance(rate, dict) else rate or 0.0)
    if result.get("word") != APPROXIMATES or condition.met:
        return result
    changed = {"word": SHORTCUT, "which": None}
    if "reasons" in result:
        changed["reasons"] = [condition.text]
    return result | changed


def main(paths: list[str]) -> None:
    for path in map(pathlib.Path, paths):
        text = path.read_text()
        if path.suffix == ".jsonl":
            lines = text.splitlines()
            kept = [
                line if (new := reworded(old)) == old else json.dumps(new, separators=(",", ":"))
                for line in lines
                for old in [json.loads(line)]
            ]
            new_text = "\n".join(kept) + "\n"
        else:
            results = json.loads(text)
            new_text = json.dumps({k: r and reworded(r) for k, r in results.items()}, indent=1)
            new_text += "\n" * text.endswith("\n")
        if new_text != text:
            files.write_bytes(path, new_text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
