"""Programs that test the verdict and are no part of the library. Their role is the truth.

blind       seven that were written after the first measures and thresholds had been fixed
held_out    written by somebody who had read neither the measures nor the falsifier, with rare
            and planted faults
held_out_2  more of these, by somebody else, with other tasks; `truth.py` says what each is
held_out_3  a third author's, with faults at ties, in one hint and where nothing is reached, and
            exact programs of uncommon state; `truth_3.py` says what each is
"""

import pathlib

from algoscope import programs
from algoscope.programs import GraphProgram

_ROOT = pathlib.Path(__file__).parent / "programs"
SETS: dict[str, dict[str, GraphProgram]] = {
    name: {path.stem: programs.load(path) for path in sorted((_ROOT / name).glob("*.program"))}
    for name in ("blind", "held_out", "held_out_2", "held_out_3")
}
"""By set and name."""
PROGRAMS = {name: program for members in SETS.values() for name, program in members.items()}
"""By name."""
