"""Programs that test the verdict blind: nothing was measured of them before measures and thresholds
were fixed, and they are no part of the library. Their role is the truth.
"""

import pathlib

from algoscope import programs
from algoscope.programs import GraphProgram

PROGRAMS: dict[str, GraphProgram] = {
    path.stem: programs.load(path)
    for path in sorted((pathlib.Path(__file__).parent / "programs" / "blind").glob("*.program"))
}
"""By name."""
