"""Compiled code only accelerates: the same values come without it, and no stale code is run."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.task_goldens import arrays_of, digests

import algoscope
from algoscope import tasks
from algoscope.tasks.compilation import cached, compiled, order, ties_in_order


def python(code: str, *arguments: str, path: tuple[str, ...] = (), **environment: str) -> str:
    """What a new Python prints that finds modules in `path`, and then where this one does."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*path, *sys.path]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SAMPLE_ALL = """
import json, sys
from oracle.task_goldens import arrays_of, digests
from algoscope import tasks
print(json.dumps({name: digests(name, arrays_of(tasks.sample(name, size, 2, 11)))
                  for name, size in json.loads(sys.argv[1]).items()}))
"""


@pytest.mark.parametrize(
    ("first", "environment"),
    [("", {"NUMBA_DISABLE_JIT": "1"}), ("import sys; sys.modules['numba'] = None", {})],
    ids=["numba switched off", "numba not installed"],
)
def test_plain_python_gives_what_compiled_code_gives(first, environment):
    sizes = {name: max(6, tasks.get(name).smallest) for name in tasks.names()}
    plain = json.loads(python(first + SAMPLE_ALL, json.dumps(sizes), **environment))
    for name, size in sizes.items():
        assert plain[name] == digests(name, arrays_of(tasks.sample(name, size, 2, 11))), name


MINIMUM = """
from algoscope import tasks
from algoscope.tasks.tracing import _loop_of
batch = tasks.sample("minimum", 8, 1, 0)
stats = _loop_of(tasks.get("minimum")).stats
print(batch.outputs["min"][0].argmax(), sum(stats.cache_hits.values()))
"""


def test_compiled_code_is_kept_between_processes_until_a_source_changes(tmp_path):
    source = pathlib.Path(algoscope.__file__).parent
    copy = tmp_path / "algoscope"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def run() -> list[int]:
        return [int(word) for word in python(MINIMUM, path=(str(tmp_path),)).split()]

    key = tasks.sample("minimum", 8, 1, 0).inputs["key"][0]
    assert run() == [key.argmin(), 0]
    assert run() == [key.argmin(), 1]
    searching = copy / "tasks" / "algorithms" / "searching.py"
    text = searching.read_text()
    searching.write_text(text.replace("key[node] < key[min_h[0]]", "key[node] > key[min_h[0]]"))
    assert searching.read_text() != text
    assert run() == [key.argmax(), 0]


def test_tasks_import_neither_jax_nor_the_command_line():
    imported = python("import sys, algoscope.tasks as t; t.names(); print(*sys.modules)").split()
    assert "numba" in imported
    assert not {"jax", "equinox", "tyro", "rich", "networkx"} & set(imported)


@compiled
def compiled_order(values):
    return order(values)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=70))
def test_compiled_order_has_ties_as_numpy_has_them(values):
    given_values = np.array(values, np.float64)
    assert np.array_equal(compiled_order(given_values), np.argsort(given_values))
    with ties_in_order():
        in_order = compiled_order(given_values)
    assert np.array_equal(in_order, np.argsort(given_values, kind="stable"))
    assert np.array_equal(compiled_order(given_values), np.argsort(given_values))


def test_where_no_folder_can_be_written_to_code_is_compiled_each_time(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])

    def doubled(x):
        return 2 * x

    assert cached(doubled)(4) == 8
