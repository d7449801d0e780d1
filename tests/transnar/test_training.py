"""Whole trainings: what is frozen, resuming to the same bits, batches, asking, refusals."""

import dataclasses
import itertools
import json
import pathlib
import sys

import jax
import numpy as np
import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide
from tiny_towers import CONFIG, TOWER

from algoscope import cli, networks, runs, transnar
from algoscope.networks import ConfigError
from algoscope.runs import RunError
from algoscope.training import Report
from algoscope.training.loop import Evaluations
from algoscope.transnar import reasoner as reasoners
from algoscope.transnar import tower_training as towers
from algoscope.transnar.page import page
from algoscope.transnar.pool import Shape, make_buckets, order_of, training_orders
from algoscope.transnar.reasoner import reason
from algoscope.transnar.scores import as_json, from_json
from algoscope.transnar.text_dataset import draw_all
from algoscope.verbs.transnar import TrainTower

BASE = dataclasses.replace(CONFIG, tower=dataclasses.replace(TOWER, reads="nothing"))
PROMPT = "bfs:\ns: 0, A: [[0 1 0], [1 0 1], [0 1 0]]\npi:\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("towers")


@pytest.fixture(scope="module")
def parts(reasoner):
    return towers.prepare(CONFIG, reasoner)


@pytest.fixture(scope="module")
def hybrid_run(place, reasoner, parts):
    return towers.train(CONFIG, place / "hybrid", reasoner=reasoner, parts=parts)


@pytest.fixture(scope="module")
def base_run(place):
    return towers.train(BASE, place / "base")


def weights(model) -> dict[str, bytes]:
    return {
        f"{task}.{name}": np.asarray(array).tobytes()
        for task in model.parts
        for name, array in networks.arrays(model.network(task)).items()
    }


def test_the_reasoner_is_bit_equal_after_training_and_the_tower_is_not(hybrid_run, reasoner):
    trained = towers.load(hybrid_run.path)
    assert weights(trained.reasoner) == weights(reasoner)
    start = transnar.tower.build(TOWER, jax.random.key(0), reasoners.widths_of(reasoner))
    for before, after in zip(jax.tree.leaves(start), jax.tree.leaves(trained.tower), strict=True):
        assert not np.array_equal(before, after)


def test_chosen_weights_of_the_reasoner_learn_and_no_others(place, reasoner):
    config = dataclasses.replace(CONFIG, trains_reasoner=("processor",), steps=3)
    run = towers.train(config, place / "live", reasoner=reasoner)
    before, after = weights(reasoner), weights(towers.load(run.path).reasoner)
    changed = {name for name in before if before[name] != after[name]}
    assert changed
    assert all(name.startswith("bfs.processor.") for name in changed)


def test_a_run_that_was_stopped_ends_with_the_same_bits(place, reasoner, parts, hybrid_run):
    class KilledError(Exception):
        pass

    def kill(progress: Report) -> None:
        if progress.step == 3:
            raise KilledError

    path = place / "killed"
    with pytest.raises(KilledError):
        towers.train(
            CONFIG, path, reasoner=reasoner, parts=parts, checkpoint_seconds=0.0, report=kill
        )
    assert 0 < runs.open(path).step < CONFIG.steps
    with pytest.raises(RunError, match=r"stopped at step 2 of 5.*transnar train --resume"):
        towers.load(path)
    towers.resume(path)
    for name in ("weights.safetensors", "metrics.safetensors"):
        assert (path / name).read_bytes() == (hybrid_run.path / name).read_bytes()


def test_a_look_that_fails_costs_no_step(place, reasoner, parts, hybrid_run):
    class BrokenError(Exception):
        pass

    def look(step, tower):
        raise BrokenError

    path = place / "looked-at"
    with pytest.raises(BrokenError):
        towers.train(
            CONFIG, path, reasoner=reasoner, parts=parts, evaluations=Evaluations((3,), look)
        )
    assert runs.open(path).step == 3
    seen = []
    evaluations = Evaluations((3, 4), lambda step, tower: seen.append(step))
    towers.resume(path, parts=parts, evaluations=evaluations)
    assert seen == [4]
    for name in ("weights.safetensors", "metrics.safetensors"):
        assert (path / name).read_bytes() == (hybrid_run.path / name).read_bytes()


def test_the_pool_holds_what_the_reasoner_thinks(reasoner):
    datasets = draw_all(training_orders(dataclasses.replace(CONFIG, sizes=(4, 5))))
    [bucket] = make_buckets(datasets, reasoner).values()
    first = 0
    for dataset, states in zip(datasets, reason(reasoner, datasets), strict=True):
        rows, n = slice(first, first + len(dataset)), dataset.nodes
        assert np.array_equal(bucket.graph.nodes[:, rows, :n], states.nodes)
        assert np.array_equal(bucket.graph.edges[:, rows, :n, :n], states.edges)
        assert not bucket.graph.nodes[:, rows, n:].any()
        assert (bucket.graph.mask[rows] == (np.arange(8) < n)[None]).all()
        first += len(dataset)
    assert first == bucket.samples


def test_an_empty_pool_is_refused():
    with pytest.raises(ValueError, match="got no problems"):
        next(order_of({}, 4, 0))


def test_options_that_are_not_given_are_those_of_the_configuration():
    assert TrainTower(tasks=("bfs",))._config() == transnar.TransnarConfig(("bfs",))
    tower = transnar.TowerConfig(width=32, random_positions=False)
    command = TrainTower(tasks=("bfs",), steps=7, tower=tower)
    assert command._config() == transnar.TransnarConfig(("bfs",), steps=7, tower=tower)
    reading = dataclasses.replace(command, reasoner=pathlib.Path("run"))._config()
    assert reading.tower == dataclasses.replace(tower, reads="final")


def test_base_and_hybrid_learn_from_the_same_problems_in_the_same_order(parts):
    samples = parts.samples
    assert samples == {shape: bucket.samples for shape, bucket in parts[0].items()}
    assert samples == towers.prepare(BASE, None).samples
    first, again = (list(itertools.islice(order_of(samples, 4, 0), 9)) for _ in range(2))
    assert all(
        turn.shape == same.shape and (turn.chosen == same.chosen).all()
        for turn, same in zip(first, again, strict=True)
    )
    other = list(itertools.islice(order_of(samples, 4, 1), 9))
    assert any((a.chosen != b.chosen).any() for a, b in zip(first, other, strict=True))


def test_an_epoch_shows_each_problem_once():
    counts = {Shape(32, 8): 12, Shape(64, 8): 3}
    epoch = list(itertools.islice(order_of(counts, 4, 0), 4))
    for shape, count in counts.items():
        seen = np.concatenate([turn.chosen for turn in epoch if turn.shape == shape])
        assert sorted(seen) == list(range(count))


def test_an_epoch_takes_one_part_after_the_other():
    samples = {Shape(32, 8): 12, Shape(64, 8): 3}
    epoch = list(itertools.islice(order_of(samples, 4, 0, parts=3), 12))
    changes = [part for part, _ in itertools.groupby(turn.part for turn in epoch)]
    assert sorted(changes) == [0, 1, 2]
    for part, (shape, count) in itertools.product(range(3), samples.items()):
        turns = [turn for turn in epoch if (turn.part, turn.shape) == (part, shape)]
        assert sorted(np.concatenate([turn.chosen for turn in turns])) == list(range(count))


def test_a_run_is_listed_beside_others(hybrid_run, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["algoscope", "runs", "list", "--root", str(hybrid_run.path.parent)]
    )
    cli.main()
    assert "hybrid" in capsys.readouterr().out


def test_asking_gives_answer_arrays_and_scores(hybrid_run, monkeypatch, capsys):
    arguments = ["transnar", "ask", PROMPT.replace("\n", "\\n"), "--model", str(hybrid_run.path)]
    monkeypatch.setattr(sys, "argv", ["algoscope", *arguments, "--json"])
    cli.main()
    found = json.loads(capsys.readouterr().out)
    assert found["right"] == "[0 0 1]\n\n"
    assert found["fault"] is None
    assert set(found["scores"]) == {"shape", "parse", "clrs", "exact"}
    assert isinstance(found["answer"], str)


def test_a_page_shows_what_each_token_of_an_answer_reads(
    hybrid_run, tmp_path, monkeypatch, capsys, visit, axe
):
    path = tmp_path / "answer.html"
    arguments = ["transnar", "ask", PROMPT, "--model", str(hybrid_run.path), "--html", str(path)]
    monkeypatch.setattr(sys, "argv", ["algoscope", *arguments])
    cli.main()
    assert capsys.readouterr().out.splitlines()[-1] == f"Open {path.resolve()}"
    read = transnar.ask(transnar.load(hybrid_run.path), PROMPT, reads=True).reads
    shown, troubles = visit(path.as_uri())
    tokens = shown.locator(".tokens button")
    assert tokens.count() == len(read.tokens)
    shown.locator("summary").click()
    for token in {0, len(read.tokens) - 1}:
        tokens.nth(token).press("Enter")
        for layer in range(read.nodes.shape[0]):
            shown.locator("input[type=range]").fill(str(layer))
            values = [float(text) for text in shown.locator("td.number").all_inner_texts()]
            assert np.abs(values - read.nodes[layer, :, token].mean(0)).max() < 0.5 / 255 + 6e-4
    assert not troubles
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []
    narrow, _ = visit(path.as_uri(), width=NARROWEST, theme="dark")
    assert obstacles(narrow, axe) == []
    assert {font: too_wide(narrow, font) for font in FONTS} == {font: [] for font in FONTS}


def test_a_base_transformers_page_says_that_it_reads_nothing(base_run, tmp_path, visit):
    answer = transnar.ask(transnar.load(base_run.path), PROMPT, reads=True)
    (tmp_path / "page.html").write_text(page(PROMPT, answer, "<script>alert(1)</script>"))
    shown, troubles = visit((tmp_path / "page.html").as_uri())
    assert "it has no reasoner" in shown.inner_text("main")
    assert "<script>alert(1)</script>" in shown.inner_text(".question")
    assert shown.locator(".reading").count() == 0
    assert not troubles


def test_a_malformed_prompt_is_said_to_be_so(hybrid_run, base_run):
    bad = PROMPT.replace("s: 0", "s: 9")
    with pytest.raises(ValueError, match="s holds 9 to 9, needed numbers from 0 to 2"):
        transnar.ask(transnar.load(hybrid_run.path), bad)
    answer = transnar.ask(transnar.load(base_run.path), bad)
    assert "s holds 9" in answer.fault
    assert answer.scores is None


def test_a_question_beyond_the_context_is_refused(base_run):
    with pytest.raises(transnar.ContextError, match=r"got 400 tokens .* at most 128"):
        transnar.ask(transnar.load(base_run.path), "1" * 400)


def test_evaluation_scores_each_task_and_size_and_survives_json(hybrid_run):
    found = transnar.evaluate(transnar.load(hybrid_run.path), sizes=(4,), problems=3)
    assert set(found["bfs"]) == {4}
    assert all(score.problems == 3 and 0 <= score.clrs <= 1 for score in found["bfs"].values())
    assert from_json(json.loads(json.dumps(as_json(found)))) == found


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"tasks": ("bsf",)}, "did you mean bfs"),
        ({"steps": 0}, "steps: got 0"),
        ({"sizes": ()}, "sizes: got none"),
        ({"learning_rate": -1.0}, "learning_rate: got -1.0"),
        ({"trains_reasoner": ("procesor",)}, "did you mean processor"),
        ({"trains_reasoner": ("processor",), "reads_inputs": False}, "needed a frozen reasoner"),
    ],
)
def test_a_wrong_configuration_is_refused_and_leaves_nothing(place, reasoner, changes, complaint):
    with pytest.raises(ConfigError, match=complaint):
        towers.train(dataclasses.replace(CONFIG, **changes), place / "wrong", reasoner=reasoner)
    assert not (place / "wrong").exists()


def test_a_hybrid_without_a_reasoner_says_how_to_train_one(place):
    with pytest.raises(ConfigError, match="algoscope train bfs"):
        towers.train(CONFIG, place / "wrong")


def test_texts_beyond_the_context_are_refused_before_training(reasoner, place):
    short = dataclasses.replace(BASE, tower=dataclasses.replace(BASE.tower, context=20))
    with pytest.raises(ValueError, match=r"bfs of size 4: got texts of up to \d+ tokens.*20"):
        towers.prepare(short, None)
