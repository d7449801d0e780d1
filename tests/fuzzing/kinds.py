"""The kinds of input that come from outside, each with its mutators and its reader."""

import contextlib
import dataclasses
import io
import json
import pathlib
import pickle
import random
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np
from fuzzing.mutators import ODD, mutate_bytes, mutate_json, mutate_text, mutate_value
from fuzzing.trials import Kind

from algoscope import cli, files, networks, programs, runs, serialise, tasks
from algoscope.networks import Ensemble, NetworkConfig, dm_clrs
from algoscope.programs.compiler import compile_program
from algoscope.report.findings import Findings
from algoscope.runs import Metrics, Run, checkpoints, folder, reservation
from algoscope.runs.comparison import outcome
from algoscope.tasks import Task
from algoscope.tasks.options import resolve
from algoscope.training import TrainingConfig, check
from algoscope.training.config import from_json
from algoscope.verbs.output import named_values

Read = Callable[[], object]
Draw = Callable[[random.Random], Read]
_TASKS = ("bfs", "insertion_sort", "kmp_matcher", "activity_selector")
"""Of the prompts and graphs: each takes some seconds to compile."""
CONFIG = TrainingConfig(("bfs",), seeds=2, steps=4, network=NetworkConfig(width=2))


def _network() -> networks.Network:
    return networks.build("bfs", NetworkConfig(width=2), key=jax.random.key(0))


def finished_run(path: pathlib.Path) -> Run:
    run = reservation.create(path, json.loads(json.dumps(CONFIG.as_json())))
    loss = np.zeros((4, 2, 1), np.float32)
    metrics = Metrics(loss, np.array([0, 2], np.int32), loss[:2])
    scores = {"bfs": {"pi": [0.5, 0.75], "score": [0.5, 0.75]}}
    results = dict.fromkeys(("test", "fresh", "seen"), scores)
    results |= {"best_validation": [0.3, 0.4], "best_step": [2, 2]}
    ensemble = Ensemble.of([_network(), _network()], "bfs", (0, 1))
    return folder.finish(run, ensemble, metrics, results)


def _run_folders(scratch: pathlib.Path) -> Draw:
    run = finished_run(scratch / "root" / "run")
    contents = {name: (run.path / name).read_bytes() for name in ("run.json", "results.json")}
    metrics = run.path / "metrics.safetensors"
    whole = metrics.read_bytes()

    def draw(chance: random.Random) -> Read:
        for name, octets in contents.items():
            (run.path / name).write_bytes(octets)
        metrics.write_bytes(mutate_bytes(chance, whole) if chance.random() < 0.2 else whole)
        name = chance.choice(list(contents))
        (run.path / name).write_bytes(mutate_json(chance, json.loads(contents[name])))
        return read

    def read() -> None:
        for opened in runs.survey(scratch / "root").runs:
            opened.options, opened.step, opened.state, opened.progress, opened.seeds  # noqa: B018
            outcome(opened)
            opened.metrics.loss.mean()

    return draw


def _weights(scratch: pathlib.Path) -> Draw:
    path = scratch / "network.safetensors"
    networks.save(_network(), path, "bfs")
    whole = path.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header, data = json.loads(whole[8 : 8 + length]), whole[8 + length :]

    def draw(chance: random.Random) -> Read:
        match chance.randrange(3):
            case 0:
                octets = mutate_bytes(chance, whole)
            case 1:
                head = mutate_json(chance, header)
                octets = len(head).to_bytes(8, "little") + head + data
            case _:
                stated = json.loads(header["__metadata__"]["algoscope"])
                text = mutate_json(chance, stated).decode("utf-8", "replace")
                head = json.dumps({**header, "__metadata__": {"algoscope": text}}).encode()
                octets = len(head).to_bytes(8, "little") + head + data
        path.write_bytes(octets)
        return lambda: (networks.load(path), networks.load_source(path))

    return draw


def _checkpoints(scratch: pathlib.Path) -> Draw:
    place = scratch / "checkpoints"
    place.mkdir()
    arrays = {"learners.a": np.zeros((2, 3), np.float32), "metrics.loss": np.zeros((0, 1, 1))}
    checkpoints.write(place, 5, arrays)
    checkpoints.write(place, 10, arrays)
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    newest = max(whole)

    def draw(chance: random.Random) -> Read:
        for path in place.iterdir():
            path.unlink()
        for name, octets in whole.items():
            (place / name).write_bytes(octets)
        octets = mutate_bytes(chance, whole[newest])
        name = newest
        if chance.random() < 0.5:
            name = f"checkpoint-{10:09d}-{checkpoints._digest(octets)}.safetensors"
        if chance.random() < 0.2:
            name = mutate_text(chance, name).replace("/", "").replace("\0", "")[:100] or "x"
        with contextlib.suppress(OSError, ValueError):
            (place / name).write_bytes(octets)
        return lambda: (checkpoints.latest_step(place), checkpoints.read(place).metrics)

    return draw


class _Hostile:
    def __reduce__(self):
        import os

        return os.system, ("true",)


def _pickles(scratch: pathlib.Path) -> Draw:
    path = scratch / "best.pkl"
    parameters = dm_clrs.to_parameters(_network())
    seeds = [
        pickle.dumps(content, protocol)
        for protocol in (2, 4, 5)
        for content in (
            {"params": parameters, "opt_state": [1, {"a": (2.5, "b")}]},
            {"params": parameters, "opt_state": _Hostile()},
            _Hostile(),
        )
    ]

    def draw(chance: random.Random) -> Read:
        path.write_bytes(mutate_bytes(chance, chance.choice(seeds)))
        return lambda: dm_clrs.from_parameters(skeleton, dm_clrs.read_checkpoint(path))

    skeleton = _network()
    return draw


def _configurations(_scratch: pathlib.Path) -> Draw:
    content = json.loads(json.dumps(CONFIG.as_json()))

    def draw(chance: random.Random) -> Read:
        octets = mutate_json(chance, content)
        return lambda: check(from_json(TrainingConfig, serialise.parse_json(octets)))

    return draw


def _options(_scratch: pathlib.Path) -> Draw:
    names = [task for task in tasks.names() if tasks.get(task).options]

    def draw(chance: random.Random) -> Read:
        task = tasks.get(chance.choice(names))
        name = chance.choice([*task.options, "length", ""])
        value = chance.choice((chance.choice(ODD), [0.1, 0.5], 0.5, 3, "random"))
        text = f"{name}={json.dumps(mutate_value(chance, value))}"
        if chance.random() < 0.3:
            text = mutate_text(chance, text)
        size = chance.choice((4, 16, 64))
        return lambda: resolve(task.name, task.options, named_values("--options", (text,)), size)

    return draw


def _network_options(_scratch: pathlib.Path) -> Draw:
    fields = [field.name for field in dataclasses.fields(NetworkConfig)]

    def draw(chance: random.Random) -> Read:
        chosen = chance.sample(fields, chance.choice((1, 1, 2, 3)))
        values = {name: chance.choice((chance.choice(ODD), 2, 8, 0.5, "gat")) for name in chosen}
        texts = tuple(f"{name}={json.dumps(value)}" for name, value in values.items())

        def read() -> None:
            config = NetworkConfig(**named_values("--network", texts))
            networks.check_memory(networks.skeleton("bfs", config))

        return read

    return draw


def _prompts(_scratch: pathlib.Path) -> Draw:
    seeds = [
        tasks.text.write(tasks.sample(task, 5, 2, seed=1), sample=sample, traces=traces).prompt
        for task in _TASKS
        for sample in (0, 1)
        for traces in (False, True)
    ]

    def draw(chance: random.Random) -> Read:
        prompt = mutate_text(chance, chance.choice(seeds), tasks.names())
        return lambda: tasks.text.parse(prompt).solved()

    return draw


def _answers(_scratch: pathlib.Path) -> Draw:
    seeds = [
        (task, tasks.text.write(tasks.sample(task, 5, 1, seed=1), traces=traces).answer, traces)
        for task in _TASKS
        for traces in (False, True)
    ]

    def draw(chance: random.Random) -> Read:
        task, answer, traces = chance.choice(seeds)
        text = mutate_text(chance, answer)
        return lambda: tasks.text.read(task, text, chance.choice((1, 5, 6)), traces)

    return draw


def _programs(scratch: pathlib.Path) -> Draw:
    library = pathlib.Path(programs.__file__).parent / "library"
    texts = [path.read_text() for path in sorted(library.glob("*.program"))]
    path = scratch / "own.program"

    def draw(chance: random.Random) -> Read:
        text = mutate_text(chance, chance.choice(texts), words)
        octets = text.encode("utf-8", "surrogatepass")
        path.write_bytes(mutate_bytes(chance, octets) if chance.random() < 0.1 else octets)
        return lambda: compile_program(programs.load(path))

    words = sorted({word for text in texts for word in re.findall(r"[a-z_A-Z]{3,}", text)})
    return draw


def _problems(_scratch: pathlib.Path) -> Draw:
    edges = [[0, 1, 2, 3], [1, 2, 3, 0]]
    weights = [1.0, 2.0, 0.5, 1.5]
    matrix = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    seeds: list[tuple[str, dict[str, Any]]] = [
        ("bfs", {"edge_index": edges, "num_nodes": 5, "source": 0}),
        ("bfs", {"graph": matrix, "source": 1}),
        ("insertion_sort", {"key": [3.0, 1.0, 2.0]}),
        ("activity_selector", {"s": [1.0, 3.0], "f": [2.0, 5.0]}),
        ("kmp_matcher", {"haystack": "abcabd", "needle": "abd"}),
        ("bfs", {"edge_index": edges, "edge_weight": weights, "source": 0}),
    ]

    for task, inputs in seeds:
        tasks.run(task, **inputs)  # Compiled before anybody listens.

    def draw(chance: random.Random) -> Read:
        task, inputs = chance.choice(seeds)
        mutated = mutate_value(chance, inputs)
        inputs = mutated if isinstance(mutated, dict) else {"graph": mutated}
        named = {str(name): value for name, value in inputs.items()}
        if chance.random() < 0.2:
            named = {name: np.array(value, object) for name, value in named.items()}
        return lambda: tasks.run(task, **named)

    return draw


def example(kind: Any) -> Any:
    """Some JSON of that type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return example(next(member for member in arguments if member is not type(None)))
    if origin is typing.Literal:
        return arguments[0]
    if kind is Task:
        return "bfs"
    if serialise._is_record(kind):
        fields = serialise._fields_of(kind).kinds
        return {name: example(part) for name, part in fields.items()}
    if origin is dict:
        return {"1" if arguments[0] is int else "a": example(arguments[1])}
    if origin is tuple and arguments[-1] is not ...:
        return [example(part) for part in arguments]
    if origin is not None:
        return [example(arguments[0])]
    if isinstance(kind, type) and hasattr(kind, "__members__"):
        return next(iter(kind)).value
    plain = {bool: True, int: 2, float: 0.5, str: "bfs", list: [1], dict: {}, Hashable: "a"}
    return plain.get(kind, [[1.0, 2.0]])


def _findings(_scratch: pathlib.Path) -> Draw:
    content = example(Findings)
    names = {Task: tasks.get}

    def draw(chance: random.Random) -> Read:
        octets = mutate_json(chance, content)
        return lambda: serialise.from_json(Findings, serialise.parse_json(octets), {}, names)

    return draw


def _arrays(scratch: pathlib.Path) -> Draw:
    path = scratch / "arrays.safetensors"
    files.write_arrays(path, {"a": np.eye(2), "b": np.arange(3, dtype=np.int8)}, {"c": "d"})
    whole = path.read_bytes()

    def draw(chance: random.Random) -> Read:
        octets = mutate_bytes(chance, whole)
        return lambda: files.unpacked(octets)

    return draw


_COMMANDS = (
    "tasks --json", "sample bfs --size 4 --count 2", "sample bfs --size 4 --count 1 --json",
    "runs list --root RUNS --json", "runs compare RUNS/run RUNS/run",
    "train --resume RUNS/run --json",
    "reproduce --list", "completion bash", "sample bfs --size 5 --options p=0.5", "--version",
    "sweep status RUNS", "reproduce --from RUNS", "judge RUNS/none --json",
    "draw bfs --out RUNS/x.svg", "runs query select --root RUNS",
    "compile bfs --out RUNS/x.safetensors",
)  # fmt: skip


def _commands(scratch: pathlib.Path) -> Draw:
    finished_run(scratch / "commands" / "run")

    def draw(chance: random.Random) -> Read:
        command = chance.choice(_COMMANDS).replace("RUNS", str(scratch / "commands"))
        words = command.split()
        place = chance.randrange(len(words) + 1)
        options = (
            "--seed", "--size", "--json", "--quiet", "--options", "--out", "-h", "--force",
            "--sise", "--size=x", "--json=1", "--root",
        )  # fmt: skip
        piece = chance.choice((*options, *map(str, ODD)))
        words[place : place + chance.choice((0, 1))] = [piece.replace("\0", "")]
        return lambda: _run(words)

    return draw


def _run(words: list[str]) -> None:
    before = sys.argv
    sys.argv = ["algoscope", *words]
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.run()
    except SystemExit as end:
        if "fault of Algoscope" in str(end.code):
            raise RuntimeError(str(end.code)) from end
        if end.code:
            raise ValueError(str(end.code)) from None
    finally:
        sys.argv = before


KINDS = (
    Kind("run folders", _run_folders, 0.02),
    Kind("weights", _weights, 0.01),
    Kind("checkpoints", _checkpoints, 0.01),
    Kind("arrays", _arrays, 0.267),
    Kind("pickles", _pickles, 0.015),
    Kind("configurations", _configurations, 0.03),
    Kind("findings", _findings, 0.008),
    Kind("options", _options, 0.22),
    Kind("network options", _network_options, 0.005),
    Kind("prompts", _prompts, 0.11),
    Kind("answers", _answers, 0.09),
    Kind("programs", _programs, 0.008),
    Kind("problems", _problems, 0.01),
    Kind("commands", _commands, 0.008),
)
