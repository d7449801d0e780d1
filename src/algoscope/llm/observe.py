"""From tokens to nodes: what a subject does on an item, as a `Recording`.

A node is the tokens of its mentions in the description, found by characters, however the tokenizer
splits names or merges them with their neighbours. Mentions in the question count as the rest of the
prompt: they say what is asked, not what is in the maze.

A step of the recording is a layer. Its nodes, as receivers and as senders:

| node        | reads (receiver)               | is read (sender)           | state               |
|-------------|--------------------------------|----------------------------|---------------------|
| of the maze | mean over ends of its mentions | sum over its mentions      | at its last mention |
| a readout   | at its token                   | nothing: part of the rest  | at its token        |
| the rest    | itself                         | what remains to a sum of 1 | zero                |
"""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from algoscope import progress
from algoscope.llm.capture import Reading, Request
from algoscope.llm.prompts import Item
from algoscope.llm.subjects import Subject
from algoscope.recording import Recording

READOUTS = ("last", "goal")
"""Tokens whose attention is analysed: the last one, and the goal in the question."""
ANSWER = "reachable"
"""The recorded output: whether the answer is Yes; its logit is log P(Yes) - log P(No)."""

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


@dataclasses.dataclass(frozen=True, eq=False)
class Observation:
    item: Item
    places: Places
    written: str
    """What the likeliest token says: "Yes", "No" or "neither"."""
    recording: Recording
    """Of this one item; see the module's table."""

    @property
    def log_odds(self) -> float:
        """log P(Yes) - log P(No) for the token after the prompt, over their spellings."""
        return float(self.recording.logits[ANSWER][0])

    @property
    def says_yes(self) -> bool:
        return bool(self.recording.outputs[ANSWER][0])

    @property
    def right(self) -> bool:
        return self.says_yes == self.item.reachable

    def attention(self, readout: str) -> np.ndarray:
        """Attention of a readout to each node, summed over mentions: [layer, head, node]."""
        receiver = self.item.nodes + READOUTS.index(readout)
        return np.asarray(self.recording.attention)[0, :, :, receiver, : self.item.nodes]

    def per_mention(self, readout: str) -> np.ndarray:
        """Attention of a readout to a mention of each node, on average: [layer, head, node]."""
        return self.attention(readout) / np.maximum(self.places.mentions, 1)

    @property
    def states(self) -> np.ndarray:
        """The states of the maze's nodes, the embedding first: [layer + 1, node, width]."""
        return self.recording.states[0, :, : self.item.nodes]

    def readout_states(self, readout: str) -> np.ndarray:
        """[layer + 1, width]"""
        return self.recording.states[0, :, self.item.nodes + READOUTS.index(readout)]


def places(subject: Subject, item: Item) -> Places:
    encoded = subject.encode(item.prompt)
    tokens = [encoded.tokens(m.start, m.end, item.names[m.node]) for m in item.mentions]
    unknown = subject.tokenizer.unk_token_id
    membership = np.zeros((item.nodes, len(encoded.ids)))
    ends: list[list[int]] = [[] for _ in range(item.nodes)]
    goals = []
    for mention, span in zip(item.mentions, tokens, strict=True):
        if unknown is not None and unknown in (encoded.ids[token] for token in span):
            raise ValueError(
                f"tokenizer: got {item.names[mention.node]!r}, which {subject.name} has no word "
                f"for, needed another surface form (form=, --form) than {item.form}"
            )
        if mention.edge >= 0:
            membership[mention.node, span] += 1
            ends[mention.node].append(span[-1])
        elif mention.role == "goal":
            goals.append(span[-1])
    unmentioned = [name for name, tokens in zip(item.names, ends, strict=True) if not tokens]
    if unmentioned:
        raise ValueError(
            f"item: got no mention of {unmentioned[0]!r} in the description, needed at least one "
            "of every node"
        )
    if not goals:
        raise ValueError(
            f"item: got a question without the goal {item.names[item.goal]!r}, needed its name"
        )
    membership /= np.maximum(membership.sum(0), 1)
    readouts = {"last": len(encoded.ids) - 1, "goal": goals[-1]}
    return Places(encoded.ids, membership, np.array([len(e) for e in ends]), ends, readouts)


def answer_tokens(subject: Subject) -> tuple[list[int], list[int]]:
    """The tokens with which a Yes and a No begin."""

    def first(texts: Sequence[str]) -> set[int]:
        encoded = (subject.tokenizer(t, add_special_tokens=False)["input_ids"] for t in texts)
        begins = {ids[0] for ids in encoded if ids} - {subject.tokenizer.unk_token_id}
        return {token for token in begins if subject.tokenizer.decode([token]).strip()}

    yes, no = first(_YES), first(_NO)
    if not yes - no or not no - yes:
        raise ValueError(
            f"tokenizer: got one in which Yes and No begin with the same token ({subject.name}), "
            "needed one that tells them apart"
        )
    return sorted(yes - no), sorted(no - yes)


def observe(subject: Subject, items: Sequence[Item]) -> list[Observation]:
    """What the subject does on each item."""
    answers = answer_tokens(subject)
    layouts = [places(subject, item) for item in items]
    readings = subject.read_all([_request(layout) for layout in layouts])
    return [
        _observation(subject, item, layout, reading, *answers)
        for item, layout, reading in zip(
            items, layouts, progress.over(readings, "reading", len(items)), strict=True
        )
    ]


def _request(layout: Places) -> Request:
    readouts = [layout.readouts[name] for name in READOUTS]
    return Request(
        layout.ids,
        rows=[*itertools.chain.from_iterable(layout.ends), *readouts],
        positions=[*(ends[-1] for ends in layout.ends), *readouts],
    )


def _observation(
    subject: Subject, item: Item, layout: Places, reading: Reading, yes: list[int], no: list[int]
) -> Observation:
    states = np.pad(reading.states, ((0, 0), (0, 1), (0, 0)))[None]
    answer = log_odds(reading.logits, yes, no)
    recording = Recording.from_arrays(
        attention=_between_nodes(reading.attention, layout)[None],
        hidden=states[:, 1:],
        initial=states[:, 0],
        lengths=np.array([subject.depth + 1]),
        outputs={ANSWER: np.array([answer > 0])},
        logits={ANSWER: np.array([answer])},
    )
    likeliest = reading.logits.argmax()
    written = "Yes" if likeliest in yes else "No" if likeliest in no else "neither"
    return Observation(item, layout, written, recording)


def log_odds(logits: np.ndarray, yes: list[int], no: list[int]) -> float:
    return float(np.logaddexp.reduce(logits[yes]) - np.logaddexp.reduce(logits[no]))


def _between_nodes(attention: np.ndarray, layout: Places) -> np.ndarray:
    """Attention [layer, head, row, token] of the ends of all mentions and of the readouts, as that
    among nodes: [layer, head, receiver, sender]."""
    lengths = [*map(len, layout.ends), *(1 for _ in READOUTS)]
    receiver = np.repeat(np.arange(len(lengths)), lengths)
    mean = (np.arange(len(lengths))[:, None] == receiver) / np.array(lengths)[:, None]
    layers, heads = attention.shape[:2]
    nodes, receivers = len(layout.ends), len(lengths)
    # In float64: contrasts of heads at rest live in differences of 1e-9.
    between = np.zeros((layers, heads, receivers + 1, receivers + 1))
    between[:, :, :receivers, :nodes] = mean @ (attention @ layout.membership.T)
    between[..., -1] = 1 - between.sum(-1)
    return between
