"""How hard it was tried to break the networks, and what came of it, in tables."""

from collections.abc import Mapping

from algoscope.falsify import Counterexample, Falsification
from algoscope.falsify.result import FamilyRate
from algoscope.markup import element, escape
from algoscope.measures import Judgement
from algoscope.report import html, verdicts
from algoscope.statistics import Estimate
from algoscope.table import Table

_SHARE = "share, 95 % interval"


def falsifications(judgements: Mapping[str, Judgement]) -> dict[str, Falsification]:
    """Of those that were tried, by name."""
    tried = {name: judgement.evidence.falsification for name, judgement in judgements.items()}
    return {name: result for name, result in tried.items() if result is not None}


def counterexamples(results: Mapping[str, Falsification]) -> dict[str, Counterexample]:
    smallest = {name: result.smallest for name, result in results.items()}
    return {name: c for name, c in smallest.items() if c is not None}


def table(subjects: Mapping[str, Judgement], control: Judgement | None) -> str:
    """A row a subject: what was tried, and how often it disagreed. HTML."""
    numbers = ("problems", "families", "nodes", "most steps", "disagreements", _SHARE)
    heads = [
        *(element("th", name, scope="col") for name in ("network", "verdict")),
        *(element("th", name, scope="col", class_="number") for name in numbers),
        element("th", "without any disagreement", scope="col"),
    ]
    rows = []
    for name, result in falsifications(subjects).items():
        judgement = subjects[name]
        least, most = result.sizes
        values = (
            f"{result.problems:,}",
            result.family_count,
            f"{least} to {most}",
            result.steps,
            f"{result.wrong:,}",
            _percent(result.rate),
        )
        rows.append(
            element(
                "tr",
                element("td", escape(name)),
                element("td", verdicts.word(judgement.verdict.word)),
                *(element("td", escape(value), class_="number") for value in values),
                element("td", escape(_region(result))),
                class_="control" if judgement is control else None,
            )
        )
    return html.table_of_elements(heads, rows, "what was tried", dense=True)


def families_table(results: Mapping[str, Falsification]) -> str:
    """How often the networks together disagree in each family. HTML."""
    rates: dict[str, FamilyRate] = {}
    for result in results.values():
        for name, problems, wrong, answers in result.families:
            so_far = rates.get(name, FamilyRate(name, 0, 0, 0))
            rates[name] = FamilyRate(
                name,
                so_far.problems + problems,
                so_far.wrong + wrong,
                so_far.wrong_answers + answers,
            )
    rows = [
        [r.family, f"{r.problems:,}", f"{r.wrong:,}", f"{r.wrong_answers:,}", _percent(r.rate)]
        for r in sorted(rates.values(), key=lambda r: -r.rate.value)
    ]
    columns = ["family", "problems", "disagreements", "wrong answers", _SHARE]
    return html.table(Table("All networks together", columns, rows))


def comparisons_table(smallest: Mapping[str, Counterexample]) -> str:
    """What algorithm and network say where the network is wrong. HTML."""
    rows = [
        [name, c.inputs, *row]
        for name, c in smallest.items()
        for row in c.comparison.rows
        if row[-1]
    ]
    columns = ["network", "problem", "variable", "algorithm", "network says", "wrong at"]
    return html.table(Table("Of each node in order, 0 first", columns, rows), sortable=False)


def _percent(rate: Estimate) -> str:
    # Rounded first, since the lower bound of none is 0 up to rounding.
    value, low, high = (f"{100 * round(number, 9):.3g}" for number in rate)
    return f"{value} % [{low}, {high}]"


def _region(result: Falsification) -> str:
    if result.smallest is None:
        return "everything that was tried"
    return str(result.region) if result.region else "no rule names a region"
