"""Networks that are given the predecessors, which stay the same, instead of predicting them: what
dm-clrs trains. Programs are compiled with them as a hint."""

import dataclasses

import jax
import numpy as np
import pytest

from algoscope import measures, networks, programs, tasks
from algoscope.decompile import decompile
from algoscope.falsify import falsify
from algoscope.measures.ensembles import judge_all
from algoscope.networks import Ensemble, Network, NetworkConfig
from algoscope.programs.compiler import compile_program
from algoscope.tasks.transforms import forms, hints_to_predict

FEW = 200


def given_predecessors(name: str) -> Network:
    """The compiled program, with what it reads of the hint read of the input."""
    network = compile_program(programs.get(name)).network
    task = programs.get(name).task
    encoders, decoders = dict(network.encoders), dict(network.decoders)
    encoders["pred"] = encoders.pop("pred_h")
    del decoders["pred_h"]
    return dataclasses.replace(
        network, encoders=encoders, decoders=decoders, features=forms(task)[1]
    )


@pytest.mark.parametrize("name", ["minimum", "naive_string_matcher"])
def test_an_exact_network_runs_the_algorithm(name):
    judgement = measures.judge(given_predecessors(name), name, problems=FEW)
    assert judgement.verdict.word == "runs"


def test_one_that_was_not_trained_fails():
    task = tasks.get("minimum")
    network = networks.build(forms(task)[1], NetworkConfig(width=8), key=jax.random.key(0))
    assert measures.judge(network, task, problems=FEW).verdict.word == "fails"


def test_judged_together_and_alone_it_is_the_same():
    stacked = Ensemble.of([given_predecessors("minimum")] * 2, "minimum", range(2)).network
    assert [j.verdict.word for j in judge_all(stacked, "minimum", problems=FEW)] == ["runs"] * 2


def test_a_broken_one_is_falsified():
    broken = given_predecessors("minimum")
    broken.encoders["i"] = jax.tree.map(lambda array: 0 * array, broken.encoders["i"])
    assert falsify(broken, "minimum", problems=FEW).wrong > 0


def test_it_is_decompiled():
    found = decompile(given_predecessors("minimum"), "minimum")
    assert "pred" in found.text


def test_hints_that_a_subject_may_leave_out():
    assert [f.name for f in hints_to_predict(tasks.get("minimum"))] == ["min_h", "i"]
    # Sorting changes the predecessors.
    assert "pred_h" in [f.name for f in hints_to_predict(tasks.get("insertion_sort"))]
    batch = tasks.sample("minimum", 8, 4)
    recording = networks.run(given_predecessors("minimum"), batch)
    assert set(recording.hints) == {"min_h", "i"}
    np.testing.assert_array_equal(recording.outputs["min"], batch.outputs["min"])
