"""The configuration of training: a small difference from the defaults, which are the settings of
Mind The Gap's Table 8 (dm-clrs's own, with GATv2 and a learning rate of 1e-4)."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

from algoscope import serialise, tasks
from algoscope.configuration import TrainingOptions, integer_faults, number_faults
from algoscope.errors import ConfigError, unknown_name
from algoscope.networks import arrays, skeleton
from algoscope.networks.config import NetworkConfig, check_choices
from algoscope.networks.processors import check_processor
from algoscope.tasks import Recipe, Task
from algoscope.tasks.graph_kinds import graph_options
from algoscope.tasks.streams import features_in_training, recipe_faults
from algoscope.training.model import name_faults
from algoscope.training.objectives import Weighted, parse_objectives
from algoscope.training.teacher import teacher_faults, teacher_for

HintMode = Literal["encoded_decoded", "decoded_only", "none"]
_LARGEST_SEED = 2**32 - 1
_RECIPE, _NETWORK = Recipe(), NetworkConfig()
_HINT_MODES: dict[str, dict[str, Any]] = {
    "encoded_decoded": {"encode_hints": True, "decode_hints": True},
    "decoded_only": {"encode_hints": False, "decode_hints": True},
    "none": {"encode_hints": False, "decode_hints": False},
}
Config = TypeVar("Config")


@dataclasses.dataclass(frozen=True)
class TrainingConfig(TrainingOptions):
    """A training of graph networks."""

    recipe: Recipe = _RECIPE
    """Sizes and number of the problems in a batch, and how they are drawn."""
    network: NetworkConfig = _NETWORK
    """The networks' form."""

    def __post_init__(self):
        if isinstance(self.tasks, Iterable) and not isinstance(self.tasks, str):
            names = (tasks.register(t).name if isinstance(t, Task) else t for t in self.tasks)
            object.__setattr__(self, "tasks", tuple(names))

    @property
    def hint_mode(self) -> HintMode:
        if self.network.encode_hints:
            return "encoded_decoded"
        return "decoded_only" if self.network.decode_hints else "none"

    @functools.cached_property
    def objectives(self) -> tuple[Weighted, ...]:
        return parse_objectives(self.objective)

    @property
    def paired(self) -> bool:
        """Whether an objective needs problems in pairs."""
        return any(objective.paired for objective, _ in self.objectives)

    @property
    def all_seeds(self) -> tuple[int, ...]:
        return tuple(range(self.first_seed, self.first_seed + self.seeds))

    def as_json(self) -> dict:
        """Without what came later and has its default: descriptions of older trainings stay equal
        to those of the same trainings now."""
        content = _fields(self, ("objective", "teacher", "keep", "test_size", "warmup"))
        content["recipe"] = _fields(self.recipe, ("graphs",))
        content["network"] = _fields(self.network, ("memory", "edge_views"))
        return content


def _fields(part: TrainingConfig | Recipe | NetworkConfig, later: tuple[str, ...]) -> dict:
    """By name. `dataclasses.asdict` copies every value of every field: seconds for the thousands
    of configurations of a sweep."""
    return {
        field.name: value
        for field in dataclasses.fields(part)
        if (value := getattr(part, field.name)) != field.default or field.name not in later
    }


def hint_options(mode: str) -> dict[str, Any]:
    """The network's options of a hint mode."""
    if mode not in _HINT_MODES:
        raise ConfigError(unknown_name("hint mode", mode, _HINT_MODES))
    return _HINT_MODES[mode]


def check(config: TrainingConfig) -> None:
    """Lists everything that is wrong with the configuration."""
    faults = config_faults(config)
    if faults:
        raise ConfigError("\n".join(faults))


def config_faults(config: TrainingConfig) -> list[str]:
    """Everything that is wrong with the configuration, on whatever machine."""
    faults = serialise.type_faults(config)
    if faults:
        return faults
    of_network = [*check_choices(config.network), *check_processor(config.network)]
    faults = [*_check_numbers(config), *of_network]
    if not config.tasks:
        faults.append("tasks: got none, needed at least one")
    if len(set(config.tasks)) < len(config.tasks):
        faults.append(f"tasks: got {', '.join(config.tasks)}, needed each of them once")
    known = []
    for name in config.tasks:
        try:
            known.append(tasks.get(name))
        except ValueError as error:
            faults.append(str(error))
    sets = ("test", "fresh", "seen")
    faults += [unknown_name("set of problems", s, sets) for s in config.scored_on if s not in sets]
    if config.recipe.permutations == "cycle":
        faults.append(
            'recipe.permutations: got "cycle", needed "line" or "pointers", which networks take'
        )
    of_teacher = teacher_faults(config.teacher, config.tasks)
    faults += of_teacher
    of_sizes = _check_sizes(config, known)
    faults += of_sizes
    whole = [] if of_sizes else known
    faults += [f"recipe.{fault}" for fault in recipe_faults(config.recipe, whole)]
    faults += _check_frozen(config, [] if of_network else known)
    faults += _check_graphs(config, known)
    faults += _check_objectives(config, [] if of_teacher else known, with_network=not of_network)
    return list(dict.fromkeys(faults))


def _check_frozen(config: TrainingConfig, known: Sequence[Task]) -> list[str]:
    """The beginnings of names that no weight of the tasks' networks has."""
    if not config.freeze or not known:
        return []
    features = (features_in_training(task, config.recipe) for task in known)
    names = {name for f in features for name in arrays(skeleton(f, config.network))}
    return name_faults("weights to freeze", config.freeze, names)


def _check_numbers(config: TrainingConfig) -> list[str]:
    counts = ("seeds", "steps", "evaluate_every", "pool_steps", "time_buckets")
    faults = integer_faults(config, counts)
    faults += integer_faults(config, ("warmup",), least=0)
    faults += integer_faults(config, ("data_seed",), least=0, most=_LARGEST_SEED)
    last = _LARGEST_SEED + 1 - config.seeds
    faults += integer_faults(config, ("first_seed",), least=0, most=last)
    faults += number_faults(config, ("learning_rate", "clip", "regularisation"))
    if not 0 <= config.teacher_forcing <= 1:
        faults.append(
            f"teacher_forcing: got {config.teacher_forcing!r}, needed a probability from 0 to 1"
        )
    if config.teacher_forcing and not config.network.encode_hints:
        faults.append(
            f"teacher_forcing: got {config.teacher_forcing!r} with hint mode {config.hint_mode}, "
            "needed encoded_decoded: no other mode reads hints"
        )
    return faults


def _check_objectives(
    config: TrainingConfig, taught: Sequence[Task], *, with_network: bool
) -> list[str]:
    """`taught` are tasks whose teachers are looked for; `with_network` says whether the network's
    configuration is one that objectives can be held against."""
    try:
        objectives = config.objectives
    except ConfigError as error:
        return [str(error)]
    faults = []
    for objective, _ in objectives if with_network else ():
        faults += objective.faults(config.network, config.recipe)
    for task in taught if any(objective.prepare for objective, _ in objectives) else ():
        try:
            teacher_for(config.teacher, task.name)
        except ValueError as error:
            faults.append(str(error))
    return faults


def _check_graphs(config: TrainingConfig, known: Sequence[Task]) -> list[str]:
    if not config.recipe.graphs:
        return ["recipe.graphs: got none, needed at least one kind, such as clrs"]
    faults = []
    for task, kind in itertools.product(known, config.recipe.graphs):
        try:
            graph_options(task, kind)
        except ValueError as error:
            faults.append(str(error))
    return faults


def _check_sizes(config: TrainingConfig, known: Sequence[Task]) -> list[str]:
    sizes, own_size = config.recipe.sizes, config.network.attention_bias
    if not sizes:
        return [f"recipe.sizes: got {sizes!r}, needed at least one"]
    tested = () if config.test_size is None else (config.test_size,)
    faults = [
        fault
        for task in known
        for field, given in (("recipe.sizes", sizes), ("test_size", tested))
        for fault in size_faults(field, given, task.name)
    ]
    if tested and own_size is not None and tested != (own_size,):
        faults.append(
            f"test_size: got {config.test_size}, needed {own_size}, the size of the network's "
            "pre-attention bias"
        )
    if own_size is not None and set(sizes) != {own_size}:
        faults.append(
            f"recipe.sizes: got {', '.join(map(str, sizes))}, needed {own_size} alone, the size of "
            "the network's pre-attention bias"
        )
    return faults


def size_faults(field: str, sizes: Sequence[int], task: str) -> list[str]:
    """The sizes that problems of the task cannot have."""
    smallest = tasks.get(task).smallest
    return [
        f"{field}: got {size!r}, needed integers of at least {smallest} for {task}"
        for size in sizes
        if isinstance(size, bool) or not isinstance(size, int) or size < smallest
    ]


def from_json(kind: type[Config], fields: dict) -> Config:
    """The configuration whose `dataclasses.asdict` went through JSON."""
    try:
        return serialise.from_json(kind, fields, where="config", finite=True)
    except serialise.FormatError as error:
        raise ConfigError(str(error)) from None
