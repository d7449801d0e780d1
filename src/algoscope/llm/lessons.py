"""Lessons: questions and answers as text, from which a model may learn to navigate.

A text is a maze and questions about it, each of which sees the maze but not the other questions:

    … A > B. C > D. B > E.  Back 1: E B A No D C …      the node before each node, or No
                            Back 2: E A D No B No …     the node two before it
                            E from A: Yes               in short
                            Can you get to E from A? Answer Yes or No. Answer: Yes

With goals at most d deep there are 2 d lessons. Lesson k up to d is a list of the nodes k before,
beside a list of an earlier lesson. Lesson d + k asks for Yes and No, in short and in the words of
`prompts.navigation`, where k steps back from the goal decide: one arrives at the start (Yes) or
where no edge leads to (No); beside it is a list.

Starts are roots as often as not. Where the answer is No, the start is the mirror image of one that
would make it Yes, or below the goal, or in another branch of its tree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from transformers import PreTrainedTokenizerFast

from algoscope.llm import navigator
from algoscope.llm.navigator_config import FORM, LearnerConfig
from algoscope.llm.vocabulary import form_tokenizer

LIST = "Back 1:"
SHORT = "{goal} from {source}:"
ASKED_IN_SHORT, ASKED = -1, -2
"""Kinds of words: Yes or No to questions. A word of a list is of the kind of its lesson."""
_MIRRORED = 0.6
"""Share of the starts of No that are mirror images of starts of Yes."""
_TRIVIAL = 0.1
"""Weight of questions whose start is the goal, and of those whose goal is a root; others have 1
in all."""


class Texts(NamedTuple):
    ids: np.ndarray
    """Tokens [text, token]: the maze, then lists but for their last word, and questions."""
    positions: np.ndarray
    """Where each token is to the model: [token]; every question follows the maze at once."""
    sees: np.ndarray
    """Whether the token of the row may see that of the column: bool [token, token]."""
    asked: np.ndarray
    """The tokens after which a word of an answer follows: [place]."""
    answers: np.ndarray
    """That word: [text, place]."""
    kinds: np.ndarray
    """Of that word: [place]."""
    steps: np.ndarray
    """Steps back from the goal until Yes or No; 0 in lists: [text, place]."""


def lesson_tokenizer(config: LearnerConfig) -> PreTrainedTokenizerFast:
    numbers = [str(lesson) for lesson in range(1, config.depth + 1)]
    return form_tokenizer(FORM, ("Back", *numbers))


class Writer:
    """Texts of a lesson as tokens, many at a time."""

    def __init__(self, config: LearnerConfig, tokenizer: PreTrainedTokenizerFast):
        self.config, self.words = config, navigator.Words(tokenizer)
        ids = tokenizer.get_vocab()
        self.numbers = [ids[str(lesson)] for lesson in range(1, config.depth + 1)]
        self.list, self.short = self.words.encode(LIST), self.words.encode(SHORT)

    def batch(self, lesson: int, sizes: Sequence[int], rng: np.random.Generator) -> Texts:
        """Texts about mazes of one of the sizes."""
        config = self.config
        mazes, pairs = self._mazes(sizes, rng)
        earlier = int(rng.integers(1, min(lesson, config.depth) + 1))
        if lesson <= config.depth:
            lists = [lesson] if earlier == lesson else [lesson, earlier]
            return _texts(mazes.tokens, [self._list(mazes, pairs, k, rng) for k in lists])
        most = min(lesson - config.depth, config.depth)
        return _texts(
            mazes.tokens,
            [
                self._list(mazes, pairs, earlier, rng),
                *self._reach(mazes, pairs, self.short, config.shorts, most, rng),
                *self._reach(mazes, pairs, self.words.reach, config.questions, most, rng),
            ],
        )

    def questions(self, count: int, rng: np.random.Generator) -> Texts:
        """Texts with so many questions as `prompts.navigation` asks them, of any depth."""
        mazes, pairs = self._mazes(self.config.sizes[-1:], rng)
        most, asked = self.config.depth, self.words.reach
        return _texts(mazes.tokens, self._reach(mazes, pairs, asked, count, most, rng))

    def _mazes(
        self, sizes: Sequence[int], rng: np.random.Generator
    ) -> tuple[navigator.Mazes, "Pairs"]:
        mazes = navigator.draw_mazes(self.words, self.config.batch, int(rng.choice(sizes)), rng)
        return mazes, Pairs.of(mazes.parents, mazes.depths, self.config.depth)

    def _list(
        self, mazes: navigator.Mazes, pairs: "Pairs", back: int, rng: np.random.Generator
    ) -> "Question":
        """All nodes in random order, each with the node so many steps before it, or No."""
        B, nodes = mazes.names.shape
        before = mazes.named(pairs.ancestors[:, back])
        before = np.where(np.tile(mazes.depths, 2) < back, self.words.no, before)
        order = rng.random((B, nodes)).argsort(1)
        listed, answers = (np.take_along_axis(a, order, 1) for a in (mazes.names, before))
        words = np.stack([listed, answers], 2).reshape(B, -1)[:, :-1]
        title = np.where(self.list == self.numbers[0], self.numbers[back - 1], self.list)
        tokens = np.concatenate([np.tile(title, (B, 1)), words], 1)
        return Question(tokens, len(title) + 2 * np.arange(nodes), answers, back, 0 * answers)

    def _reach(
        self,
        mazes: navigator.Mazes,
        pairs: "Pairs",
        asked: np.ndarray,
        count: int,
        most: int,
        rng: np.random.Generator,
    ) -> list["Question"]:
        """Questions that at most so many steps back decide, in these words."""
        source, goal = pairs.draw(count, most, rng)
        rows = np.arange(len(goal))[:, None]
        steps = pairs.steps[rows, source, goal]
        reached = pairs.ancestors[rows, steps, goal] == source
        answers = np.where(reached, self.words.yes, self.words.no)
        tokens = self.words.fill(asked, mazes.named(goal), mazes.named(source))
        last = np.array([len(asked) - 1])
        kind = ASKED if asked is self.words.reach else ASKED_IN_SHORT
        return [
            Question(tokens[:, n], last, answers[:, [n]], kind, steps[:, [n]]) for n in range(count)
        ]


class Question(NamedTuple):
    """One question about each maze; see `Texts`, but `asked` counts from its own first token."""

    tokens: np.ndarray
    asked: np.ndarray
    answers: np.ndarray
    kind: int
    steps: np.ndarray


def _texts(described: np.ndarray, questions: list[Question]) -> Texts:
    parts = [described, *(question.tokens for question in questions)]
    positions, sees, ends = navigator.layout(parts)
    asked = [
        end + 1 - question.tokens.shape[1] + question.asked
        for end, question in zip(ends, questions, strict=True)
    ]
    answers, steps = (
        np.concatenate([getattr(question, name) for question in questions], 1)
        for name in ("answers", "steps")
    )
    kinds = np.concatenate([np.full(len(q.asked), q.kind) for q in questions])
    ids = np.concatenate(parts, 1)
    return Texts(ids, positions, sees, np.concatenate(asked), answers, kinds, steps)


class Pairs(NamedTuple):
    """Starts and goals of mazes, and how often each is asked for."""

    ancestors: np.ndarray
    """The node so many steps back from each node, at most to the root: [maze, steps, node]."""
    weights: np.ndarray
    """[maze, start, goal]: 0 where it is never asked for."""
    steps: np.ndarray
    """Steps back from the goal to the start or, if it is not above, to the root:
    [maze, start, goal]."""

    @classmethod
    def of(cls, parents: np.ndarray, depths: np.ndarray, deepest: int) -> "Pairs":
        """Of trees with these parents and depths, each beside its copy; goals are at most so
        deep."""
        B, size = parents.shape
        both, depths = np.concatenate([parents, parents + size], 1), np.tile(depths, 2)
        ancestors = [np.tile(np.arange(2 * size), (B, 1))]
        for _ in range(deepest):
            ancestors.append(np.take_along_axis(both, ancestors[-1], 1))
        same = np.eye(2 * size, dtype=bool)[None]
        steps = np.where(same, 0, depths[:, None])
        above = np.zeros((B, 2 * size, 2 * size), bool)
        for count in range(1, deepest + 1):
            maze, goal = np.nonzero(depths >= count)
            found = maze, ancestors[count][maze, goal], goal
            above[found], steps[found] = True, count
        # The root as often as all other nodes above the goal together.
        root = depths[:, :, None] == 0
        likes = above * np.where(root, np.maximum(depths - 1, 1)[:, None], 1)
        image = (np.arange(2 * size) + size) % (2 * size)
        tree = np.arange(2 * size) // size
        below = above.swapaxes(1, 2)
        branch = (tree == tree[:, None]) & ~above & ~same & ~below
        weights = np.zeros(above.shape)

        def ask(share: float, likes: np.ndarray) -> None:
            total = likes.sum((1, 2), keepdims=True)
            weights[...] += share * likes / np.maximum(total, 1)

        ask(_TRIVIAL, same & (depths <= deepest)[:, None])
        ask(_TRIVIAL, (depths == 0)[:, None] & ~same)
        for depth in range(1, deepest + 1):
            goals = (depths == depth)[:, None]
            ask(0.5 / deepest, likes * goals)
            ask(0.5 / deepest * _MIRRORED, likes[:, image] * goals)
            ask(0.5 / deepest * (1 - _MIRRORED) / 2, below & goals)
            ask(0.5 / deepest * (1 - _MIRRORED) / 2, branch & goals)
        return cls(np.stack(ancestors, 1), weights, steps)

    def draw(
        self, count: int, most: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Starts and goals [maze, question] that are decided after so many steps back at most."""
        mazes, nodes = self.weights.shape[:2]
        weights = (self.weights * (self.steps <= most)).reshape(mazes, -1)
        chances = (weights / weights.sum(1, keepdims=True)).cumsum(1)
        drawn = (rng.random((mazes, count))[:, :, None] > chances[:, None]).sum(2)
        source, goal = np.divmod(np.minimum(drawn, nodes * nodes - 1), nodes)
        return source, goal
