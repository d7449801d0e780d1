"""The same items in other harnesses, offline; and CLRS-Text with the traces of rivals."""

import concurrent.futures
import importlib
import json
import pathlib
import tomllib

import pytest

from algoscope import tasks
from algoscope.llm import harnesses
from algoscope.llm.clrs_text import clrs_items, study_clrs_text, trace_scores
from algoscope.llm.hypotheses import CANDIDATES
from algoscope.llm.prompts import navigation

ROOT = pathlib.Path(__file__).parents[2]


def test_rows_carry_answer_and_traces(tmp_path):
    items = navigation(6)
    harnesses.write_jsonl(tmp_path / "items.jsonl", harnesses.rows(items))
    lines = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [line["answer"] for line in lines] == ["Yes", "No"] * 3
    for line in lines:
        assert set(line["traces"]) == {candidate.name for candidate in CANDIDATES}
        levels = line["traces"]["BFS"]
        assert any(line["goal"] in level for level in levels) == line["reachable"]
    assert list(tmp_path.iterdir()) == [tmp_path / "items.jsonl"]


@pytest.mark.parametrize("name", tasks.names())
def test_every_clrs_text_task_is_there_with_its_own_trace(name):
    items = clrs_items(name, size=5, count=2)
    assert len(items) == 2
    for item in items:
        scores = trace_scores(item, item.candidates[name].answer)
        assert scores[name] == 1
        assert item.example.prompt


def test_a_written_sort_is_told_from_other_sorts():
    items = clrs_items("insertion_sort", size=8, count=8)
    assert set(items[0].candidates) == {"insertion_sort", "bubble_sort", "heapsort", "quicksort"}
    for name in items[0].candidates:
        for item in items:
            scores = trace_scores(item, item.candidates[name].answer)
            assert scores[name] == 1
            assert max(v for k, v in scores.items() if k != name) < 1


class _Knowing:
    """Writes the right answer to every prompt."""

    def __init__(self, items):
        self.answers = {item.example.prompt: item.example.answer for item in items}

    def generate(self, prompt, tokens):
        return self.answers[prompt]


def test_right_answers_get_full_scores():
    items = clrs_items("insertion_sort", size=6, count=4, traces=True)
    found = study_clrs_text(_Knowing(items), items)
    assert found.clrs.value == found.exact.value == found.traces["insertion_sort"].value == 1
    assert found.traces["heapsort"].value < 1


@pytest.mark.filterwarnings("ignore")
def test_inspect_ai_runs_the_task_offline(tmp_path):
    from inspect_ai import eval as evaluate
    from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, get_model, modelapi

    class AlwaysYes(ModelAPI):
        async def generate(self, input, tools, tool_choice, config: GenerateConfig):
            return ModelOutput.from_content(self.model_name, "Yes")

        async def count_text_tokens(self, text):
            return len(text.split())

    modelapi("always_yes")(lambda: AlwaysYes)
    from algoscope.llm import inspect_tasks

    # In a thread of its own: where a browser is open, this one has an event loop already.
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        [log] = thread.submit(
            evaluate,
            inspect_tasks.navigation(count=6),
            model=get_model("always_yes/model"),
            log_dir=str(tmp_path),
            display="none",
        ).result()
    assert log.status == "success", log.error
    metrics = log.results.scores[0].metrics
    assert metrics["accuracy"].value == 0.5
    assert metrics["True"].value == 1
    assert metrics["False"].value == 0
    sorting = inspect_tasks.clrs_text(size=5, count=2)
    assert [s.target for s in sorting.dataset] == [
        item.example.answer for item in clrs_items("insertion_sort", 5, 2)
    ]


def test_inspect_ai_finds_the_tasks_by_their_entry_point():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    module = importlib.import_module(
        pyproject["project"]["entry-points"]["inspect_ai"]["algoscope"]
    )
    assert {name for name, of in vars(module).items() if hasattr(of, "__registry_info__")} == {
        "navigation", "clrs_text"
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_lm_eval_runs_the_tasks_offline(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class AlwaysYes(LM):
        def loglikelihood(self, requests, **rest):
            return [(0.0 if "Yes" in r.args[1] else -9.0, False) for r in requests]

        def loglikelihood_rolling(self, requests, **rest):
            return [0.0 for _ in requests]

        def generate_until(self, requests, **rest):
            return [" Yes" for _ in requests]

    names = harnesses.write_lm_eval(tmp_path / "tasks", harnesses.rows(navigation(8)))
    assert len(names) == 2
    manager = TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False)
    found = lm_eval.simple_evaluate(
        AlwaysYes(), tasks=names, task_manager=manager, bootstrap_iters=0
    )
    results = found["results"]
    assert results["algoscope_navigation_multiple_choice"]["acc,none"] == 0.5
    assert results["algoscope_navigation_generate_until"]["exact_match,answer"] == 0.5
    sorting = harnesses.clrs_rows(clrs_items("insertion_sort", 5, 4))
    assert len(harnesses.write_lm_eval(tmp_path / "sorting", sorting, "sorting")) == 1
