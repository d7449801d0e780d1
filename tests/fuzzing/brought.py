"""Kinds of input that users bring from elsewhere: graphs of other libraries, Python files, answers
of their own models, language models, towers, judgements, tables, and results of experiments."""

import functools
import json
import pathlib
import random
from typing import Any

import jax
import networkx as nx
import numpy as np
import scipy.sparse
from fuzzing.kinds import Draw, Read, example, finished_run
from fuzzing.mutators import ODD, mutate_bytes, mutate_json, mutate_text, mutate_value
from fuzzing.trials import Kind

from algoscope import experiments, tasks
from algoscope.configuration import TowerConfig, TransnarConfig
from algoscope.falsify.account import observe
from algoscope.files import write_arrays
from algoscope.recording import Recording
from algoscope.report import kept
from algoscope.runs import folder, parquet, reservation
from algoscope.tasks import Stage
from algoscope.training.loop import by_name
from algoscope.transnar import reasoner, tower, tower_training
from algoscope.verbs import definitions
from algoscope.verbs.ending import explanation

_NODES = ("Basel", "Bern", 3, (1, 2), "Basel ", None, 0.5, "é", float("nan"))


def _graphs(_scratch: pathlib.Path) -> Draw:
    """Graphs of networkx, scipy and PyTorch Geometric, and arrays, with odd nodes and weights."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (1, 3)]

    def draw(chance: random.Random) -> Read:
        task = chance.choice(("bfs", "dijkstra"))
        named = list(_NODES) if chance.random() < 0.3 else list(range(4))
        pairs = [(named[a], named[b]) for a, b in edges]
        if chance.random() < 0.3:
            pairs.append(chance.choice(((named[0], named[0]), (named[1], named[0]), pairs[0])))
        values = [_weight(chance) for _ in pairs]
        numbers = [value if isinstance(value, float) else 1 for value in values]
        inputs: dict[str, Any] = {"source": chance.choice((*named[:2], chance.choice(ODD)))}
        match chance.randrange(4):
            case 0 | 1:
                made = chance.choice((nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph))()
                attribute = chance.choice(("weight", "cost", 3))
                for (sender, receiver), value in zip(pairs, values, strict=True):
                    if sender is not None and receiver is not None:
                        made.add_edge(sender, receiver, **{str(attribute): value})
                if chance.random() < 0.3:
                    inputs["weight"] = chance.choice(("weight", "cost", None, chance.choice(ODD)))
                inputs["graph"] = made
            case 2:
                rows, columns = np.array(edges).T
                kind = chance.choice((np.float32, np.complex64, np.int8, bool))
                matrix = np.zeros((4, chance.choice((4, 4, 5))), kind)
                with np.errstate(all="ignore"):
                    matrix[rows, columns] = np.array(numbers[: len(rows)], float).astype(kind)
                form = chance.choice((scipy.sparse.coo_array, scipy.sparse.csr_array, np.asarray))
                inputs["graph"] = form(matrix)
            case _:
                data = {"edge_index": np.array(edges).T.tolist(), "edge_weight": numbers[:5]}
                mutated = mutate_value(chance, data | {"num_nodes": 4})
                inputs |= mutated if isinstance(mutated, dict) else {"graph": mutated}
        return lambda: tasks.run(task, **inputs)

    for task in ("bfs", "dijkstra"):
        tasks.run(task, nx.cycle_graph(4), source=0)  # Compiled before anybody listens.
    return draw


def _weight(chance: random.Random) -> Any:
    return chance.choice((1, 0.5, 2.5, chance.choice(ODD))) if chance.random() < 0.7 else 1.0


_FILES = (
    '''\
import numpy as np
from algoscope import programs, tasks
FEATURES = """
    A       input   edge  mask
    exits   input   node  mask
    safe_h  hint    node  mask
    safe    output  node  mask
    """
def draw(random, A, exits, doors=0.2):
    A[:] = random.random(A.shape) < doors
    np.fill_diagonal(A, 0)
    exits[random.choice(len(exits), size=2, replace=False)] = 1
def search(record, A, exits, safe_h, safe):
    safe_h[:] = exits
    record()
    for room in A:
        safe_h[:] = np.maximum(safe_h, (A * safe_h).max(1))
        record()
    safe[:] = safe_h
way = tasks.define("way", FEATURES, draw, search, smallest=2)
program = programs.parse("way", way, """
    safe = input.exits
    hint.safe_h = output.safe = safe
    """)
''',
    """\
import numpy as np
from algoscope.recording import Recording
def answer(batch):
    pi = np.asarray(batch.outputs["pi"])
    return {"pi": np.zeros_like(pi)}
def record(batch):
    return Recording.from_arrays(lengths=batch.lengths, outputs=batch.outputs)
""",
)
_ENDLESS = ("**", "while", "sleep", "input")
"""Of a user's own code: what takes for ever, or waits, is the user's."""


def _python_files(scratch: pathlib.Path) -> Draw:
    batch = tasks.sample("bfs", 4, 2)

    def draw(chance: random.Random) -> Read:
        text = mutate_text(chance, chance.choice(_FILES), ("np", "tasks", "record", "A", "exits"))
        path = scratch / f"own{chance.randrange(10**9)}.py"
        octets = text.encode("utf-8", "surrogatepass")
        for word in _ENDLESS:
            octets = octets.replace(word.encode(), b"+")
        path.write_bytes(mutate_bytes(chance, octets) if chance.random() < 0.05 else octets)
        return functools.partial(read, path)

    def read(path: pathlib.Path) -> None:
        try:
            defined = definitions.run_file(path)
            for name in ("answer", "record"):
                if name in defined:
                    observe(defined[name], batch)
            for task in definitions._definitions.__wrapped__(path)["task"].values():
                tasks.sample(task, 4, 1)
        except (Exception, SystemExit) as error:
            told = explanation(error) if isinstance(error, Exception) else "fault of Algoscope"
            if "fault of Algoscope" in told:
                raise
            raise ValueError(told) from None
        finally:
            path.unlink()

    return draw


def _recordings(_scratch: pathlib.Path) -> Draw:
    """What a model of one's own says of a batch."""
    batch = tasks.sample("bfs", 4, 2)
    count, steps, nodes = len(batch), batch.steps, batch.nodes
    parts: dict[str, Any] = {
        "attention": np.full((count, steps, 1, nodes, nodes), 1 / nodes),
        "hidden": np.zeros((count, steps, nodes, 3)),
        "lengths": np.asarray(batch.lengths),
        "outputs": {f.name: np.asarray(batch.outputs[f.name]) for f in batch.at(Stage.OUTPUT)},
        "hints": {f.name: np.asarray(batch.hints[f.name])[:, 1:] for f in batch.at(Stage.HINT)},
    }

    def draw(chance: random.Random) -> Read:
        given = {**parts, "outputs": {**parts["outputs"]}, "hints": {**parts["hints"]}}
        for _ in range(chance.choice((1, 1, 2))):
            name = chance.choice(list(given))
            place = given
            if isinstance(given[name], dict) and given[name] and chance.random() < 0.9:
                place, name = given[name], chance.choice(list(given[name]))
            place[name] = _odd_array(chance, place[name])
        alone = chance.random() < 0.3
        return lambda: observe(
            lambda _: given["outputs"] if alone else Recording.from_arrays(**given), batch
        )

    return draw


class _Reluctant:
    """As a tensor of torch is that has a gradient, or is sparse."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("can't be converted\nto numpy")


def _odd_array(chance: random.Random, array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return chance.choice(ODD)
    match chance.randrange(8):
        case 0:
            return array[..., :-1]
        case 1:
            return array[None]
        case 2:
            return array.astype(chance.choice((object, bool, np.float16, np.complex64)))
        case 3:
            return np.full_like(array, chance.choice((-1, 0, 100)))
        case 4:
            return array.tolist()
        case 5:
            return np.ma.array(array, mask=chance.random() < 0.5)
        case 6:
            return _Reluctant()
        case _:
            return chance.choice((*ODD, None, {}, lambda: 0))


def _towers(scratch: pathlib.Path) -> Draw:
    """Run folders of hybrids: configuration, weights, and the reasoner's."""
    shape = TowerConfig(width=8, layers=1, heads=1, context=64, reads="final")
    config = TransnarConfig(("bfs",), sizes=(4,), samples=4, steps=2, batch=2, tower=shape)
    trained = reasoner.from_run(finished_run(scratch / "reasoner"), 0)
    run = reservation.create(
        scratch / "tower", json.loads(json.dumps(config.as_json())), kind=tower_training.KIND
    )
    reasoner.save(trained, run.path / "reasoner")
    built = tower.build(shape, jax.random.key(0), reasoner.widths_of(trained))
    write_arrays(run.path / "weights.safetensors", by_name(built))
    folder.seal(run, {"loss": 1.0})
    whole = {path: path.read_bytes() for path in run.path.rglob("*.*") if path.is_file()}

    def draw(chance: random.Random) -> Read:
        for path, octets in whole.items():
            path.write_bytes(octets)
        path = chance.choice(list(whole))
        if path.suffix == ".json" and chance.random() < 0.8:
            content = json.loads(whole[path])
            if "config" in content and chance.random() < 0.7:
                content["config"] = mutate_value(chance, content["config"])
                path.write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))
            else:
                path.write_bytes(mutate_json(chance, content))
        else:
            # Names and shapes stand at the beginning, weights behind.
            cut = chance.choice((300, 2_000, len(whole[path])))
            path.write_bytes(mutate_bytes(chance, whole[path][:cut]) + whole[path][cut:])
        return lambda: tower_training.load(run.path)

    return draw


def _judgements(scratch: pathlib.Path) -> Draw:
    path = scratch / "seed-00000.json"
    content = example(kept.Kept) | {"format": kept.FORMAT}

    def draw(chance: random.Random) -> Read:
        path.write_bytes(mutate_json(chance, content))

        def read() -> None:
            if found := kept._read_path(path):
                str(found.judgement.verdict), found.problems + 1

        return read

    return draw


def _tables(scratch: pathlib.Path) -> Draw:
    """The tables of a run, and questions about them."""
    root = scratch / "tables"
    run = finished_run(root / "run")
    parquet.write(run)
    whole = {path: path.read_bytes() for path in run.path.glob("*.parquet")}
    questions = (
        "select run, avg(value) from results where name = 'test' group by run",
        "select count(*) from metrics join runs using (run)",
        "select max(score) from validation",
        "copy results to '/tmp/x.csv'",
        "select * from read_csv('/etc/passwd')",
        "set enable_external_access = true; load httpfs",
    )

    def draw(chance: random.Random) -> Read:
        question = chance.choice(questions)
        for path, octets in whole.items():
            path.write_bytes(octets)
        if chance.random() < 0.5:
            path = chance.choice(list(whole))
            path.write_bytes(mutate_bytes(chance, whole[path]))
        else:
            question = mutate_text(chance, question, ("results", "runs", "select", "from", "copy"))
        return lambda: parquet.query(root, question)

    return draw


def _results(scratch: pathlib.Path) -> Draw:
    """What `reproduce` wrote, and seeds that were judged."""
    known = pathlib.Path(__file__).parents[2] / "results"
    place, study = scratch / "results", known / "transnar" / "smoke.json"
    place.mkdir()
    lines = [json.loads(line) for line in (known / "words" / "bfs.jsonl").read_text().splitlines()]
    usual = [line for line in lines if line.get("recipe") == "usual" and "weights" in line]
    judged = [line for line in usual if line["seed"] < 3]
    contents = {"smoke.json": json.loads(study.read_text()), "bfs.jsonl": judged}

    def draw(chance: random.Random) -> Read:
        for path in place.iterdir():
            path.unlink()
        name = chance.choice(list(contents))
        octets = mutate_json(chance, contents[name])
        if name.endswith("l"):
            lines = mutate_value(chance, judged)
            written = map(json.dumps, lines if isinstance(lines, list) else [lines])
            octets = "\n".join(written).encode("utf-8", "surrogatepass")
            octets = mutate_bytes(chance, octets) if chance.random() < 0.3 else octets
        (place / name).write_bytes(octets)
        return lambda: experiments.from_results(chance.choice((place, place / name)))

    return draw


def _language_model(scratch: pathlib.Path) -> Any:
    import gguf
    import torch
    from tiny_models import tiny_llama, write_gguf

    # Its readers ask for one table a thousand times, which takes longer than all they read.
    gguf.get_tensor_name_map = functools.cache(gguf.get_tensor_name_map)
    torch.set_num_threads(1)
    path = scratch / "tiny.gguf"
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2}
    write_gguf(path, tiny_llama(range(261), **shape))
    return path


def _gguf(scratch: pathlib.Path) -> Draw:
    from algoscope.llm import load

    path = _language_model(scratch)
    whole = path.read_bytes()

    def draw(chance: random.Random) -> Read:
        # Lengths and names stand at the beginning, weights behind.
        cut = chance.choice((500, 2_000, 10_000, len(whole)))
        path.write_bytes(mutate_bytes(chance, whole[:cut]) + whole[cut:])
        return lambda: load(path)

    return draw


def _own_prompts(scratch: pathlib.Path) -> Draw:
    """Questions of one's own about graphs, for language models."""
    from algoscope.llm import own_prompts

    content = {
        "prompt": "A leads to B. B leads to C. Can you get to C from A?",
        "edges": [["A", "B"], ["B", "C"]],
        "start": "A",
        "goal": "C",
        "directed": True,
        "asked": "Can you",
    }

    def draw(chance: random.Random) -> Read:
        path = scratch / chance.choice(("own.json", "own.jsonl"))
        path.write_bytes(mutate_json(chance, chance.choice((content, [content, content]))))
        return lambda: own_prompts.read(path)

    return draw


def _model_folders(scratch: pathlib.Path) -> Draw:
    from algoscope.llm import load
    from algoscope.llm.subjects import convert

    place = scratch / "model"
    convert(_language_model(scratch), place)
    whole = {path: path.read_bytes() for path in place.iterdir()}
    code = place / "own.py"
    configuration = place / "config.json"

    def draw(chance: random.Random) -> Read:
        for path in place.iterdir():
            if path not in whole:
                path.unlink()
        for path, octets in whole.items():
            path.write_bytes(octets)
        path = chance.choice([*whole, configuration])
        if chance.random() < 0.05:
            content = json.loads(whole[configuration])
            kinds = ("AutoConfig", "AutoModelForCausalLM", "AutoTokenizer")
            content["auto_map"] = dict.fromkeys(kinds, "own.Model")
            content["model_type"] = chance.choice(("llama", "own"))
            configuration.write_text(json.dumps(content))
            code.write_text("raise SystemExit('was run')")
        elif path.suffix == ".json":
            path.write_bytes(mutate_json(chance, json.loads(whole[path])))
        else:
            path.write_bytes(mutate_bytes(chance, whole[path]))
        return lambda: load(place)

    return draw


KINDS = (
    Kind("graphs", _graphs, 0.02),
    Kind(
        "python files",
        _python_files,
        0.005,
        permits=("exec of the case's own", "os.system (b'true',)"),
    ),
    Kind("recordings", _recordings, 0.03),
    Kind("towers", _towers, 0.01),
    Kind("judgements", _judgements, 0.01),
    Kind("tables", _tables, 0.004),
    Kind("results", _results, 0.005),
    Kind("own prompts", _own_prompts, 0.01),
    Kind("gguf", _gguf, 0.01),
    Kind("model folders", _model_folders, 0.01),
)
