"""Problems beyond navigation, one file each: sorting, addition, modus ponens.

    from algoscope.llm import domains

    domains.get("addition").items(60, seed=0)

A domain is one value (`Domain`); what is done with it is `llm.examination`.
"""

from algoscope.errors import unknown_name
from algoscope.llm.domains.addition import ADDITION
from algoscope.llm.domains.domain import Domain, Heuristic, Problem
from algoscope.llm.domains.modus_ponens import MODUS_PONENS
from algoscope.llm.domains.sorting import SORTING

DOMAINS = {domain.name: domain for domain in (ADDITION, SORTING, MODUS_PONENS)}

__all__ = ["DOMAINS", "Domain", "Heuristic", "Problem", "get"]


def get(name: str) -> Domain:
    if name not in DOMAINS:
        raise ValueError(unknown_name("task", name, DOMAINS))
    return DOMAINS[name]
