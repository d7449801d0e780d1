"""docs/gallery is what docs/make_gallery.py makes, and its numbers are those of results/."""

import importlib
import json
import re
import statistics
import xml.etree.ElementTree
from collections import Counter

import pytest
from pages import ROOT, cell, links, numbers, read, table

from algoscope.experiments.mind_the_gap import draw_figures
from algoscope.experiments.mind_the_gap.solutions import ensembles_in
from algoscope.report.figures import style

GALLERY = ROOT / "docs" / "gallery"
NAMES = {"bfs": "BFS", "bellman_ford": "Bellman-Ford", "dfs": "DFS"}
ANEW = "make it anew: python docs/make_gallery.py"
_SHOWN = """() => [...document.querySelectorAll(".frame")]
  .filter((frame) => getComputedStyle(frame).visibility === "visible")
  .map((frame) => frame.querySelector("text").textContent)"""


@pytest.fixture(scope="module")
def exhibits():
    """The modules behind the command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        names = ("make_gallery", "exhibits.subjects", "exhibits.verdict_maps")
        yield [importlib.import_module(name) for name in names]


@pytest.fixture(scope="module")
def made(exhibits) -> dict[str, str]:
    return exhibits[0].texts()


@pytest.fixture(scope="module")
def page() -> str:
    return read("docs/gallery/README.md")


def test_files_are_what_the_command_makes(made):
    """Another processor may round the attention of a trained network to the next hundredth."""
    assert (GALLERY / "README.md").read_text() == made["README.md"], ANEW
    for name, text in made.items():
        kept = (GALLERY / name).read_text()
        assert re.sub(r"[\d.]+", "", kept) == re.sub(r"[\d.]+", "", text), f"{name}: {ANEW}"
        pairs = zip(numbers(kept), numbers(text), strict=True)
        assert all(abs(float(a) - float(b)) < 0.11 for a, b in pairs), f"{name}: {ANEW}"


@pytest.fixture(scope="module")
def made_figures(exhibits) -> dict[str, bytes]:
    return exhibits[0].figures()


def _structure(svg: bytes) -> list[tuple[str, str | None, int]]:
    """Elements, their colours and how many points they have. Letters are left out, and so are
    places: each font has other outlines, and leaves another frame."""
    found = []

    def walk(element: xml.etree.ElementTree.Element) -> None:
        if element.get("id", "").startswith("text") or element.tag.endswith("defs"):
            return
        found.append((element.tag, element.get("style"), len(element.get("d", "").split())))
        for part in element:
            walk(part)

    walk(xml.etree.ElementTree.fromstring(svg))
    return found


def test_the_papers_figures_are_what_the_command_makes(made_figures):
    for name, made in made_figures.items():
        kept = (GALLERY / name).read_bytes()
        assert _structure(kept) == _structure(made), f"{name}: {ANEW}"
        assert len(_structure(made)) > 100


def test_the_page_shows_every_picture_and_no_other(page, made_figures):
    shown = set(links(page)) | set(re.findall(r'src="([^"]+)"', page))
    there = {path.name for path in GALLERY.glob("*.svg")}
    assert {name for name in shown if name.endswith(".svg")} == there
    assert set(made_figures) <= there
    for href in re.findall(r'href="([^"]+)"', page):
        assert (GALLERY / href).exists(), href


def test_it_is_small_and_names_no_day():
    files = [path for path in GALLERY.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000
    for path in GALLERY.glob("*.svg"):
        text = path.read_text()
        xml.etree.ElementTree.fromstring(text)
        assert "<dc:date>" not in text
        assert "<script" not in text


def test_words_are_those_of_the_results(page):
    shown = table(page, "task", "weights")
    for task in ("bfs", "bellman_ford"):
        text = (ROOT / f"results/words/{task}.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        for weights, told in (("last", "last"), ("best", "best on validation")):
            counts = Counter(line["word"] for line in lines if line.get("weights") == weights)
            (row,) = [r for r in shown.rows if r[:2] == [NAMES[task], told]]
            said = dict(zip(shown.columns[2:], map(int, row[2:]), strict=True))
            assert {word.strip("*"): n for word, n in said.items() if n} == counts
        picture = (GALLERY / f"verdicts-{task}.svg").read_text()
        last = [line for line in lines if line.get("weights") == "last"]
        shares = [f"{100 * _share(last, family):.1f} %" for family in last[0]["families"]]
        written = re.findall(r'class="muted" x="[\d.]+" y="[\d.]+">([\d.]+ %)<', picture)
        assert Counter(shares) <= Counter(written)


def test_words_of_networks_without_memory_are_those_of_the_results(page):
    shown = table(page, "task", "weights")
    text = (ROOT / "results/words/memoryless.jsonl").read_text()
    lines = [line for line in map(json.loads, text.splitlines()) if "word" in line]
    for told, taught in (("", False), (", attention taught", True)):
        own = [line for line in lines if line["recipe"].startswith("attention") == taught]
        counts = Counter(line["word"] for line in own)
        (row,) = [r for r in shown.rows if r[0] == f"BFS without memory{told}"]
        said = dict(zip(shown.columns[2:], map(int, row[2:]), strict=True))
        assert {word.strip("*"): n for word, n in said.items() if n} == counts
        assert sum(counts.values()) == 128


def _share(lines: list[dict], family: str) -> float:
    return statistics.fmean(a / b for a, b in (line["families"][family] for line in lines))


def test_scores_are_those_of_the_results(page):
    shown = table(page, "seeds", "test score")
    for task, name in NAMES.items():
        (path,) = (ROOT / "results" / "mind_the_gap" / task).glob("*.json")
        scores = [100 * seed["test"] for seed in json.loads(path.read_text())["seeds"]]
        mean, deviation = statistics.fmean(scores), statistics.pstdev(scores)
        said = f"{mean:.2f} ± {deviation:.2f} ({max(scores):.2f})"
        assert cell(shown, name, "test score") == said
        assert cell(shown, name, "seeds") == str(len(scores))


def test_a_picture_of_other_verdicts_is_another_one(exhibits):
    _, _, maps = exhibits
    lines = maps.read(ROOT / "results" / "words" / "bfs.jsonl")
    before = maps.draw(lines)
    assert before == maps.draw(lines)
    assert "approximates: 92, runs up to: 36" in before
    better = [line | {"word": "runs"} if line["seed"] == 0 else line for line in lines]
    assert "runs: 1" in maps.draw(better)
    worse = [line | {"families": line["families"] | {"star": [1, 1]}} for line in lines]
    assert maps.draw(worse) != before


def test_the_same_picture_has_the_same_bytes(exhibits):
    _, subjects, _ = exhibits
    (family,) = [f for f in subjects.families() if f.program == "dfs"]
    assert subjects.compared(family) == subjects.compared(family)
    solutions = ensembles_in(ROOT / "results" / "mind_the_gap")["bfs"]
    first, again = (
        style.image(draw_figures.attention_over_time(solutions, "figure-2-bfs"), "svg")
        for _ in range(2)
    )
    assert first == again


@pytest.mark.parametrize("name", ["bfs", "dfs", "program-insertion_sort"])
def test_one_step_at_a_time_is_seen_and_the_last_one_without_motion(browser, name):
    context = browser.new_context(reduced_motion="no-preference")
    shown = context.new_page()
    shown.goto((GALLERY / f"{name}.svg").as_uri())
    duration = shown.evaluate("document.getAnimations()[0].effect.getTiming().duration")
    steps = int(shown.locator(".frame text").first.text_content().split()[-1])
    seen = []
    for moment in range(steps):
        shown.evaluate(
            "time => { for (const one of document.getAnimations())"
            " { one.pause(); one.currentTime = time; } }",
            duration * (moment + 0.5) / (steps + 1),
        )
        told = set(shown.evaluate(_SHOWN))
        assert len(told) == 1, "all subjects are at one step"
        seen += told
    assert seen == [f"step {step} of {steps}" for step in range(1, steps + 1)]
    context.close()
    context = browser.new_context(reduced_motion="reduce")
    still = context.new_page()
    still.goto((GALLERY / f"{name}.svg").as_uri())
    assert set(still.evaluate(_SHOWN)) == {f"step {steps} of {steps}"}
    context.close()
