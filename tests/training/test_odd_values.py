"""Every field of every configuration, with every odd value: taken, or refused by name.

A configuration is made in Python, or read from JSON; either way what is wrong with it is a sentence
that names the field, and no number is null.
"""

import dataclasses
import json
import math
import typing
from collections.abc import Callable
from typing import Any

import pytest
from fuzzing.mutators import ODD

from algoscope import sweeps, training
from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.errors import Faults
from algoscope.llm.navigator_config import LearnerConfig, NavigatorConfig
from algoscope.networks import NetworkConfig
from algoscope.serialise import FormatError, from_json
from algoscope.sweeps import Sweep
from algoscope.tasks import Recipe
from algoscope.training import TrainingConfig
from algoscope.training.config import from_json as from_dictionary
from algoscope.transnar.config import check as check_tower

TRAINING, TOWER = TrainingConfig(("bfs",)), TransnarConfig(("bfs",))


def _make(config: Any, **fields: Any) -> Any:
    return dataclasses.replace(config, **fields)


def _checks_of(config: Any, check: Callable, part: str = "") -> Callable[[str, Any], None]:
    """Checks the configuration with a field of it, or of a part of it, that has the value."""

    def read(name: str, value: Any) -> None:
        inner = _make(getattr(config, part), **{name: value}) if part else None
        check(_make(config, **({part: inner} if part else {name: value})))

    return read


CHECKS: dict[type, Callable[[str, Any], None]] = {
    TrainingConfig: _checks_of(TRAINING, training.check),
    Recipe: _checks_of(TRAINING, training.check, "recipe"),
    NetworkConfig: _checks_of(TRAINING, training.check, "network"),
    TransnarConfig: _checks_of(TOWER, check_tower),
    TowerConfig: _checks_of(TOWER, check_tower, "tower"),
    Sweep: _checks_of(Sweep("s", {"tasks": "bfs"}), sweeps.checked),
    NavigatorConfig: lambda name, value: NavigatorConfig(**{name: value}) and None,
    LearnerConfig: lambda name, value: LearnerConfig(**{name: value}) and None,
}
FIELDS = [(kind, field.name) for kind in CHECKS for field in dataclasses.fields(kind)]


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_an_odd_value_is_taken_or_refused(kind, name):
    refused = Faults()
    for value in ODD:
        with refused.listed():
            CHECKS[kind](name, value)
    assert refused.lines
    assert max(map(len, refused.lines)) <= 1_500


@pytest.mark.parametrize(
    ("kind", "name"),
    [(k, n) for k, n in FIELDS if typing.get_type_hints(k)[n] in (int, float, bool, str)],
)
def test_none_is_no_number_and_no_text(kind, name):
    with pytest.raises(ValueError, match=rf"(^|[\n.]){name}: got null, needed"):
        CHECKS[kind](name, None)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(k, n) for k, n in FIELDS if dataclasses.is_dataclass(typing.get_type_hints(k)[n])],
)
@pytest.mark.parametrize("value", [None, {}, 3, "gatv2"])
def test_what_is_no_record_is_refused(kind, name, value):
    needed = typing.get_type_hints(kind)[name].__name__
    with pytest.raises(ValueError, match=rf"^{name}: got .*, needed a {needed}$"):
        CHECKS[kind](name, value)


def test_tasks_are_a_list_of_names():
    for value, message in (
        (None, "tasks: got null, needed a list"),
        ("bfs", "tasks: got 'bfs', needed a list"),
        (5, "tasks: got 5, needed a list"),
        ((None,), "tasks.0: got null, needed a text"),
    ):
        with pytest.raises(ValueError, match=message):
            training.check(TrainingConfig(typing.cast(Any, value)))


@pytest.mark.parametrize("kind", [TrainingConfig, TransnarConfig])
def test_json_of_a_configuration_has_no_null_for_a_number(kind):
    content = json.loads(json.dumps(dataclasses.asdict(kind(("bfs",)))))
    floats = [name for name, part in typing.get_type_hints(kind).items() if part is float]
    assert floats
    for name in floats:
        with pytest.raises(ValueError, match=rf"config\.{name}: got null, needed a number"):
            from_dictionary(kind, content | {name: None})


def test_a_measured_number_may_be_null_where_json_has_no_other_word():
    assert math.isnan(from_json(float, None))
    with pytest.raises(FormatError, match="got null, needed a number"):
        from_json(float, None, finite=True)
    with pytest.raises(FormatError, match=r"value\.1: got null"):
        from_json(tuple[float, ...], [1.0, None], finite=True)


def test_a_sweep_has_no_null_for_a_number():
    for field in ("teacher_forcing", "network.dropout", "network.attention_mask", "clip"):
        with pytest.raises(ValueError, match=rf"base\.{field}: got null, needed a number"):
            sweeps.from_content({"base": {"tasks": "bfs", field: None}})
        with pytest.raises(ValueError, match=rf"axes\.{field}: got null, needed a number"):
            sweeps.from_content({"base": {"tasks": "bfs"}, "axes": {field: [0.5, None]}})
