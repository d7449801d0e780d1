"""The specification of a sweep: one configuration, the fields that vary, and what is done after
training.

    seeds = 8                                  # of each configuration, side by side in one program
    after = "judge"                            # score, judge or report; each does those before it

    [base]                                     # as far as it differs from the defaults
    steps = 2000
    recipe.sizes = [8, 16]

    [axes]                                     # every combination is one run
    tasks = ["bfs", "bellman_ford"]
    learning_rate = [1e-4, 1e-3]
    network.processor = ["gatv2", "mpnn"]

The same as YAML, or in Python:

    Sweep("rates", base={"steps": 2000}, axes={"learning_rate": (1e-4, 1e-3)}, seeds=8)

Fields are those of `training.TrainingConfig` by their dotted names, and `hint_mode`.
"""

import contextlib
import dataclasses
import functools
import itertools
import math
import pathlib
import re
import tomllib
import typing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from algoscope import progress
from algoscope.errors import ConfigError, short, unknown_name
from algoscope.files import read_bytes
from algoscope.serialise import FormatError, from_json, type_faults
from algoscope.training.config import HintMode, TrainingConfig, config_faults, hint_options

After = Literal["score", "judge", "report"]
_BESIDE = ("seeds", "first_seed")
"""Fields of a configuration that stand beside the base: every run has the same."""
_HINT_MODE = "hint_mode"
_OF_HINT_MODE = ("network.encode_hints", "network.decode_hints")
"""What it sets."""
_SOME_TASK = {"tasks": ("bfs",)}
_NAME = re.compile(r"[\w][\w.+-]{0,99}")
_EXPONENTIAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")
_MOST_RUNS = 100_000
_READERS = (".toml", ".yaml", ".yml")
_MOST_FAULTS = 50

FaultsOf = Callable[[TrainingConfig], Sequence[str]]
"""What is wrong with a configuration; `training.plan.training_faults` knows the most."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    name: str
    """Of the folder that holds its runs."""
    base: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Fields of every configuration that differ from the defaults, by dotted name."""
    axes: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    """Values of the fields that vary, by dotted name."""
    seeds: int = 1
    """Networks of each configuration, with the seeds first_seed, first_seed + 1, …"""
    first_seed: int = 0
    after: After = "score"
    """What is done with a trained run: its scores alone, verdicts too, or its own page as well."""
    problems: int = 4_000
    """On about so many problems a disagreement with the algorithm is searched for, for each
    network that is judged."""

    @property
    def combinations(self) -> Iterator[dict[str, Any]]:
        """The values of the axes, by name, for each configuration."""
        for values in itertools.product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    def config(self, combination: Mapping[str, Any]) -> TrainingConfig:
        """The configuration of one combination of values."""
        beside = {name: getattr(self, name) for name in _BESIDE}
        return _config({**self.base, **beside, **combination})


def read(path: pathlib.Path, faults_of: FaultsOf = config_faults) -> Sweep:
    """The sweep in a TOML or YAML file, whose name it has if it says no other. A ConfigError lists
    all that is wrong with it and its configurations."""
    if path.suffix not in _READERS:
        raise ConfigError(
            f"{path}: got a file whose name ends in {path.suffix!r}, needed one in "
            f"{', '.join(_READERS)} or .py"
        )
    content = _parsed(path)
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: got {short(content)}, needed a table with base and axes")
    try:
        return from_content(content, path.stem, faults_of)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in str(error).split("\n"))) from None


def from_content(
    content: Mapping[str, Any], name: str = "sweep", faults_of: FaultsOf | None = config_faults
) -> Sweep:
    """The sweep that a table describes, checked; of one that was checked before, where `faults_of`
    is None, types alone are: thousands of configurations take seconds."""
    kinds = {field.name: field.type for field in dataclasses.fields(Sweep)}
    faults = [unknown_name("key of a sweep", key, kinds) for key in content if key not in kinds]
    known: dict[str, Any] = {"name": name}
    known |= {key: value for key, value in content.items() if key in kinds}
    for table in ("base", "axes"):
        fields = known.pop(table, {})
        if not isinstance(fields, Mapping):
            faults.append(f"{table}: got {short(fields)}, needed a table of fields")
            continue
        known[table] = {}
        for *names, value in _leaves(fields):
            odd = [name for name in names if not isinstance(name, str)]
            field = ".".join(map(str, names))
            if odd:
                faults.append(f"{table}: got the key {short(odd[0])}, needed the name of a field")
            elif field in known[table]:
                faults.append(f"{table}.{field}: got it in two places, needed it in one")
            else:
                known[table][field] = value
    return _typed_sweep(Sweep(**known), faults, faults_of)


def _leaves(table: Mapping[Any, Any]) -> Iterator[tuple[Any, ...]]:
    """The one or two names of each field, and what stands there. Keys of YAML may be no text, and
    its tables may hold themselves."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from ((name, *leaf) for leaf in value.items())
        else:
            yield name, value


def checked(sweep: Sweep, faults_of: FaultsOf = config_faults) -> Sweep:
    """The sweep with values of the types of their fields; or a ConfigError with all that is wrong,
    before anything starts."""
    return _typed_sweep(sweep, (), faults_of)


def _typed_sweep(sweep: Sweep, faults: Sequence[str], faults_of: FaultsOf | None) -> Sweep:
    listed = [*faults, *type_faults(dataclasses.replace(sweep, base={}, axes={}))]
    for table in ("base", "axes"):
        if not isinstance(fields := getattr(sweep, table), Mapping):
            listed.append(f"{table}: got {short(fields)}, needed a mapping of fields")
            sweep = dataclasses.replace(sweep, **{table: {}})
    if isinstance(sweep.name, str) and not _NAME.fullmatch(sweep.name):
        listed.append(f"name: got {short(sweep.name)}, needed letters, digits and any of _ . + -")
    if isinstance(sweep.problems, int) and sweep.problems < 1:
        listed.append(f"problems: got {sweep.problems}, needed at least 1")
    base, axes = {}, {}
    for field, value in sweep.base.items():
        base |= _read(field, [value], "base", listed)
    for field, values in sweep.axes.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            listed.append(f"axes.{field}: got {short(values)}, needed a list of values")
        elif not values:
            listed.append(f"axes.{field}: got no value, needed at least one")
        elif field in sweep.base:
            listed.append(f"axes.{field}: got it in base too, needed it in one of them")
        else:
            axes |= _read(field, values, "axes", listed)
    runs = math.prod(len(values) for values in axes.values())
    if runs > _MOST_RUNS:
        listed.append(f"axes: got {runs:,} combinations, needed at most {_MOST_RUNS:,}")
    first = {name: values[0] for name, values in base.items()}
    typed = dataclasses.replace(sweep, base=first, axes=axes)
    if "tasks" not in {*sweep.base, *sweep.axes}:
        listed.append('tasks: not there, and needed, in base or in axes, such as tasks = ["bfs"]')
    named = {*sweep.base, *sweep.axes}
    listed += [
        f"{field}: got it with {_HINT_MODE}, which sets it, needed one of them"
        for field in _OF_HINT_MODE
        if {field, _HINT_MODE} <= named
    ]
    if faults_of and runs <= _MOST_RUNS:
        listed += _configuration_faults(typed, faults_of)
    listed = list(dict.fromkeys(listed))
    if listed:
        more = len(listed) - _MOST_FAULTS
        rest = [f"… and {more:,} more"] if more > 0 else []
        raise ConfigError("\n".join([*listed[:_MOST_FAULTS], *rest]))
    return typed


def _read(
    field: str, values: Sequence[Any], table: str, faults: list[str]
) -> dict[str, tuple[Any, ...]]:
    """The values of a field as its type, by its name; what is wrong goes to the faults."""
    if field in _BESIDE:
        faults.append(f"{table}.{field}: got it there, needed it beside base, as in seeds = 8")
        return {}
    kinds = _fields()
    if field not in kinds:
        there = kinds.keys() - set(_BESIDE)
        faults.append(f"{table}: {unknown_name('field', field, there)}")
        return {}
    typed = []
    for value in values:
        try:
            typed.append(_typed(kinds[field], value, f"{table}.{field}"))
        except FormatError as error:
            faults.append(str(error))
    twice = [value for number, value in enumerate(typed) if value in typed[:number]]
    faults += [f"{table}.{field}: got {short(value)} twice, needed it once" for value in twice]
    return {field: tuple(typed)} if typed else {}


def _typed(kind: Any, value: Any, where: str) -> Any:
    """One value is taken for a list of one where a list is needed, and 1 for 1.0: runs are named
    by what they do."""
    if typing.get_origin(kind) is tuple and not isinstance(value, list | tuple):
        value = [value]
    read = from_json(kind, value, where=where, finite=True)
    if typing.get_args(kind)[:1] == (float,):
        return tuple(map(float, read))
    return float(read) if kind is float else read


def _configuration_faults(sweep: Sweep, faults_of: FaultsOf) -> list[str]:
    """Of all combinations, each once, with defaults in place of what is no number, and some task
    where there is none; and two combinations that are one training."""
    numbers = {name: getattr(Sweep, name) for name in _BESIDE}
    for name in _BESIDE:
        with contextlib.suppress(FormatError):
            numbers[name] = from_json(int, getattr(sweep, name), where=name, finite=True)
    base = {**({} if "tasks" in sweep.axes else _SOME_TASK), **sweep.base}
    sweep = dataclasses.replace(sweep, base=base, **numbers)
    faults: dict[str, None] = {}
    known: dict[TrainingConfig, dict[str, Any]] = {}
    count = math.prod(map(len, sweep.axes.values()))
    for combination in progress.over(sweep.combinations, "checking combinations", count):
        config = sweep.config(combination)
        faults |= dict.fromkeys(faults_of(config))
        first = known.setdefault(config, combination)
        if first is combination:
            continue
        differing = [name for name in first if first[name] != combination[name]]
        if differing:  # A value that is there twice is a fault of its own.
            both = (
                ", ".join(f"{name}={short(one[name])}" for name in differing)
                for one in (first, combination)
            )
            faults[f"axes: got {' and '.join(both)}, which are one training, needed it once"] = None
    return list(faults)


@functools.cache
def _fields() -> dict[str, Any]:
    """Types of all fields by dotted name."""
    kinds: dict[str, Any] = {}
    for name, kind in typing.get_type_hints(TrainingConfig).items():
        inside = typing.get_type_hints(kind) if dataclasses.is_dataclass(kind) else None
        kinds |= {name: kind} if inside is None else {f"{name}.{k}": v for k, v in inside.items()}
    return kinds | {_HINT_MODE: HintMode}


def _config(fields: Mapping[str, Any]) -> TrainingConfig:
    """The configuration with these fields, by dotted name."""
    values = dict(fields)
    if _HINT_MODE in values:
        options = hint_options(values.pop(_HINT_MODE))
        values = {f"network.{name}": value for name, value in options.items()} | values
    parts: dict[str, dict[str, Any]] = {"": {}}
    for name, value in values.items():
        part, _, inner = name.rpartition(".")
        parts.setdefault(part, {})[inner] = value
    config = TrainingConfig(**parts.pop(""))
    inside = {part: dataclasses.replace(getattr(config, part), **v) for part, v in parts.items()}
    return dataclasses.replace(config, **inside)


def _parsed(path: pathlib.Path) -> Any:
    octets = read_bytes(path)
    try:
        if path.suffix == ".toml":
            return tomllib.loads(octets.decode())
        import yaml

        class Loader(yaml.SafeLoader):
            """Takes 1e-3 for a number, as YAML 1.2 does: to PyYAML it is a text. Of a key that is
            there twice PyYAML would take the last."""

            def compose_mapping_node(self, anchor: Any) -> Any:
                node = super().compose_mapping_node(anchor)
                keys = Counter(key.value for key, _ in node.value if key.id == "scalar")
                if twice := [key for key, count in keys.items() if count > 1]:
                    raise yaml.YAMLError(f"got {short(twice[0])} twice{node.start_mark}")
                return node

        Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENTIAL, list("-+.0123456789"))
        try:
            return yaml.load(octets.decode(), Loader)
        except yaml.YAMLError as error:
            raise ConfigError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML ({error})") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: got octets that are no text, needed UTF-8") from None
