"""Navigation as text: "Can you get to W from lobby?", with every mention of every node known.

Items come in twins: the same maze in the same words, but the names of the goal and of its copy in
the other component exchanged. One twin is answered Yes, the other No; both have the same length,
and every node is mentioned equally often in both. Sentences are shuffled, so that no position is
telling; `shuffled=False` writes them in order, as the case study does, and `Item.matched` says so.
"""

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from algoscope.errors import unknown_name
from algoscope.llm import forms, mazes

QUESTIONS = ("reach", "path", "next")


class Mention(NamedTuple):
    node: int
    start: int
    """The characters [start, end) of the prompt."""
    end: int
    role: str
    """"from" or "to" in the sentence of an edge; "goal" or "source" in the question."""
    edge: int
    """The number of the edge's sentence, -1 in the question."""


@dataclasses.dataclass(frozen=True)
class Item:
    names: tuple[str, ...]
    """The name of each node."""
    edges: mazes.Edges
    """In the order of the sentences."""
    directed: bool
    source: int
    goal: int
    depth: int
    """Steps from the root of the goal's component to the goal; the start is the first one's."""
    reachable: bool
    question: str
    """"reach", "path" or "next"."""
    prompt: str = ""
    mentions: tuple[Mention, ...] = ()
    asks: int = -1
    """The character with which the question begins, -1 where that is not known."""
    pair: int = 0
    """Twins have the same number."""
    family: str = "given"
    form: str = "given"
    matched: bool = False
    """Whether sentences are shuffled, so that positions tell nothing about the answer."""
    mirror: tuple[int, ...] = ()
    """The image of each node in the other component; empty where there is none."""

    @property
    def nodes(self) -> int:
        return len(self.names)

    @property
    def answer(self) -> str:
        """The right answer; one of several shortest paths where there are several."""
        if self.question == "reach":
            return "Yes" if self.reachable else "No"
        if not self.reachable:
            return "None"
        path = self.path()
        return self.names[path[1]] if self.question == "next" else self.named(path)

    def adjacency(self) -> np.ndarray:
        return mazes.adjacency(self.nodes, self.edges, self.directed)

    def path(self) -> list[int]:
        """A shortest path from the source to the goal, first mentioned first; empty if none."""
        A = self.adjacency()
        left = mazes.distances(A.T, self.goal)
        if left[self.source] < 0:
            return []
        path = [self.source]
        while path[-1] != self.goal:
            closer = np.flatnonzero(A[path[-1]] & (left == left[path[-1]] - 1))
            path.append(next(m.node for m in self.mentions if m.node in closer))
        return path

    @property
    def described(self) -> list[Mention]:
        """The mentions in the description, those in the question left out."""
        return [m for m in self.mentions if m.edge >= 0]

    def mention_counts(self) -> np.ndarray:
        """How often the description names each node: int [node]."""
        return np.bincount([m.node for m in self.described], minlength=self.nodes)

    def named(self, nodes: Sequence[int]) -> str:
        return ", ".join(self.names[node] for node in nodes)


def navigation(
    count: int = 200,
    *,
    families: Sequence[str] = ("random_tree",),
    size: int | None = None,
    branching: int | None = None,
    depths: Sequence[int] = (1, 2, 3),
    directed: bool = True,
    form: str = "rooms",
    question: str = "reach",
    shuffled: bool = True,
    seed: int = 0,
) -> list[Item]:
    """`count` items in twins: as many reachable as unreachable, of every depth and family in turn.

    `size` and `branching` are those of one component; each family has its own where None.
    """
    if count < 2 or count % 2:
        raise ValueError(f"count: got {count}, needed an even number, since items come in twins")
    names = forms.form(form).names
    if question not in QUESTIONS:
        raise ValueError(unknown_name("question", question, QUESTIONS))
    if not families or not depths or min(depths) < 1:
        raise ValueError(
            f"families, depths: got {families!r} and {depths!r}, "
            "needed at least one of each, and depths of at least 1"
        )
    chosen = [mazes.family(name, size, branching) for name in families]
    largest = 2 * max(family.size for family in chosen)
    if largest > len(names):
        raise ValueError(
            f"size: got mazes of {largest} nodes, needed at most {len(names)}, "
            f"as the form {form} has so many names"
        )
    rng = np.random.default_rng(seed)
    items: list[Item] = []
    for pair in range(count // 2):
        family = chosen[pair % len(chosen)]
        depth = depths[pair // len(chosen) % len(depths)]
        edges, goal = _maze_with_depth(family, depth, directed, rng)
        nodes = 2 * family.size
        item = Item(
            names=tuple(names[i] for i in rng.permutation(len(names))[:nodes]),
            edges=_in_order_of_text(edges, directed, shuffled, rng),
            directed=directed,
            source=0,
            goal=goal,
            depth=depth,
            reachable=True,
            question=question,
            pair=pair,
            family=family.name,
            form=form,
            matched=shuffled,
            mirror=tuple((node + family.size) % nodes for node in range(nodes)),
        )
        items += [_worded(item), _worded(_unreachable_twin(item))]
    return items


def _maze_with_depth(
    family: mazes.Family, depth: int, directed: bool, rng: np.random.Generator
) -> tuple[mazes.Edges, int]:
    """A maze, and one of its nodes of this depth."""
    for _ in range(1000):
        edges = mazes.draw(family, rng)
        depths = mazes.distances(mazes.adjacency(2 * family.size, edges, directed), 0)
        goals = np.flatnonzero(depths == depth)
        if len(goals):
            return edges, int(rng.choice(goals))
    raise ValueError(
        f"depths: got {depth} for the family {family.name} of {family.size} nodes with branching "
        f"{family.branching}, which has no node so deep; give a larger size or a smaller branching"
    )


def _in_order_of_text(
    edges: mazes.Edges, directed: bool, shuffled: bool, rng: np.random.Generator
) -> mazes.Edges:
    """The edges as they are described: in random order, and in a random direction where that means
    nothing."""
    if shuffled:
        edges = tuple(edges[i] for i in rng.permutation(len(edges)))
    if directed:
        return edges
    flips = rng.random(len(edges)) < 0.5
    return tuple((b, a) if flip else (a, b) for (a, b), flip in zip(edges, flips, strict=True))


def _unreachable_twin(item: Item) -> Item:
    """The same words, but the goal's name is that of its image in the other component."""
    copy = item.mirror[item.goal]
    names = list(item.names)
    names[item.goal], names[copy] = names[copy], names[item.goal]
    return dataclasses.replace(item, names=tuple(names), goal=copy, reachable=False)


def without_edge(item: Item, edge: int) -> Item:
    """The item with one sentence removed; the right answer follows what is left."""
    edges = item.edges[:edge] + item.edges[edge + 1 :]
    distance = mazes.distances(mazes.adjacency(item.nodes, edges, item.directed), item.source)
    return _worded(dataclasses.replace(item, edges=edges, reachable=bool(distance[item.goal] >= 0)))


def _worded(item: Item) -> Item:
    """The item with its prompt, and where in it each node is named."""
    form = forms.FORMS[item.form]
    text, mentions = forms.Text(form.intro), []
    sentence = form.one_way if item.directed else form.both_ways
    for number, (a, b) in enumerate(item.edges):
        spans = text.fill(sentence, a=item.names[a], b=item.names[b])
        mentions += [Mention(a, *spans["a"], "from", number), Mention(b, *spans["b"], "to", number)]
    asks = len(text.text) + 1
    asked = {"goal": item.goal, "source": item.source}
    words = {role: item.names[node] for role, node in asked.items()}
    for role, span in text.fill(getattr(form, item.question), **words).items():
        mentions.append(Mention(asked[role], *span, role, -1))
    text.add("Answer:")
    return dataclasses.replace(item, prompt=text.text, mentions=tuple(mentions), asks=asks)


def described(
    family: mazes.Family,
    form: str,
    rng: np.random.Generator,
    *,
    directed: bool = True,
    pair: int = 0,
) -> Item:
    """A maze in words, before anything is asked (`asked` asks)."""
    names, nodes = forms.form(form).names, 2 * family.size
    return Item(
        names=tuple(names[i] for i in rng.permutation(len(names))[:nodes]),
        edges=_in_order_of_text(mazes.draw(family, rng), directed, True, rng),
        directed=directed,
        source=0,
        goal=0,
        depth=0,
        reachable=True,
        question="reach",
        pair=pair,
        family=family.name,
        form=form,
        matched=True,
        mirror=tuple((node + family.size) % nodes for node in range(nodes)),
    )


def crossed(item: Item, edges: Collection[int]) -> Item:
    """The item with some edges crossed: each leads to the mirror image of where it led, and its own
    image the other way. Two words are exchanged, no node is mentioned more or less often, and none
    is deeper; the right answer follows the edges."""
    changed = list(item.edges)
    numbers = {edge: number for number, edge in enumerate(item.edges)}
    for number in edges:
        a, b = item.edges[number]
        image = numbers.get((item.mirror[a], item.mirror[b]))
        if image is None:
            image = numbers[item.mirror[b], item.mirror[a]]
        changed[number], changed[image] = (
            _led_to(changed[n], {b: item.mirror[b], item.mirror[b]: b}) for n in (number, image)
        )
    return asked(dataclasses.replace(item, edges=tuple(changed)), item.source, item.goal)


def _led_to(edge: tuple[int, int], renamed: Mapping[int, int]) -> tuple[int, int]:
    a, b = (renamed.get(node, node) for node in edge)
    return a, b


def asked(item: Item, source: int, goal: int) -> Item:
    """The same description with another question; `depth` is the steps from source to goal, 0 if
    there is no way."""
    steps = mazes.distances(item.adjacency(), source)[goal]
    return _worded(
        dataclasses.replace(
            item, source=source, goal=goal, depth=max(0, int(steps)), reachable=bool(steps >= 0)
        )
    )


def covariates(item: Item) -> np.ndarray:
    """What the text alone gives away about each node: [node, covariate].

    How often it is mentioned, and how often as the first of two; where it is mentioned first and
    last, as a share of the prompt; whether it is the start, or the goal.
    """
    rows = []
    for node in range(item.nodes):
        mentions = [m for m in item.described if m.node == node]
        starts = [m.start / len(item.prompt) for m in mentions] or [0.0]
        senders = sum(m.role == "from" for m in mentions)
        asked = (float(node == item.source), float(node == item.goal))
        rows.append([len(mentions), senders, min(starts), max(starts), *asked])
    return np.array(rows, float)


def word_mentions(text: str, names: Sequence[str]) -> list[Mention]:
    """Where a text names nodes, as whole words, in the order of the text; as if it were one
    sentence."""
    mentions = [
        Mention(node, *match.span(), "to", 0)
        for node, name in enumerate(names)
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    ]
    return sorted(mentions, key=lambda mention: (mention.start, mention.end))


def from_text(
    prompt: str,
    names: Sequence[str],
    edges: mazes.Edges,
    source: int,
    goal: int,
    *,
    directed: bool = True,
    question: str = "reach",
    asked: str | None = None,
) -> Item:
    """An item of one's own: any prompt that describes the graph and then asks for the goal.

    Mentions are found as whole words. The question begins with the sentence that the last question
    mark ends, or else with the last occurrence of the words `asked`; what comes before describes.
    """
    named = word_mentions(prompt, names)
    begins = _question(prompt, named, asked)
    mentions = [m for m in named if m.start < begins]
    missing = [name for node, name in enumerate(names) if node not in {m.node for m in mentions}]
    if missing:
        raise ValueError(
            f"prompt: got no mention of {', '.join(missing)} in the description "
            f"({prompt[:begins]!r}), needed all names in it"
        )
    roles = {source: "source", goal: "goal"}
    in_question = [m for m in named if m.start >= begins and m.node in roles]
    if goal not in {m.node for m in in_question}:
        raise ValueError(
            f"prompt: got the question {prompt[begins:]!r}, needed one that names the goal "
            f"{names[goal]!r}; if it begins elsewhere, give its first words (asked)"
        )
    mentions += [m._replace(role=roles[m.node], edge=-1) for m in in_question]
    depth = int(mazes.distances(mazes.adjacency(len(names), edges, directed), source)[goal])
    return Item(
        names=tuple(names),
        edges=tuple(edges),
        directed=directed,
        source=source,
        goal=goal,
        depth=depth,
        reachable=depth >= 0,
        question=question,
        prompt=prompt,
        mentions=tuple(mentions),
    )


def _question(prompt: str, named: Sequence[Mention], asked: str | None) -> int:
    """The character at which the question begins."""
    if asked is not None:
        begins = prompt.rfind(asked)
        if begins < 0:
            raise ValueError(f"asked: got {asked!r}, needed words of the prompt")
        return begins
    end = prompt.rfind("?")
    if end < 0:
        raise ValueError(
            "prompt: got no question mark, needed a question at the end; or give the words with "
            "which it begins (asked)"
        )
    stops = [m.end() for m in re.finditer(r"[.!?:;]\s+|\n+", prompt[:end])]
    inside = {place for m in named for place in range(m.start + 1, m.end)}
    return max((stop for stop in stops if stop not in inside), default=0)
