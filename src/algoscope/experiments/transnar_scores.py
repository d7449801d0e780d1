"""TransNAR's figures 3 to 5 as one table: what does a Transformer gain from reading a reasoner?

The paper prints no numbers. It says that the hybrid gains more than 20 points out of distribution
in several classes of algorithms, and nothing on searching and on the maximum subarray.
"""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from algoscope.experiments.experiment import PRESETS, Claim, Experiment, Report, Result
from algoscope.files import read_json
from algoscope.serialise import to_json
from algoscope.statistics import beside

if TYPE_CHECKING:
    from algoscope.experiments.transnar_study import Study

EARLIER_TASKS = (
    "insertion_sort",
    "minimum",
    "binary_search",
    "quickselect",
    "find_maximum_subarray_kadane",
    "activity_selector",
    "lcs_length",
    "bfs",
    "dfs",
    "bellman_ford",
    "mst_prim",
    "graham_scan",
    "jarvis_march",
    "naive_string_matcher",
)
"""Of all eight classes; those that the paper rescues (graham_scan, jarvis_march, mst_prim) and
those where it gains nothing (binary_search, minimum, quickselect, the maximum subarray). The
withdrawn results are of these alone."""
HELD_OUT = ("heapsort", "kmp_matcher", "dijkstra", "jarvis_march", "task_scheduling")
"""Each has a relative among the others, which towers do learn."""
_EXPECTED_GAIN = {"smoke": 0.0, "full": 0.10}
_BASE_HAS_LEARNT = 0.75
"""Mean CLRS score of a base that has learnt the earlier tasks, at a size of its training."""
_LEARNT_TASKS = 25
"""Of 30."""


def study_of(preset: str) -> "Study":
    from algoscope import networks, tasks, training
    from algoscope.configuration import TowerConfig, TransnarConfig
    from algoscope.experiments.transnar_rows import MAIN_ROWS, PAPER_ROWS, ROWS
    from algoscope.experiments.transnar_study import Study

    if preset == "smoke":
        return Study(
            training.TrainingConfig(
                ("bfs", "dfs"),
                steps=200,
                learning_rate=3e-3,
                evaluate_every=100,
                scored_on=(),
                recipe=tasks.Recipe(sizes=(5,), count=32),
                # Hints cost the most to compile.
                network=networks.NetworkConfig(
                    processor="triplet_gmpnn", width=32, **training.hint_options("none")
                ),
            ),
            TransnarConfig(
                ("bfs", "dfs"),
                sizes=(4, 5),
                samples=1_000,
                steps=200,
                batch=16,
                learning_rate=3e-3,
                warmup=20,
                tower=TowerConfig(width=64, layers=2, heads=2, context=256, reads="final"),
            ),
            seeds=(0,),
            test_sizes=(5, 6),
            unseen_sizes=(6,),
            problems=100,
            mechanism=("bfs", 5),
            rows=MAIN_ROWS,
        )
    return Study(
        training.TrainingConfig(
            tuple(tasks.names()),
            steps=3_000,
            learning_rate=1e-3,
            evaluate_every=100,
            pool_steps=600,
            time_buckets=1,
            scored_on=("test",),
            recipe=tasks.Recipe(sizes=(8, 16)),
            network=networks.NetworkConfig(processor="triplet_gmpnn"),
        ),
        TransnarConfig(tuple(tasks.names()), steps=50_000, tower=TowerConfig(reads="final")),
        seeds=(0, 1, 2, 3),
        test_sizes=(10, 12, 14, 16, 20, 24, 32),
        unseen_sizes=(10, 14),
        problems=100,
        mechanism=("bfs", 12),
        held_out=HELD_OUT,
        evaluations=4,
        evaluation_sizes=(10, 12, 14),
        background=True,
        rows=(*ROWS, *PAPER_ROWS),
    )


def reproduce(preset: str, out: pathlib.Path, report: Report, only: Sequence[str]) -> Result:
    from algoscope.experiments.transnar_study import run_study

    return result_of(run_study(study_of(preset), out, report, only))


def _parts(preset: str) -> list[str]:
    from algoscope.experiments.transnar_study import parts_of

    return parts_of(study_of(preset))


def preset_of(results: dict[str, Any]) -> str:
    """The preset whose test sizes a study has; those of the full one are the default."""
    sizes = {preset: list(study_of(preset).test_sizes) for preset in PRESETS}
    return next((name for name in PRESETS if sizes[name] == results["test_sizes"]), "full")


def result_of(results: dict[str, Any]) -> Result:
    """What a study says, as far as it is."""
    from algoscope.experiments.transnar_tables import BASE, HYBRID, all_tables, verdict_of

    preset = preset_of(results)
    numbers = results | {"verdict": to_json(verdict_of(results))}
    claims = []
    if {BASE, HYBRID} <= set(results["rows"]):
        claims.append(_gain(preset, results))
    if preset == "full" and BASE in results["rows"]:
        claims += _base_has_learnt(results)
    return Result(tuple(all_tables(results)), tuple(claims), numbers)


def summary(path: pathlib.Path) -> Result | None:
    """What a study wrote says: results.json in its folder, full.json among committed results."""
    files = (path / "results.json", path / "full.json") if path.is_dir() else (path,)
    written = next((file for file in files if file.is_file()), None)
    results = read_json(written, Any) if written else {}
    if not isinstance(results, dict) or "unseen_sizes" not in results:
        return None
    return result_of(results)


def _gain(preset: str, results: dict[str, Any]) -> Claim:
    from algoscope.transnar.scores import from_json, mean_clrs, sizes_text

    sizes = results["unseen_sizes"] if preset == "full" else results["test_sizes"]
    base, hybrid = (
        [mean_clrs(from_json(scores), sizes) for scores in results["rows"][name]]
        for name in ("base", "hybrid")
    )
    gain = sum(hybrid) / len(hybrid) - sum(base) / len(base)
    least = _EXPECTED_GAIN[preset]
    text = f"the hybrid has the higher mean CLRS score at {sizes_text(sizes)}"
    bases, hybrids = (", ".join(f"{mean:.3f}" for mean in means) for means in (base, hybrid))
    return Claim(
        f"{text}, by at least {least:.2f}" if least else text,
        gain > 0 and gain >= least,
        f"base {bases}; hybrid {hybrids}; gain {beside(gain, 0, least, sign='+')}",
    )


def _base_has_learnt(results: dict[str, Any]) -> list[Claim]:
    """Without which nothing that is said of a hybrid's gain means much."""
    from algoscope.experiments.transnar_tables import BASE, learnt_tasks, seen_sizes
    from algoscope.transnar.scores import averaged, from_json, mean_clrs, sizes_text

    base = averaged([from_json(scores) for scores in results["rows"][BASE]])
    sizes = seen_sizes(results)
    earlier = {task: base[task] for task in EARLIER_TASKS if task in base}
    mean = mean_clrs(earlier, sizes)
    learnt = learnt_tasks(results).get(BASE)
    few = len(earlier)
    return [
        Claim(
            f"the base has learnt: at {sizes_text(sizes)} its mean CLRS score on {few} tasks is at "
            f"least {_BASE_HAS_LEARNT:.2f}",
            mean >= _BASE_HAS_LEARNT,
            beside(mean, _BASE_HAS_LEARNT),
        ),
        Claim(
            f"there it is surely above one answer for all problems on {_LEARNT_TASKS} tasks",
            None if learnt is None else len(learnt) >= _LEARNT_TASKS,
            f"{len(learnt or ())} of {len(base)}",
        ),
    ]


EXPERIMENTS = (
    Experiment(
        "transnar-scores",
        "base Transformer, hybrid, reasoner alone and controls on CLRS-Text, in one table",
        "Bounsi et al. 2024 (arXiv 2406.09308), figures 3 to 5",
        {
            "smoke": "two tasks, n up to 6, two towers of up to 0.4 M weights; minutes on two "
            "cores",
            "full": "30 tasks, n up to 32, 26 towers of 12 to 113 M weights; about 12 hours on one "
            "H200, of which the first two have a tower of each main row",
        },
        reproduce,
        shared="transnar",
        parts=_parts,
    ),
)
