"""What a subject says about a batch, checked: the one place where answers of a user's own function
come in.

A function gives a `Recording`, or the outputs alone by name. Whatever it gives has to fit the
batch; all faults are listed at once. What is left out (attention, states, hints) is no fault:
`missing` names it, and a verdict is made without it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from algoscope import tasks
from algoscope.arrays import given_array
from algoscope.errors import together, unknown_name
from algoscope.networks import Network
from algoscope.recording import Recording
from algoscope.tasks import Batch, Kind, Stage, Task
from algoscope.tasks.batch import valid_steps
from algoscope.tasks.transforms import hints_to_predict

Function = Callable[[Batch], Recording | Mapping[str, Any]]
"""From a batch to a recording, or to the outputs alone by name."""
Subject = Network | Function
_FROM_FILE = "<run_path>"
"""What Python says of functions that a file defines which was run by its path."""
_FIRST, _FIRST_SIZE = 2, 16
"""On so few problems, of this size, a function is tried before any work is done."""


class Account(NamedTuple):
    """What a subject says about a batch."""

    hints: dict[str, Any]
    """[batch, step, …]; empty for a subject that shows no trace."""
    outputs: dict[str, Any]
    """[batch, …]"""
    logits: dict[str, Any]
    """Behind either, by name; empty where there are none."""


def observe(function: Function, batch: Batch) -> Recording | dict[str, np.ndarray]:
    """What a function gives for the batch, as arrays of numpy; a ValueError if it does not fit."""
    try:
        given = function(batch)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise ValueError(f"subject: needed a function of a batch alone ({error})") from None
        raise
    if isinstance(given, Recording):
        observed = jax.tree_util.tree_map_with_path(
            lambda path, part: given_array(jax.tree_util.keystr(path).lstrip("."), part), given
        )
        faults = [
            *_faults(observed.outputs, batch, Stage.OUTPUT),
            *_faults(observed.hints, batch, Stage.HINT),
            *_shape_faults(observed, batch),
        ]
    elif isinstance(given, Mapping):
        observed = {name: given_array(f"outputs[{name!r}]", part) for name, part in given.items()}
        faults = [*_faults(observed, batch, Stage.OUTPUT)]
    else:
        raise ValueError(
            f"subject: got {type(given).__name__} for a batch of {batch.task.name}, needed a "
            "Recording (Recording.from_arrays makes one), or the outputs by name"
        )
    if faults:
        raise ValueError(_refusal(function, batch, faults))
    return observed


def missing(observed: Recording | Mapping[str, Any], batch: Batch) -> list[str]:
    """The parts of a recording that are not there, in words."""
    hints = [feature.name for feature in hints_to_predict(batch.task)]
    if not isinstance(observed, Recording):
        return ["attention", "states", "trace"]
    left_out = [name for name in hints if name not in observed.hints]
    return [
        *(["attention"] if not observed.has_attention else []),
        *(["states"] if not observed.has_states else []),
        *(["trace"] if hints and left_out == hints else [f"hint {name}" for name in left_out]),
    ]


def try_first(function: Function, task: Task) -> list[str]:
    """Runs a function on a few problems, so that what does not fit is said before any work is done;
    the parts that are missing."""
    batch = tasks.sample(task, max(_FIRST_SIZE, task.smallest), _FIRST)
    observed = observe(function, batch)
    if faults := list(_value_faults(observed, batch)):
        raise ValueError(_refusal(function, batch, faults))
    return missing(observed, batch)


def _refusal(function: Function, batch: Batch, faults: list[str]) -> str:
    """What is wrong with what a function gave, by the file that the command line found it in."""
    code, who = getattr(function, "__code__", None), "the subject"
    if code is not None and function.__module__ == _FROM_FILE:
        who = f"{code.co_name} of {code.co_filename}"
    return together(
        f"what {who} gave for {batch.task.name} does not fit the batch that it was given:", faults
    )


def _value_faults(observed: Recording | Mapping[str, Any], batch: Batch) -> Iterator[str]:
    """Of numbers that no answer has: such as nodes that are counted from 1."""
    features = {feature.name: feature for feature in batch.task.features}
    outputs = observed.outputs if isinstance(observed, Recording) else observed
    given = {f"outputs[{name!r}]": (features[name], values) for name, values in outputs.items()}
    if isinstance(observed, Recording):
        valid = valid_steps(np.asarray(batch.lengths), batch.steps)
        given |= {
            f"hints[{name!r}]": (features[name], values[valid])
            for name, values in observed.hints.items()
        }
    for where, (feature, values) in given.items():
        if not np.isfinite(values).all():
            yield f"{where}: got numbers that are not finite, needed finite ones"
        elif feature.kind is Kind.POINTER and values.size:
            least, most = values.min(), values.max()
            if least < 0 or most >= batch.nodes or (values != np.rint(values)).any():
                yield (
                    f"{where}: got numbers from {least:g} to {most:g}, needed nodes: whole numbers "
                    f"from 0 to {batch.nodes - 1}"
                )


def _faults(given: Mapping[str, Any], batch: Batch, stage: Stage) -> Iterator[str]:
    """Of the hints or the outputs of a function."""
    features = {feature.name: feature for feature in batch.at(stage)}
    kind = "outputs" if stage is Stage.OUTPUT else "hints"
    for name in given:
        if name not in features:
            yield f"{kind}: {unknown_name(f'{stage} of {batch.task.name}', name, features)}"
    for name in features:
        needed = list(np.shape(batch.values(stage)[name]))
        if stage is Stage.HINT:
            needed[1] = batch.steps
        if name in given:
            values = given[name]
            if list(values.shape) != needed:
                yield f"{kind}[{name!r}]: got shape {list(values.shape)}, needed {needed}"
            elif values.dtype.kind not in "biuf":
                yield f"{kind}[{name!r}]: got {values.dtype}, needed numbers"
        elif stage is Stage.OUTPUT:
            yield f"{kind}[{name!r}]: got none, needed it with the shape {needed}"


def _shape_faults(recording: Recording, batch: Batch) -> Iterator[str]:
    """Of attention, states and lengths."""
    count, steps, nodes = len(batch), batch.steps, batch.nodes
    if recording.has_attention:
        got = list(np.shape(recording.attention))
        if got[:2] + got[3:] != [count, steps, nodes, nodes]:
            needed = f"[{count}, {steps}, heads, {nodes}, {nodes}]"
            yield f"attention: got shape {got}, needed {needed}"
    if recording.has_states:
        got = list(np.shape(recording.hidden))
        if got[:3] != [count, steps, nodes]:
            yield f"hidden: got shape {got}, needed [{count}, {steps}, {nodes}, width]"
    if not np.array_equal(recording.lengths, np.asarray(batch.lengths)):
        yield "lengths: got others than those of the batch, needed batch.lengths"
