"""Regions without a disagreement: found where a rule names them, and only there."""

import numpy as np
import pytest

from algoscope import tasks
from algoscope.falsify.families import traced
from algoscope.falsify.scope import COORDINATES, coordinates, find_region


@pytest.fixture
def values() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {
        "steps": random.integers(1, 40, 2000).astype(float),
        "nodes": random.choice([4.0, 8.0, 16.0, 64.0], 2000),
        "decision margin": 10.0 ** random.uniform(-7, 0, 2000),
    }


def everywhere(values: dict[str, np.ndarray]) -> np.ndarray:
    return np.ones(len(values["steps"]), bool)


def test_one_rule_from_either_side(values):
    region = find_region(values, values["steps"] > 22, everywhere(values))
    assert str(region) == "steps ≤ 22"
    region = find_region(values, values["decision margin"] < 1e-4, everywhere(values))
    assert region is not None
    [rule] = region.rules
    assert (rule.coordinate, rule.at_most) == ("decision margin", False)
    # Ten right problems lie between the boundary and the nearest wrong one.
    right = values["decision margin"][values["decision margin"] >= 1e-4]
    assert int((right < rule.boundary).sum()) == 9
    assert region.beyond.value > 0.98


def test_two_rules(values):
    wrong = (values["steps"] > 30) | (values["decision margin"] < 1e-5)
    region = find_region(values, wrong, everywhere(values))
    assert region is not None
    assert {rule.coordinate for rule in region.rules} == {"steps", "decision margin"}
    assert not (wrong & region.holds(values)).any()
    assert 0 <= int((~wrong).sum()) - region.inside < 10


def test_scattered_disagreements_have_none(values):
    scattered = np.random.default_rng(1).random(2000) < 0.05
    assert find_region(values, scattered, everywhere(values)) is None


def test_no_rule_has_an_infinite_boundary(values):
    """Nothing lies between it and a wrong problem, and nothing is less than it."""
    wrong = values["steps"] > 22
    margins = {"decision margin": np.where(wrong, 1e-5, np.inf)}
    assert find_region(margins, wrong, everywhere(values)) is None


def test_a_region_that_leaves_out_most_of_what_the_sampler_draws_is_none(values):
    assert find_region(values, values["steps"] > 4, everywhere(values)) is None
    shallow = values["steps"] <= 4
    assert str(find_region(values, values["steps"] > 4, shallow)) == "steps ≤ 4"


def test_coordinates_of_a_graph():
    line = np.diag([0.5, 0.25], 1) + np.diag([0.5, 0.25], -1)
    batch = traced(tasks.get("bellman_ford"), [{"A": line, "s": np.array([0])}])
    values = {name: float(value[0]) for name, value in coordinates(batch).items()}
    assert values["steps"] == 2
    assert values["nodes"] == 3
    assert values["largest degree"] == 2
    assert values["edges"] == 4
    assert values["position of the source"] == 0
    assert values["smallest weight"] == 0.25
    assert values["largest weight"] == 0.5
    assert values["largest number"] == 0.75
    assert values["difference of positions"] == pytest.approx(1 / 3)
    assert set(values) == set(COORDINATES) - {"difference of numbers"}


def test_a_tie_has_no_decision_margin_and_a_clear_choice_has_one():
    def margin(first: float, second: float) -> float:
        """Two ways from node 0 to node 3."""
        A = np.zeros((4, 4))
        for i, j, weight in ((0, 1, first), (0, 2, second), (1, 3, 0.5), (2, 3, 0.5)):
            A[i, j] = A[j, i] = weight
        batch = traced(tasks.get("bellman_ford"), [{"A": A, "s": np.array([0])}])
        return float(coordinates(batch)["decision margin"][0])

    assert margin(0.25, 0.25) == 0
    assert margin(0.25, 0.375) == pytest.approx(0.125)
