"""The verdict in words and tables: what a reader should know after ten seconds."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from algoscope.markup import element, escape
from algoscope.measures import Judgement
from algoscope.measures.thresholds import AGAINST, CRITERIA, PLACES, SOLVES, short
from algoscope.report import html
from algoscope.statistics import beside
from algoscope.table import Table
from algoscope.verdict import (
    APPROXIMATES,
    FAILS,
    NOT_JUDGED,
    RUNS,
    RUNS_UP_TO,
    SHORTCUT,
    UNDECIDED,
)

Judgements = Mapping[str, Judgement]


class _Word(NamedTuple):
    sign: str
    one: str
    """What a network of this verdict does."""
    many: str
    """What several do."""


_WORDS = {
    RUNS: _Word("✓", "runs {task}", "run {task}"),
    RUNS_UP_TO: _Word("✓", "runs {task} within a scope", "run {task} within a scope"),
    APPROXIMATES: _Word("≈", "approximates {task}", "approximate {task}"),
    SHORTCUT: _Word("⤳", "takes a shortcut", "take a shortcut"),
    FAILS: _Word("✗", "fails", "fail"),
    UNDECIDED: _Word("?", "remains undecided", "remain undecided"),
    NOT_JUDGED: _Word("–", "is not judged", "are not judged"),
}
_MEANINGS_OF_WORDS = {
    RUNS: "no disagreement with the algorithm was found in the problems that were tried, and "
    "attention and counterfactuals agree with an exact program",
    RUNS_UP_TO: "the same within a region that a rule names; disagreements lie beyond it",
    APPROXIMATES: "trace or answer differ on some problems, no rule says on which, and no tested "
    "number contradicts the algorithm",
    SHORTCUT: "trace or answer differ on some problems, and at least one of the tested numbers "
    "contradicts the algorithm",
    FAILS: f"answers are wrong at {PLACES['small']} and at {PLACES['large']}",
    UNDECIDED: "no disagreement was found, but something that is needed was not measured, or does "
    "not agree with an exact program",
}
_MEANINGS = {
    f"accuracy {place}": f"score of the answers: {PLACES[place]}" for place in ("small", "large")
} | {criterion.label: criterion.meaning for criterion in CRITERIA.values()}
"""Of the numbers in the table of networks, by label."""
_CARDS = ("accuracy large", "moves large", "reads large", "agreement")


def headline(task: str, judgements: Judgements) -> str:
    """One sentence: who does what."""
    return headline_of(task, [judgement.verdict.word for judgement in judgements.values()])


def headline_of(task: str, words: Sequence[str]) -> str:
    """The same from the words of the verdicts."""
    counts = Counter(words)
    parts = [
        (counts[name], (word.one if counts[name] == 1 else word.many).format(task=task))
        for name, word in _WORDS.items()
        if counts[name]
    ]
    if len(words) == 1:
        return f"The network {parts[0][1]}"
    if len(parts) == 1:
        all_of_them = "Both" if len(words) == 2 else f"All {len(words):,}"
        return f"{all_of_them} networks {parts[0][1]}"
    texts = [f"{count:,} {text}" for count, text in parts]
    return f"Of {len(words):,} networks, {', '.join(texts[:-1])} and {texts[-1]}"


def lead(judgements: Judgements, control: Judgement | None) -> str:
    """What speaks for and against, in a few sentences. HTML."""
    accuracy = [judgement.evidence.accuracy["large"] for judgement in judgements.values()]
    span = " to ".join(dict.fromkeys((percent(min(accuracy)), percent(max(accuracy)))))
    sentences = [f"On problems of {PLACES['large']}, {span} of the answers are right."]
    if control is None:
        first = next(iter(judgements.values()))
        return f"{sentences[0]} {escape(first.verdict.reasons[0]).capitalize()}."
    tried = [j.evidence.falsification for j in judgements.values() if j.evidence.falsification]
    if tried:
        broken = sum(result.wrong > 0 for result in tried)
        least = min(result.problems for result in tried)
        sentences.append(
            f"At least {least:,} problems were tried to break each: {broken} of {len(tried)} "
            f"{'differs' if broken == 1 else 'differ'} from the algorithm on some of them."
        )
    against = Counter(
        CRITERIA[key].label
        for judgement in judgements.values()
        for key, value in judgement.evidence.tested.items()
        if CRITERIA[key].says(value) == AGAINST
    )
    if against:
        most = ", ".join(f"{escape(label)} ({count})" for label, count in against.most_common(3))
        sentences.append(f"What contradicts the algorithm, with the number of networks: {most}.")
    word = control.verdict.word
    passed = "passes every test" if word == RUNS else f"is {word}"
    sentences.append(f"The same algorithm compiled into weights, the control, {passed}.")
    return " ".join(sentences)


def percent(share: float) -> str:
    """All and none are said of nothing less."""
    return beside(100 * share, 100, digits=1).removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def cards(judgements: Judgements, control: Judgement | None) -> str:
    """The means over networks of the numbers that tell most."""
    made = []
    for label in _CARDS:
        values = [judgement.numbers[label] for judgement in judgements.values()]
        known = [value for value in values if not math.isnan(value)]
        if known:
            compiled = math.nan if control is None else control.numbers[label]
            beside = "" if math.isnan(compiled) else f" <small>compiled {compiled:.3f}</small>"
            name = element("dt", escape(label), title=_MEANINGS[label])
            mean = element("dd", f"{sum(known) / len(known):.3f}{beside}")
            made.append(element("div", name, mean))
    return element("dl", *made, class_="counts")


def word(text: str) -> str:
    """With a sign, so that colour is not all that tells."""
    class_ = "unjudged" if text == NOT_JUDGED else text.replace(" ", "-")
    return element("span", f"{_WORDS[text].sign} {escape(text)}", class_=f"word {class_}")


def seeds_table(subjects: Judgements, control: Judgement | None) -> str:
    """A row a subject, the control among them: the verdict and every number that it rests on."""
    measured = [judgement.numbers for judgement in subjects.values()]
    labels = [name for name in _MEANINGS if any(not math.isnan(v[name]) for v in measured)]
    heads = [element("th", name, scope="col") for name in ("network", "verdict")] + [
        element("th", label, scope="col", class_="number", title=_MEANINGS[label])
        for label in labels
    ]
    rows = [
        element(
            "tr",
            element("td", escape(name)),
            element("td", word(judgement.verdict.word)),
            *(_cell(label, values[label]) for label in labels),
            class_="control" if judgement is control else None,
        )
        for (name, judgement), values in zip(subjects.items(), measured, strict=True)
    ]
    return html.table_of_elements(heads, rows, "networks", dense=True)


def _cell(label: str, value: float) -> str:
    criterion = CRITERIA.get(label.replace(" ", "_"))
    says = f" {criterion.says(value)}" if criterion and not math.isnan(value) else ""
    text = criterion.text(value) if criterion else short(value, SOLVES)
    return element("td", text, class_=f"number{says}")


def reasons(judgements: Judgements) -> str:
    items = []
    for name, judgement in judgements.items():
        verdict, evidence = judgement.verdict, judgement.evidence
        nearest = [f"nearest reference {evidence.nearest.reference}"] if evidence.internal else []
        facts = escape("; ".join(verdict.reasons + judgement.near + nearest))
        items.append(f"{escape(name)}: {word(verdict.word)} – {facts}")
    return _list(items)


def meanings() -> str:
    """What the words mean, and the numbers that are tested, with their thresholds."""
    rows = [[c.label, c.meaning, *c.limits] for c in CRITERIA.values()]
    columns = ["number", "what it is", "runs from", "shortcut below"]
    title = f"{len(rows)} numbers are tested, each from 0 to 1, where 1 is the algorithm"
    words = _list(f"{word(name)}: {escape(m)}." for name, m in _MEANINGS_OF_WORDS.items())
    return words + html.table(Table(title, columns, rows), sortable=False)


def _list(items: Iterable[str]) -> str:
    return element("ul", *(element("li", item) for item in items), class_="small")
