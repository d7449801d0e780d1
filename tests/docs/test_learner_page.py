"""The page says of the learner what results/learner and its training.json say."""

import json

import pytest
from pages import ROOT, one_line, read, table

from algoscope.llm.navigator_config import LearnerConfig
from algoscope.llm.subjects import SHIPPED

RESULTS = ROOT / "results" / "learner"


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/lab/learner.md")


@pytest.fixture(scope="module")
def training() -> dict:
    return json.loads((SHIPPED / "learner" / "training.json").read_text())


def _read(name: str):
    return json.loads((RESULTS / name).read_text())


def test_attempts(page):
    expected = [
        [
            *(attempt["lessons"], attempt["how"]),
            *(str(attempt["config"][name]) for name in ("depth", "layers")),
            f"{attempt['history'][-1]['step']:,}",
            str(attempt["cpu_seconds"]),
            str(attempt["history"][-1]["lesson"]),
        ]
        for attempt in _read("attempts.json")
    ]
    assert table(page, "how", "CPU s").rows == expected
    ended = [attempt["ended"] for attempt in _read("attempts.json")]
    assert ended == ["stopped"] * (len(ended) - 1) + ["by itself"]


def test_trials(page):
    expected = [
        [
            trial["model"] + (", biases" if trial["attention_bias"] else ""),
            *(str(trial[name]) for name in ("layers", "heads", "weights", "rate")),
            f"{100 * len(trial['right_every_100_steps']):,}",
            f"{trial['right_every_100_steps'][-1]:.2f}",
        ]
        for trial in _read("trials.json")
    ]
    assert table(page, "model", "right in the end").rows == expected


def test_the_curve_is_that_of_the_model(page, training):
    for lesson, share in table(page, "lesson, largest trees").rows:
        number, size = map(int, lesson.split(", "))
        learned = [
            f"{entry['learned']:.2f}"
            for entry in training["history"]
            if (entry["lesson"], entry["size"]) == (number, size)
        ]
        assert share == " ".join(learned[-8:])
    first = [e["learned"] for e in training["history"] if (e["lesson"], e["size"]) == (1, 3)]
    assert f"{25 * (len(first) - 2)} steps of slow growth: from {first[-3]:.2f} to" in one_line(
        page
    )
    assert f"to {first[-1]:.2f} in 50 steps" in one_line(page)
    kept = [entry["learned"] for entry in _read("attempts.json")[-1]["history"]]
    assert kept == [entry["learned"] for entry in training["history"]]


def test_the_command_trains_this_model(training):
    given = training["config"] | {"sizes": tuple(training["config"]["sizes"])}
    assert LearnerConfig(**given) == LearnerConfig()


def test_what_it_can_do(page):
    shown = sorted(row[2] for row in table(page, "start", "right").rows)
    starts = _read("examined.json")["starts"]
    assert shown == sorted(f"{right} of {count}" for right, count in starts.values())


def test_the_word(page):
    verdicts = _read("examined.json")["verdicts"]
    (word,) = {verdict["word"] for verdict in verdicts}
    assert [verdict["seed"] for verdict in verdicts] == [0, 1, 2]
    assert f"(120 items, seeds 0, 1 and 2) says *{word}*" in one_line(page)
    assert {sum(count for *_, count in verdict["accuracy"]) for verdict in verdicts} == {120}
    said = read("docs/explanation/algeval.md")
    assert f"--size 5 --depths 1 2` says *{word}*" in one_line(said)


def test_the_wave(page):
    verdicts = _read("examined.json")["verdicts"]
    waves = [wave for verdict in verdicts for wave in verdict["wave"].values()]
    shown = [row[2:] for row in table(page, "seed", "layer 4").rows]
    assert shown == [[f"{effect:.2f}" for effect in wave] for wave in waves]
    contested = [verdict["fits"][0][1] for verdict in verdicts]
    assert {verdict["fits"][0][0] for verdict in verdicts} == {"backward search"}
    assert f"in {min(contested):.2f} to {max(contested):.2f} of the contested" in one_line(page)
    assert all("(token -11)" in token for v in verdicts for _, token, _ in v["carried"])


def test_the_second_seed(page):
    last = _read("attempts.json")[-2]["history"][-1]
    right = {reachable: (r, n) for steps, reachable, r, n in last["cells"] if steps == 2}
    said = "{} of {} Yes and {} of {} No".format(*right[True], *right[False])
    assert f"{last['step']:,} steps, when on trees of 5 nodes it had {said}" in one_line(page)
