"""`algoscope llm`, as a user calls it."""

import json
import pathlib
import sys

import numpy as np
import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide
from tiny_models import tiny_llama

from algoscope import cli, files
from algoscope.llm.vocabulary import split, word_tokenizer
from algoscope.runs import index, parquet


@pytest.fixture
def algoscope(monkeypatch, capsys):
    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["algoscope", "llm", *arguments])
        cli.main()
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def folder(tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny"
    tiny_llama(tokenizer, gain=1.0).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


def test_navigate_prints_tables_and_writes_a_folder_with_a_page(
    algoscope, folder, tmp_path, visit, axe
):
    out = tmp_path / "run"
    command = f"navigate --model {folder} --items 24 --out {out}"
    printed = algoscope(*command.split())
    assert "verdict: fails" in printed
    assert "do layers follow the steps?" in printed
    assert "random weights" in printed
    study = json.loads((out / "study.json").read_text())
    assert study["verdict"]["text"] == "fails"
    assert len(study["answers"]) == 24
    assert study["check"]["attention"] < 1e-5
    page = (out / "page.html").read_text()
    assert page.count("<svg") == 2 * 6, "each figure is there for a telephone, too"
    for outside in ("src=", "@import", 'http-equiv="refresh'):
        assert outside not in page
    assert "default-src &#x27;none&#x27;" in page, "no request is allowed"
    kept = {"study.json", "page.html", "recordings.safetensors", "abilities.json"}
    assert {p.name for p in out.iterdir()} == kept | {"run.json", "results.json"}
    with pytest.raises(SystemExit, match="which exists"):
        algoscope(*command.split())
    begun = page.index("</section>")
    assert "<svg" in page[:begun]
    assert "<table" not in page[:begun], "the verdict and one picture come first"
    assert page.count("<table") == page.count("<details"), "every table is folded"
    shown, troubles = visit((out / "page.html").as_uri(), width=NARROWEST)
    assert not troubles
    assert {font: too_wide(shown, font) for font in FONTS} == {font: [] for font in FONTS}
    _check_maze(visit, axe, out, study)


def _check_maze(visit, axe, out, study):
    """Layers as steps: what the last token and the goal read of the maze and of its mirror image,
    as it was recorded, by the keyboard."""
    shown, troubles = visit((out / "page.html").as_uri(), theme="dark")
    box = shown.locator(".explorer.reading[data-ready]")
    asked = box.locator("select").first.locator("option").all_inner_texts()
    assert len(asked) == 6, "twins of three depths"
    recorded = files.read_arrays(out / "recordings.safetensors")
    prompts = [answer["prompt"] for answer in study["answers"]]
    start, goal = asked[0].partition(":")[0].split(" to ")
    item = next(k for k, text in enumerate(prompts) if f"get to {goal} from {start}?" in text)
    attention = [recorded[f"{item}.attention.{token}"].mean(1) for token in ("last", "goal")]
    box.locator("summary").click()
    box.focus()
    # It begins where something is read, and not with the first layer.
    shown.keyboard.press("Home")
    for layer in range(len(attention[0])):
        last = len(attention[0]) - 1
        assert box.locator(".step").inner_text() == f"layer {layer}, last {last}"
        cells = [float(text) for text in box.locator("td.number").all_inner_texts()]
        values = np.stack([token[layer] for token in attention], 1)
        assert np.abs(np.reshape(cells, values.shape) - values).max() < 0.5 / 255 + 6e-4
        halves = np.split(values, 2)
        sums = [half[:, token].sum() for token in (0, 1) for half in halves]
        texts = box.locator(".side p").all_inner_texts()
        parts = [float(text.rpartition(": ")[2]) for text in texts]
        np.testing.assert_allclose(parts, sums, atol=0.02)
        shown.keyboard.press("ArrowRight")
    assert box.locator("circle.node.special").count() == 4, "start and goal, for two tokens"
    assert not troubles
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []


def test_navigate_as_json_in_a_folder_of_its_own(algoscope, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = f"navigate --model {folder} --items 24 --form letters --json"
    printed = json.loads(algoscope(*command.split()))
    assert printed["items"] == 24
    algoscope(*command.split())
    assert {p.name for p in (tmp_path / "runs").iterdir()} == {
        "navigate-tiny-001",
        "navigate-tiny-002",
    }


def test_the_case_studys_own_prompt_is_described_and_not_judged(algoscope, tmp_path, visit, axe):
    """Rooms, a lobby, W and its sibling Q, as the how-to page gives them."""
    prompts = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "rooms.json"
    words = word_tokenizer(split(json.loads(prompts.read_text())["prompt"]))
    tiny_llama(words, gain=1.0).save_pretrained(tmp_path / "tiny")
    words.save_pretrained(tmp_path / "tiny")
    out = tmp_path / "described"
    command = f"describe --model {tmp_path / 'tiny'} --prompts {prompts} --out {out}"
    printed = algoscope(*command.split(), "--dtype", "float32", "--device-map", "auto")
    assert "not judged: Which algorithm it runs: the prompts have no mirror image" in printed
    assert "verdict" not in printed
    described = json.loads((out / "description.json").read_text())
    assert len(described["unjudged"]) == 4
    assert described["answers"][0]["answer"] == "Yes"
    assert [row["seen"] for row in described["observed"]][4] == "goal and sibling separate"
    page = (out / "page.html").read_text()
    assert page.count("<svg") == 2 * 4, "each figure is there for a telephone, too"
    assert "Attention of the goal in the question" in page
    shown, troubles = visit((out / "page.html").as_uri())
    assert not troubles
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []
    with pytest.raises(SystemExit, match="which exists"):
        algoscope(*command.split())


def test_architectures_are_listed(algoscope, monkeypatch):
    from algoscope.llm import architectures

    monkeypatch.setattr(architectures, "names", lambda: ["llama", "mamba"])
    found = json.loads(algoscope("architectures", "--json"))
    assert [(f["architecture"], f["supported"]) for f in found] == [
        ("llama", True),
        ("mamba", False),
    ]


def test_items_are_written_with_their_traces(algoscope, tmp_path):
    out = tmp_path / "items.jsonl"
    assert "8 items" in algoscope("items", "--out", str(out), "--items", "8")
    assert len(out.read_text().splitlines()) == 8
    printed = algoscope("items", "--out", str(tmp_path / "tasks"), "--items", "4")
    assert f"lm_eval --include_path {tmp_path / 'tasks'} --tasks algoscope_navigation_" in printed
    assert len(list((tmp_path / "tasks").iterdir())) == 3
    with pytest.raises(SystemExit, match=r"ends in \.jsonl"):
        algoscope("items", "--out", str(tmp_path / "items.txt"))


_BOXES = """svg => {
  const sides = (part) => {
    const { left, right } = part.getBoundingClientRect();
    return [left, right];
  };
  for (const text of svg.querySelectorAll("text")) text.style.fontFamily = "DejaVu Sans";
  return [...svg.querySelectorAll("g:has(> g > path):has(> text)")]
    .map((word) => [sides(word.querySelector("path")), sides(word.querySelector("text"))]);
}"""


def test_what_heads_do_is_kept_listed_and_drawn(algoscope, tmp_path, monkeypatch, visit, axe):
    monkeypatch.chdir(tmp_path)
    command = "primitives --model navigator --count 12"
    assert "edge lookup" in algoscope(*command.split())
    [out] = (tmp_path / "runs").iterdir()
    assert out.name == "primitives-navigator-001"
    rows = json.loads(algoscope("abilities", "--used", "--json"))
    assert {(row["ability"], *row["heads"]) for row in rows} >= {
        ("edge lookup", "0.1"),
        ("goal match", "1.0"),
        ("edge lookup -> goal match", "0.1", "1.0"),
    }
    assert {row["word"] for row in rows} == {"used"}
    assert "looks only" in algoscope("abilities", "--model", "navigator")
    assert "0 abilities" in algoscope("abilities", "--model", "another")
    asked = "select heads from abilities where word = 'used' and ability = 'goal match'"
    assert parquet.query(tmp_path / "runs", asked).rows == [("1.0",)]
    assert [entry.state for entry in index.entries(tmp_path / "runs")] == ["finished"]
    page = (out / "page.html").read_text()
    assert page.count("<svg") == 2, "one figure, for screens and for telephones"
    shown, troubles = visit((out / "page.html").as_uri(), width=NARROWEST)
    assert not troubles
    boxes = shown.locator("svg.narrow").evaluate(_BOXES)
    assert len(boxes) >= 2
    for (left, right), (begin, end) in boxes:
        assert left < begin < end < right, "words stay in their boxes"
    assert too_wide(shown, next(iter(FONTS))) == []
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []


def test_steps_print_tables(algoscope, folder):
    command = f"steps --model {folder} --items 4 --tokens 8"
    printed = algoscope(*command.split())
    assert "share of its visits written" in printed
    assert "verdict: " in printed
    assert "at least half of the texts name a node" in printed


def test_clrs_text_scores_what_is_written(algoscope, folder):
    command = f"clrs-text --model {folder} --size 4 --items 2 --tokens 4 --traces --json"
    printed = json.loads(algoscope(*command.split()))
    assert printed["exact"]["value"] == 0
    assert set(printed["traces"]) == {"insertion_sort", "bubble_sort", "heapsort", "quicksort"}


def test_train_navigator_saves_a_model_and_says_how_good_it_is(algoscope, tmp_path):
    command = (
        f"train-navigator --out {tmp_path / 'nav'} --layers 3 --width 16 --heads 2 --sizes 3 "
        "--depths 1 --batch 4 --steps 4 --items 8 --hops 1"
    )
    printed = algoscope(*command.split())
    assert "all depths, reachable" in printed
    assert (tmp_path / "nav" / "model.safetensors").is_file()
    with pytest.raises(SystemExit, match="which exists"):
        algoscope(*command.split())


def test_train_learner_saves_a_model_and_says_how_good_it_is(algoscope, tmp_path):
    command = (
        f"train-learner --out {tmp_path / 'new'} --layers 2 --width 16 --heads 2 --sizes 2 3 "
        "--depth 1 --batch 4 --steps 4 --items 8"
    )
    printed = algoscope(*command.split())
    assert "depth 1, unreachable" in printed
    assert (tmp_path / "new" / "training.json").is_file()
    with pytest.raises(SystemExit, match="which exists"):
        algoscope(*command.split())
    with pytest.raises(SystemExit, match="depth: got 9, needed from 1 to 2"):
        algoscope(*command.replace("new", "other").replace("--depth 1", "--depth 9").split())


def test_a_missing_model_is_an_error_and_not_a_download(algoscope):
    with pytest.raises(SystemExit, match="neither a folder, nor a GGUF file"):
        algoscope("navigate", "--model", "nobody/nothing")


def test_examine_asks_about_other_problems_and_writes_a_folder(algoscope, tmp_path, visit, axe):
    from algoscope.llm import domains

    tokenizer = word_tokenizer(split(domains.get("addition").words))
    folder, out = tmp_path / "tiny", tmp_path / "run"
    tiny_llama(tokenizer, gain=1.0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    command = f"examine --task addition --model {folder} --items 24 --out {out}"
    assert "verdict: fails" in algoscope(*command.split())
    assert {p.name for p in out.iterdir()} == {"examination.json", "page.html"}
    shown, troubles = visit((out / "page.html").as_uri(), theme="dark")
    assert not troubles
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}
    assert cut_on_paper(shown) == []
    with pytest.raises(SystemExit, match="did you mean addition"):
        algoscope(*f"examine --task adition --model {folder}".split())
