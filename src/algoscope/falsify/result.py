"""What came of trying to break a subject."""

from typing import NamedTuple

from algoscope import markup
from algoscope.falsify.counterexample import Counterexample
from algoscope.falsify.families import SEARCH, SURVEY
from algoscope.falsify.scope import Region
from algoscope.statistics import Estimate, proportion_of_counts
from algoscope.table import Table


class FamilyRate(NamedTuple):
    family: str
    problems: int
    wrong: int
    """Problems on which the trace or the answer differs."""
    wrong_answers: int

    @property
    def rate(self) -> Estimate:
        return proportion_of_counts(self.wrong, self.problems)


class Falsification(NamedTuple):
    task: str
    families: list[FamilyRate]
    sizes: tuple[int, int]
    """The least and the largest number of nodes."""
    steps: int
    """The most steps that the algorithm took on a problem."""
    left_out: int
    """Problems that do not count: beyond the certificate, with too long a trace, or with ties that
    only the processor's sorting decides."""
    certified: bool
    """Whether problems beyond a certificate were left out."""
    tolerance: float
    """Within which numbers agree."""
    region: Region | None
    """The scope, if there are disagreements and it has one."""
    smallest: Counterexample | None

    @property
    def problems(self) -> int:
        return sum(family.problems for family in self.families)

    @property
    def wrong(self) -> int:
        return sum(family.wrong for family in self.families)

    @property
    def agreement(self) -> float:
        """The share of problems without a disagreement, those of the search counted."""
        return 1 - self.wrong / self.problems if self.problems else float("nan")

    @property
    def rate(self) -> Estimate:
        """The share of problems with a disagreement over all families. The search, which looks for
        them, is not counted, nor the survey, which would outweigh them."""
        families = self._constructed
        return proportion_of_counts(
            sum(family.wrong for family in families), sum(family.problems for family in families)
        )

    @property
    def family_count(self) -> int:
        """Of problems by construction."""
        return len(self._constructed)

    @property
    def _constructed(self) -> list[FamilyRate]:
        return [family for family in self.families if family.family not in (SEARCH, SURVEY)]

    @property
    def extent(self) -> str:
        """How hard the subject was tested."""
        names = [family.family for family in self.families]
        searched = "".join(f" and a {name}" for name in (SEARCH, SURVEY) if name in names)
        least, most = self.sizes
        certificate = f", {self.left_out:,} beyond the certificate left out" * self.certified
        return (
            f"{self.problems:,} problems of {self.family_count} families{searched}, "
            f"sizes {least} to {most}, up to {self.steps} steps{certificate}"
        )

    def __str__(self) -> str:
        if self.smallest is None:
            return f"no disagreement in {self.extent}"
        rate = self.rate
        return (
            f"{self.wrong:,} disagreements in {self.extent}; in "
            f"{100 * rate.value:.3g} % [{100 * rate.low:.3g}, {100 * rate.high:.3g}] of the "
            f"families' problems; smallest counterexample: {self.smallest}"
        )

    def table(self) -> Table:
        rows = [
            [f.family, f"{f.problems:,}", f"{f.wrong:,}", f"{f.wrong_answers:,}", str(f.rate)]
            for f in self.families
        ]
        columns = ["family", "problems", "disagreements", "wrong answers", "share"]
        return Table(str(self), columns, rows)

    def _repr_html_(self) -> str:
        """For notebooks: how often each family disagrees."""
        return markup.table(self.table())
