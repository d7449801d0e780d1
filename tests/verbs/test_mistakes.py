"""181 mistakes of users over all verbs and entry points, each answered by one line that begins with
*error* and names what was given. What is no command ends with status 2 and names the help; no line
tells of a fault of Algoscope, and no mistake leaves a file."""

import pathlib
import re
import shlex

import numpy as np
import pytest
from finished import finished_run

from algoscope import (
    experiments,
    falsify,
    measures,
    networks,
    programs,
    runs,
    sweeps,
    tasks,
    training,
)
from algoscope.runs import lock, reservation

FILES = {
    "other/mine.txt": "x",
    "file": "text",
    "a.safetensors": "text",
    "a.program": "x = (",
    "none.program": "",
    "own.py": "x = 1\n",
    "raises.py": "def answer(batch):\n    raise KeyError('my key')\n",
    "late.py": "def answer(batch):\n    import nothing_of_the_kind\n",
    "shapes.py": "import numpy as np\ndef answer(batch):\n    return np.ones(3) + np.ones(4)\n",
    "leaves.py": "def answer(batch):\n    raise SystemExit(0)\n",
    "bare.py": "def answer():\n    return {}\n",
    "deep.py": "def answer(batch):\n    return answer(batch)\n",
    "from_one.py": "def answer(batch):\n    return {'pi': batch.outputs['pi'] + 1}\n",
    "nan.py": "def answer(batch):\n    return {'pi': batch.outputs['pi'] * float('nan')}\n",
    "ends.py": "def answer(batch):\n    raise GeneratorExit('mine')\n",
    "ended.py": "raise BaseException('mine')\n",
    "three.py": "def answer(batch):\n    return 3\n",
    "names.py": "def answer(batch):\n    return {'nothing': batch}\n",
    "nothing_recorded.py": "def record(batch):\n    return None\n",
    "typo.toml": '[base]\ntasks = "bfs"\nstpes = 3\n',
    "bad.toml": "[base\n",
    "none.toml": "",
    "list.yaml": "- 1\n",
    "m.gguf": "GGUFx",
    "results/full.json": '{"unseen_sizes": 3}',
}
"""What lies in the folder where the commands are given, beside runs/done, runs/stopped, runs/live,
runs/damaged and an empty folder."""

USAGE = {
    # What is no command: (command, what the answer names).
    "trian bfs": "unknown verb: 'trian'; did you mean train or transnar? see algoscope --help",
    "--versoin": "algoscope: got '--versoin', needed a verb before options",
    "--json tasks": "algoscope: got '--json', needed a verb before options",
    "tasks --sizes 3": "unknown option of algoscope tasks: '--sizes'; there is --help, --json",
    "tasks bfs": "algoscope tasks: got 'bfs', which it does not take",
    "sample": "algoscope sample: needed NAME (The task: a name that `algoscope tasks` lists",
    "sample bfs --size 2.5": "--size: got '2.5', needed a whole number (Problem size",
    "compile bfs": "algoscope compile: needed --out (Write the network to this .safetensors file)",
    "train bfs --steps ten": "--steps: got 'ten', needed a whole number",
    "train bfs --steps=ten": "--steps: got 'ten', needed a whole number",
    "train bfs --learning-rate x": "--learning-rate: got 'x', needed a number",
    "train bfs --learning_rate x": "--learning-rate: got 'x', needed a number",
    "train bfs --sizes 4 x --json": "--sizes: got '4' 'x', needed whole numbers",
    "train bfs --stpes 3": "unknown option of algoscope train: '--stpes'; did you mean --steps",
    "train bfs --steps": "--steps: got no value, needed a whole number",
    "train bfs --out": "--out: got no value, needed PATH",
    "train bfs --json=3": "--json: got '3', needed no value",
    "train bfs --keep all": "--keep: got 'all', needed best or last",
    "train bfs --track tensorbord": "--track: got 'tensorbord', needed tensorboard, wandb or ml",
    "judge": "algoscope judge: needed PATH (A run folder",
    "judge runs/done --seeds a": "--seeds: got 'a', needed whole numbers",
    "serve --port 0x": "--port: got '0x', needed a whole number",
    "view --port 0x": "--port: got '0x', needed a whole number",
    "runs lst": "unknown verb of algoscope runs: 'lst'; did you mean list?",
    "runs query": "algoscope runs query: needed SQL (The query, such as",
    "sweep": "algoscope sweep: got no verb, needed run, status, cancel or report",
    "sweep status": "algoscope sweep status: needed FOLDER",
    "llm": "algoscope llm: got no verb, needed navigate, examine, describe",
    "llm navgate": "unknown verb of algoscope llm: 'navgate'; did you mean navigate",
    "llm primitives --modle x": "option of algoscope llm primitives: '--modle'; did you mean --mod",
    "transnar": "algoscope transnar: got no verb, needed train, evaluate or ask",
    "transnar train --widht 3": "option of algoscope transnar train: '--widht'; did you mean --wid",
    "reproduce transnar-scores --preset big": "--preset: got 'big', needed smoke or full",
    "completion": "algoscope completion: needed SHELL",
    "completion fsh": "SHELL: got 'fsh', needed bash, zsh or tcsh",
}
WRONG = {
    # tasks and problems
    "sample bsf": "'bsf'; did you mean bfs?",
    "sample bfs --size 0": "size: got 0",
    "sample bfs --size -3": "size: got -3",
    "sample bfs --count 0": "count: got 0",
    f"sample bfs --size 1{'0' * 400}": "needed an integer of 64 bits for bfs",
    f"sample bfs --count 1{'0' * 400}": "needed an integer of 64 bits",
    "sample bfs --seed -1": "seed: got -1",
    "sample bfs --options p": "--options: got 'p', needed NAME=VALUE",
    "sample bfs --options p=2": "p: got 2",
    "sample bfs --options q=1": "unknown option of bfs: 'q'",
    "sample bfs --out x.txt": "--out: got x.txt",
    "sample bfs --out file/x.npz": "file/x.npz",
    "sample own.py": "own.py: got a file without a task",
    "sample nothing.py": "nothing.py: got no such file",
    "sample round.py": "round.py: got no such file",
    "sample a.program": "line 1, column 1",
    # programs
    "programs --size 0": "size: got 0",
    "programs --html empty": "empty: cannot be written (Is a directory)",
    "compile bsf --out b.safetensors": "'bsf'; did you mean bfs?",
    "compile bfs --out a.txt": "--out: got a.txt",
    "compile none.program --out b.safetensors": "# task: NAME",
    "compile bfs --variant printed --out b.safetensors": "--size: got None",
    "compile dfs --variant printed --size 8 --out b.safetensors": "printed: got 'dfs'",
    "compile bfs --width 1 --out b.safetensors": "width: got 1",
    "compile bfs --out file/b.safetensors": "file/b.safetensors: cannot be written",
    "verify bfs --size 0": "size: got 0",
    "verify bfs --count 0": "count: got 0",
    "verify bfs_locked --variant printed": "printed: got 'bfs_locked'",
    "draw bsf": "'bsf'; did you mean bfs?",
    "draw bfs --out file": "--out: got file",
    # demo and training
    "demo --seeds 0": "seeds: got 0",
    "demo --steps -1": "steps: got -1",
    "demo --sizes 0": "recipe.sizes: got 0",
    "demo --problems 0": "--problems: got 0",
    "demo --out other": "other: exists already",
    "demo --out runs/done": "holds a run that is no demo",
    "train": "got no task",
    "train bsf": "'bsf'; did you mean bfs?",
    "train bfs --steps 0": "steps: got 0",
    "train bfs --seeds 0": "seeds: got 0",
    "train bfs --learning-rate nan": "learning_rate: got nan",
    "train bfs --batch 0": "count: got 0",
    "train bfs --graphs round": "unknown kind of graphs: 'round'",
    "train bfs --hint-mode none_": "'none_'; did you mean none?",
    "train bfs --network widht=3": "'widht'; did you mean width?",
    "train bfs --network width": "--network: got 'width'",
    "train bfs --network width=1000000": "(network.width 1,000,000): needs about",
    "train bfs --sizes 1000000": "problems of bfs with 1,000,000 nodes: needs about",
    "train bfs --network processor=gta": "'gta'; did you mean gat",
    "train bfs --objective hint": "'hint'; did you mean hints?",
    "train bfs --objective hints=x": "the weight 'x'",
    "train bfs --teacher dijkstra": "teacher: got dijkstra",
    "train bfs --scored-on tset": "'tset'; did you mean test",
    "train bfs --evaluate-every 0": "evaluate_every: got 0",
    "train bfs --checkpoint-seconds nan": "checkpoint_seconds: got nan",
    "train bfs --checkpoint-seconds -1": "checkpoint_seconds: got -1",
    "train bfs --out runs/done": "runs/done: holds a finished run",
    "train bfs --out runs/stopped": "runs/stopped: holds a run that stopped",
    "train bfs --out runs/live --force": "runs/live: got a run that another process is training",
    "train bfs --out other --force": "other: exists and is no run folder",
    "train bfs --out file/run": "file/run",
    "train bfs --start a.safetensors": "a.safetensors",
    "train bfs --start nothing.safetensors": "nothing.safetensors",
    "train --resume nothing": "nothing: got no run folder",
    "train --resume runs/damaged": "runs/damaged/run.json",
    "train --resume runs/live": "runs/live: got a run that another process is training",
    # judging
    "judge nothing": "nothing",
    "judge other": "other",
    "judge file": "file",
    "judge runs/stopped": "runs/stopped: got a run that stopped",
    "judge a.safetensors": "a.safetensors",
    "judge own.py": "--task",
    "judge own.py --task bfs": "own.py",
    "judge from_one.py --task bfs": "from_one.py gave for bfs does not fit the batch that it was "
    "given: outputs['pi']: got numbers from 1 to 16, needed nodes: whole numbers from 0 to 15",
    "judge nan.py --task bfs": "outputs['pi']: got numbers that are not finite",
    "judge ends.py --task bfs": "ends.py, line 2: GeneratorExit: mine",
    "judge ended.py --task bfs": "ended.py, line 1: BaseException: mine",
    "judge three.py --task bfs": "got int for a batch of bfs",
    "judge names.py --task bfs": "unknown output of bfs: 'nothing'",
    "judge raises.py --task bfs": "raises.py, line 2: KeyError: 'my key'",
    "judge late.py --task bfs": "late.py, line 2: ModuleNotFoundError: No module named 'nothing_of",
    "judge shapes.py --task bfs": "shapes.py, line 3: ValueError: operands could not be broadcast",
    "judge leaves.py --task bfs": "leaves.py, line 2: SystemExit: 0",
    "judge bare.py --task bfs": "needed a function of a batch alone (answer() takes 0 positional",
    "judge deep.py --task bfs": "deep.py, line 2: RecursionError",
    "judge nothing_recorded.py --task bfs": "got NoneType for a batch of bfs",
    "judge runs/done --seeds 7": "seed-00007",
    "judge runs/done --task dfs": "dfs",
    "judge runs/done --problems 0": "--problems: got 0",
    "falsify nothing.py --task bfs": "nothing.py",
    # pages
    "report": "got no run folder",
    "report nothing": "nothing",
    "report runs/stopped": "runs/stopped",
    "report runs/done --out x.txt": "--out: got x.txt",
    "report runs/done --problems 0": "--problems: got 0",
    "serve nothing": "nothing",
    "serve runs --port 99999": "--port: got 99999",
    # many runs
    "runs list --root file": "file",
    "runs query 'select' --root runs": "select",
    "runs query 'select * from nothing' --root runs": "nothing",
    "runs compare runs/done": "got 1 run",
    "runs compare runs/done nothing": "nothing",
    "runs import nothing": "nothing",
    "sweep nothing.toml": "nothing.toml",
    "sweep typo.toml": "'stpes'; did you mean steps",
    "sweep bad.toml": "bad.toml: not valid TOML",
    "sweep none.toml": "none.toml: tasks: not there, and needed",
    "sweep list.yaml": "list.yaml: got [1]",
    "sweep own.py": "own.py: got 0 sweeps",
    "sweep file": "file: got a file whose name ends in ''",
    "sweep empty": "empty: got no sweep",
    "sweep status empty": "empty: got no sweep",
    "sweep cancel empty": "empty: got no sweep",
    "sweep cancel nothing": "nothing: got no sweep",
    "sweep report nothing": "nothing: got no sweep",
    "sweep report file": "file: got no sweep",
    "sweep typo.toml --checkpoint-seconds nan": "checkpoint_seconds: got nan",
    "sweep typo.toml --out runs/done": "'stpes'",
    # language models, hybrids, experiments
    "llm navigate --model nothing": "nothing",
    "llm navigate --model m.gguf": "m.gguf",
    "llm items --out x.txt": "--out: got x.txt",
    "transnar train --reasoner nothing --out runs/t": "nothing",
    "transnar evaluate nothing": "nothing",
    "transnar ask text --model nothing": "nothing",
    "reproduce": "got no name",
    "reproduce transnar-score": "did you mean transnar-scores",
    "reproduce --from empty": "--from: got empty",
    "reproduce --from file": "file",
    "reproduce --from results": "results: got results that lack something (KeyError: 'test_sizes')",
}


SEVERAL = ("judge names.py --task bfs", "sweep typo.toml --checkpoint-seconds nan")
"""Mistakes with more than one fault, each of which has a line."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "empty").mkdir()
    (folder / "round.py").symlink_to("round.py")
    done = finished_run(folder / "runs" / "done")
    for name in ("stopped", "live", "damaged"):
        reservation.create(folder / "runs" / name, done.config)
    (folder / "runs" / "damaged" / "run.json").write_text("{")
    with lock.hold(folder / "runs" / "live"):
        yield folder


@pytest.fixture
def told(algoscope, place, monkeypatch, capsys):
    """Gives a command, which has to fail with this status; returns the message."""
    monkeypatch.chdir(place)

    def tell(command: str, status: int) -> str:
        before = sorted(place.rglob("*"))
        with pytest.raises(SystemExit) as end:
            algoscope(*shlex.split(command))
        assert sorted(place.rglob("*")) == before
        if isinstance(end.value.code, str):
            assert status == 1  # Of Python, which prints what is no number.
            return end.value.code
        assert end.value.code == status
        printed = capsys.readouterr()
        assert not printed.out
        return printed.err.removesuffix("\n")

    return tell


@pytest.mark.parametrize("command", WRONG, ids=lambda command: command[:60])
def test_a_mistake_is_answered_by_one_line_that_names_it(told, command):
    message = told(command, status=1)
    assert message.startswith("error: ")
    assert WRONG[command] in message
    assert "fault of Algoscope" not in message
    assert "\n" not in message or command in SEVERAL
    assert len(message) < 600


@pytest.mark.parametrize("command", USAGE, ids=lambda command: command[:60])
def test_what_is_no_command_is_answered_by_one_line_that_names_the_help(told, command):
    message = told(command, status=2)
    assert message.startswith("error: ")
    assert USAGE[command] in message
    assert message.endswith(" --help")
    assert "\n" not in message
    assert len(message) < 600


IN_PYTHON = {
    "'bsf'; did you mean bfs": lambda: tasks.sample("bsf", 4),
    "size: got 'x'": lambda: tasks.sample("bfs", "x"),
    "unknown option of bfs: 'q'": lambda: tasks.sample("bfs", 4, q=1),
    "edge_index": lambda: tasks.run("bfs", edge_index=[[0], [9]], num_nodes=2, source=0),
    "source": lambda: tasks.run("bfs", graph=np.eye(2), source=7),
    "key": lambda: tasks.run("insertion_sort", key=["a", "b"]),
    "unknown program: 'bsf'": lambda: programs.get("bsf"),
    "nothing.program": lambda: programs.load(pathlib.Path("nothing.program")),
    "'gta'; did you mean gat": lambda: training.check(
        training.TrainingConfig(("bfs",), network=networks.NetworkConfig(processor="gta"))
    ),
    "steps: got 0": lambda: training.check(training.TrainingConfig(("bfs",), steps=0)),
    "nothing: got no run folder": lambda: runs.open("nothing"),
    "nothing: got no folder": lambda: runs.survey("nothing"),
    "'dfss'; did you mean dfs": lambda: measures.judge(lambda batch: {}, "dfss"),
    "'bsf'": lambda: falsify.falsify(lambda batch: {}, "bsf"),
    "problems: got -1": lambda: falsify.falsify(lambda batch: {}, "bfs", problems=-1),
    "axes.steps: got 3": lambda: sweeps.from_content({"axes": {"steps": 3}}),
    "'transnar-score'; did you mean": lambda: experiments.get("transnar-score"),
}


@pytest.mark.parametrize("named", IN_PYTHON)
def test_a_mistake_in_python_is_a_value_error_that_names_it(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, OSError), match=re.escape(named)):
        IN_PYTHON[named]()


def test_there_are_as_many_mistakes_as_are_promised():
    """81 were; the first line of this module says how many there are."""
    said = int((__doc__ or "").split()[0])
    assert len(WRONG) + len(USAGE) + len(IN_PYTHON) == said >= 81
    assert not {*WRONG} & {*USAGE}
