"""The verdict in words and tables: what a reader should know after ten seconds."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from algoscope.markup import element, escape
from algoscope.measures.verdict import FAILS, RUNS, SHORTCUT, THRESHOLDS, UNDECIDED
from algoscope.report.html import scrolled
from algoscope.report.wording import LABELS, PLACES

Judgements = Mapping[str, dict[str, Any]]

SIGNS = {RUNS: "✓", SHORTCUT: "⤳", FAILS: "✗", UNDECIDED: "?", None: "–"}
_ONE = {
    RUNS: "runs {task}",
    SHORTCUT: "takes a shortcut",
    FAILS: "fails",
    UNDECIDED: "remains undecided",
    None: "is not judged",
}
_MANY = {
    RUNS: "run {task}",
    SHORTCUT: "take a shortcut",
    FAILS: "fail",
    UNDECIDED: "remain undecided",
    None: "are not judged",
}
MEANINGS = {
    RUNS: "answers are right, and trace, attention, counterfactuals and exchanged states all agree "
    "with an exact program of the algorithm",
    SHORTCUT: "answers are right, and at least one of the tested numbers contradicts the algorithm",
    FAILS: "answers are wrong at 16 and at 64 nodes",
    UNDECIDED: "neither all numbers agree nor does any contradict",
}
_CARDS = {
    "accuracy": "answers right",
    "moves_large": "trace right",
    "reads_large": "attention as the algorithm’s",
    "interchange": "exchanged state followed",
}


def headline(task: str, judgements: Judgements) -> str:
    """One sentence: who does what."""
    counts = Counter(judgement["verdict"] for judgement in judgements.values())
    if len(judgements) == 1:
        return f"The network {_ONE[next(iter(counts))].format(task=task)}"
    if len(counts) == 1:
        return f"All {len(judgements)} networks {_MANY[next(iter(counts))].format(task=task)}"
    parts = [
        f"{counts[word]} {(_ONE if counts[word] == 1 else _MANY)[word].format(task=task)}"
        for word in _MANY
        if counts[word]
    ]
    return f"Of {len(judgements)} networks, {', '.join(parts[:-1])} and {parts[-1]}"


def lead(judgements: Judgements, control: dict[str, Any] | None) -> str:
    """What speaks for and against, in two sentences. HTML."""
    accuracy = [judgement["accuracy"]["large"] for judgement in judgements.values()]
    low, high = min(accuracy), max(accuracy)
    span = " to ".join(dict.fromkeys((percent(low), percent(high))))
    said = [f"On problems larger than those of training, {span} of the answers are right."]
    if control is None:
        said.append(escape(next(iter(judgements.values()))["reasons"][0]).capitalize() + ".")
        return " ".join(said)
    against = Counter(
        name
        for judgement in judgements.values()
        for name, value in judgement["tested"].items()
        if value is not None and value < THRESHOLDS[name].shortcut_below
    )
    if against:
        most = [f"{escape(LABELS[name])} ({count})" for name, count in against.most_common(3)]
        said.append(
            f"What contradicts the algorithm, with the number of networks: {', '.join(most)}."
        )
    passed = "passes every test" if control["verdict"] == RUNS else f"is {control['verdict']}"
    said.append(f"The same algorithm compiled into weights, the control, {passed}.")
    return " ".join(said)


def percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def cards(judgements: Judgements, control: dict[str, Any] | None) -> str:
    """The means over networks of the numbers that tell most, at 64 nodes."""
    made = []
    for name, label in _CARDS.items():
        values = [_number(judgement, name) for judgement in judgements.values()]
        known = [value for value in values if value is not None]
        if not known:
            continue
        own = None if control is None else _number(control, name)
        beside = "" if own is None else f" <small>compiled {own:.3f}</small>"
        mean = sum(known) / len(known)
        made.append(
            element(
                "div",
                element("dt", escape(label)),
                element("dd", f"{mean:.3f}{beside}"),
            )
        )
    return element("dl", *made, class_="counts")


def _number(judgement: dict[str, Any], name: str) -> float | None:
    if name == "accuracy":
        return judgement["accuracy"]["large"]
    return judgement["tested"].get(name)


def word(verdict: str | None) -> str:
    """With a sign, so that colour is not all that tells."""
    text = verdict or "not judged"
    return element(
        "span", f"{SIGNS[verdict]} {escape(text)}", class_=f"word {verdict or 'unjudged'}"
    )


def seeds_table(judgements: Judgements, control: tuple[str, dict[str, Any]] | None) -> str:
    """A row a network: the verdict and every number that it rests on."""
    everybody = [*judgements.values(), *([control[1]] if control else [])]
    places = ["small", "large"]
    tested = [name for name in THRESHOLDS if any(_number(j, name) is not None for j in everybody)]
    heads = [
        element("th", "network", scope="col"),
        element("th", "verdict", scope="col"),
        *(
            element("th", f"accuracy {place}", scope="col", class_="number",
                    title=f"score of the answers {PLACES[place]}")
            for place in places
        ),
        *(
            element("th", escape(name.replace("_", " ")), scope="col", class_="number",
                    title=LABELS[name])
            for name in tested
        ),
        *([element("th", "nearest reference", scope="col")] if control else []),
    ]  # fmt: skip
    rows = [
        _row(name, judgement, places, tested, bool(control), None)
        for name, judgement in judgements.items()
    ]
    if control:
        rows.append(_row(*control, places, tested, True, "control"))
    limits = "; ".join(
        f"{name.replace('_', ' ')} {THRESHOLDS[name].runs_from:g} / "
        f"{THRESHOLDS[name].shortcut_below:g}"
        for name in tested
    )
    note = f"Runs from / shortcut below: {limits}." if tested else ""
    return scrolled(
        element(
            "table",
            element("thead", element("tr", *heads)),
            element("tbody", *rows),
            class_="sortable",
        ),
        "networks",
        bleed=True,
    ) + element("p", escape(note), class_="muted small")


def _row(name, judgement, places, tested, with_reference: bool, class_: str | None) -> str:
    cells = [element("td", escape(name)), element("td", word(judgement["verdict"]))]
    cells += [_share(judgement["accuracy"].get(place)) for place in places]
    cells += [_tested(test, judgement["tested"].get(test)) for test in tested]
    if with_reference:
        cells.append(element("td", escape(judgement["reference"] or "–")))
    return element("tr", *cells, class_=class_)


def _share(value: float | None) -> str:
    return element("td", "–" if value is None else f"{value:.3f}", class_="number")


def _tested(name: str, value: float | None) -> str:
    if value is None:
        return element("td", "–", class_="number")
    limits = THRESHOLDS[name]
    state = "fine" if value >= limits.runs_from else "doubt"
    state = "against" if value < limits.shortcut_below else state
    return element("td", f"{value:.3f}", class_=f"number {state}")


def reasons(judgements: Judgements) -> str:
    return element(
        "ul",
        *(
            element(
                "li",
                f"{escape(name)}: {word(judgement['verdict'])}"
                + (f" – {escape('; '.join(judgement['reasons']))}" if judgement["reasons"] else ""),
            )
            for name, judgement in judgements.items()
        ),
        class_="small",
    )


def meanings() -> str:
    return element(
        "ul",
        *(element("li", f"{word(name)}: {escape(text)}.") for name, text in MEANINGS.items()),
        class_="small",
    )
