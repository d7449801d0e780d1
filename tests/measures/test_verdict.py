"""The verdict: its rules, and subjects without a network whose truth is known."""

import dataclasses
import json
import math
import pathlib

import jax
import numpy as np
import pytest
import torch
from measures.conftest import interpreted

from algoscope import measures, networks, programs, tasks
from algoscope.falsify import Counterexample, Falsification, Region
from algoscope.falsify.result import FamilyRate
from algoscope.falsify.scope import Rule
from algoscope.measures import Evidence, Judgement, summary, thresholds
from algoscope.measures.evidence import decisive_evidence
from algoscope.measures.examination import examination
from algoscope.measures.thresholds import CRITERIA, SOLVES
from algoscope.measures.trace_match import External
from algoscope.measures.verdict import conclude, examine
from algoscope.measures.verdict import decide as decide_by
from algoscope.programs.interpreter import follow
from algoscope.recording import Recording
from algoscope.serialise import from_json, to_json
from algoscope.statistics import Estimate

ROOT = pathlib.Path(__file__).parents[2]
RIGHT = {"small": 1.0, "large": 1.0}
PERFECT = dict.fromkeys(CRITERIA, 1.0)
nan = float("nan")
FEW = 300
"""Problems that the falsifier tries."""


def falsification(wrong: int = 0, region: Region | None = None) -> Falsification:
    families = [FamilyRate("line", 100, wrong, wrong)]
    problem, said = {"A": [[0.0, 1.0], [1.0, 0.0]], "s": [0]}, {"pi": [[0.0, 1.0]]}
    smallest = Counterexample("line", "bfs", problem, {}, said, True, -1, {"pi": [1]})
    return Falsification(
        "bfs", families, (4, 16), 15, 0, False, 1e-4, region, smallest if wrong else None
    )


NONE, SOME = falsification(), falsification(3)
BOUNDED = falsification(3, Region([Rule("steps", True, 9.0)], 90, Estimate(0.9, 0.5, 1.0)))


def decide(accuracy, tested, tried=NONE):
    verdict = decide_by(accuracy, tested, "bfs", tried)
    return verdict.word, verdict.reasons


def test_everything_right_is_runs():
    assert decide(RIGHT, PERFECT) == ("runs", [])


def test_a_certificate_that_leaves_most_problems_out_decides_nothing():
    excused = NONE._replace(certified=True, left_out=101)
    reason = "more problems lie beyond the certificate than within it"
    assert decide(RIGHT, PERFECT, excused) == ("undecided", [reason])
    assert decide(RIGHT, PERFECT, excused._replace(left_out=100))[0] == "runs"


def test_wrong_answers_at_both_sizes_fail_whatever_else_is_right():
    below = SOLVES - 0.01
    assert decide({"small": below, "large": 0.2}, PERFECT)[0] == "fails"
    assert decide({"small": below, "large": 1.0}, PERFECT)[0] == "runs"


@pytest.mark.parametrize("name", CRITERIA)
def test_without_a_disagreement_each_number_alone_casts_doubt(name):
    label, runs_from = CRITERIA[name].label, CRITERIA[name].runs_from
    low = runs_from - 0.01
    expected = ("undecided", [f"{label} {low:.3f}, below {runs_from:g}"])
    assert decide(RIGHT, PERFECT | {name: low}) == expected


@pytest.mark.parametrize("name", [c.key for c in CRITERIA.values() if c.shortcut_below])
def test_with_a_disagreement_a_number_that_contradicts_makes_a_shortcut(name):
    label, below = CRITERIA[name].label, CRITERIA[name].shortcut_below
    expected = ("shortcut", [f"{label} {below - 0.01:.3f}, below {below:g}"])
    tested = PERFECT | {name: below - 0.01}
    assert decide(RIGHT, tested, SOME) == expected
    # Within a region moves are right, whatever they are outside.
    bounded = "shortcut" if CRITERIA[name].is_mechanism else "runs up to"
    assert decide(RIGHT, tested, BOUNDED)[0] == bounded


def test_disagreements_approximate_and_have_a_scope_where_a_region_is_without():
    assert decide(RIGHT, PERFECT, SOME)[0] == "approximates"
    assert decide(RIGHT, PERFECT, BOUNDED)[0] == "runs up to"
    assert str(decide_by(RIGHT, PERFECT, "bfs", BOUNDED)) == "runs bfs up to steps ≤ 9"
    # Coarse comparisons outside the region are no reason, an unclear mechanism is.
    assert decide(RIGHT, PERFECT | {"flips": 0.3}, BOUNDED)[0] == "runs up to"
    assert decide(RIGHT, PERFECT | {"reads_deep": 0.93}, BOUNDED)[0] == "approximates"
    # Reading otherwise than any reference is no shortcut by itself.
    assert decide(RIGHT, PERFECT | {"reads_deep": 0.1}, SOME)[0] == "approximates"


def test_what_disagrees_often_approximates_nothing():
    at_most, often = falsification(10), falsification(11)
    assert decide(RIGHT, PERFECT, at_most)[0] == "approximates"
    reason = "disagreements on 0.110 of the families' problems, above 0.1"
    assert decide(RIGHT, PERFECT, often) == ("shortcut", [reason])
    # Beyond a scope disagreements may be as frequent as they are.
    assert decide(RIGHT, PERFECT, often._replace(region=BOUNDED.region))[0] == "runs up to"
    near = "share of disagreements 0.100 is near 0.1, beyond which the word is shortcut"
    assert judgement_of(RIGHT, PERFECT, at_most).near == [near]


def judgement_of(accuracy, tested, tried) -> Judgement:
    """With evidence of which nothing but these numbers is known."""
    external = {
        place: External({}, nan, nan, tested[f"moves_{place}"]) for place in thresholds.PLACES
    }
    reads = {place: tested[f"reads_{place}"] for place in thresholds.PLACES}
    return conclude(Evidence(accuracy, external, reads=reads), tried, {})


def test_words_that_hang_on_a_threshold_say_so():
    scores = {"small": 0.905, "large": 0.4}
    fine = judgement_of(scores, PERFECT, NONE)
    assert fine.near == ["accuracy 0.905 is near 0.9, beyond which the word is fails"]
    assert judgement_of({"small": 0.8998, "large": 0.4}, PERFECT, NONE).near == [
        "accuracy 0.8998 is near 0.9, beyond which the word is runs"
    ]
    assert judgement_of(RIGHT, PERFECT | {"moves_large": 0.955}, SOME).near == [
        "moves large 0.955 is near 0.95, beyond which the word is shortcut"
    ]
    # What decides nothing is not near, however close.
    assert judgement_of(RIGHT, PERFECT | {"moves_large": 0.955, "moves_deep": 0.2}, SOME).near == []
    assert judgement_of(RIGHT, PERFECT, NONE).near == []
    assert "near 0.9" in fine._repr_html_()


def test_numbers_of_a_table_are_on_their_side_of_the_limits_beside_them():
    tested = PERFECT | {"moves_large": 0.97996, "reads_large": 0.9496}
    table = summary.table(
        "bfs", {"mine": judgement_of({"small": 0.8998, "large": 0}, tested, NONE)}
    )
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["moves large"] == ["0.97996", "0.98", "0.95"]
    assert rows["reads large"] == ["0.9496", "0.95", "0"]
    assert rows["accuracy small"] == ["0.8998", "", ""]


def test_a_wrong_program_that_explains_is_named():
    tested = PERFECT | {"moves_deep": 0.5}
    assert str(decide_by(RIGHT, tested, "bfs", SOME, "bfs_leaping")) == "shortcut (bfs_leaping)"


def test_what_does_not_apply_is_left_out_and_what_is_needed_is_missed():
    none = float("nan")
    assert decide(RIGHT, PERFECT | {"flips": none, "still": none})[0] == "runs"
    word, reasons = decide(RIGHT, PERFECT | {"moves_small": none})
    assert (word, reasons) == ("undecided", ["moves small was not measured"])


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("bfs_locked", "runs"),
        ("bfs_two_heads", "runs"),
        ("bfs_two_hops", "shortcut"),
        ("bfs_leaping", "shortcut"),
        ("bfs_highest", "fails"),
    ],
)
def test_known_mechanisms_of_bfs(name, word):
    judgement = measures.judge(interpreted(name), "bfs", problems=FEW)
    assert judgement.verdict.word == word, judgement.verdict.reasons
    assert judgement.verdict.which in (name, "bfs", "bfs_locked", "bfs_self")
    assert judgement.evidence.interchange is None


@pytest.mark.parametrize(
    ("name", "word"), [("minimum_by_state", "runs"), ("minimum_at_once", "shortcut")]
)
def test_known_mechanisms_of_a_task_without_edges(name, word):
    assert measures.judge(interpreted(name), "minimum", problems=FEW).verdict.word == word


def test_sparse_graphs_show_what_happens_after_the_first_tree():
    """Depth-first search that goes on with the last unvisited node instead of the first."""
    program = programs.load(ROOT / "benchmarks/programs/blind/dfs_highest_root.program")
    exam = examination("dfs", 0, small_count=6, large_count=1)

    def record(batch):
        return jax.tree.map(np.asarray, follow(program, batch).recording)

    judgement = examine(record, exam, problems=60)
    tested = judgement.evidence.tested
    assert {tested[f"moves_{place}"] for place in ("small", "large", "deep")} == {1.0}
    assert judgement.verdict.word == "shortcut"
    assert judgement.verdict.reasons[0].startswith("moves sparse")


def test_the_nearest_reference_is_named_and_the_class_is_at_distance_zero():
    judgement = measures.judge(interpreted("bfs_self"), "bfs", problems=FEW)
    assert str(judgement.verdict) == "runs bfs_self"
    assert judgement.evidence.nearest.eq24 == 0
    assert {gap.reference for gap in judgement.evidence.internal} == {
        "bfs",
        "bfs_locked",
        "bfs_self",
    }


def test_a_subject_without_hints_is_undecided():
    def silent(batch):
        return dataclasses.replace(interpreted("bfs")(batch), hints={})

    judgement = measures.judge(silent, "bfs", problems=FEW)
    assert judgement.verdict.word == "undecided"
    assert "moves small was not measured" in judgement.verdict.reasons


def recorded_without(name: str, *parts: str):
    """A subject that does what the program does, and shows all but these parts."""

    def record(batch):
        whole = interpreted(name)(batch)
        return Recording.from_arrays(
            attention=None if "attention" in parts else whole.attention,
            hidden=None if "states" in parts else whole.hidden,
            hints={k: v for k, v in whole.hints.items() if k not in parts and "trace" not in parts},
            outputs=whole.outputs,
            lengths=whole.lengths,
        )

    return record


@pytest.mark.parametrize(
    ("parts", "said", "reason"),
    [
        (("pi_h",), "no hint pi_h", "the hint pi_h was not recorded"),
        (("attention",), "no attention", "reads small was not measured"),
        (("trace",), "no trace", "moves large was not measured"),
        (("attention", "states"), "no attention, no states", "reads large was not measured"),
        (
            ("attention", "states", "reach_h"),
            "no hint reach_h",
            "the hint reach_h was not recorded",
        ),
        (("attention", "states", "trace"), "no states, no trace", "moves small was not measured"),
    ],
)
def test_what_a_subject_does_not_show_is_asked_for_and_missed_in_the_word(parts, said, reason):
    lines = []
    right = recorded_without("bfs", *parts)
    judgement = measures.judge(right, "bfs", problems=FEW, report=lines.append)
    assert said in lines[0]
    assert lines[0].endswith("cannot be said to run bfs")
    assert judgement.verdict.word == "undecided"
    assert reason in judgement.verdict.reasons
    assert json.dumps(to_json(judgement._replace(recordings={})), allow_nan=False)
    summary.table("bfs", {"mine": judgement})
    judgement._repr_html_()
    wrong = recorded_without("bfs_two_hops", *parts)
    assert measures.judge(wrong, "bfs", problems=FEW).verdict.word in ("shortcut", "approximates")


def test_states_decide_no_word():
    judgement = measures.judge(recorded_without("bfs", "states"), "bfs", problems=FEW)
    assert judgement.verdict.word == "runs"


def test_a_hint_that_was_not_compared_allows_no_scope():
    verdict = decide_by(RIGHT, PERFECT, "bfs", BOUNDED, None, ["reach_h"])
    assert verdict.word == "approximates"
    assert verdict.reasons == ["the hint reach_h was not recorded"]


@pytest.mark.parametrize(
    ("name", "word", "said"),
    [
        ("bfs", "undecided", "undecided"),
        ("bfs_two_hops", "shortcut", "shortcut"),
        ("bfs_highest", "fails", "fails"),
    ],
)
def test_answers_alone_allow_no_runs(name, word, said):
    subject = interpreted(name)
    judgement = measures.judge(lambda batch: subject(batch).outputs, "bfs", problems=FEW)
    verdict = judgement.verdict
    assert verdict.word == word
    assert str(verdict).startswith(said)
    assert judgement.recordings == {}
    assert set(judgement.evidence.accuracy) == {"small", "large", "deep", "sparse"}
    if word == "undecided":
        assert verdict.scope.startswith("no disagreement in ")
        assert "reads small was not measured" in verdict.reasons
    else:
        assert judgement.evidence.falsification is not None
        smallest = judgement.evidence.falsification.smallest
        assert smallest is not None
        assert smallest.wrong_answer
        assert smallest.hints == {}


def test_answers_that_do_not_fit_are_refused_by_name():
    for outputs, message in (
        ({}, r"outputs\['pi'\]: got none, needed it with the shape \[2, 16\]"),
        ({"pi": np.zeros(3)}, r"outputs\['pi'\]: got shape \[3\], needed"),
        ({"pi": np.full((2, 16), "x")}, r"outputs\['pi'\]: got <U1, needed numbers"),
        ({"pi": np.zeros((2, 16)), "po": 0}, "outputs: unknown output of bfs: 'po'; did you mean"),
        (None, "subject: got NoneType for a batch of bfs, needed a Recording"),
        ({"pi": [[0], [1, 2]]}, r"outputs\['pi'\]: got .* \(rows of different lengths\)"),
        ({"pi": np.ma.masked_all((2, 16))}, r"outputs\['pi'\]: got masked values, needed"),
        ({"pi": torch.zeros(2, 16, requires_grad=True)}, r"outputs\['pi'\]: .*tensor\.detach\(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            measures.judge(lambda batch, outputs=outputs: outputs, "bfs", problems=FEW)


def test_a_judgement_survives_json_and_has_tables():
    judgement = measures.judge(interpreted("bfs"), "bfs", problems=FEW)._replace(recordings={})
    content = json.loads(json.dumps(to_json(judgement), allow_nan=False))
    again = from_json(Judgement, content)
    assert to_json(again) == content
    assert again.verdict == judgement.verdict
    assert np.isnan(again.evidence.tested["flips"])
    gaps = {gap.reference: gap for gap in again.evidence.internal}
    assert gaps["bfs"].eq24 == 0
    assert gaps["bfs_locked"].by_rows["decisive"].total_variation == 0
    assert set(again.evidence.scaled) == {"uniform", "permuted", "wrong"}
    assert {null["l1"].scaled for null in again.evidence.scaled.values()} == {(1, 1, 1)}
    table = summary.table("bfs", {"mine": again})
    assert table.columns == ["", "mine", "runs from", "shortcut below"]
    assert {len(row) for row in table.rows} == {4}
    many = summary.seeds_table("bfs", {f"seed {k}": again for k in range(3)})
    assert len(many.rows) == 3
    assert many.rows[0][1] == "runs"


def test_it_holds_the_recordings_that_it_was_made_from():
    subject, exam = interpreted("bfs"), examination("bfs")
    recordings = measures.judge(subject, "bfs", problems=FEW).recordings
    for place, batch in (("small", exam.small), ("large", exam.large)):
        assert np.array_equal(recordings[place].attention, subject(batch).attention)


def test_bad_subjects_are_refused_with_what_is_needed():
    network = networks.skeleton(tasks.get("dfs"), networks.NetworkConfig(width=4))
    with pytest.raises(ValueError, match="needed those of bfs: pos, s, A, adj"):
        measures.judge(network, "bfs")
    config = networks.NetworkConfig(width=4, attention_bias=16)
    with pytest.raises(ValueError, match="got one for 16 nodes alone"):
        measures.judge(networks.skeleton(tasks.get("bfs"), config), "bfs")
    with pytest.raises(measures.NoReferenceError, match="no exact program"):
        measures.judge(interpreted("bfs"), "optimal_bst")

    def other_batch(batch):
        del batch
        return interpreted("bfs")(tasks.sample("bfs", 4, 2))

    with pytest.raises(ValueError, match="does not fit the batch that it was given") as refusal:
        measures.judge(other_batch, "bfs")
    for fault in ("attention: got shape", "hidden: ", "lengths: ", "hints['pi_h']: got shape"):
        assert fault in str(refusal.value)


def test_numbers_are_finite_where_they_apply():
    judgement = measures.judge(interpreted("bellman_ford_self"), "bellman_ford", problems=FEW)
    tested = judgement.evidence.tested
    assert not any(math.isnan(value) for value in tested.values())
    assert set(tested.values()) == {1.0}
    assert judgement.verdict.word == "runs"


def test_an_examination_inside_a_certificate_has_whole_pairs_of_certified_problems():
    exam = examination("bellman_ford", 0, small_count=9, large_count=4)

    def certified(batch):
        return np.asarray(batch.inputs["A"]).max((1, 2)) < 0.995

    inside = exam.within(certified)
    assert not certified(exam.small).all()
    counted = [part for name, part in inside.parts.items() if name not in ("partners", "donors")]
    assert all(certified(inside.small.take(part)).all() for part in counted)
    assert certified(inside.large).all()
    plain = inside.small.take(inside.parts["plain"])
    assert len(inside.small.take(inside.parts["partners"])) == len(plain)
    for name, change in inside.changed.items():
        part = inside.parts["far" if name == "flips" else name]
        assert np.array_equal(change.after.inputs["A"], inside.small.take(part).inputs["A"])
        if name != "flips":
            A = plain.take(change.samples).inputs["A"]
            assert np.array_equal(change.before.inputs["A"], A)
    assert exam.within(lambda batch: np.ones(len(batch), bool)) is exam


def test_what_lies_beyond_a_certificate_is_not_blamed_in_the_examination():
    """A subject that is wrong on graphs with many loops, and is certified for others."""
    exam = examination("bfs", 0, small_count=8, large_count=4)
    subject = interpreted("bfs")

    def certified(batch):
        return np.asarray(batch.inputs["A"]).trace(axis1=1, axis2=2) < 0.6 * batch.nodes

    def wrong_beyond(batch):
        recording = subject(batch)
        inside = certified(batch)[:, None, None]
        hints = recording.hints | {"pi_h": np.where(inside, recording.hints["pi_h"], 0)}
        return dataclasses.replace(recording, hints=hints)

    assert 0 < certified(exam.small).sum() < len(exam.small)
    moves = []
    for problems in (exam, exam.within(certified)):
        small, large = wrong_beyond(problems.small), wrong_beyond(problems.large)
        evidence = decisive_evidence(problems, small, large)
        moves.append(evidence.tested["moves_small"])
    assert moves[0] < 1 == moves[1]
