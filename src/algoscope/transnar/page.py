"""The page of an answer: the prompt, what was written and what is right, and which nodes and pairs
of nodes each token of it reads."""

import numpy as np

from algoscope.markup import element, escape
from algoscope.report import html, reading
from algoscope.report.graph_layout import places
from algoscope.report.html import Section
from algoscope.report.reading import Panel, Reader
from algoscope.tasks import Batch, Kind, Location, Stage
from algoscope.transnar.ask import Answer
from algoscope.transnar.mechanism import TokenReads

_DATA = "answer-data"
_SIGNS = str.maketrans({"\n": "⏎", " ": "␣"})


def page(prompt: str, answer: Answer, name: str) -> str:
    """`name` is that of the model."""
    verdict = _verdict(answer)
    sections = [Section("answer", "Answer", _answer(prompt, answer, name, verdict))]
    data = {}
    if answer.reads is not None and answer.problem is not None:
        sections.append(Section("reads", "Reads", _reads()))
        data[_DATA] = reading.data([_item(answer.reads, answer.problem)], choose=True)
    scripts = reading.SCRIPTS if data else ("page.js",)
    return html.page(f"{name}: {verdict}", sections, scripts=scripts, data=data)


def _verdict(answer: Answer) -> str:
    if answer.scores is None:
        return "nobody can check it"
    if answer.scores.exact:
        return "right"
    return "wrong" if answer.scores.parse else "not in the form of an answer"


def _answer(prompt: str, answer: Answer, name: str, verdict: str) -> str:
    facts: dict[str, object] = {"fault": answer.fault}
    if answer.scores is not None:
        scores = {n: getattr(answer.scores, n) for n in ("shape", "parse", "clrs", "exact")}
        facts |= {name: f"{float(score):.3f}" for name, score in scores.items()}
    if answer.reads is None:
        facts["reads"] = "nothing: it has no reasoner, or what it reads was not recorded"
    texts = {"Prompt": prompt, "What it wrote": answer.text, "What is right": answer.right or ""}
    return (
        element("p", f"One question to {escape(name)}", class_="question")
        + element("h1", escape(f"The answer is {verdict}") + ".")
        + "".join(
            element("h2", title) + element("pre", escape(text.strip()), tabindex="0", class_="text")
            for title, text in texts.items()
            if text.strip()
        )
        + html.facts(facts)
    )


def _reads() -> str:
    return (
        "<h2>What each token reads</h2>"
        "<p>Choose a token of the answer, and a layer: nodes are coloured by how much of the "
        "attention to nodes they have while the token is written, arrows by that to pairs of nodes "
        "(mean of heads). A gate of 0 lets nothing in. Keys, once the box is chosen: "
        "<kbd>←</kbd> <kbd>→</kbd> layer, <kbd>space</kbd> plays.</p>" + reading.element_of(_DATA)
    )


def _item(reads: TokenReads, problem: Batch) -> reading.Item:
    joined = _adjacency(problem)
    directed = bool((joined != joined.T).any())
    edges = np.argwhere(joined if directed else np.triu(joined, 1))
    readers = [
        Reader(f"while “{_seen(token)}” is written, token {number}", _seen(token))
        for number, token in enumerate(reads.tokens, 1)
    ]
    sources = [f for f in problem.at(Stage.INPUT) if f.kind is Kind.MASK_ONE]
    start = {int(problem.inputs[f.name][0].argmax()): f.name for f in sources}
    return reading.Item(
        problem.task.name,
        [str(node) for node in range(problem.nodes)],
        start,
        [(int(a), int(b)) for a, b in edges],
        directed,
        [Panel("nodes of the reasoner", range(problem.nodes))],
        reading.lying(places(joined)),
        readers,
        reads.nodes[..., : problem.nodes],
        pairs=reads.pairs[..., : problem.nodes, : problem.nodes].mean(1),
        gates=reads.gates.tolist(),
    )


def _adjacency(problem: Batch) -> np.ndarray:
    """Which nodes are joined; none of a task without a graph."""
    features = [f for f in problem.at(Stage.INPUT) if f.location is Location.EDGE]
    if not features:
        return np.zeros((problem.nodes, problem.nodes), bool)
    joined = np.asarray(problem.inputs[features[0].name])[0] != 0
    return joined & ~np.eye(problem.nodes, dtype=bool)


def _seen(token: str) -> str:
    """The token with signs for what cannot be seen."""
    return token.translate(_SIGNS) or "·"
