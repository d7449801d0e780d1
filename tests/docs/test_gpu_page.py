"""docs/how-to/gpu.md and docs/lab/mind-the-gap.md plan minutes: those of the presets."""

import re
import shlex

import pytest
from pages import read, table

from algoscope import experiments
from algoscope.experiments.mind_the_gap import parallel, presets, score_tables, stability

ARMS = {
    arm.name: arm
    for arm in (
        *presets.BASELINES.values(),
        *presets.WITHOUT_TRACES.values(),
        *(arm for shown in score_tables.SCORE_TABLES for arm in shown.arms),
        *stability.ARMS,
        *parallel.ARMS,
    )
}


def _minutes(names) -> str:
    return f"{presets.gpu_minutes([ARMS[name] for name in names]):.1f}"


def test_each_command_for_a_borrowed_gpu_fits_into_its_minutes():
    rows = table(read("docs/how-to/gpu.md"), "command", "minutes, planned").rows
    planned = {row[0].strip("`"): row[1] for row in rows}
    gap = {command: cell for command, cell in planned.items() if "mind-the-gap" in command}
    assert len(gap) == 6
    for command, cell in gap.items():
        _, name, *options = shlex.split(command)
        parts = experiments.get(name).parts("full")
        only = options[1:] or parts
        assert set(only) <= set(parts)
        assert cell == _minutes(only)
        assert float(cell) < 9
    towers = next(shlex.split(command) for command in planned if "transnar" in command)
    assert set(towers[3:]) <= set(experiments.get(towers[1]).parts("full"))


@pytest.mark.parametrize("name", ["table-2", "table-12", "table-13", "table-16"])
def test_the_lab_notes_plan_what_the_presets_plan(name):
    page = read("docs/lab/mind-the-gap.md")
    rows = {row[0].strip("`"): row[-1] for row in table(page, "experiment", "ensembles").rows}
    planned = presets.gpu_minutes(
        [ARMS[part] for part in experiments.get(f"mind-the-gap-{name}").parts("full")]
    )
    said = float(rows[f"mind-the-gap-{name}"])
    assert said == pytest.approx(planned, abs=0.5)


def test_all_of_them_together():
    page = read("docs/lab/mind-the-gap.md")
    (said,) = re.findall(r"planned at (\d+) minutes", page)
    assert said == f"{presets.gpu_minutes(list(ARMS.values())):.0f}"
    (parallel_row,) = re.findall(r"\| (\d+) and more: eight seeds", page)
    assert parallel_row == f"{presets.gpu_minutes(parallel.ARMS):.0f}"
