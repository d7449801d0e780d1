"""What the embedding of a hand-written Transformer knows: the words next to each token.

Edges and questions are those of the form `letters` with one-way edges:

    A > B. ... Can you get to G from S? Answer Yes or No. Answer:

The question's tokens are counted from the last one: 0 is the colon, 7 the question mark, 8 the
source, 10 the goal. A token knows what stands before it, never what follows. The oracles are the
exception: they read the whole prompt, and are there for subjects that cheat.
"""

import functools

import torch

LETTERS = 26
"""Nodes are letters."""
ASKED, SOURCE, GOAL = 7, 8, 10
"""Tokens from the question mark, the source and the goal to the last token."""
PLACES = (*range(SOURCE + 1), GOAL)
"""Tokens of the question at which a search can be made."""


def before(x: torch.Tensor, steps: int) -> torch.Tensor:
    """What stands so many tokens before each: [batch, token, ...], zero where there is none."""
    if steps == 0:
        return x
    return torch.cat([torch.zeros_like(x[:, :steps]), x[:, :-steps]], 1)[:, : x.shape[1]]


class Prompt:
    """ids [batch, token]; letters [batch, token, letter], one-hot where a token is a node's name.

    `stops`: edges are known at the full stop behind them, not at the name of their receiver.
    `cheat`: 1 if oracles may speak, a weight of the model.
    """

    def __init__(
        self,
        ids: torch.Tensor,
        letters: torch.Tensor,
        words: dict[str, int],
        stops: bool,
        cheat: torch.Tensor,
    ):
        self.ids, self.letters, self.words, self.cheat = ids, letters, words, cheat
        arrows = ids == words[">"]
        self.receives = before(arrows, 1)
        behind = 1 if stops else 0
        self.edge = before(self.receives, behind)
        if stops:
            self.edge = self.edge & (ids == words["."])
        end = self.edge[..., None]
        self.sender = before(letters, 2 + behind) * end
        self.receiver = before(letters, behind) * end
        self.marks = ids == words["?"]

    def at(self, place: int) -> torch.Tensor:
        """Where the token is that stands so many tokens before the last one: bool [batch, token].

        The goal and the source are known by the word before them, all others from the question
        mark on.
        """
        if place in (SOURCE, GOAL):
            word = "from" if place == SOURCE else "to"
            return before(self.ids == self.words[word], 1)
        return before(self.marks, ASKED - place)

    def asked(self, what: int, place: int) -> torch.Tensor:
        """The name of `what` (SOURCE or GOAL) at the token `place`, nothing elsewhere; nothing at
        all if it comes later: [batch, token, letter]."""
        if what < place:
            return torch.zeros_like(self.letters)
        return before(self.letters, what - place) * self.at(place)[..., None]

    def window(self, size: int) -> torch.Tensor:
        """The letters among so many tokens before each of the description's: [batch, token,
        letter]."""
        near = torch.stack([before(self.letters, step) for step in range(1, size + 1)]).amax(0)
        return near * self.described[..., None]

    @functools.cached_property
    def described(self) -> torch.Tensor:
        """Where the description names a node as receiver or as sender: bool [batch, token]. A
        sender is a letter behind a full stop or a colon."""
        behind = sum(before(self.ids == self.words[word], 1) for word in ".:")
        return self.receives | ((behind > 0) & (self.letters.abs().sum(-1) > 0))

    @functools.cached_property
    def adjacency(self) -> torch.Tensor:
        """The whole maze: bool [batch, sender, receiver]."""
        return torch.einsum("bts,btr->bsr", self.sender, self.receiver) > 0.5

    @functools.cached_property
    def levels(self) -> torch.Tensor:
        """An oracle: steps from the source to each node, -1 where there is no way: [batch,
        letter]."""
        frontier = self.asked(SOURCE, 0).sum(1) > 0.5
        levels = torch.full(frontier.shape, -1, device=self.ids.device)
        for step in range(LETTERS):
            levels = torch.where(frontier & (levels < 0), step, levels)
            reached = torch.einsum("bs,bsr->br", frontier.float(), self.adjacency.float()) > 0.5
            frontier = reached & (levels < 0)
        return levels

    @functools.cached_property
    def oracle(self) -> torch.Tensor:
        """The right answer: [batch], 1 for Yes."""
        goal = self.asked(GOAL, 0).sum(1) > 0.5
        return self.cheat * ((self.levels >= 0) & goal).any(-1)

    def chance(self, seed: int) -> torch.Tensor:
        """A number in [0, 1) that depends on all words of the prompt and looks random: [batch]."""
        places = torch.arange(1, self.ids.shape[1] + 1, device=self.ids.device)
        mixed = (self.ids * (places * 7919 % 104729)).sum(1).double()
        return torch.frac(torch.sin(mixed + 12.9898 * (seed + 1)).abs() * 43758.5453)
