"""An examination as a folder (`examination.json`, `page.html`), as tables, and as a page."""

import json
import pathlib
from typing import Any

import numpy as np

from algoscope import files, statistics
from algoscope.llm.examination import Causal, Examination
from algoscope.llm.scopes import Broken
from algoscope.markup import element, escape
from algoscope.report import html
from algoscope.report.chapter import Album
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.html import Section
from algoscope.serialise import to_json
from algoscope.table import Table
from algoscope.verdict import APPROXIMATES, FAILS, RUNS, RUNS_UP_TO, SHORTCUT, UNDECIDED

_MEANINGS = {
    RUNS: "No problem was found that it answers wrong, and states that are exchanged between "
    "prompts lead where the algorithm says.",
    RUNS_UP_TO: "In the region that is named no answer is wrong, and states that are exchanged "
    "between prompts lead where the algorithm says; outside, answers are wrong.",
    APPROXIMATES: "States that are exchanged between prompts lead where the algorithm says; some "
    "answers are wrong, and no rule says which.",
    SHORTCUT: "Its answers are those of a heuristic, also where that is wrong.",
    FAILS: "Its answers are not more than half right in every case, so there is no mechanism to "
    "explain.",
    UNDECIDED: "It answers better than chance, and at least one condition for an algorithm is not "
    "met.",
}


def examination_json(found: Examination) -> dict[str, Any]:
    whole = {name: to_json(getattr(found, name)) for name in ("subject", "task", "seed", "seconds")}
    whole |= {"verdict": to_json(found.verdict) | {"text": str(found.verdict)}}
    whole |= {"options": list(found.options), "answers": to_json(found.answers)}
    whole["items"] = [
        {"prompt": item.prompt, "pair": item.pair, "case": item.case, "size": dict(item.size)}
        | {"right": found.options[item.right], "odds": odds.tolist()}
        for item, odds in zip(found.items, found.odds, strict=True)
    ]
    whole["broken"] = None if found.broken is None else _broken_json(found.broken, found.options)
    whole["causal"] = None if found.causal is None else _causal_json(found.causal)
    return whole


def _broken_json(broken: Broken, options: tuple[str, ...]) -> dict[str, Any]:
    return {
        "problems": [
            {"prompt": one.problem.prompt, "size": dict(one.problem.size)}
            | {"right": options[one.problem.right], "said": options[one.said]}
            for one in broken.posed
        ],
        "region": None if broken.region is None else dict(broken.region.most),
        "wrong": to_json(broken.wrong),
    }


def _causal_json(causal: Causal) -> dict[str, Any]:
    return {
        "exchanges": [
            {
                "base": one.trial.base.prompt,
                "donor": one.trial.donor.prompt,
                "sentences": None if one.trial.sentences is None else one.trial.sentences.tolist(),
                "plain": one.plain.tolist(),
                "patched": one.patched.tolist(),
            }
            for one in causal.tried
        ],
        "left_out": causal.left_out,
        "fits": [
            {"algorithm": f.name, "keeps": f.machine.keeps}
            | {
                name: to_json(getattr(f, name))
                for name in ("clock", "agreement", "contested", "share", "steps")
            }
            for f in causal.fits
        ],
        "rivals": [
            {"algorithm": r.fit.name, "above": to_json(r.above), "problems": r.mazes}
            for r in causal.rivals
        ],
        "others": None if causal.others is None else causal.others.effects.tolist(),
        "variables": to_json(causal.variables),
        "ready": to_json(causal.ready),
    }


def tables(found: Examination) -> dict[str, Table]:
    """What the command line prints and the page shows, by subject."""
    answers = found.answers
    shown = {
        "accuracy": Table(
            f"{found.subject}: {found.asks}, {len(found.items)} items "
            f"(random weights: {answers.random_weights} right)",
            ["case", "right", "items"],
            [[case.case, str(case.accuracy), str(case.count)] for case in answers.cases],
        ),
        "heuristics": Table(
            "answers against heuristics",
            ["heuristic", "same answer", "where it is wrong", "items there"],
            [
                [a.heuristic, str(a.agreement), str(a.where_wrong), str(a.wrong)]
                for a in answers.agreements
            ],
        ),
    }
    if found.broken is not None:
        shown["problems"] = _by_size(found.broken)
    if found.causal is not None and found.causal.fits:
        shown |= _causal(found.causal)
    return shown | {"verdict": found.verdict.table}


def _by_size(broken: Broken) -> Table:
    rows = []
    for name in broken.posed[0].problem.size:
        for value in sorted({one.problem.size[name] for one in broken.posed}):
            right = [one.right for one in broken.posed if one.problem.size[name] == value]
            rows.append([name, str(value), str(statistics.proportion(right)), str(len(right))])
    title = f"problems that it is to break on: {broken.tried}"
    return Table(title, ["size", "", "right", "problems"], rows)


def _causal(causal: Causal) -> dict[str, Table]:
    return {
        "exchanges": Table(
            f"what exchanged states lead to, as each algorithm predicts it: {len(causal.tried)} "
            f"exchanges after each layer, {causal.left_out} left out",
            ["algorithm", "keeps", "agreement", "contested", "share", "steps by layer"],
            [
                [
                    f.name,
                    f.machine.keeps,
                    str(f.agreement),
                    str(f.contested),
                    str(f.share) if np.isfinite(f.share.value) else "–",
                    " ".join(map(str, f.clock)),
                ]
                for f in causal.fits
            ],
        ),
        "variables": Table(
            "the variables of the best algorithm in the question's states",
            ["step", "after layer", "read from a linear probe (chance: 0.5)"],
            [[str(v.step), str(v.layer), str(v.read)] for v in causal.variables],
        ),
    }


def page(found: Examination) -> str:
    results = tables(found)

    def shown(*names: str) -> str:
        return "".join(_unfolded(results[name]) for name in names if name in results)

    reasons = [
        element("li", f"{'✓' if c.met else '✗'} {escape(c.text)}") for c in found.verdict.conditions
    ]
    opening = [
        element("h1", escape(f"{found.subject}: {found.verdict}")),
        element("p", _MEANINGS[found.verdict.word]),
        element("ul", *reasons),
        element(
            "p", escape(f"{found.task}: {found.asks}; {len(found.items)} items, seed {found.seed}.")
        ),
    ]
    if found.causal is not None and found.causal.fits:
        with style.styled():
            opening.append(Album().show(_agreement, found.causal))
    example = element("pre", escape(found.items[0].prompt), tabindex="0", class_="text")
    evidence = {
        "Answers": ("What it answers", shown("accuracy", "heuristics")),
        "Problems": ("Where is it right?", shown("problems")),
        "Exchanges": ("What exchanged states lead to", shown("exchanges", "variables")),
        "Item": ("An item", example),
    }
    sections = [Section("verdict", "Verdict", "".join(opening))]
    sections += [
        Section(title.lower(), title, element("h2", heading) + text)
        for title, (heading, text) in evidence.items()
        if text
    ]
    return html.page(f"{found.subject}: {found.verdict}", sections)


def _unfolded(table: Table) -> str:
    return element("details", element("summary", escape(table.title)), html.table(table), open="")


def _agreement(causal: Causal, width: float = style.FULL) -> Drawn:
    """How well each algorithm predicts exchanges after each layer."""
    values = np.array([fit.held_out.mean(0) for fit in causal.fits])
    figure = style.sheet(width, 0.3 * len(values) + 1.5)
    axes = figure.subplots()
    image = axes.imshow(values, aspect="auto", cmap="viridis", vmin=0, vmax=1)
    axes.set_yticks(range(len(values)), [fit.name for fit in causal.fits])
    axes.set_xlabel("states exchanged after layer")
    figure.colorbar(image)
    return Drawn(
        "agreement",
        figure,
        "How far answers go where each algorithm says, when states of the question or of sentences "
        "are another prompt's from a layer on; problems that its clock was not fitted on",
        "heat map: agreement of each algorithm after each layer",
    )


def write_folder(found: Examination, folder: pathlib.Path) -> None:
    """Refuses a folder that exists."""

    def fill(temporary: pathlib.Path) -> None:
        text = json.dumps(examination_json(found), indent=1) + "\n"
        (temporary / "examination.json").write_text(text, encoding="utf-8")
        (temporary / "page.html").write_text(page(found), encoding="utf-8")

    files.place_new(folder, fill)
