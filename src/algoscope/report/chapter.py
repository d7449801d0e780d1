"""Chapter: a task with all networks that were trained for it, whatever run they are of."""

from typing import NamedTuple

from algoscope.measures import Judgement
from algoscope.report.findings import Findings, Shown
from algoscope.runs import Run


class Source(NamedTuple):
    run: Run
    findings: Findings


class Chapter(NamedTuple):
    task: str
    sources: list[Source]
    start: str
    """Of the names of its figures and anchors; empty if there is one chapter alone."""

    @property
    def several(self) -> bool:
        return len(self.sources) > 1

    @property
    def first(self) -> Findings:
        return self.sources[0].findings

    def named(self, source: Source, name: str) -> str:
        """A network's name, told apart from those of other runs."""
        return f"{source.run.name}, {name}" if self.several else name

    @property
    def judgements(self) -> dict[str, Judgement]:
        return {
            self.named(source, name): judgement
            for source in self.sources
            for name, judgement in source.findings.judgements.items()
        }

    @property
    def words(self) -> dict[str, str]:
        return {name: judgement.verdict.word for name, judgement in self.judgements.items()}

    @property
    def control(self) -> Judgement | None:
        return self.first.control

    @property
    def subjects(self) -> dict[str, Judgement]:
        """All networks, and the compiled program last."""
        program, control = self.first.program, self.control
        compiled = {f"compiled {program.name}": control} if program and control else {}
        return self.judgements | compiled

    @property
    def shown(self) -> Shown:
        """What there is to look at of all runs, which were examined on the same problems."""
        recordings = {}
        for source in self.sources:
            for name, recording in source.findings.shown.recordings.items():
                trained = name in source.findings.judgements
                recordings[self.named(source, name) if trained else name] = recording
        return self.first.shown._replace(recordings=recordings)
