"""How a problem is drawn, from the features of its task: a graph, points in the plane, the cells of
strings, intervals, or bars. And which variables of the algorithm the drawing shows.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from algoscope.report.graph_layout import places
from algoscope.tasks import Batch, Feature, Kind, Location, Stage

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_WEIGHTS = 12
"""Edges with their weights written on them."""


def scene(batch: Batch, sample: int) -> dict[str, Any]:
    """For the page: `kind`, what that kind needs, and the names of the hints that are drawn."""
    drawing = _graph(batch, sample) or _plane(batch, sample) or _cells(batch, sample)
    return (drawing or _numbers(batch, sample)) | _drawn_hints(batch, sample, drawing)


def _features(batch: Batch, stage: Stage, location: Location, kind: Kind) -> list[Feature]:
    """Those of an output come first: hints NAME_h of an output NAME."""
    outputs = {feature.name for feature in batch.at(Stage.OUTPUT)}
    features = [f for f in batch.at(stage) if (f.location, f.kind) == (location, kind)]
    return sorted(features, key=lambda f: f.name.removesuffix("_h") not in outputs)


def _values(batch: Batch, sample: int, feature: Feature) -> np.ndarray:
    return np.asarray(batch.values(feature.stage)[feature.name][sample])


def _scalars(batch: Batch, sample: int) -> dict[str, np.ndarray]:
    """The numbers that nodes are given, but for their positions."""
    features = _features(batch, Stage.INPUT, Location.NODE, Kind.SCALAR)
    return {f.name: _values(batch, sample, f) for f in features if f.name != "pos"}


def _graph(batch: Batch, sample: int) -> dict[str, Any]:
    at_edges = [f for f in batch.at(Stage.INPUT) if f.location is Location.EDGE]
    if not at_edges:
        return {}
    weights = next((f for f in at_edges if f.kind is Kind.SCALAR), at_edges[0])
    matrix = _values(batch, sample, weights)
    joined = matrix != 0
    directed = bool((joined != joined.T).any())
    edges = np.argwhere(joined if directed else np.triu(joined, 1))
    edges = edges[edges[:, 0] != edges[:, 1]]
    told = len(np.unique(matrix[joined])) > 1 and len(edges) <= _MOST_WEIGHTS
    return {
        "kind": "graph",
        "directed": directed,
        "places": np.round(places(joined), 3).tolist(),
        "edges": [
            [int(a), int(b), _short(float(matrix[a, b])) if told else ""] for a, b in edges.tolist()
        ],
    }


def _plane(batch: Batch, sample: int) -> dict[str, Any]:
    scalars = _scalars(batch, sample)
    if not {"x", "y"} <= set(scalars):
        return {}
    points = np.stack([scalars["x"], -scalars["y"]], -1)
    low, high = points.min(0), points.max(0)
    points = (points - (low + high) / 2) / max((high - low).max(), 1e-9) + 0.5
    # Points that nothing points to are the ends of segments.
    joined = not any(f.is_pointer for f in batch.at(Stage.HINT))
    pairs = range(0, len(points) - 1, 2) if joined else ()
    return {
        "kind": "plane",
        "places": np.round(points, 3).tolist(),
        "edges": [[first, first + 1, ""] for first in pairs],
    }


def _cells(batch: Batch, sample: int) -> dict[str, Any]:
    letters = _features(batch, Stage.INPUT, Location.NODE, Kind.CATEGORICAL)
    if not letters:
        return {}
    codes = _values(batch, sample, letters[0]).argmax(-1)
    masks = _features(batch, Stage.INPUT, Location.NODE, Kind.MASK)
    second = _values(batch, sample, masks[0]) if masks else np.zeros(len(codes))
    return {
        "kind": "cells",
        "letters": [_LETTERS[code] for code in codes],
        "rows": np.rint(second).astype(int).tolist(),
    }


def _numbers(batch: Batch, sample: int) -> dict[str, Any]:
    """Intervals for two numbers of a node of which one is never the larger, and else bars."""
    features = _features(batch, Stage.INPUT, Location.NODE, Kind.SCALAR)
    whole = {f.name for f in features if f.whole}
    scalars = {n: v for n, v in _scalars(batch, sample).items() if n not in whole}
    match list(scalars.values()):
        case [low, high] if (low <= high).all():
            ends = np.stack([low, high], -1) / max(float(high.max()), 1e-9)
            return {"kind": "intervals", "ends": np.round(ends, 3).tolist()}
        case [*_, heights]:
            largest = max(float(np.abs(heights).max()), 1e-9)
            return {
                "kind": "bars",
                "heights": np.round(heights / largest, 3).tolist(),
                "labels": [_short(height) for height in heights],
            }
    return {"kind": "bars", "heights": [0.3] * batch.nodes, "labels": [""] * batch.nodes}


def _short(number: float) -> str:
    return f"{number:.2f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.3g}"


def _drawn_hints(batch: Batch, sample: int, drawing: dict[str, Any]) -> dict[str, Any]:
    """`fill` and `ring` of nodes, `pointer` and `bold` as lines, `line` as their order, `cursors`
    as names beside them."""

    def names(location: Location, kind: Kind) -> list[str]:
        return [f.name for f in _features(batch, Stage.HINT, location, kind)]

    traces = {n: _trace(batch, sample, n) for n in names(Location.NODE, Kind.POINTER)}
    in_line = [] if drawing else [name for name, trace in traces.items() if _is_line(trace)]
    moving = [name for name, trace in traces.items() if (trace != trace[0]).any()]
    marks = names(Location.NODE, Kind.CATEGORICAL) + names(Location.NODE, Kind.MASK)
    sources = _features(batch, Stage.INPUT, Location.NODE, Kind.MASK_ONE)
    return {
        "nodes": batch.nodes,
        "fill": _first(marks),
        "ring": _first(marks[1:]),
        "line": _first(in_line),
        "pointer": _first(name for name in moving if name not in in_line),
        "bold": _first(names(Location.EDGE, Kind.MASK)),
        "cursors": names(Location.NODE, Kind.MASK_ONE),
        "source": int(_values(batch, sample, sources[0]).argmax()) if sources else None,
    }


def _trace(batch: Batch, sample: int, hint: str) -> np.ndarray:
    return np.asarray(batch.hints[hint][sample])[: int(batch.lengths[sample])]


def _is_line(pointers: np.ndarray) -> bool:
    """Whether the pointers of every step [step, node] lead from each node to the one before it, and
    from the first to itself."""
    nodes = np.arange(pointers.shape[1])
    for row in pointers.astype(int):
        targets = row[row != nodes]
        if len(targets) != len(nodes) - 1 or len(set(targets.tolist())) != len(targets):
            return False
    return True


def _first(names: Iterable[str]) -> str | None:
    return next(iter(names), None)
