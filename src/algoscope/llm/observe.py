"""From tokens to nodes: what a subject attends to and represents, per node of the prompt.

A node is the tokens of its mentions in the description, found by characters, however the tokenizer
splits names or merges them with their neighbours. Mentions in the question count as the rest of the
prompt: they say what is asked, not what is in the maze.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Encoded, Subject
from algoscope.recording import Recording

READOUTS = ("last", "goal")
"""Whose attention is kept: the last token's, and that of the goal in the question."""

_YES = ("Yes", " Yes", "yes", " yes", "YES", " YES")
_NO = ("No", " No", "no", " no", "NO", " NO")


@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """Where in the tokens of a prompt its nodes are."""

    ids: list[int]
    membership: np.ndarray
    """[node, token]: the share of the token that belongs to mentions of the node."""
    mentions: np.ndarray
    """How often the description names each node: [node]."""
    ends: list[list[int]]
    """The last token of each mention, for each node."""
    readouts: dict[str, int]

    @property
    def last_ends(self) -> list[int]:
        return [ends[-1] for ends in self.ends]


@dataclasses.dataclass(frozen=True, eq=False)
class Observation:
    item: Item
    places: Places
    log_odds: float
    """log P(Yes) - log P(No) for the token after the prompt, over their spellings."""
    written: str
    """What the likeliest token says: "Yes", "No" or "neither"."""
    attention: dict[str, np.ndarray]
    """By readout: [layer, head, node], summed over the mentions of a node."""
    states: np.ndarray
    """[layer + 1, node, width]: at the end of the last mention of each node."""
    readout_states: np.ndarray
    """[layer + 1, readout, width]"""
    pairs: np.ndarray | None
    """[layer, head, node + 2, node + 2], summed over the mentions of a node; the last two nodes are
    the last token and the rest."""

    @property
    def says_yes(self) -> bool:
        return self.log_odds > 0

    @property
    def right(self) -> bool:
        return self.says_yes == self.item.reachable

    def per_mention(self, readout: str) -> np.ndarray:
        """Attention to a mention of each node, on average: [layer, head, node]."""
        return self.attention[readout] / np.maximum(self.places.mentions, 1)


def places(subject: Subject, item: Item) -> Places:
    encoded = subject.encode(item.prompt)
    tokens = [_tokens(encoded, m.start, m.end, item.names[m.node]) for m in item.mentions]
    unknown = subject.tokenizer.unk_token_id
    for mention, of in zip(item.mentions, tokens, strict=True):
        if unknown is not None and unknown in (encoded.ids[token] for token in of):
            raise ValueError(
                f"tokenizer: got {item.names[mention.node]!r}, which {subject.name} has no word "
                f"for, needed another surface form (form=, --form) than {item.form}"
            )
    membership = np.zeros((item.nodes, len(encoded.ids)))
    ends: list[list[int]] = [[] for _ in range(item.nodes)]
    for mention, of in zip(item.mentions, tokens, strict=True):
        if mention.edge >= 0:
            membership[mention.node, of] += 1
            ends[mention.node].append(of[-1])
    for node, of in enumerate(ends):
        if not of:
            raise ValueError(
                f"item: got no mention of {item.names[node]!r} in the description, "
                "needed at least one of every node"
            )
    membership /= np.maximum(membership.sum(0), 1)
    asked = [of[-1] for m, of in zip(item.mentions, tokens, strict=True) if m.role == "goal"]
    if not asked:
        raise ValueError(
            f"item: got a question without the goal {item.names[item.goal]!r}, needed its name"
        )
    readouts = {"last": len(encoded.ids) - 1, "goal": asked[-1]}
    return Places(encoded.ids, membership, np.array([len(of) for of in ends]), ends, readouts)


def _tokens(encoded: Encoded, start: int, end: int, name: str) -> list[int]:
    """The tokens that hold any of the characters [start, end) of the prompt."""
    start, end = start + encoded.start, end + encoded.start
    found = [i for i, (a, b) in enumerate(encoded.offsets) if a < end and b > start]
    if not found:
        raise ValueError(
            f"tokenizer: got no token for {name!r} (characters {start} to {end}), needed one"
        )
    return found


def answer_tokens(subject: Subject) -> tuple[list[int], list[int]]:
    """The tokens with which a Yes and a No begin."""

    def first(texts: Sequence[str]) -> set[int]:
        encoded = (subject.tokenizer(t, add_special_tokens=False)["input_ids"] for t in texts)
        found = {ids[0] for ids in encoded if ids}
        return {i for i in found if subject.tokenizer.decode([i]).strip()}

    unknown = {subject.tokenizer.unk_token_id}
    yes, no = first(_YES) - unknown, first(_NO) - unknown
    if not yes - no or not no - yes:
        raise ValueError(
            f"tokenizer: got one in which Yes and No begin with the same token ({subject.name}), "
            "needed one that tells them apart"
        )
    return sorted(yes - no), sorted(no - yes)


def observe(
    subject: Subject,
    items: Sequence[Item],
    pairs: bool = False,
) -> list[Observation]:
    """What the subject does on each item; `pairs` also keeps the attention of nodes to nodes."""
    yes, no = answer_tokens(subject)
    return [_observe(subject, item, pairs, yes, no) for item in items]


def _observe(subject, item, pairs, yes, no) -> Observation:
    at = places(subject, item)
    ends = at.last_ends
    readouts = [at.readouts[name] for name in READOUTS]
    mentioned = [token for of in at.ends for token in of] if pairs else []
    rows = [*readouts, *mentioned]
    reading = subject.read(at.ids, rows=rows, positions=[*ends, *readouts])
    by_node = reading.attention @ at.membership.T
    return Observation(
        item=item,
        places=at,
        log_odds=log_odds(reading.logits, yes, no),
        written=_written(int(reading.logits.argmax()), yes, no),
        attention={name: by_node[:, :, number] for number, name in enumerate(READOUTS)},
        states=reading.states[:, : len(ends)],
        readout_states=reading.states[:, len(ends) :],
        pairs=_pairs(by_node, at) if pairs else None,
    )


def log_odds(logits: np.ndarray, yes: list[int], no: list[int]) -> float:
    return float(np.logaddexp.reduce(logits[yes]) - np.logaddexp.reduce(logits[no]))


def _written(token: int, yes: list[int], no: list[int]) -> str:
    return "Yes" if token in yes else "No" if token in no else "neither"


def _pairs(by_node: np.ndarray, at: Places) -> np.ndarray:
    """Attention among nodes, the last token and the rest, from rows [layer, head, row, node].

    A node's row is the mean over the ends of its mentions; all that goes elsewhere goes to the
    rest, so that rows sum to 1; the rest attends to itself.
    """
    layers, heads, _, nodes = by_node.shape
    full = np.zeros((layers, heads, nodes + 2, nodes + 2), np.float32)
    first = len(READOUTS)
    for node, ends in enumerate(at.ends):
        full[:, :, node, :nodes] = by_node[:, :, first : first + len(ends)].mean(2)
        first += len(ends)
    full[:, :, nodes, :nodes] = by_node[:, :, READOUTS.index("last")]
    full[..., -1] = 1 - full.sum(-1)
    return full


def recording(observations: Sequence[Observation], per_mention: bool = False) -> Recording:
    """Observations made with `pairs` as a `Recording`: a step is a layer, nodes are the rooms, then
    the last token, then the rest of the prompt (whose state is zero).

    A room gets the sum over its mentions or, if `per_mention`, their mean; the rest gets what
    remains, so that rows sum to 1.
    """
    if not observations or any(o.pairs is None for o in observations):
        raise ValueError("observations: needed at least one, made with pairs=True")
    sizes = {o.item.nodes for o in observations}
    if len(sizes) > 1:
        raise ValueError(
            f"observations: got mazes of {sorted(sizes)} nodes, needed one size in a recording"
        )
    hidden = []
    for o in observations:
        last = o.readout_states[:, [READOUTS.index("last")]]
        hidden.append(np.concatenate([o.states, last, np.zeros_like(last)], 1)[1:])
    hidden = np.stack(hidden)
    return Recording.from_arrays(
        attention=np.stack([_attention(o, per_mention) for o in observations]),
        hidden=hidden,
        lengths=np.full(len(hidden), hidden.shape[1] + 1),
        outputs={"reachable": np.array([o.says_yes for o in observations])},
    )


def _attention(observation: Observation, per_mention: bool) -> np.ndarray:
    assert observation.pairs is not None
    if not per_mention:
        return observation.pairs
    attention, nodes = observation.pairs.copy(), observation.item.nodes
    attention[:, :, :-1, :nodes] /= np.maximum(observation.places.mentions, 1)
    attention[:, :, :-1, -1] = 1 - attention[:, :, :-1, :-1].sum(-1)
    return attention
