"""The verdict."""

import numpy as np

from algoscope.measures.evidence import Evidence


def tested(evidence: Evidence) -> dict[str, float]:
    """The numbers that a verdict looks at, each from 0, against, to 1, for the algorithm."""
    moves = {name: external.moves for name, external in evidence.external.items()}
    response, flips, exchange = evidence.response, evidence.flips, evidence.interchange
    return {
        "moves_small": moves.get("small", np.nan),
        "moves_large": moves.get("large", np.nan),
        "moves_deep": moves.get("deep", np.nan),
        "reads_small": evidence.reads["small"],
        "reads_large": evidence.reads["large"],
        "reads_deep": evidence.reads.get("deep", np.nan),
        "effect": response.effect if response else np.nan,
        "still": response.still if response else np.nan,
        "flips": flips.followed if flips else np.nan,
        "interchange": exchange.state if exchange else np.nan,
    }
