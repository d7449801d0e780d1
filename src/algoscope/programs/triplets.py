"""The second target of the compiler: a Triplet-GMPNN, whose nodes and pairs take maxima.

Nothing is selected there; the largest of each channel arrives. So

    among       an atom x of all that meet the conditions: max_j ReLU(x_j - M unmet_j)
    selections  what is best says of itself, Bool by Bool: with scores s sharpened by S,
                b of the best = max_j (S s_j + b_j) - max_j S s_j, where it leads by more than 1 / S
    updates     a term is ReLU(value - M unmet), of nodes and of pairs

Messages are sign * ReLU(sum of weight * ReLU(form)): a score is shifted below 0 and read through
-ReLU(-s). What is the same for all third nodes is a channel of triplets, too. The sharpness is
1 / (16 roundings): sums of scores below 8 are then multiples of a half at most, so that adding a
Bool changes nothing else, whichever way they are rounded.
"""

import dataclasses
from typing import NamedTuple

from algoscope import networks
from algoscope.networks import Network, NetworkConfig
from algoscope.programs import lowering
from algoscope.programs.certificate import Certificate, largest_random_size
from algoscope.programs.channels import Channel
from algoscope.programs.language import (
    BACK,
    EDGE,
    FIRST_LEG,
    OTHER,
    SECOND_LEG,
    SELF,
    VIA,
    Atom,
    GraphProgram,
    Linear,
    Selection,
    Type,
)
from algoscope.programs.lowering import (
    AnyEmitted,
    Bounds,
    CompileError,
    EmittedPointer,
    HiddenUnit,
    Weighted,
)
from algoscope.programs.precision import Precision
from algoscope.tasks import Kind, Location

MESSAGE, TRIPLET = "message", "triplet"
"""Where the atoms of a lowered form are, that are numbers of channels."""


class Message(NamedTuple):
    """A channel: the largest over senders of sign * ReLU(sum of weight * ReLU(form))."""

    units: tuple[Weighted, ...]
    sign: float


class Best(NamedTuple):
    """A selection, and the channels that say what is best."""

    name: str
    score: Linear[float]
    """Sharpened, less what unmet conditions cost."""
    plain: int
    bools: dict[str, int]
    """By the name of a Bool: the channel to which it is added."""

    def reads(self, name: str, where: str, shift: float) -> Linear[float]:
        terms = {Atom(where, str(self.bools[name])): 1.0, Atom(where, str(self.plain)): -1.0}
        return Linear(terms, shift)


class MaxRound(NamedTuple):
    messages: tuple[Message, ...]
    best: tuple[Best, ...]
    reads: dict[Atom, Linear[float]]
    """What each atom that is read of others is, of messages."""
    units: tuple[HiddenUnit, ...]
    """Over SELF and MESSAGE."""


class LoweredPairs(NamedTuple):
    channels: tuple[Linear[float], ...]
    """Of which the largest over third nodes is taken; over SELF, OTHER, EDGE, VIA and the legs."""
    best: tuple[Best, ...]
    units: tuple[HiddenUnit, ...]
    """Over TRIPLET."""


@dataclasses.dataclass(frozen=True)
class LoweredTriplets:
    nodes: tuple[str, ...]
    edges: tuple[str, ...]
    graph: tuple[str, ...]
    rounds: tuple[MaxRound, ...]
    pairs: LoweredPairs
    emitted: tuple[AnyEmitted, ...]
    bounds: Bounds
    idx: str

    @property
    def width(self) -> int:
        """The smallest of a network that has all of this."""
        pointers = [len(e.units) for e in self.emitted if isinstance(e, EmittedPointer)]
        of_rounds = [
            size
            for r in self.rounds
            for size in (len(r.units), len(r.messages), sum(len(m.units) for m in r.messages))
        ]
        channels = len(self.nodes), len(self.edges), len(self.graph)
        return max(*channels, *of_rounds, len(self.pairs.units), *pointers)


def turned(name: str) -> str:
    """The channel of the edge that leads back, which has this value."""
    channel = Channel.of(name)
    if channel.view == BACK:
        return name.replace(f"{BACK}.", "", 1)
    return name if channel.view else name.replace(channel.plain, f"{BACK}.{channel.plain}")


def sharpness(precision: Precision) -> float:
    return 1 / (16 * precision.rounding)


def lower(program: GraphProgram, precision: Precision) -> LoweredTriplets:
    bounds = _bounds(program, precision.resolution)
    lowerer = _Lowerer(program, bounds, precision)
    rounds = tuple(map(lowerer.round_, program.rounds))
    pairs = lowerer.pairs()
    emitted = lowering.lower_all_emitted(program, precision.resolution)
    nodes, _, graph = lowering.channels_read(program)
    edges = tuple(sorted(lowerer.edges | _edges_shown(emitted)))
    return LoweredTriplets(nodes, edges, graph, rounds, pairs, emitted, bounds, program.idx)


def _bounds(program: GraphProgram, resolution: float) -> Bounds:
    """Also of hints of edges: they show variables of pairs."""
    assert program.pairs is not None
    largest = dict(lowering.bounds_of(program, resolution).largest)
    of_pairs = Bounds({v.name: v.bound.at(resolution) for v in program.pairs.variables})
    features = {f.name: f for f in program.task.features}
    for emitted in program.emitted:
        feature, name = features[emitted.feature], f"hint.{emitted.feature}"
        if feature.kind is not Kind.SCALAR:
            largest[name] = 1.0
        elif feature.location is Location.EDGE:
            forms = (t.value.at(resolution) * t.coefficient.at(resolution) for t in emitted.terms)
            largest[name] = sum(of_pairs.size(form) for form in forms)
        if feature.location is Location.EDGE:
            largest[f"{BACK}.{name}"] = largest[name]
    return Bounds(largest | of_pairs.largest)


def _edges_shown(emitted: tuple[AnyEmitted, ...]) -> set[str]:
    forms = [
        form
        for e in emitted
        for form in ([u.form for u in e.units] if isinstance(e, EmittedPointer) else e.forms)
    ]
    return {atom.name for form in forms for atom in form.terms if atom.where == EDGE}


class _Lowerer:
    """Gathers the channels of edges on the way: messages read edges towards the receiver."""

    def __init__(self, program: GraphProgram, bounds: Bounds, precision: Precision):
        self.program, self.bounds = program, bounds
        self.resolution, self.sharpness = precision.resolution, sharpness(precision)
        self.edges: set[str] = set()

    def round_(self, round_) -> MaxRound:
        messages: list[Message] = []
        best, reads = [], {}
        terms = [(update.variable, term) for update in round_.updates for term in update.terms]
        read = sorted({atom for _, term in terms for atom in term.atoms if atom.where != SELF})
        for selection in round_.selections:
            of_nodes, of_edges = selection.name, f"{selection.name}.{EDGE}"
            mine = [atom for atom in read if atom.where in (of_nodes, of_edges)]
            if selection.among:
                for atom in mine:
                    reads[atom] = Linear({Atom(MESSAGE, str(len(messages))): 1.0}, 0.0)
                    messages.append(self._among(selection, atom))
                continue
            self._check_bools(selection, mine)
            shifted = self._score(selection, OTHER)
            bools = {atom.name: len(messages) + k for k, atom in enumerate(mine, 1)}
            best.append(Best(selection.name, shifted, len(messages), bools))
            added = [Linear({}, 0.0)]
            # Less 1, so that no score is above 0.
            added += [Linear({Atom(OTHER, atom.name): 1.0}, -1.0) for atom in mine]
            messages += [Message((Weighted((shifted + more) * -1.0, 1.0),), -1.0) for more in added]
            reads |= {atom: best[-1].reads(atom.name, MESSAGE, 1.0) for atom in mine}
        for message in messages:
            self._note_edges(message.units)
        units = (
            HiddenUnit(
                variable,
                term.coefficient.at(self.resolution),
                _substituted(lowering.lower_term(term, self.bounds, self.resolution), reads),
            )
            for variable, term in terms
        )
        return MaxRound(tuple(messages), tuple(best), reads, tuple(units))

    def _note_edges(self, units: tuple[Weighted, ...]) -> None:
        forms = [unit.form for unit in units]
        self.edges |= {turned(a.name) for f in forms for a in f.terms if a.where == EDGE}

    def _among(self, selection: Selection, atom: Atom) -> Message:
        place = EDGE if atom.where.endswith(EDGE) else OTHER
        value = Linear({Atom(place, atom.name): 1.0}, 0.0)
        penalty = lowering.power_of_two_from(max(1.0, self.bounds.size(value)))
        hinges = (hinge.at(self.resolution) for hinge in selection.unmet_hinges)
        return Message(
            (
                Weighted(value - selection.unmet.at(self.resolution) * penalty, 1.0),
                *(Weighted(hinge, -penalty) for hinge in hinges),
            ),
            1.0,
        )

    def _score(self, selection: Selection, candidate: str) -> Linear[float]:
        """Sharpened, less what unmet conditions cost; for nodes never above 0."""
        if selection.hinges or selection.unmet_hinges:
            raise CompileError(
                f"{selection.name}: got positive(…) or a comparison in a selection, needed sums "
                "and Bools: where nodes take maxima, scores are linear; keep the rest in a variable"
            )
        score = selection.score.at(self.resolution)
        unmet = selection.unmet.at(self.resolution)
        if unmet.constant:
            raise CompileError(
                f"{selection.name}: got a condition that is a variable or a sum, needed `not x` "
                "of a variable: 1 - x beside a sharpened score loses its last digits; keep the "
                "opposite"
            )
        penalty = lowering.power_of_two_from(self.bounds.size(score) + 1)
        top = max(0.0, self.bounds.most(score)) if candidate == OTHER else 0.0
        return (score - Linear({}, top) - unmet * penalty) * self.sharpness

    def _check_bools(self, selection: Selection, read: list[Atom]) -> None:
        bools = {v.name for v in self.program.variables if v.type is Type.BOOL}
        for atom in read:
            if atom.where != selection.name or atom.name not in bools:
                raise CompileError(
                    f"{selection.name}.{atom.name}: got something that is no variable Bool, needed "
                    "one: where nodes take maxima, of the best only Bools are known; or read it by "
                    "among(where=…)"
                )

    def pairs(self) -> LoweredPairs:
        of_pairs = self.program.pairs
        assert of_pairs is not None
        channels: list[Linear[float]] = []
        best, reads = [], {}
        read = sorted({atom for term in of_pairs.terms for atom in term.atoms})
        for selection in of_pairs.selections:
            mine = [atom for atom in read if atom.where == selection.name]
            self._check_bools(selection, mine)
            score = self._score(selection, VIA)
            bools = {atom.name: len(channels) + k for k, atom in enumerate(mine, 1)}
            best.append(Best(selection.name, score, len(channels), bools))
            channels += [
                score,
                *(score + Linear({Atom(VIA, atom.name): 1.0}, 0.0) for atom in mine),
            ]
            reads |= {atom: best[-1].reads(atom.name, TRIPLET, 0.0) for atom in mine}
        units = []
        for update in of_pairs.updates:
            for term in update.terms:
                form = lowering.lower_term(term, self.bounds, self.resolution)
                shared = {a: c for a, c in form.terms.items() if a not in reads}
                rest = Linear({a: c for a, c in form.terms.items() if a in reads}, form.constant)
                rest = _substituted(rest, reads)
                if shared:
                    rest += _channel_of(Linear(shared, 0.0), channels)
                units.append(
                    HiddenUnit(update.variable, term.coefficient.at(self.resolution), rest)
                )
        for form in channels:
            for atom in form.terms:
                if atom.where == FIRST_LEG:
                    self.edges.add(turned(atom.name))
                elif atom.where in (EDGE, SECOND_LEG):
                    self.edges.add(atom.name)
        return LoweredPairs(tuple(channels), tuple(best), tuple(units))


def _channel_of(form: Linear[float], channels: list[Linear[float]]) -> Linear[float]:
    """The form as a channel, which may be there already, or its negative."""
    for sign in (1.0, -1.0):
        if form * sign in channels:
            return Linear({Atom(TRIPLET, str(channels.index(form * sign))): sign}, 0.0)
    channels.append(form)
    return Linear({Atom(TRIPLET, str(len(channels) - 1)): 1.0}, 0.0)


def _substituted(form: Linear[float], reads: dict[Atom, Linear[float]]) -> Linear[float]:
    total = Linear({a: c for a, c in form.terms.items() if a not in reads}, form.constant)
    for atom, c in form.terms.items():
        if atom in reads:
            total += reads[atom] * c
    return total


def empty_network(program: GraphProgram, lowered: LoweredTriplets, width: int) -> Network:
    config = NetworkConfig(
        processor="triplet_gmpnn",
        width=width,
        triplet_width=len(lowered.pairs.channels),
        layer_norm=False,
        matrix_precision="highest",
        edge_views=any(Channel.of(name).view for name in lowered.edges),
        rounds=len(program.rounds),
        shared_rounds=len(program.rounds) == 1,
    )
    empty = networks.skeleton(program.task, config)
    networks.check_memory(empty)
    return empty


def certify(lowered: LoweredTriplets, precision: Precision) -> Certificate:
    """The best has to lead by what a Bool adds to it, and by what rounding does to scores."""
    sharp = sharpness(precision)
    best = [b for r in lowered.rounds for b in r.best] + list(lowered.pairs.best)
    margins = [1 / sharp]
    margins += [
        1 / sharp + 2 * precision.rounding * len(b.score.terms) * lowered.bounds.size(score)
        for b in best
        for score in (_cheap(b.score, sharp),)
    ]
    gap = 1 / precision.resolution
    return Certificate(sharp, max(margins), gap, int(1 / gap), largest_random_size(gap))


def _cheap(score: Linear[float], sharp: float) -> Linear[float]:
    """The score of those that meet all conditions."""
    return Linear({a: c / sharp for a, c in score.terms.items() if abs(c) <= sharp}, 0.0)
