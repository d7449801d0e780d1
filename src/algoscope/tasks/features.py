"""Features: the named variables of a task, and how one of them is shaped and stored.

A feature has a stage (input, hint, output), a location (node, edge, graph) and a kind. It exists in
two forms. While an algorithm runs it is a *register*: indices instead of one-hot vectors, small
integers instead of floats, so that recording a step copies few bytes and algorithms read naturally.
In a `Batch` it is *dense*, the form in which CLRS-30 and networks know it.

| kind        | register (n nodes, at a node)      | dense                    |
|-------------|------------------------------------|--------------------------|
| scalar      | float64 [n]                        | float [n]                |
| mask        | int8 [n], values 0, 1, -1 (masked) | [n]                      |
| mask_one    | int32 [1], the index               | one-hot [n]              |
| categorical | int32 [n], the class               | one-hot [n, classes]     |
| pointer     | int32 [n], the node pointed to     | [n]                      |
| permutation | int32 [n], the predecessor         | [n]                      |
| cycle       | int32 [n], the predecessor         | one-hot [n, n]           |

At an edge, n becomes n x n; at the graph, a register has one element and the dense form none.
A *masked* class k (one that counts neither for nor against a prediction) is the register value ~k
and the dense value -1 at k.
"""

import dataclasses
import enum

import numpy as np


class Stage(enum.StrEnum):
    INPUT = "input"
    HINT = "hint"
    OUTPUT = "output"


class Location(enum.StrEnum):
    NODE = "node"
    EDGE = "edge"
    GRAPH = "graph"


class Kind(enum.StrEnum):
    SCALAR = "scalar"
    MASK = "mask"
    MASK_ONE = "mask_one"
    CATEGORICAL = "categorical"
    POINTER = "pointer"
    PERMUTATION = "permutation"
    """Predecessor pointers that form one line through all nodes; the first points to itself."""
    CYCLE = "cycle"
    """Predecessor pointers that form one cycle through all nodes: see `transforms.with_cycles`."""


_REGISTER_DTYPES = {Kind.SCALAR: np.dtype(np.float64), Kind.MASK: np.dtype(np.int8)}
_INDEX = np.dtype(np.int32)


@dataclasses.dataclass(frozen=True)
class Feature:
    name: str
    stage: Stage
    location: Location
    kind: Kind
    classes: int = 1
    """Number of classes of a categorical feature; 1 for every other kind."""
    whole: bool = False
    """A scalar whose values are integers, and integers in a batch too."""
    meaning: str = dataclasses.field(default="", compare=False, repr=False)
    """In a few words, for readers."""

    @property
    def one_hot(self) -> bool:
        """Is the dense form one-hot, where the register holds an index?"""
        return self.kind in (Kind.MASK_ONE, Kind.CATEGORICAL, Kind.CYCLE)

    @property
    def is_pointer(self) -> bool:
        """Are its values nodes that are pointed to?"""
        return self.kind in (Kind.POINTER, Kind.PERMUTATION)

    @property
    def joins_nodes(self) -> bool:
        """Does it make nodes neighbours? Edge masks and the pointers of nodes do."""
        if self.is_pointer:
            return self.location is Location.NODE
        return (self.location, self.kind) == (Location.EDGE, Kind.MASK)

    def joined(self, value):
        """The pairs that become neighbours, in both directions: bool [..., n, n]. The value is an
        edge mask, or pointers as one-hot rows or probabilities; an array of NumPy or JAX."""
        return value + value.swapaxes(-1, -2) > (0.5 if self.is_pointer else 0)

    @property
    def register_dtype(self) -> np.dtype:
        return _REGISTER_DTYPES.get(self.kind, _INDEX)

    @property
    def dense_dtype(self) -> np.dtype:
        """Hints: the smallest exact type. Inputs and outputs: the type dm-clrs gives them."""
        if self.stage is Stage.HINT:
            return np.dtype(np.int8) if self.one_hot else self.register_dtype
        node_pointer = self.location is Location.NODE and self.is_pointer
        return np.dtype(np.int64 if node_pointer or self.whole else np.float64)

    def register_shape(self, nodes: int) -> tuple[int, ...]:
        if self.kind is Kind.MASK_ONE:
            return (1,)
        return self._places(nodes) or (1,)

    def dense_shape(self, nodes: int) -> tuple[int, ...]:
        if self.kind is Kind.CATEGORICAL:
            return (*self._places(nodes), self.classes)
        if self.kind is Kind.CYCLE:
            return (*self._places(nodes), nodes)
        return self._places(nodes)

    def _places(self, nodes: int) -> tuple[int, ...]:
        return (nodes,) * {Location.GRAPH: 0, Location.NODE: 1, Location.EDGE: 2}[self.location]


def parse_features(table: str) -> tuple[Feature, ...]:
    """Reads a table whose lines are the names of one or several features, then their stage,
    location and kind, and where they apply the number of classes or the word `whole`. What follows
    a # is their meaning.

    >>> [feature.name for feature in parse_features("i j hint node mask_one  # the cursors")]
    ['i', 'j']
    """
    lines = (line for line in table.splitlines() if line.strip())
    return tuple(feature for line in lines for feature in _parse_line(line))


def _parse_line(line: str) -> list[Feature]:
    stated, _, comment = line.partition("#")
    words, meaning = stated.split(), comment.strip()
    count = next((place for place, word in enumerate(words) if word in list(Stage)), 0)
    names = words[:count]
    match words[count:]:
        case [stage, location, kind, *rest] if (
            names and location in list(Location) and kind in list(Kind)
        ):
            form = Stage(stage), Location(location), Kind(kind)
            match rest:
                case [classes] if kind == Kind.CATEGORICAL and classes.isdecimal():
                    count = int(classes)
                    return [Feature(n, *form, classes=count, meaning=meaning) for n in names]
                case [] | ["whole"] if kind != Kind.CATEGORICAL:
                    whole = bool(rest)
                    return [Feature(n, *form, whole=whole, meaning=meaning) for n in names]
    raise ValueError(
        f"feature line {line!r}: needed names, a stage ({', '.join(Stage)}), a location "
        f"({', '.join(Location)}) and a kind ({', '.join(Kind)}), with the number of classes after "
        "`categorical`, and `whole` after a kind whose numbers are integers"
    )
