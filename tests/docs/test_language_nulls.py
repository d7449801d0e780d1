"""What the page on language models says of random models is what their benchmark found."""

import json

from pages import ROOT, one_line, read
from scipy import stats

_ROWS = json.loads((ROOT / "benchmarks" / "language_nulls.json").read_text())
_RATE = 0.05
"""With which a model that does nothing may be said to do something."""


def test_no_random_model_runs_anything_or_takes_a_named_shortcut():
    shapes = {(row["layers"], row["heads"], row["gain"]) for row in _ROWS}
    assert len(_ROWS) == len(shapes) == 20
    words = [row["verdict"].split()[0] for row in _ROWS]
    assert not any(word in ("runs", "approximates") for word in words)
    assert words.count("shortcut") <= _RATE * len(words)
    assert sum(row["used"] > 0 for row in _ROWS) <= _RATE * len(_ROWS)
    assert sum(row["exchange_used"] > 0 for row in _ROWS) <= _RATE * len(_ROWS)


def test_p_values_of_the_null_are_uniform():
    for name in ("exchange_p", "steps_p"):
        assert stats.kstest([row[name] for row in _ROWS], "uniform").pvalue > 0.01, name


def test_the_page_counts_them():
    fails = sum(row["verdict"] == "fails" for row in _ROWS)
    said = f"Of random models of {len(_ROWS)} shapes {fails} *fail*"
    assert said in one_line(read("docs/explanation/algeval.md"))
