"""Traces: an exact subject has all of it, and standing still is worth nothing."""

import dataclasses

import numpy as np
import pytest
from measures.conftest import interpreted

from algoscope import tasks
from algoscope.measures.trace_match import external_faithfulness
from algoscope.recording import Recording


def test_an_exact_program_is_perfectly_faithful(graphs):
    found = external_faithfulness(interpreted("bfs_locked")(graphs), graphs)
    assert found.eq25 == found.exact_steps == found.moves == 1
    for hint in found.by_hint.values():
        assert np.nanmin(hint.eq25_per_step) == 1


def said(batch, hints) -> Recording:
    steps, nodes = batch.hints["pi_h"].shape[1] - 1, 12
    attention = np.full((len(batch), steps, 1, nodes, nodes), 1 / nodes)
    hidden = np.zeros((len(batch), steps, nodes, 1))
    return Recording.from_arrays(
        attention=attention, hidden=hidden, lengths=batch.lengths, hints=hints
    )


def test_who_says_that_nothing_happens_has_much_of_eq25_and_no_moves(graphs):
    still = {n: np.broadcast_to(h[:, :1], h[:, 1:].shape) for n, h in graphs.hints.items()}
    found = external_faithfulness(said(graphs, still), graphs)
    assert found.eq25 > 0.15
    assert found.moves == 0


def test_saying_too_much_counts_as_moves(graphs):
    early = {n: np.broadcast_to(h[:, -1:], h[:, 1:].shape) for n, h in graphs.hints.items()}
    everywhere = dict(early, reach_h=np.ones_like(graphs.hints["reach_h"][:, 1:]))
    found = external_faithfulness(said(graphs, everywhere), graphs)
    assert 0 < found.by_hint["reach_h"].moves < 0.7


def test_padding_does_not_count(graphs):
    recording = interpreted("bfs")(graphs)
    hints = {n: np.array(h) for n, h in recording.hints.items()}
    for hint in hints.values():
        hint[~recording.valid] = 5
    found = external_faithfulness(dataclasses.replace(recording, hints=hints), graphs)
    assert found.eq25 == found.moves == 1


def test_margins_are_the_papers():
    batch = tasks.sample("bellman_ford", 6, 4, seed=2)
    recording = interpreted("bellman_ford")(batch)
    off = {**recording.hints, "d": recording.hints["d"] + 0.4}
    near = external_faithfulness(dataclasses.replace(recording, hints=off), batch)
    assert near.by_hint["d"].eq25 == 1
    assert near.by_hint["d"].moves < 0.5
    off["d"] = recording.hints["d"] + 0.6
    far = external_faithfulness(dataclasses.replace(recording, hints=off), batch)
    assert far.by_hint["d"].eq25 == 0


def test_the_known_shortcuts_score_lower(graphs):
    drifting, leaping = (
        external_faithfulness(interpreted(name)(graphs), graphs)
        for name in ("bfs_drifting", "bfs_leaping")
    )
    assert drifting.by_hint["reach_h"].moves == 1
    assert drifting.by_hint["pi_h"].moves < 0.9
    assert leaping.by_hint["reach_h"].moves < 0.8


def test_a_subject_without_hints_is_refused_with_what_is_possible(graphs):
    with pytest.raises(ValueError, match="needed some of reach_h, pi_h"):
        external_faithfulness(said(graphs, {}), graphs)
