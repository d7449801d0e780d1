"""All mechanisms by name. Adding one is adding one value in the file of its kind."""

from algoscope.llm.scripted.cheats import CHEATS
from algoscope.llm.scripted.heuristics import HEURISTICS
from algoscope.llm.scripted.impostors import IMPOSTORS
from algoscope.llm.scripted.late_strangers import LATE_STRANGERS
from algoscope.llm.scripted.merging import MERGING
from algoscope.llm.scripted.parts import Mechanism
from algoscope.llm.scripted.pointers import POINTERS
from algoscope.llm.scripted.relays import RELAYS
from algoscope.llm.scripted.sets import SETS
from algoscope.llm.scripted.strangers import STRANGERS
from algoscope.llm.scripted.tables import TABLES

MECHANISMS: dict[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        *SETS,
        *POINTERS,
        *MERGING,
        *TABLES,
        *RELAYS,
        *CHEATS,
        *HEURISTICS,
        *STRANGERS,
        *LATE_STRANGERS,
        *IMPOSTORS,
    )
}
