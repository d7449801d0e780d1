"""A library of primitives: low-level operations of single heads, each with its minimal task.

A minimal task is a short prompt with a token that looks (the query), tokens that it looks at if the
head does the operation (the target), and matched tokens that it has no reason to look at (the
control): of the same kind, in the same role. A head's score is the attention to the target less
that to the control. Exchanging the two flips a task's sign, which gives the null distribution of
the largest score among all heads; what random weights reach is shown beside it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from algoscope import progress, statistics
from algoscope.llm import forms
from algoscope.llm.forms import Form, Span, Text
from algoscope.llm.subjects import Subject


class MinimalTask(NamedTuple):
    prompt: str
    query: Span
    target: Span
    control: Span


class Primitive(NamedTuple):
    name: str
    summary: str
    make: Callable[[np.random.Generator, Form], MinimalTask]


class Detection(NamedTuple):
    primitive: str
    layer: int
    head: int
    excess: statistics.Estimate
    """Attention to the target less that to the control, mean over tasks."""
    p: float
    """Corrected for all heads, by the null of the largest."""
    control: float
    """The largest excess of any head with random weights."""


def _words(rng: np.random.Generator, form: Form, count: int) -> list[str]:
    return [form.names[i] for i in rng.permutation(len(form.names))[:count]]


def _edges(text: Text, form: Form, words: Sequence[str]) -> list[dict[str, Span]]:
    """Adds a sentence for every two words; where in it the sender "a" and the receiver "b" are."""
    pairs = zip(words[::2], words[1::2], strict=True)
    return [text.fill(form.one_way, a=a, b=b) for a, b in pairs]


def _repetition(later: int, rng: np.random.Generator, form: Form) -> MinimalTask:
    """A word is repeated; the target stands so many words after its first mention."""
    text, words = Text(), _words(rng, form, 8)
    spans = [text.add(word) for word in words]
    target, control = rng.permutation(8 - later)[:2]
    query = text.add(words[target])
    return MinimalTask(text.text, query, spans[target + later], spans[control + later])


def _edge_lookup(rng: np.random.Generator, form: Form) -> MinimalTask:
    text, words = Text(), _words(rng, form, 8)
    edges = _edges(text, form, words)
    number = int(rng.integers(1, len(edges)))
    other = int(rng.integers(number))
    return MinimalTask(text.text, edges[number]["b"], edges[number]["a"], edges[other]["a"])


def _goal_match(rng: np.random.Generator, form: Form) -> MinimalTask:
    text, words = Text(), _words(rng, form, 8)
    receivers = [edge["b"] for edge in _edges(text, form, words)]
    target, control, source = rng.permutation(len(receivers))[:3]
    text.add(form.reach.format(goal=words[2 * target + 1], source=words[2 * source]))
    query = text.add("Answer:")
    return MinimalTask(text.text, query, receivers[target], receivers[control])


def _copy(rng: np.random.Generator, form: Form) -> MinimalTask:
    text, words = Text(), _words(rng, form, 2)
    marked = int(rng.integers(2))
    spans = []
    for number, word in enumerate(words):
        text.add("Repeat" if number == marked else "Ignore")
        spans.append(text.add(word))
        text.add(".", before="")
    query = text.add("Answer:")
    return MinimalTask(text.text, query, spans[marked], spans[1 - marked])


def _comparison(rng: np.random.Generator, form: Form) -> MinimalTask:
    text = Text()
    numbers = (rng.permutation(9)[:2] + 1).tolist()
    spans = {}
    for introduction, number in zip(("Of the numbers", "and"), numbers, strict=True):
        text.add(introduction)
        spans[number] = text.add(str(number))
    query = text.add("the larger is")
    return MinimalTask(text.text, query, spans[max(numbers)], spans[min(numbers)])


PRIMITIVES = (
    Primitive(
        "previous mention", "looks at the earlier mention of the same word", partial(_repetition, 0)
    ),
    Primitive("successor", "looks at what followed the same word earlier", partial(_repetition, 1)),
    Primitive("edge lookup", "looks from an edge's end at its start", _edge_lookup),
    Primitive("goal match", "looks from the question at the goal in the description", _goal_match),
    Primitive("copy", "looks at the word that is to be repeated", _copy),
    Primitive("comparison", "looks at the larger of two numbers", _comparison),
)


def find_primitives(
    subject: Subject,
    count: int = 40,
    seed: int = 0,
    library: Sequence[Primitive] = PRIMITIVES,
    permutations: int = 999,
    form: str = "rooms",
) -> dict[str, list[Detection]]:
    """The heads that do each primitive (corrected p < 0.05 and more than any head with random
    weights), the best first. `form` says what words are looked at and how edges are said."""
    words = forms.form(form)
    untrained = subject.with_random_weights(seed)
    detections = {}
    for number, primitive in enumerate(progress.over(library, "primitives")):
        rng = np.random.default_rng([seed, number])
        tasks = [primitive.make(rng, words) for _ in range(count)]
        values, control = (
            np.array([_excess(model, task) for task in progress.over(tasks, primitive.name)])
            for model in (subject, untrained)
        )
        null = statistics.flip_null(values.reshape(count, -1), permutations, seed)
        largest = float(control.mean(0).max())
        heads = []
        for (layer, head), mean in np.ndenumerate(values.mean(0)):
            p = statistics.p_value(float(mean), null)
            if mean > largest and p < 0.05:
                excess = statistics.bootstrap(values[:, layer, head], seed)
                heads.append(Detection(primitive.name, layer, head, excess, p, largest))
        detections[primitive.name] = sorted(heads, key=lambda d: -d.excess.value)
    return detections


def _excess(subject: Subject, task: MinimalTask) -> np.ndarray:
    """Attention of the query's last token to the target less that to the control: [layer, head]."""
    encoded = subject.encode(task.prompt)
    query, target, control = (
        encoded.tokens(*span, task.prompt[slice(*span)])
        for span in (task.query, task.target, task.control)
    )
    row = subject.read(encoded.ids, rows=[query[-1]]).attention[:, :, 0]
    return row[..., target].sum(-1) - row[..., control].sum(-1)
