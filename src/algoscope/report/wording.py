"""What things are called in reports: the kinds of problems, and the tested numbers."""

from algoscope.measures.examination import LARGE, SMALL

PLACES = {
    "small": f"at {SMALL} nodes",
    "large": f"at {LARGE} nodes",
    "deep": "on deep graphs",
    "sparse": "on sparse graphs",
}
"""The problems of an examination."""
LABELS = {
    **{f"moves_{place}": f"trace {where}" for place, where in PLACES.items()},
    **{f"reads_{place}": f"attention {where}" for place, where in PLACES.items()},
    "effect": "change that is used",
    "still": "change without use",
    "flips": "close calls",
    "interchange": "exchanged state",
}
"""The tested numbers."""
