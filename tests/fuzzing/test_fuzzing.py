"""A short run of every kind of input; benchmarks/fuzz.py makes a long one."""

import functools
import json
import os
import pathlib
import pickle
import random
import runpy
import shutil
import threading

import pytest
from fuzzing import trials
from fuzzing.inputs import KINDS
from fuzzing.mutators import mutate_bytes, mutate_json, mutate_text
from fuzzing.trials import Kind, Outcome, listen, trial

CASES = {
    "gguf": 20,
    "model folders": 20,
    "commands": 10,
    "network options": 20,
    "problems": 30,
    "tables": 30,
}
NEVER_REFUSED = ("answers", "indexes", "live", "judgements")
"""An answer has a low score, an index is made anew, nothing is said of how far a run is, and what
is no judgement is measured again."""


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("fuzz")
    listen(scratch)
    return scratch


@pytest.mark.parametrize("name", KINDS)
def test_what_comes_from_outside_is_read_or_refused(name, heard):
    kind = KINDS[name]
    scratch = heard / name.replace(" ", "-")
    scratch.mkdir()
    draw = kind.prepare(scratch)
    cases = CASES.get(name, 100)
    results = {number: trial(kind, draw, number) for number in range(cases)}
    fine = (Outcome.READ, Outcome.REFUSED)
    bad = {number: result for number, result in results.items() if result.outcome not in fine}
    assert not bad, "\n".join(f"{name} {number}: {result}" for number, result in bad.items())
    refused = any(result.outcome is Outcome.REFUSED for result in results.values())
    assert refused or cases < 30 or name in NEVER_REFUSED


def test_the_shares_add_up_to_all():
    assert sum(kind.share for kind in KINDS.values()) == pytest.approx(1)


def test_a_case_follows_from_its_number():
    content = {"a": [1, 2.5, "text"], "b": {"c": None}}
    for mutate, value in ((mutate_json, content), (mutate_text, "a: [1 2]"), (mutate_bytes, b"ab")):
        drawn = [mutate(random.Random(number), value) for number in range(50)]
        assert drawn == [mutate(random.Random(number), value) for number in range(50)]
        assert len(set(drawn)) > 10


def _kind(read) -> Kind:
    return Kind("own", lambda _: lambda _: read, 1.0)


def _fail():
    raise KeyError("x")


def _refuse():
    raise ValueError("x: got y, needed z")


def _compute():
    while True:
        pass


def _wait():
    threading.Event().wait()


def _wait_for_input():
    os.read(os.pipe()[0], 1)


def _execute():
    import os

    os.system("true")


def _unpickle():
    pickle.loads(pickle.dumps(pathlib.PurePath("x")))


@pytest.mark.parametrize(
    ("read", "outcome"),
    [
        (lambda: 1, Outcome.READ),
        (_refuse, Outcome.REFUSED),
        (_fail, Outcome.CRASHED),
        (_compute, Outcome.HUNG),
        (_wait, Outcome.HUNG),
        (_wait_for_input, Outcome.HUNG),
        (_execute, Outcome.EXECUTED),
        (_unpickle, Outcome.EXECUTED),
    ],
)
def test_what_a_reader_does_is_noticed(read, outcome, heard, monkeypatch):
    monkeypatch.setattr(trials, "SECONDS", 0.5)
    kind = _kind(read)
    assert trial(kind, kind.prepare(heard), 0).outcome is outcome


def test_only_what_is_its_own_is_cleared_away(heard, tmp_path):
    for place, outcome in ((heard / "own", Outcome.READ), (tmp_path / "other", Outcome.EXECUTED)):
        place.mkdir()
        kind = _kind(functools.partial(shutil.rmtree, place))
        assert trial(kind, kind.prepare(heard), 0).outcome is outcome


def test_compiled_code_that_is_kept_is_no_code_of_a_case(heard):
    path = heard / "kept.py"
    path.write_text("import numba\n@numba.njit(cache=True)\ndef twice(x):\n    return 2 * x\n")
    first, again = (runpy.run_path(str(path))["twice"] for _ in range(2))
    assert first(2) == 4
    kind = _kind(lambda: again(2))
    read = trial(kind, kind.prepare(heard), 0)
    assert read.outcome is Outcome.READ, read
    assert again.stats.cache_hits


def test_the_last_long_run_found_nothing():
    path = pathlib.Path(__file__).parents[2] / "benchmarks" / "fuzz.json"
    records = json.loads(path.read_text())
    assert set(records) == set(KINDS)
    assert sum(record["cases"] for record in records.values()) >= 1_000_000
    for record in records.values():
        assert record["cases"] == record["read"] + record["refused"]
        assert record["accounts"] == []
