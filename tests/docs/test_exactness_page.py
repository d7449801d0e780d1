"""The page about exactness has the sizes of the compiled programs, and what was measured."""

import collections
import json

import pytest
from pages import ROOT, one_line, read, table

from algoscope import networks, programs, tasks
from algoscope.programs.compiler import compile_program

PAGE = read("docs/explanation/exactness.md")
SHOWN = table(PAGE, "program", "rounds", "64, even")


def results(name: str):
    return json.loads((ROOT / "benchmarks" / name).read_text())


def test_sizes_of_programs():
    assert len(SHOWN.rows) >= 26
    assert len({programs.get(row[0]).task.name for row in SHOWN.rows}) == len(SHOWN.rows)
    for name, *sizes in SHOWN.rows:
        network = compile_program(programs.get(name)).network
        config = network.config
        parameters = sum(array.size for array in networks.arrays(network).values())
        expected = [*map(str, (config.width, config.heads, config.rounds)), f"{parameters:,}"]
        assert sizes[:4] == expected


def test_exact_samples():
    counts = collections.Counter()
    for row in results("exactness.json"):
        if row["precision"] == "float32":
            place = row["program"], f"{row['nodes']}, {row['positions']}"
            counts[(*place, "exact")] += row["exact"]
            counts[(*place, "samples")] += row["samples"]
    for row in SHOWN.rows:
        for column, shown in zip(SHOWN.columns[5:-1], row[5:-1], strict=True):
            place = row[0], column
            tried = counts[(*place, "samples")]
            expected = f"{counts[(*place, 'exact')]} of {tried}" if tried else "–"
            assert shown == expected, place


def test_samples_below_the_margin():
    below = collections.Counter()
    for row in results("exactness.json"):
        if (row["precision"], row["positions"]) == ("float32", "even"):
            below[row["program"]] += row["below"]
            below[row["program"], "followed"] += row["followed"]
    for name, *_, shown in SHOWN.rows:
        assert shown == f"{below[name]} of {below[name, 'followed']}", name


def test_float64():
    rows = [row for row in results("exactness.json") if row["precision"] == "float64"]
    exact, tried = (sum(row[key] for row in rows) for key in ("exact", "samples"))
    count = len({row["program"] for row in rows})
    assert f"In float64, {exact} of {tried} problems of {count} programs are exact." in one_line(
        PAGE
    )


@pytest.mark.parametrize("program", ["floyd_warshall", "lcs_length"])
def test_programs_of_pairs_of_the_examples(program):
    rows = [row for row in results("exactness.json") if row["program"] == program]
    first, *others = [
        f"{row['exact']} of {row['samples']} with {row['nodes']}{'' if k else ' nodes'}"
        for k, row in enumerate(rows)
    ]
    assert [row["nodes"] for row in rows] == [11, 37, 64]
    assert all(row["positions"] == "even" and row["seed"] == 20261 + row["nodes"] for row in rows)
    assert f"seed 20261 + size): {', '.join([first, *others])}." in one_line(PAGE)


def test_every_program_is_exact_at_even_positions():
    for row in SHOWN.rows:
        for shown in row[5:8]:
            exact, tried = map(int, shown.split(" of "))
            assert exact >= 0.99 * tried >= 63, row


def test_every_program_is_exact_at_random_positions_but_those_that_need_even_ones():
    for row in SHOWN.rows:
        shown = dict(zip(SHOWN.columns, row, strict=True))
        assert shown["11, families"] != "–"
        if programs.get(row[0]).needs_even_positions:
            assert shown["11, random"] == shown["64, random"] == "–", row
        else:
            exact, tried = map(int, shown["11, random"].split(" of "))
            assert exact >= 0.99 * tried >= 63, row


def test_no_sample_above_the_margin_is_wrong():
    rows = results("exactness.json")
    assert rows
    assert all(row["wrong_above"] == 0 for row in rows)


def test_costs():
    rows = results("verifying.json")
    assert {row["program"] for row in rows} == {row[0] for row in SHOWN.rows}
    assert all(row["exact_traces"] == row["exact_outputs"] == 1 for row in rows)
    slowest = max(row["verify_seconds"] for row in rows)
    compiled = max(row["compile_seconds"] for row in rows)
    assert slowest < 60
    said = f"at most {compiled:.2f} s of a processor, the command at most {slowest:.0f} s, of two"
    assert said in one_line(PAGE)


def test_mutants():
    measured = results("mutations.json").values()
    noticed, made = (sum(each[key] for each in measured) for key in ("noticed", "mutants"))
    kinds = collections.Counter()
    for each in measured:
        for kind, (some, all_) in each["kinds"].items():
            kinds[kind] += some
            kinds[kind, "all"] += all_
    first = collections.Counter()
    for each in measured:
        first.update(each["first_noticed"])
    assert noticed / made >= 0.95
    assert not any(each["missed"] for each in measured)
    said = (
        f"Of {made} programs that differ from one of {len(measured)} exact ones in one place, "
        f"verification gives away {noticed} ({noticed / made:.1%}): {first['sampler']} on problems"
    )
    assert said in one_line(PAGE)
    assert f"{first['families']} more on the falsifier's families" in one_line(PAGE)
    assert f"{first['small']} on all problems of very few nodes" in one_line(PAGE)
    assert f"{first['margin']} because equal scores" in one_line(PAGE)
    alike = sum(len(each["alike"]) for each in measured)
    assert alike == made - noticed
    assert f"The other {alike} never differed" in one_line(PAGE)
    assert {program.task.name for program in map(programs.get, results("mutations.json"))} == set(
        programs.tasks_with_references()
    )
    names = {
        "negated": "a literal negated",
        "extreme": "a minimum for a maximum or the reverse",
        "class": "another class read",
        "number": "another number",
        "dropped": "a literal dropped",
    }
    for kind, name in names.items():
        assert f"{kinds[kind]} of {kinds[kind, 'all']} with {name}" in one_line(PAGE)


def test_mutants_of_each_program():
    shown = table(PAGE, "program", "mutants", "alike")
    assert shown.rows == [
        [name, str(each["mutants"]), str(each["noticed"]), str(len(each["alike"]))]
        for name, each in results("mutations.json").items()
    ]


def test_parents_by_maxima_over_a_third_node():
    measured = [
        (f"{row['problems_right']} of {row['problems']}", row["nodes"])
        for row in results("triplets.json")
    ]
    first, *between, last = [
        f"{right} problems with {nodes} nodes" if k == 0 else f"{right} with {nodes}"
        for k, (right, nodes) in enumerate(measured)
    ]
    assert f"{first}, {', '.join(between)} and {last}" in one_line(PAGE)


def test_hints_of_pairs_that_no_sum_shows():
    shown = table(read("docs/explanation/exactness.md"), "task", "hint", "beyond any sum")
    measured = json.loads((ROOT / "benchmarks/pairs.json").read_text())
    assert shown.rows == [
        [
            row["task"],
            row["hint"],
            *(str(row[name]) for name in ("nodes", "steps", "beyond")),
            f"{row['bound']:.4f}",
            f"{row['problems_beyond']} of {row['problems']}",
        ]
        for row in measured
    ]
    at_eleven = [row for row in measured if row["nodes"] >= 11]
    assert all((row["problems_beyond"] > 0) is not row["has_program"] for row in at_eleven)
    assert {row["task"] for row in measured if not row["has_program"]} == {
        name for name in tasks.names() if name not in programs.tasks_with_references()
    }


def test_numbers_that_a_node_would_have_to_hold():
    shown = table(PAGE, "task", "numbers of one node in one step: least", "most")
    assert shown.rows == [
        [row["task"], *(f"{row[name]:g}" for name in ("nodes", "least", "median", "most"))]
        for row in results("splits.json")
    ]


def test_ties_that_are_a_program_s_own():
    first, *between, last = [
        f"{name} {'differs on' if k == 0 else 'on'} {row['differ_with_stable_sort']} of "
        f"{row['problems']}{' problems' if k == 0 else ''}"
        for k, (name, row) in enumerate(sorted(results("ties.json").items()))
    ]
    assert f"{first}, {', '.join(between)} and {last}" in one_line(PAGE)
