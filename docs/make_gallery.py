"""Makes docs/gallery from what is in the repository: results/, the library of programs, and three
small trained networks in docs/gallery/networks.

    python docs/make_gallery.py            # pictures and page
    python docs/make_gallery.py --train    # the three networks as well, before

No file depends on the day or the place. Networks that are trained anew on another processor may
differ in their last digits, and letters of the paper's figures in their fonts.
"""

import argparse
import pathlib

from exhibits import page, subjects, verdict_maps

from algoscope.experiments.mind_the_gap import draw_figures
from algoscope.experiments.mind_the_gap.solutions import ensembles_in
from algoscope.files import write_bytes
from algoscope.programs import printed, weight_pictures
from algoscope.report.figures import style

DOCS = pathlib.Path(__file__).resolve().parent
RESULTS = DOCS.parent / "results"
PRINTED_SIZE = 16
"""Nodes of the compiled networks that the paper prints."""


def texts() -> dict[str, str]:
    """The page and the pictures that are written by hand, by name."""
    shown = subjects.families()
    pairs = {f.program: subjects.compared(f) for f in shown if f.program in subjects.LEARNT}
    judged = {task: verdict_maps.read(RESULTS / "words" / f"{task}.jsonl") for task in page.FIGURES}
    made = {f"{name}.svg": pair.picture for name, pair in pairs.items()}
    made |= {f"program-{f.program}.svg": subjects.alone(f) for f in shown if f.program not in pairs}
    made |= {f"verdicts-{task}.svg": verdict_maps.draw(lines) for task, lines in judged.items()}
    solved = ensembles_in(RESULTS / "mind_the_gap")
    memoryless = verdict_maps.read(RESULTS / "words" / "memoryless.jsonl")
    return made | {"README.md": page.page(shown, pairs, judged, memoryless, solved)}


def figures() -> dict[str, bytes]:
    """The paper's, by name: of trained networks, and of the compiled ones that it prints."""
    solved = ensembles_in(RESULTS / "mind_the_gap")
    drawn = [one for task in page.FIGURES for one in draw_figures.figures(solved[task]).values()]
    made = {one.name: style.image(one, "svg") for one in drawn}
    for number, (task, part, _) in page.PRINTED.items():
        name = f"figure-{number}-{task}"
        panels = printed.panels(printed.printed(task, PRINTED_SIZE).network)[part]
        made[name] = weight_pictures.image(panels, name)
    return {f"{name}.svg": octets for name, octets in made.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes docs/gallery.")
    parser.add_argument("--train", action="store_true", help="train the networks anew, before")
    if parser.parse_args().train:
        for task in subjects.LEARNT:
            subjects.train(task)
    made = {name: text.encode() for name, text in texts().items()} | figures()
    for name, octets in made.items():
        write_bytes(DOCS / "gallery" / name, octets)


if __name__ == "__main__":
    main()
