"""The report in a real browser: it opens from a file, asks for nothing, and shows what is there."""

import csv
import math
import re
import shutil
import sys
from collections import Counter

import numpy as np
import pytest
from browsing import (
    FONTS,
    NARROWEST,
    WIDTHS,
    askew,
    cut_on_paper,
    font_file,
    obstacles,
    too_wide,
)
from matplotlib import font_manager

from algoscope import cli
from algoscope.falsify import falsify
from algoscope.report import explorer, html, verdicts
from algoscope.report.figures import counterexamples, style
from algoscope.report.html import Section
from algoscope.table import Table
from algoscope.verdict import NOT_JUDGED, WORDS


def test_the_demo_ends_with_the_verdicts_and_the_page(demo, found, page_path):
    _, printed = demo
    for stage in range(1, 6):
        assert f"[{stage}/5, " in printed
    rows = [re.split(r"\s{2,}", line.strip()) for line in printed.splitlines()]
    words = {row[0]: row[1] for row in rows if len(row) > 3}
    for name, judgement in found.judgements.items():
        assert words[name] == judgement.verdict.word
    assert words[f"compiled {found.program.name}"] == "runs"
    assert printed.rstrip().endswith(f"Open {page_path.resolve()}")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_from_a_file_alone(visit, page_path, found, theme, width):
    shown, troubles = visit(page_path.as_uri(), theme=theme, width=width)
    shown.wait_for_selector(".explorer[data-ready]")
    assert not troubles
    assert shown.inner_text("h1").rstrip(".") == verdicts.headline("bfs", found.judgements)
    wide, inner = shown.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner, "the page itself is never scrolled sideways"
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) < 382) == (theme == "dark")
    variant = "full" if width > 640 else "narrow"
    drawn = shown.locator(f"figure svg.{variant}:visible")
    assert drawn.count() == shown.locator(f"figure svg.{variant}").count() >= 6
    for index in range(drawn.count()):
        assert drawn.nth(index).get_attribute("aria-label")
        assert drawn.nth(index).bounding_box()["width"] <= inner


def test_labels_of_the_explorer_can_be_read_on_a_telephone(visit, page_path):
    shown, _ = visit(page_path.as_uri(), width=390)
    shown.wait_for_selector(".explorer[data-ready]")
    heights = shown.locator(".graph text, .matrix text").evaluate_all(
        "texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize) * "
        "text.getScreenCTM().a)"
    )
    assert min(heights) >= 9


@pytest.mark.parametrize("font", FONTS)
def test_it_never_scrolls_sideways(visit, page_path, font):
    shown, _ = visit(page_path.as_uri(), width=NARROWEST)
    shown.wait_for_selector(".explorer[data-ready]")
    assert too_wide(shown, font) == []


def test_every_number_of_a_network_is_in_sight_on_a_laptop(visit, page_path):
    shown, _ = visit(page_path.as_uri(), width=1280)
    table = shown.locator(".dense").first
    table.evaluate("box => box.style.setProperty('font-family', 'DejaVu Sans')")
    assert table.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_tables_stay_in_the_column_and_cards_whole_on_every_screen(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    assert shown.locator(".counts dd").count() == 4
    assert askew(shown) == {}
    shown.evaluate("document.querySelector('.counts dd').style.width = '2em'")
    assert set(askew(shown)) == set(WIDTHS), "a card in two lines would be noticed"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_keeps_a_keyboard_or_a_screen_reader_out(visit, page_path, axe, theme):
    shown, _ = visit(page_path.as_uri(), theme=theme)
    shown.wait_for_selector(".explorer[data-ready]")
    assert obstacles(shown, axe) == []


def test_paper_shows_all_of_it(visit, page_path):
    """Also what is folded on the screen, which is folded again afterwards."""
    shown, _ = visit(page_path.as_uri(), theme="dark")
    folded = shown.locator("details:not([open])").count()
    assert folded >= 3
    assert cut_on_paper(shown) == []
    assert shown.locator("details:not([open])").count() == 0
    ground = shown.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    shown.evaluate("document.querySelector('pre').style.whiteSpace = 'nowrap'")
    assert any(text.startswith("PRE") for text in cut_on_paper(shown)), "it would be noticed"
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.locator("details:not([open])").count() == folded


def test_a_page_that_is_too_wide_is_noticed(visit, page_path):
    shown, _ = visit(page_path.as_uri(), width=NARROWEST)
    shown.evaluate("document.querySelector('h1').style.minWidth = '330px'")
    assert any(text.startswith("H1") for text in too_wide(shown, "DejaVu Sans"))


def test_figures_need_no_letters_that_common_fonts_lack(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    letters = set("".join(shown.locator("figure svg").all_text_contents())) - set("\n")
    assert set("abcdefghijklmnopqrstuvwxyz0123456789") - letters < set("jqxyz")
    for name in ("DejaVuSans.ttf", "LiberationSans-Regular.ttf"):
        known = font_manager.get_font(font_file(name)).get_charmap()
        assert {letter for letter in letters if ord(letter) not in known} == set(), name


def test_the_theme_can_be_changed(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    colour = "getComputedStyle(document.querySelector('figure svg.full text')).fill"
    before = shown.evaluate(f"[getComputedStyle(document.body).backgroundColor, {colour}]")
    shown.click("button.theme")
    after = shown.evaluate(f"[getComputedStyle(document.body).backgroundColor, {colour}]")
    assert before[0] != after[0]
    assert shown.inner_text("button.theme") == "Light"


def test_names_are_shown_and_never_run(visit, page_path, demo):
    shown, troubles = visit(page_path.as_uri())
    assert shown.evaluate("window.owned === undefined")
    assert demo[0].name in shown.inner_text("main")
    assert not troubles


_TRY_TO_LEAVE = """async () => {
  const stopped = [], elsewhere = "http://127.0.0.1:9/", add = (tag, given) =>
    document.body.append(Object.assign(document.createElement(tag), given));
  document.addEventListener("securitypolicyviolation",
    ({ effectiveDirective }) => stopped.push(effectiveDirective));
  add("script", { textContent: "window.owned = 1" });
  setTimeout("window.owned = 1");
  for (const tag of ["script", "img", "iframe"]) add(tag, { src: elsewhere });
  add("base", { href: elsewhere });
  add("link", { rel: "stylesheet", href: elsewhere });
  await fetch(elsewhere).catch(() => null);
  for (const [Kind, from] of [[WebSocket, "ws://127.0.0.1:9/"], [Worker, "data:,0"]]) {
    try { new Kind(from); } catch { /* told as an event, too */ }
  }
  await new Promise((done) => setTimeout(done, 300));
  return stopped;
}"""


def test_its_policy_stops_foreign_scripts_and_all_requests(visit, page_path):
    """Whatever else got into the page could neither run nor say anything to anybody."""
    shown, _ = visit(page_path.as_uri())
    stopped = Counter(shown.evaluate(_TRY_TO_LEAVE))
    assert stopped == {
        "script-src-elem": 2, "script-src": 1, "img-src": 1, "frame-src": 1, "base-uri": 1,
        "style-src-elem": 1, "connect-src": 2, "worker-src": 1,
    }  # fmt: skip
    assert shown.evaluate("window.owned === undefined")


def test_tables_sort_by_number_and_keep_the_control_last(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    table = shown.locator("table.sortable").first
    names = [text.strip() for text in table.locator("th").all_inner_texts()]
    column = names.index("accuracy large")
    heading = table.locator("th").nth(column)

    def values():
        return [float(t) for t in table.locator(f"td:nth-child({column + 1})").all_inner_texts()]

    rows = values()
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert values() == [*sorted(rows[:-1]), rows[-1]]
    heading.locator("button").click()
    assert values() == [*sorted(rows[:-1], reverse=True), rows[-1]]


@pytest.mark.parametrize(
    "ascending",
    [
        ["2026-08-30 12:00", "2026-11-18 09:05", "2026-11-18 21:45", "2027-01-01 00:00"],
        ["seed 0", "seed 2", "seed 10", "seed 100"],
        ["−0.5", "0 %", ".25", "7.83 % [5.43, 11.1]", "1,024 of 2,048", "1e+04"],
        ["0:00:45", "0:02:30", "1:00:00"],
        ["3", "12", "2nd-try", "10nodes", "a-run"],
    ],
    ids=lambda cells: cells[0],
)
def test_dates_and_names_with_numbers_are_sorted_too(visit, tmp_path, ascending):
    """A date is no number, though it begins with one, and seed 10 comes after seed 2."""
    rows = [[text] for text in sorted(ascending, key=lambda text: text[::-1])]
    assert rows != [[text] for text in ascending]
    made = html.page("t", [Section("s", "s", html.table(Table("t", ["what"], rows)))])
    (tmp_path / "page.html").write_text(made)
    shown, _ = visit((tmp_path / "page.html").as_uri())
    for expected in (ascending, ascending[::-1]):
        shown.click("th button")
        assert shown.locator("tbody td").all_inner_texts() == expected


_WEIGHTS = "svg => [...svg.querySelectorAll('.cell')].map(cell => Number(cell.dataset.weight))"


def test_stepping_shows_what_the_recordings_hold(visit, page_path, found):
    """Attention and variables of both sides at every step of every problem, by the keyboard."""
    shown, troubles = visit(page_path.as_uri())
    box = shown.locator(".explorer")
    sides = list(found.shown.recordings)[:2]
    for sample in range(len(found.shown.batch)):
        box.locator("select.problem").select_option(str(sample))
        box.focus()
        steps = max(1, int(found.shown.batch.lengths[sample]) - 1)
        for step in range(steps):
            assert box.locator(".step").inner_text() == f"step {step + 1} of {steps}"
            for side, name in enumerate(sides):
                recording = found.shown.recordings[name]
                weights = box.locator("svg.matrix").nth(side).evaluate(_WEIGHTS)
                truth = np.asarray(recording.attention)[sample, step, 0]
                assert np.abs(np.reshape(weights, truth.shape) - truth).max() < 0.5 / 255 + 1e-4
            _check_variables(box, found, sample, step, sides)
            shown.keyboard.press("ArrowRight")
        assert box.locator(".step").inner_text() == f"step {steps} of {steps}", "there it ends"
    assert not troubles


def _check_variables(box, found, sample, step, sides):
    batch = found.shown.batch
    rows = box.locator("table.variables tbody").evaluate(
        "body => [...body.rows].map(row => [...row.cells].map(cell => "
        "[cell.textContent, cell.classList.contains('wrong')]))"
    )
    truth = batch.hints["pi_h"][sample, step + 1]
    reached = batch.hints["reach_h"][sample, step + 1]
    inputs = explorer.inputs(batch, sample)
    for node, row in enumerate(rows):
        given, said = row[1 : 1 + len(inputs)], row[1 + len(inputs) :]
        assert [int(cell[0]) for cell in given] == [values[node] for values in inputs.values()]
        assert said[3][0] == str(int(truth[node]))
        assert said[0][0] == ("●" if reached[node] else "·")
        for side, name in enumerate(sides):
            own = found.shown.recordings[name].hints["pi_h"][sample, step]
            assert said[4 + side] == [str(int(own[node])), bool(own[node] != truth[node])]


def test_space_plays_and_stops(visit, page_path):
    shown, _ = visit(page_path.as_uri())
    shown.locator(".explorer").focus()
    shown.keyboard.press(" ")
    shown.wait_for_selector(".step:has-text('step 2')")
    assert "Pause" in shown.inner_text(".play")
    shown.keyboard.press(" ")
    assert "Play" in shown.inner_text(".play")
    assert shown.evaluate("scrollY") > 0, "space did not scroll the page away"


def test_wrong_variables_are_marked_by_more_than_colour(visit, page_path, found):
    name = next(name for name in found.shown.recordings if name in found.judgements)
    data = explorer.data(found.shown, found.words)
    subject = next(s for s in data["subjects"] if s["name"] == name)
    wrong = {
        (sample, step): sum(map(sum, (variable[step] for variable in run["wrong"].values())))
        for sample, run in enumerate(subject["runs"])
        for step in range(data["samples"][sample]["steps"])
    }
    (sample, step), count = max(wrong.items(), key=lambda item: item[1])
    assert count > 0, "networks that are hardly trained are wrong somewhere"
    shown, _ = visit(page_path.as_uri())
    shown.locator("select.problem").select_option(str(sample))
    shown.locator(".explorer").focus()
    for _ in range(step):
        shown.keyboard.press("ArrowRight")
    assert shown.locator("table.variables td.wrong").count() == count
    sign = "getComputedStyle(document.querySelector('td.wrong'), '::before').content"
    assert "✗" in shown.evaluate(sign)
    assert f"✗ {count} of" in shown.locator(".side p").nth(1).inner_text()


def test_it_is_small_and_names_nobody_elses_place(page_path):
    text = page_path.read_text()
    assert len(text.encode()) < 5_000_000
    addresses = {word for word in text.split('"') if word.startswith(("http:", "https:", "//"))}
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_figures_are_saved_with_their_numbers(demo, found):
    folder = demo[0].path / "figures"
    names = {path.stem for path in folder.iterdir()}
    assert {"evidence", "accuracy", "attention", "traces", "distances", "landscape"} <= names
    for name in names:
        for suffix in ("svg", "pdf", "png", "csv"):
            assert (folder / f"{name}.{suffix}").stat().st_size > 0
    with (folder / "evidence.csv").open() as file:
        rows = {(row["network"], row["number"]): row["value"] for row in csv.DictReader(file)}
    for name, judgement in found.judgements.items():
        for key, value in judgement.evidence.tested.items():
            if not math.isnan(value):
                assert math.isclose(float(rows[name, key]), value)


def test_what_was_tried_and_the_smallest_counterexamples_are_shown(visit, page_path, found, demo):
    shown, troubles = visit(page_path.as_uri())
    section = shown.locator("#attempts")
    assert section.locator("h2").inner_text() == "How we tried to break them"
    rows = section.locator("table").first.locator("tbody tr").all_inner_texts()
    assert len(rows) == len(found.subjects)
    for row, (name, judgement) in zip(rows, found.subjects.items(), strict=True):
        tried = judgement.evidence.falsification
        assert row.startswith(name)
        least, most = tried.sizes
        assert f"{tried.problems:,}\t{tried.family_count}\t{least} to {most}\t" in row
        assert f"\t{tried.wrong:,}\t" in row
    assert "everything that was tried" in rows[-1]
    drawing = section.locator("figure svg.full").first
    texts = drawing.locator("text").all_text_contents()
    crosses = 0
    for name, judgement in found.judgements.items():
        smallest = judgement.evidence.falsification.smallest
        assert name in texts
        assert smallest.inputs in drawing.get_attribute("aria-label")
        assert smallest.inputs in section.inner_text()
    crosses = sum(
        len(j.evidence.falsification.smallest.wrong_nodes) for j in found.judgements.values()
    )
    assert texts.count("x") == crosses > 0
    with (demo[0].path / "figures" / "counterexamples.csv").open() as file:
        assert {row["network"] for row in csv.DictReader(file)} == set(found.judgements)
    assert not troubles


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_can_be_read_on_both_grounds(visit, tmp_path, theme):
    """A contrast of 4.5 and more, as WCAG 2 asks for."""
    words = "".join(verdicts.word(word) for word in (*WORDS, NOT_JUDGED))
    (tmp_path / "page.html").write_text(html.page("words", [Section("s", "s", words)]))
    shown, _ = visit((tmp_path / "page.html").as_uri(), theme=theme)
    colour = "element => getComputedStyle(element).color"
    ground = _luminance(shown.evaluate("getComputedStyle(document.body).backgroundColor"))
    for index, word in enumerate((*WORDS, NOT_JUDGED)):
        text = _luminance(shown.locator(".word").nth(index).evaluate(colour))
        high, low = max(text, ground), min(text, ground)
        assert (high + 0.05) / (low + 0.05) >= 4.5, word
    inks = {shown.locator(f".word.{name}").evaluate(colour) for name in ("runs", "approximates")}
    assert len(inks) == 2


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("task", ["bfs", "dijkstra", "insertion_sort", "kmp_matcher"])
def test_counterexamples_of_any_task_are_drawn(task):
    """Graphs with and without weights and directions, numbers, strings."""

    def answer(batch):
        return {name: np.zeros_like(values) for name, values in batch.outputs.items()}

    tried = falsify(answer, task, problems=40, sizes=(5,))
    drawn = counterexamples.draw({"mine": tried.smallest}, style.FULL)
    text = style.inline(drawn)
    assert text.count(">x</text>") == len(tried.smallest.wrong_nodes)
    assert len(drawn.rows[0]) == len(drawn.columns)


def test_several_runs_share_a_page(visit, demo, found, tmp_path, monkeypatch, capsys):
    """By the command line, which prints the verdicts and the path. Both have one name."""
    other = shutil.copytree(demo[0].path, tmp_path / "other" / demo[0].name)
    path = tmp_path / "both.html"
    given = [str(demo[0].path), str(other), "--out", str(path), "--inline", "1"]
    monkeypatch.setattr(sys, "argv", ["algoscope", "report", *given])
    cli.main()
    printed = capsys.readouterr().out
    assert printed.count(verdicts.headline("bfs", found.judgements)) == 2
    assert printed.rstrip().endswith(f"report: {path}")
    shown, troubles = visit(path.as_uri())
    assert not troubles
    assert shown.evaluate("window.owned === undefined")
    rows = shown.locator("table.sortable").first.locator("td:first-child").all_inner_texts()
    assert rows[:-1] == [
        f"{folder}/{demo[0].name}, {name}" for folder in ("demos", "other") for name in found.words
    ]
    assert shown.locator(".side select").nth(1).locator("option").count() == len(rows)
    assert (tmp_path / "both-figures" / "distances-2.svg").exists()
    told = shown.inner_text("#explore")
    assert "3 networks and the algorithm run in this page" in told, "seed 1 of each, the program"
    left_out = "seed 0 is shown as recorded only: it is not among those that --inline names"
    assert told.count(left_out) == 2
    monkeypatch.setattr(sys, "argv", ["algoscope", "report", *given[:-1], "0", "7"])
    with pytest.raises(SystemExit, match="inline: got 7, needed seeds that have weights: 0, 1"):
        cli.main()
    monkeypatch.setattr(sys, "argv", ["algoscope", "report", given[0], given[0]])
    with pytest.raises(SystemExit, match="twice, needed it once"):
        cli.main()


def test_embedded_data_cannot_end_its_element(visit, tmp_path):
    text = "</script><script>window.owned = 1</script>"
    made = html.page(text, [Section("s", text, html.escape(text))], data={"d": {"t": text}})
    (tmp_path / "page.html").write_text(made)
    shown, troubles = visit((tmp_path / "page.html").as_uri())
    assert shown.evaluate("window.owned === undefined")
    assert shown.evaluate("JSON.parse(document.getElementById('d').textContent).t") == text
    assert shown.title() == text
    assert not troubles
