"""The sections of a chapter of the report, in their order: `SECTIONS`.

A new one is a function from a chapter, which draws its figures, to HTML, and a line in `SECTIONS`.
"""

import textwrap
from collections.abc import Callable
from typing import NamedTuple

from algoscope import programs, tasks
from algoscope.markup import element, escape
from algoscope.report import attempts, html, live, provenance, verdicts
from algoscope.report.chapter import Chapter
from algoscope.report.figures import (
    accuracy,
    attention,
    counterexamples,
    distances,
    evidence,
    landscape,
    traces,
    training,
    weights,
)
from algoscope.report.html import Section

_MOST_DRAWN = 8
"""Counterexamples in one figure."""


class _Part(NamedTuple):
    anchor: str
    title: str
    """In the bar at the top of the page."""
    heading: str
    body: Callable[[Chapter], str]
    """HTML; empty where there is nothing to show."""


def sections(chapter: Chapter) -> list[Section]:
    made = []
    for part in SECTIONS:
        if body := part.body(chapter):
            heading = element("h2", part.heading) if part.heading else ""
            made.append(Section(f"{chapter.start}{part.anchor}", part.title, heading + body))
    return made


def _verdict(chapter: Chapter) -> str:
    findings = chapter.findings
    judgements, control = findings.judgements, findings.control
    count = len(judgements)
    who = "Does this network" if count == 1 else f"Do these {count} networks"
    question = escape(f"{who} run {findings.task}, or a shortcut?")
    return (
        element("p", question, class_="question", title=tasks.get(findings.task).summary)
        + element("h1", escape(verdicts.headline(findings.task, judgements)) + ".")
        + element("p", verdicts.lead(judgements, control), class_="lead")
        + verdicts.cards(judgements, control)
        + (chapter.show(evidence.draw, judgements, control) if control else "")
        + "<h2>Every network</h2>"
        + verdicts.seeds_table(findings.subjects, control)
        + element(
            "details",
            element("summary", "The reasons of each verdict, and what words and numbers mean"),
            verdicts.reasons(judgements),
            verdicts.meanings(),
            '<p class="small">How the thresholds were fixed, and how often the verdict errs on '
            "compiled programs of known truth, is in docs/explanation/verdict.md.</p>",
        )
    )


def _accuracy(chapter: Chapter) -> str:
    judgements, control = chapter.findings.judgements, chapter.findings.control
    return chapter.show(accuracy.draw, judgements, control) if control else ""


def _attempts(chapter: Chapter) -> str:
    findings = chapter.findings
    results = attempts.falsifications(findings.judgements)
    if not results:
        return ""
    made = (
        "lines, trees and other graphs of every depth, ties, tiny and nearly equal numbers, every "
        "source, other labels, other sizes"
        if "A" in findings.shown.batch.inputs
        else "numbers in order, equal and nearly equal ones, tiny and large ones, other sizes"
    )
    text = (
        f"<p>Problems by construction go where those of training do not: {made}. Then a search "
        "starts from the problems that were decided most narrowly, and changes them a little at a "
        "time. A network disagrees if any step of its trace, or its answer, is not the "
        "algorithm's. The share is that of the problems by construction.</p>"
        + attempts.table(findings.subjects, findings.control)
    )
    smallest = attempts.counterexamples(results)
    names = list(smallest)
    parts = [names[k : k + _MOST_DRAWN] for k in range(0, len(names), _MOST_DRAWN)]
    figures = [
        chapter.show(
            counterexamples.draw,
            {name: smallest[name] for name in part},
            end=f"-{number}" if number > 1 else "",
        )
        for number, part in enumerate(parts, 1)
    ]
    if figures:
        text += figures[0] + attempts.comparisons_table({n: smallest[n] for n in parts[0]})
    if len(figures) > 1:
        rest = {name: c for name, c in smallest.items() if name not in parts[0]}
        text += element(
            "details",
            element("summary", "The counterexamples of the other networks"),
            *figures[1:],
            attempts.comparisons_table(rest),
        )
    return text + element(
        "details",
        element("summary", "Family by family"),
        attempts.families_table(results),
    )


def _attention(chapter: Chapter) -> str:
    findings, shown = chapter.findings, chapter.findings.shown
    showing = {name: r for name, r in shown.recordings.items() if r.has_attention}
    if not set(findings.judgements) & set(showing):
        return ""
    scores = {name: j.evidence.accuracy["large"] for name, j in findings.judgements.items()}
    return chapter.show(attention.draw, shown._replace(recordings=showing), scores, findings.words)


def _explorer(chapter: Chapter) -> str:
    data = explorer_data_id(chapter)
    own = (
        ""
        if "reason" in chapter.live
        else "<p><strong>Draw a graph of your own</strong> and the networks run on it here, as you "
        "draw; below each matrix stand its hidden states, a row a node. Search for a graph on "
        "which one of them is not the algorithm; switch heads off, pin what a node reads, put in a "
        "state from another run.</p>"
    )
    return (
        "<p>Two subjects on the same problem. Arrows point to the node that reads, a ring is what "
        "it reads of itself, the stronger the more; below, the same as a matrix (row reads column) "
        "and every variable against the reference trace. Filled nodes have their mask set; what is "
        "wrong has a cross and a dashed outline. Choose a node to see its own reading. Keys, once "
        "the box is chosen: <kbd>←</kbd> <kbd>→</kbd> step, <kbd>space</kbd> plays.</p>"
        + own
        + element("div", class_="explorer", data_from=data, role="group", aria_label="explorer")
        + element("p", escape(live.account(chapter.live)), class_="muted small")
        + "<noscript><p>The explorer needs JavaScript.</p></noscript>"
    )


def explorer_data_id(chapter: Chapter) -> str:
    """Of the element that holds the explorer's data."""
    return f"{chapter.start}explored"


def _trace(chapter: Chapter) -> str:
    findings = chapter.findings
    if not any(judgement.evidence.external for judgement in findings.judgements.values()):
        return ""
    return chapter.show(traces.draw, findings.judgements, findings.control)


def _distances(chapter: Chapter) -> str:
    return "".join(
        chapter.show_run(s, distances.draw, s.findings.distances)
        for s in chapter.sources
        if s.findings.distances is not None
    )


def _program(chapter: Chapter) -> str:
    program = chapter.findings.program
    if program is None:
        return ""
    verification = program.verification
    certificate = verification.certificate
    certified = {
        "hidden units per node": program.width,
        "parameters": f"{program.parameters:,}",
        "checked on": f"{verification.samples} problems of {verification.nodes} nodes",
        "traces exact at every step": verdicts.percent(verification.network.exact_traces),
        "answers exact": verdicts.percent(verification.network.exact_outputs),
        "problems too close for float32": verification.below_margin,
        "sharpness of attention": f"{certificate.sharpness:.3g}",
        "a choice has to be ahead by": f"{certificate.margin:.2g}",
        "nodes at even positions": f"up to {certificate.largest_uniform_size:,}",
        "nodes at random positions": f"up to {certificate.largest_random_size:,}",
    }
    references = programs.of_task(chapter.findings.task, programs.Role.REFERENCE)
    others = ", ".join(sorted({p.name for p in references} - {program.name}))
    also = f" Other exact programs of the class: {others}." if others else ""
    is_nearest = any(j.evidence.internal for j in chapter.findings.judgements.values())
    why = " whose attention is nearest to most of the networks" if is_nearest else ""
    return (
        f"<p><code>{escape(program.name)}</code> is the exact program{why}.{escape(also)} This is "
        "its source, all of it; the compiler turns it into the weights below, which run through "
        "the same code as trained ones.</p>"
        + element("pre", escape(textwrap.dedent(program.text).strip()), tabindex="0")
        + "<h3>Certificate</h3>"
        + html.facts(certified)
        + "<h3>Weights</h3>"
        + chapter.show_wide(weights.draw(program.name))
    )


def _landscape(chapter: Chapter) -> str:
    return "".join(
        chapter.show_run(s, landscape.draw, s.findings.landscapes)
        for s in chapter.sources
        if s.findings.landscapes
    )


def _provenance(chapter: Chapter) -> str:
    return "".join(
        chapter.show_run(s, training.draw, s.run, s.findings.task)
        + provenance.section(s.run, s.findings)
        if s.run
        else provenance.own_section(s.name, s.findings)
        for s in chapter.sources
    )


SECTIONS = (
    _Part("verdict", "Verdict", "", _verdict),
    _Part("accuracy", "Accuracy", "Right answers, and what is behind them", _accuracy),
    _Part("attempts", "Attempts", "How we tried to break them", _attempts),
    _Part("attention", "Attention", "What they read, step by step", _attention),
    _Part("explore", "Explorer", "Look for yourself", _explorer),
    _Part("trace", "Trace", "Where they leave the trace", _trace),
    _Part("distances", "Distances", "Do the seeds find the same thing?", _distances),
    _Part("program", "Program", "The compiled program", _program),
    _Part("landscape", "Landscape", "The loss around the weights", _landscape),
    _Part("made", "Made by", "How this was made", _provenance),
)
