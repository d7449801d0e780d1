"""Chapter: a task with all that was judged for it, networks of whatever run or a user's models."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from algoscope.falsify import Subject
from algoscope.markup import element, escape
from algoscope.report import html, live
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.findings import Findings
from algoscope.runs import Run


class Source(NamedTuple):
    """Subjects of one origin."""

    name: str
    """Of the run, or of the files of a user's own models."""
    findings: Findings
    subjects: Mapping[str, Subject | live.Missing]
    """All that were judged, by the names in the findings; or why one does not run in the page."""
    run: Run | None = None
    """None of a user's own models."""


@dataclasses.dataclass(frozen=True, eq=False)
class Album:
    """The figures of a page, or of a part of one."""

    start: str = ""
    """Of the names of its figures and anchors; empty if there is one part alone."""
    drawn: list[Drawn] = dataclasses.field(default_factory=list)
    """The figures on the page so far, to be saved."""

    def show(self, draw: Callable[..., Drawn], *data: object, end: str = "") -> str:
        """The figure of the data twice: for wide pages, which is also saved, and for a
        telephone."""
        full, narrow = draw(*data, width=style.FULL), draw(*data, width=style.NARROW)
        full = full._replace(name=f"{self.start}{full.name}{end}")
        self.drawn.append(full)
        telephone = style.inline(narrow._replace(name=full.name), "narrow")
        return html.figure(style.inline(full) + telephone, full.caption)

    def show_wide(self, figures: Sequence[Drawn]) -> str:
        """Figures that have one form, and are scrolled on a telephone."""
        named = [f._replace(name=f"{self.start}{f.name}") for f in figures]
        self.drawn.extend(named)
        return "".join(html.figure(style.inline(f, "roomy"), f.caption) for f in named)


@dataclasses.dataclass(frozen=True, eq=False)
class Chapter(Album):
    sources: list[Source] = dataclasses.field(kw_only=True)

    @functools.cached_property
    def findings(self) -> Findings:
        """Those of the runs as one; networks of several runs have the run's name before theirs."""
        first = self.sources[0].findings
        if len(self.sources) == 1:
            return first
        judgements, recordings, rounded = {}, {}, []
        for origin, findings, *_ in self.sources:
            names = {name: f"{origin}, {name}" for name in findings.judgements}
            judgements |= {names[name]: j for name, j in findings.judgements.items()}
            for name, recording in findings.shown.recordings.items():
                recordings[names.get(name, name)] = recording
            rounded += [names[name] for name in findings.rounded]
        shown = first.shown._replace(recordings=recordings)
        return dataclasses.replace(
            first, judgements=judgements, shown=shown, rounded=tuple(rounded)
        )

    @functools.cached_property
    def live(self) -> dict[str, Any]:
        """What the page needs to run the subjects."""
        several = len(self.sources) > 1
        subjects: dict[str, Subject | live.Missing] = {
            f"{source.name}, {name}" if several else name: subject
            for source in self.sources
            for name, subject in source.subjects.items()
        }
        findings, control = self.findings, None
        if findings.program:
            control = f"compiled {findings.program.name}"
            subjects[control] = live.compiled(findings.program)
        return live.data(findings.shown, subjects, findings.words, control, findings.rounded)

    def show_run(self, source: Source, draw: Callable[..., Drawn], *data: object) -> str:
        """A figure of one run, under the run's name where there are several."""
        if len(self.sources) == 1:
            return self.show(draw, *data)
        heading = element("h3", escape(source.name))
        return heading + self.show(draw, *data, end=f"-{self.sources.index(source) + 1}")
