"""Tables of a study's results, and what is kept of the way to them."""

import math
import pathlib
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from algoscope import serialise, tasks
from algoscope.files import read_arrays
from algoscope.table import Table
from algoscope.tasks import Kind, Location, Stage
from algoscope.transnar.exchange import Exchange
from algoscope.transnar.mechanism import GATES_SHUT, OTHER_STATES, Reads
from algoscope.transnar.scores import (
    FIELDS,
    Score,
    Scores,
    averaged,
    from_json,
    mean_clrs,
    means,
    sizes_text,
)
from algoscope.transnar.verdict import Evidence, decide
from algoscope.verdict import Verdict

BASE, HYBRID = "base", "hybrid"
REASONER, PIPELINE = "reasoner alone", "text to graph to reasoner"
SOLVER, ONE_ANSWER = "reference algorithm", "one answer for all problems"
RIVALS = (REASONER, PIPELINE, SOLVER, ONE_ANSWER)
"""Titles of rows that are no towers."""
CLASSES = {
    "sorting": ("insertion_sort", "bubble_sort", "heapsort", "quicksort"),
    "searching": ("minimum", "binary_search", "quickselect"),
    "divide and conquer": ("find_maximum_subarray_kadane",),
    "greedy": ("activity_selector", "task_scheduling"),
    "dynamic programming": ("matrix_chain_order", "lcs_length", "optimal_bst"),
    "graphs": (
        "dfs", "topological_sort", "articulation_points", "bridges",
        "strongly_connected_components", "mst_kruskal", "mst_prim", "bellman_ford", "dijkstra",
        "dag_shortest_paths", "floyd_warshall", "bfs",
    ),
    "strings": ("naive_string_matcher", "kmp_matcher"),
    "geometry": ("segments_intersect", "graham_scan", "jarvis_march"),
}  # fmt: skip
"""The eight classes of CLRS-30."""
PUBLISHED = {"mean of 30 tasks": 0.7598, "bfs": 0.9973, "dfs": 0.4779, "bellman_ford": 0.9739}
"""Scores of Triplet-GMPNN at n = 64, each task trained alone (Ibarz et al. 2022)."""
_NOT_LEARNT = "not learnt"
_Z = 1.96
_LENGTHS = ("one or two numbers", "a number for each node", "decimals or a matrix")
"""How long answers are: where they grow with n, most scores say whether a tower can count."""


def _length_of_answers(task: str) -> str:
    short, per_node, other = _LENGTHS
    outputs = tasks.get(task).at(Stage.OUTPUT)
    if all(f.kind is Kind.MASK_ONE for f in outputs):
        return short
    kinds = (Kind.MASK, Kind.POINTER)
    by_node = all(f.location is Location.NODE and f.kind in kinds for f in outputs)
    return per_node if by_node else other


def table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores over tasks, by row and size."""
    sizes = results["test_sizes"]
    tested = next(iter(results["rows"].values()))[0].values()
    counts = {n: sum(str(n) in by_size for by_size in tested) for n in sizes}
    rows = []
    for name, content in results["rows"].items():
        each = [from_json(scores) for scores in content]
        mean = averaged(each)
        cells = [mean_clrs(mean, [size]) for size in sizes]
        unseen = [mean_clrs(scores, results["unseen_sizes"]) for scores in each]
        spread = f" ({min(unseen):.3f}–{max(unseen):.3f})" if len(unseen) > 1 else ""
        every = [score for by_size in mean.values() for score in by_size.values()]
        others = means(every, ("shape", "parse", "exact")).values()
        rows.append([name, *_cells(cells), f"{fmean(unseen):.3f}{spread}", *_cells(others)])
    return Table(
        "mean CLRS score over tasks, by size; then the mean over unseen sizes, and shape, parse "
        "and exact over all",
        ["", *(_size(n, counts[n], len(tested)) for n in sizes), *_OTHERS],
        rows,
    )


_OTHERS = ("unseen", "shape", "parse", "exact")


def _size(size: int, tested: int, tasks: int) -> str:
    return f"n = {size}" if tested == tasks else f"n = {size} ({tested} tasks)"


def task_table(results: dict[str, Any], names: Sequence[str] | None = None) -> Table:
    """CLRS scores by task, means over the unseen sizes; of all rows, or of these. Where a tower has
    not learnt a task, the cell says so."""
    rows = _averages(results, names)
    learnt = learnt_tasks(results)
    sizes = results["unseen_sizes"]

    def cell(row: str, task: str) -> str:
        score = fmean([rows[row][task][size].clrs for size in sizes])
        said = row not in learnt or task in learnt[row]
        return f"{score:.3f}" if said else f"{score:.3f}, {_NOT_LEARNT}"

    tested = next(iter(rows.values()))
    return Table(
        f"CLRS score by task, mean over {sizes_text(sizes)}; {_NOT_LEARNT}: at sizes of its "
        "training, the tower is not surely above one answer for all problems",
        ["task", *rows],
        [[task, *(cell(row, task) for row in rows)] for task in tested],
    )


def class_table(results: dict[str, Any], names: Sequence[str] | None = None) -> Table:
    """CLRS scores by class of algorithms, means over its tasks and the unseen sizes."""
    rows, sizes = _averages(results, names), results["unseen_sizes"]
    known = next(iter(rows.values()))
    classes = {name: [t for t in tasks if t in known] for name, tasks in CLASSES.items()}
    return Table(
        f"CLRS score by class of algorithms, mean over its tasks and {sizes_text(sizes)}",
        ["class", "tasks", *rows],
        [
            [name, str(len(members)), *_cells(_mean_of(s, members, sizes) for s in rows.values())]
            for name, members in classes.items()
            if members
        ],
    )


def _mean_of(scores: Scores, tasks: Sequence[str], sizes: Sequence[int]) -> float:
    return mean_clrs({task: scores[task] for task in tasks}, sizes)


def _averages(results: dict[str, Any], names: Sequence[str] | None = None) -> dict[str, Scores]:
    """Of all rows, or of these, the mean over seeds."""
    chosen = results["rows"] if names is None else names
    return {name: averaged([from_json(s) for s in results["rows"][name]]) for name in chosen}


def learnt_tasks(results: dict[str, Any]) -> dict[str, set[str]]:
    """Of each tower, the tasks whose CLRS score at sizes of its training is above that of one
    answer for all problems by more than the 95 % interval over problems. None of them is there if
    no such size was tested."""
    sizes = seen_sizes(results)
    if not sizes or ONE_ANSWER not in results["rows"]:
        return {}
    rows = _averages(results)
    one_answer = rows[ONE_ANSWER]

    def is_learnt(scores: Scores, task: str) -> bool:
        pairs = [(scores[task][n], one_answer[task][n]) for n in sizes]
        ahead = fmean(tower.clrs - one.clrs for tower, one in pairs)
        errors = [score.clrs_error for pair in pairs for score in pair]
        return ahead > _Z * math.hypot(*errors) / len(sizes)

    towers = [name for name in rows if name not in RIVALS]
    return {name: {t for t in rows[name] if is_learnt(rows[name], t)} for name in towers}


def learnt_table(results: dict[str, Any]) -> Table:
    """Which tasks each tower has learnt."""
    tested = list(next(iter(results["rows"].values()))[0])
    rows = []
    for name, tasks_learnt in learnt_tasks(results).items():
        others = [task for task in tested if task not in tasks_learnt]
        rows.append([name, f"{len(tasks_learnt)} of {len(tested)}", ", ".join(others) or "–"])
    return Table(
        "tasks on which a tower is surely above one answer for all problems at "
        f"{sizes_text(seen_sizes(results))}, a size of its training",
        ["", "learnt", _NOT_LEARNT],
        rows,
    )


def held_out_table(results: dict[str, Any]) -> Table:
    """CLRS scores on tasks that two rows have not been trained on, but their reasoner has."""
    rows, sizes = _averages(results), [*seen_sizes(results), *results["unseen_sizes"]]
    shown = [name for name in rows if name in (BASE, HYBRID, *RIVALS) or "held out" in name]
    return Table(
        f"CLRS score on the tasks held out, mean over {sizes_text(sizes)}",
        ["", *results["held_out"]],
        [
            [name, *_cells(_mean_of(rows[name], [task], sizes) for task in results["held_out"])]
            for name in shown
        ],
    )


def canonical_table(results: dict[str, Any]) -> Table:
    """The reasoner on the canonical tests, beside the published Triplet-GMPNN."""
    scores = results["canonical"]
    shown = {f"mean of {len(scores)} tasks": fmean(scores.values())} | scores
    return Table(
        "the reasoner on the canonical tests of CLRS-30 (n = 64), all tasks in one network; "
        "published: Triplet-GMPNN, a network for each task",
        ["", "reasoner", "published"],
        [
            [name, f"{score:.4f}", f"{PUBLISHED[name]:.4f}" if name in PUBLISHED else "–"]
            for name, score in shown.items()
        ],
    )


def seen_sizes(results: dict[str, Any]) -> list[int]:
    """Test sizes that towers were trained on."""
    trained, unseen = results["config"]["tower"]["sizes"], results["unseen_sizes"]
    return [size for size in results["test_sizes"] if size in trained and size not in unseen]


def answer_tables(results: dict[str, Any]) -> list[Table]:
    """For answers of each length: shape, CLRS and CLRS where the shape is right."""
    groups = _seen_and_unseen(results)
    fields = ("shape", "CLRS", "where the shape is right")
    columns = [f"{field}, {sizes_text(sizes)}" for sizes in groups for field in fields]
    made = []
    for length, names in _by_length(results).items():
        rows = []
        for row, content in results["rows"].items():
            each = [from_json(scores) for scores in content]
            chosen = [[s[task][n] for s in each for task in names for n in g] for g in groups]
            rows.append([row, *(cell for scores in chosen for cell in _about_shape(scores))])
        made.append(Table(f"answers of {length} ({', '.join(names)})", ["", *columns], rows))
    return made


def _seen_and_unseen(results: dict[str, Any]) -> list[list[int]]:
    return [sizes for sizes in (seen_sizes(results), results["unseen_sizes"]) if sizes]


def _cells(values: Iterable[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _by_length(results: dict[str, Any]) -> dict[str, list[str]]:
    names = list(next(iter(results["rows"].values()))[0])
    by = {length: [n for n in names if _length_of_answers(n) == length] for length in _LENGTHS}
    return {length: tasks_alike for length, tasks_alike in by.items() if tasks_alike}


def _about_shape(scores: Sequence[Score]) -> list[str]:
    """Mean shape and CLRS scores, and the latter of answers of the right shape alone (all others
    have none), with its standard error."""
    shape, clrs = means(scores, ("shape", "clrs")).values()
    squares = fmean(s.clrs_error**2 * (s.problems - 1) + s.clrs**2 for s in scores)
    right = shape * sum(score.problems for score in scores)
    if right < 2:
        return [*_cells([shape, clrs]), "–"]
    variance = max(0.0, squares / shape - (clrs / shape) ** 2)
    error = (variance / (right - 1)) ** 0.5
    return [*_cells([shape, clrs]), f"{clrs / shape:.3f} ± {error:.3f}"]


def ablation_table(results: dict[str, Any]) -> Table:
    """CLRS scores of the first hybrid with parts of its reading taken away."""
    lengths = _by_length(results)
    whole = {"as it is": results["rows"]["hybrid"][0]} | results["mechanism"]["ablations"]
    rows = []
    for name, content in whole.items():
        scores = from_json(content)
        each = [
            mean_clrs({task: scores[task] for task in names}, _looked_at(results))
            for names in (list(scores), *lengths.values())
        ]
        rows.append([name, *_cells(each)])
    return Table(
        f"mean CLRS score of the first hybrid over {sizes_text(_looked_at(results))}, with parts "
        "of its reading taken away, by what answers are",
        ["", "all", *lengths],
        rows,
    )


def _looked_at(results: dict[str, Any]) -> list[int]:
    """Sizes of scores on the way and of ablations."""
    return results.get("evaluation_sizes", results["test_sizes"])


def exchange_table(results: dict[str, Any]) -> Table:
    """The causal test, against what a tower would do that only reads, and one that does not."""
    mechanism = results["mechanism"]
    found = serialise.from_json(Exchange, mechanism["exchange"])
    return Table(
        f"{mechanism['task']}, n = {mechanism['size']}: the states of one node i are another "
        f"problem's; of {found.problems} problems in which the reasoner's answer for i changes",
        ["the tower's answer", "share"],
        [
            ["for i becomes the reasoner's new one", f"{found.follows:.3f}"],
            ["for i was that before", f"{found.follows_before:.3f}"],
            ["for i stays", f"{found.stays:.3f}"],
            [f"for other nodes stays ({found.others} answers)", f"{found.others_stay:.3f}"],
        ],
    )


def curve_table(results: dict[str, Any]) -> Table:
    """Mean CLRS scores on the way."""
    groups = _seen_and_unseen(results)
    steps = list(next(iter(results["curves"].values())))

    def mean(scores: dict[str, Any], sizes: Sequence[int]) -> float:
        return fmean([scores["by_size"][str(size)]["clrs"] for size in sizes])

    return Table(
        "mean CLRS score on the way, by step and size",
        ["", *(f"{int(step):,}, {sizes_text(sizes)}" for sizes in groups for step in steps)],
        [
            [name, *_cells(mean(curve[step], sizes) for sizes in groups for step in steps)]
            for name, curve in results["curves"].items()
        ],
    )


def verdict_of(results: dict[str, Any]) -> Verdict:
    """Does the hybrid answer with what its reasoner computed?"""

    def scores(row: str) -> list[Scores]:
        return [from_json(content) for content in results["rows"].get(row, ())]

    mechanism = results["mechanism"] or {"ablations": {}}
    ablated = {name: [from_json(content)] for name, content in mechanism["ablations"].items()}
    return decide(
        Evidence(
            hybrid=scores(HYBRID),
            base=scores(BASE),
            untrained=scores("hybrid, untrained reasoner"),
            reasoner=scores(REASONER),
            one_answer=scores(ONE_ANSWER),
            gates_shut=ablated.get(GATES_SHUT, []),
            other_states=ablated.get(OTHER_STATES, []),
            reads=serialise.from_json(Reads | None, mechanism.get("reads")),
            trained_sizes=seen_sizes(results),
            unseen_sizes=results["unseen_sizes"],
        )
    )


def all_tables(results: dict[str, Any]) -> list[Table]:
    """All that a study has to show so far."""
    made = [table(results), task_table(results), class_table(results)]
    if learnt_tasks(results):
        made.append(learnt_table(results))
    if results.get("held_out"):
        made.append(held_out_table(results))
    made += answer_tables(results)
    if results["mechanism"]:
        made.append(ablation_table(results))
    if "exchange" in (results["mechanism"] or ()):
        made.append(exchange_table(results))
    if results.get("canonical"):
        made.append(canonical_table(results))
    if any(results["curves"].values()):
        made.append(curve_table(results))
    conditions = verdict_of(results).table
    return [*made, conditions._replace(title=f"the hybrid, {conditions.title}")]


def summary(scores: Scores, unseen_sizes: Sequence[int]) -> dict[str, Any]:
    """Of scores on the way: means over tasks by size, and CLRS scores of each task at unseen
    sizes."""

    def rounded(numbers: dict[str, float]) -> dict[str, float]:
        return {name: round(number, 4) for name, number in numbers.items()}

    sizes = next(iter(scores.values()))
    unseen = {task: fmean([by[n].clrs for n in unseen_sizes]) for task, by in scores.items()}
    return {
        "by_size": {
            str(size): rounded(means([by[size] for by in scores.values()], FIELDS))
            for size in sizes
        },
        "clrs_unseen": rounded(unseen),
    }


def loss_curve(path: pathlib.Path, points: int = 100) -> dict[str, list[float]]:
    """The loss as means over so many equal stretches of steps."""
    loss = read_arrays(path / "metrics.safetensors")["loss"]
    if loss.ndim > 1:
        loss = loss.mean((1, 2))
    parts = np.array_split(loss, min(points, len(loss)))
    ends = np.cumsum([len(part) for part in parts])
    return {"step": ends.tolist(), "loss": [round(float(p.mean()), 5) for p in parts]}
