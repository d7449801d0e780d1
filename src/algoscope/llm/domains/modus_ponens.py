"""Modus ponens: what follows from facts and rules, and is it found from the facts or from the
question?

    Rules and facts: If A and B then C. B holds. A holds. D fails. ... Does C hold? Answer:

A chain of rules leads from a fact to what is asked; some rules need a second premise, which is
where a search that takes any premise for enough goes wrong. Beside the chain there is its image,
mentioned as often, whose first premise fails. If a rule is *crossed*, it and its image exchange
their conclusions, so that the answer is the parity of the crossings.

| machine                       | a step                                                           |
|-------------------------------|------------------------------------------------------------------|
| forward chaining              | all rules whose premises are known                               |
| forward chaining, a rule a step | the first of these in the text                                 |
| backward chaining             | what is still to be shown gives way to the premises of its rules |
| rules put together, doubling  | rules do the same with the rules before them, all the while      |
"""

import functools
import itertools
import string
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from algoscope.llm.domains.domain import Domain, Heuristic, Problem, ready, text
from algoscope.llm.machines import Machine, Part

INTRO = "Rules and facts:"
LETTERS = 26


class Sentence(NamedTuple):
    premises: tuple[int, ...]
    """None for a fact."""
    conclusion: int
    holds: bool = True
    """False for a fact that fails."""


class Theory(NamedTuple):
    sentences: tuple[Sentence, ...]
    goal: int
    units: tuple[tuple[int, ...], ...]
    """The numbers of a sentence and its image."""
    chain: tuple[int, ...]
    """Which units the chain is made of, the first premise first."""
    depth: int
    """Rules of the chain."""


def known(theory: Theory, steps: int = 2 * LETTERS, enough: Callable = all) -> set[int]:
    """What holds after so many steps, facts being the first."""
    found: set[int] = set()
    for _ in range(steps):
        found = found | {
            s.conclusion
            for s in theory.sentences
            if s.holds and (not s.premises or enough(p in found for p in s.premises))
        }
    return found


def holds(theory: Theory) -> int:
    return int(theory.goal in known(theory))


def _said(sentence: Sentence) -> str:
    names = string.ascii_uppercase
    conclusion = names[sentence.conclusion]
    if not sentence.premises:
        return f"{conclusion} {'holds' if sentence.holds else 'fails'}."
    return f"If {' and '.join(names[p] for p in sentence.premises)} then {conclusion}."


def worded(theory: Theory, pair: int = 0) -> Problem:
    question = f"Does {string.ascii_uppercase[theory.goal]} hold?"
    answer = holds(theory)
    return Problem(
        *text(INTRO, [_said(s) for s in theory.sentences], question),
        right=answer,
        content=theory,
        case="it holds" if answer else "it does not",
        size={"depth": theory.depth, "sentences": len(theory.sentences)},
        units=theory.units,
        pair=pair,
    )


def _theory(depth: int, second: int, beside: int, rng: np.random.Generator) -> Theory:
    """A chain of so many rules, some with a second premise, and rules that lead elsewhere."""
    size = depth + 1 + second + beside
    names = list(map(int, rng.permutation(LETTERS)[: 2 * size]))
    chain, seconds, ends = names[: depth + 1], names[depth + 1 :][:second], names[:size][-beside:]
    image = dict(zip(names[:size], names[size:], strict=True))
    units = [[Sentence((), chain[0]), Sentence((), image[chain[0]], False)]]
    at = rng.permutation(depth)[:second]
    for number, (before, after) in enumerate(itertools.pairwise(chain)):
        premises = [before]
        if number in at:
            premises.append(seconds[list(at).index(number)])
            premises = [premises[i] for i in rng.permutation(2)]
        units.append(_with_image(tuple(premises), after, image))
    units += [[Sentence((), one), Sentence((), image[one])] for one in seconds]
    if beside:
        units += [_with_image((chain[int(rng.integers(depth))],), end, image) for end in ends]
    order = rng.permutation(2 * len(units))
    sentences = [unit[half] for unit in units for half in (0, 1)]
    where = np.argsort(order)
    return Theory(
        tuple(sentences[i] for i in order),
        chain[-1],
        tuple((int(where[2 * n]), int(where[2 * n + 1])) for n in range(len(units))),
        tuple(range(depth + 1)),
        depth,
    )


def _with_image(
    premises: tuple[int, ...], conclusion: int, image: dict[int, int]
) -> list[Sentence]:
    return [
        Sentence(premises, conclusion),
        Sentence(tuple(image[p] for p in premises), image[conclusion]),
    ]


def crossed(theory: Theory, unit: int) -> Theory:
    """A sentence and its image exchange what they conclude."""
    one, two = theory.units[unit]
    sentences = list(theory.sentences)
    a, b = sentences[one], sentences[two]
    if a.premises:
        sentences[one] = a._replace(conclusion=b.conclusion)
        sentences[two] = b._replace(conclusion=a.conclusion)
    else:
        sentences[one], sentences[two] = a._replace(holds=b.holds), b._replace(holds=a.holds)
    return theory._replace(sentences=tuple(sentences))


def _without(theory: Theory, rng: np.random.Generator) -> Theory:
    """A second premise fails, in chain and image, if there is one."""
    first = theory.units[0]
    facts = [
        unit
        for number, unit in enumerate(theory.units)
        if number and not theory.sentences[unit[0]].premises
    ]
    if not facts:
        return theory
    sentences = list(theory.sentences)
    for number in facts[int(rng.integers(len(facts)))]:
        if number not in first:
            sentences[number] = sentences[number]._replace(holds=False)
    return theory._replace(sentences=tuple(sentences))


def _converse(theory: Theory) -> Theory:
    """What the chain ends with holds, and what it begins with is asked for."""
    begins = theory.units[0]
    first = theory.sentences[begins[0]].conclusion
    last = theory.goal
    sentences = list(theory.sentences)
    sentences[begins[0]] = Sentence((), last)
    return theory._replace(sentences=tuple(sentences), goal=first)


def _turned(theory: Theory, rng: np.random.Generator) -> Theory:
    """A rule of the chain is turned into its converse, and so is its image, if one has one premise
    alone."""
    units = [theory.units[number] for number in theory.chain]
    single = [unit for unit in units if len(theory.sentences[unit[0]].premises) == 1]
    if not single:
        return theory
    sentences = list(theory.sentences)
    for number in single[int(rng.integers(len(single)))]:
        rule = sentences[number]
        sentences[number] = Sentence((rule.conclusion,), rule.premises[0])
    return theory._replace(sentences=tuple(sentences))


def draw(rng: np.random.Generator, hard: bool) -> Problem:
    if not hard:
        depth = int(rng.integers(1, 6))
        second = int(rng.integers(0, min(2, depth) + 1))
        theory = _theory(depth, second, int(rng.integers(0, 3)), rng)
        return worded(theory if rng.random() < 0.5 else crossed(theory, _link(theory, rng)))
    depth = int(rng.integers(1, 9))
    theory = _theory(depth, int(rng.integers(0, min(3, depth) + 1)), int(rng.integers(0, 2)), rng)
    for unit in theory.chain:
        if rng.random() < 0.5:
            theory = crossed(theory, unit)
    kind = rng.random()
    if kind < 0.2:
        theory = _without(theory, rng)
    elif kind < 0.35:
        theory = _converse(theory)
    elif kind < 0.5:
        theory = _turned(theory, rng)
    return worded(theory)


def _link(theory: Theory, rng: np.random.Generator) -> int:
    return int(rng.choice(theory.chain))


def twin(problem: Problem, rng: np.random.Generator) -> Problem:
    theory: Theory = problem.content
    return worded(crossed(theory, _link(theory, rng)), problem.pair)


def _other(problem: Problem, rng: np.random.Generator) -> Problem:
    theory: Theory = problem.content
    for unit in theory.chain:
        if rng.random() < 0.5:
            theory = crossed(theory, unit)
    return worded(_without(theory, rng) if rng.random() < 0.15 else theory, problem.pair)


def pair(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Problem]:
    return _other(problem, rng), _other(problem, rng)


def _sets(letters: list[tuple[int, ...]]) -> np.ndarray:
    """bool [sentence, letter]"""
    return np.array([[letter in row for letter in range(LETTERS)] for row in letters])


def _sentences(theory: Theory) -> Part:
    """Premises, and conclusions, of which a fact that fails has none."""
    return (
        _sets([s.premises for s in theory.sentences]),
        _sets([(s.conclusion,) if s.holds else () for s in theory.sentences]),
    )


def _goal(theory: Theory) -> np.ndarray:
    return np.arange(LETTERS) == theory.goal


def _nothing_known(theory: Theory) -> Part:
    return np.zeros(LETTERS, bool), _goal(theory)


def _all_that_follow(asked: Part, told: Part) -> Part:
    (found, goal), (premises, conclusions) = asked, told
    ready_ones = ~(premises & ~found).any(1)
    return found | conclusions[ready_ones].any(0), goal


def _first_that_follows(asked: Part, told: Part) -> Part:
    (found, goal), (premises, conclusions) = asked, told
    new = (conclusions & ~found).any(1) & ~(premises & ~found).any(1)
    return (found | conclusions[int(new.argmax())] if new.any() else found), goal


def _shown(asked: Part) -> int:
    return int((asked[0] & asked[1]).any())


def _resolved(left: np.ndarray, premises: np.ndarray, conclusions: np.ndarray) -> np.ndarray:
    """What is to be shown instead, by these sentences."""
    used = (conclusions & left).any(1)
    return (left & ~conclusions[used].any(0)) | premises[used].any(0)


def _from_goal(theory: Theory) -> Part:
    return (_goal(theory),)


def _back(asked: Part, told: Part) -> Part:
    return (_resolved(asked[0], *told),)


def _nothing_left(asked: Part) -> int:
    return int(not asked[0].any())


def _put_together(told: Part) -> Part:
    """Every rule with the rules that stand before it."""
    premises, conclusions = told
    used = np.tril(premises @ conclusions.T, -1)
    return (premises & ~(used @ conclusions)) | (used @ premises), conclusions


_chaining = functools.partial(Machine, told=_sentences)
MACHINES = (
    _chaining("forward chaining", "all known", _nothing_known, _all_that_follow, _shown),
    _chaining("forward chaining, a rule a step", "", _nothing_known, _first_that_follows, _shown),
    _chaining("backward chaining", "what is left", _from_goal, _back, _nothing_left),
    _chaining(
        "rules put together, doubling",
        "what is left",
        _from_goal,
        _back,
        _nothing_left,
        merge=_put_together,
    ),
    ready(holds),
)


def _mentions(theory: Theory) -> list[int]:
    return [letter for s in theory.sentences for letter in (*s.premises, s.conclusion)]


def _late(theory: Theory) -> int:
    last = {letter: place for place, letter in enumerate(_mentions(theory))}
    return int(last[theory.goal] >= np.median(list(last.values())))


HEURISTICS = (
    Heuristic(
        "any premise is enough", lambda theory: int(theory.goal in known(theory, enough=any))
    ),
    Heuristic("some rule concludes it", lambda theory: int(_concluded(theory))),
    Heuristic("last mentioned", _late),
    Heuristic("rules used in both directions", lambda theory: int(_either_way(theory))),
    Heuristic("one rule", lambda theory: int(theory.goal in known(theory, steps=2))),
    Heuristic("two rules", lambda theory: int(theory.goal in known(theory, steps=3))),
)


def _either_way(theory: Theory) -> bool:
    """Whether the goal follows if what is known to be concluded makes its premises known, too."""
    rules = [s for s in theory.sentences if s.premises]
    found = {s.conclusion for s in theory.sentences if s.holds and not s.premises}
    for _ in range(LETTERS):
        found |= {p for s in rules if s.conclusion in found for p in s.premises}
        found |= {s.conclusion for s in rules if found.issuperset(s.premises)}
    return theory.goal in found


def _concluded(theory: Theory) -> bool:
    return any(s.conclusion == theory.goal and s.premises for s in theory.sentences)


MODUS_PONENS = Domain(
    "modus-ponens",
    "whether something follows from facts and rules",
    ("No", "Yes"),
    MACHINES,
    HEURISTICS,
    draw,
    twin,
    pair,
    f"{INTRO} If then holds fails. Does hold? Answer: {' '.join(string.ascii_uppercase)}",
)
