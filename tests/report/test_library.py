"""The library of programs as a page: written by the verb, opened from a file, true to the runs."""

import base64
import io
import re
import sys

import matplotlib.image
import numpy as np
import pytest
from browsing import NARROWEST, askew, cut_on_paper, obstacles, too_wide

from algoscope import cli, programs, tasks
from algoscope.markup import escape
from algoscope.programs.interpreter import interpret
from algoscope.programs.panels import panels
from algoscope.report.library import examples, source, weight_strips
from algoscope.report.library.examples import example

SHOWN = ("bfs", "bfs_highest", "insertion_sort")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of three programs, and what the verb printed."""
    path = tmp_path_factory.mktemp("library") / "page.html"
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "names", lambda: list(SHOWN))
        patch.setattr(sys, "argv", ["algoscope", "programs", "--html", str(path)])
        patch.setattr(sys, "stdout", printed)
        cli.main()
    return path, printed.getvalue()


def test_the_last_line_says_where_the_page_is(page):
    path, printed = page
    assert printed.splitlines()[-1] == f"Open {path.resolve()}"


def test_the_page_says_which_tasks_have_no_program_and_why(page):
    (said,) = re.findall(r"<p>Without a program: (.*?)</p>", page[0].read_text(), re.DOTALL)
    assert set(re.findall(r"<code>(\w+)</code>", said)) == {
        name for name in tasks.names() if name not in programs.tasks_with_references()
    }
    assert "updated over a third" in said


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_opens_alone_and_steps_through_a_run(visit, page, theme):
    shown, troubles = visit(page[0].as_uri(), theme=theme)
    stepper = shown.locator(".stepper[data-program=bfs]")
    stepper.scroll_into_view_if_needed()
    shown.wait_for_selector(".stepper[data-program=bfs][data-ready]")
    batch = example(programs.get("bfs")).batch
    steps = int(batch.lengths[0]) - 1
    slider = stepper.locator("input[type=range]")
    for step in range(steps + 1):
        slider.fill(str(step))
        assert stepper.locator(".step").inner_text() == f"step {step} of {steps}"
        reached = _row(stepper, "reach_h")
        assert [cell == "●" for cell in reached] == batch.hints["reach_h"][0, step].tolist()
        parents = batch.hints["pi_h"][0, step]
        assert [int(cell) for cell in _row(stepper, "pi_h")] == parents.tolist()
        moved = (parents != np.arange(batch.nodes)).sum()
        assert stepper.locator("path.pointer").count() == moved
    assert not troubles


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_for_keyboards_screen_readers_and_paper(visit, page, axe, theme):
    shown, _ = visit(page[0].as_uri(), theme=theme)
    assert cut_on_paper(shown) == []
    assert shown.locator(".stepper[data-ready]").count() == len(SHOWN), "those far below, too"
    shown.emulate_media(media="screen")
    assert obstacles(shown, axe) == []


def _row(stepper, name: str) -> list[str]:
    head = stepper.locator("tr", has=stepper.page.locator(f"th[scope=row]:text-is('{name}')"))
    return head.locator("td").all_inner_texts()


def test_a_wrong_program_is_crossed_where_it_is_wrong(visit, page):
    shown, _ = visit(page[0].as_uri())
    folded = shown.locator("details.program", has_text="bfs_highest")
    assert folded.locator("summary .role").inner_text() == "wrong"
    folded.locator("summary").click()
    shown.wait_for_selector(".stepper[data-program=bfs_highest][data-ready]")
    program = programs.get("bfs_highest")
    batch, differs = example(program)
    assert differs
    stepper = folded.locator(".stepper")
    stepper.locator("input[type=range]").fill(str(int(batch.lengths[0]) - 1))
    said = np.asarray(interpret(program, batch).hints["pi_h"])[0, -1]
    crossed = stepper.locator("td.wrong").count()
    assert crossed == (said != batch.hints["pi_h"][0, -1]).sum() > 0


def test_the_page_never_scrolls_sideways(visit, page):
    shown, _ = visit(page[0].as_uri(), width=NARROWEST)
    for folded in shown.locator("details").all():
        folded.evaluate("details => details.open = true")
        folded.scroll_into_view_if_needed()
    shown.wait_for_selector(".stepper[data-program=bfs_highest][data-ready]")
    assert askew(shown) == {}
    shown.set_viewport_size({"width": NARROWEST, "height": 900})
    assert too_wide(shown, "DejaVu Sans Mono") == []


@pytest.mark.parametrize("name", ["articulation_points", "mst_kruskal"])
def test_a_shown_graph_is_of_one_part(name):
    batch, differs = example(programs.get(name))
    adjacent = np.eye(batch.nodes) + batch.inputs["adj"][0]
    assert not differs
    assert (np.linalg.matrix_power(adjacent, batch.nodes) > 0).all()


def test_sorting_moves_the_bars(visit, page):
    shown, _ = visit(page[0].as_uri())
    stepper = shown.locator(".stepper[data-program=insertion_sort]")
    stepper.scroll_into_view_if_needed()
    stepper.locator(".node").first.wait_for()
    batch = example(programs.get("insertion_sort")).batch
    stepper.locator("input[type=range]").fill(str(int(batch.lengths[0]) - 1))
    places = stepper.locator(".node").evaluate_all(
        "nodes => nodes.map((node) => new DOMMatrix(getComputedStyle(node).transform).e)"
    )
    assert np.argsort(places).tolist() == np.argsort(batch.inputs["key"][0]).tolist()


@pytest.mark.parametrize("name", programs.names())
def test_colours_leave_the_text_of_a_program_as_it_is(name):
    body = source.parts(programs.get(name)).body
    assert body in programs.get(name).text
    names = frozenset(variable.name for variable in programs.get(name).variables)
    assert re.sub(r"</?span[^>]*>", "", source.coloured(body, names)) == escape(body)


def test_every_weight_that_is_not_zero_is_a_pixel():
    pictures = panels(programs.get("bfs"))
    for strip in weight_strips.strips(pictures):
        name = strip.title if strip.title in pictures else "processor"
        octets = io.BytesIO(base64.b64decode(strip.address.partition(",")[2]))
        opacity = matplotlib.image.imread(octets, format="png")[..., 3]
        assert opacity.shape == (strip.rows, strip.columns)
        used = sum(np.count_nonzero(panel.values) for panel in pictures[name])
        assert (opacity > 0.3).sum() == used > 0


def test_steps_that_change_nothing_are_left_out():
    program = programs.get("bfs")
    data = examples.run_data(program, example(program))
    assert data["said"] == {}, "what an exact program shows is the algorithm's trace"
    assert [one["name"] for one in data["selections"]] == ["parent"]
    (reads,) = data["reads"]
    filled = [reads[0]]
    for step in reads[1:]:
        assert step is None or step != filled[-1]
        filled.append(step or filled[-1])
    attention = np.asarray(interpret(program, example(program).batch).attention)[0, :, 0]
    assert filled == attention.argmax(-1).tolist()
