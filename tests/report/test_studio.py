"""A graph of one's own in the report, in a real browser: by pointer, keyboard, form and text."""

import json
import re

import jax
import numpy as np
import pytest
from browsing import FONTS, NARROWEST, askew, cut_on_paper, obstacles, too_wide
from in_page import explored, write_studio
from pages import ROOT

from algoscope import networks, programs, tasks
from algoscope.falsify.disagreement import compare
from algoscope.networks import NetworkConfig
from algoscope.programs import Role
from algoscope.programs.compiler import compile_program
from algoscope.report import live, rounding
from algoscope.report.findings import Shown
from algoscope.tasks.sampling import trace_problems
from algoscope.verbs.demo import Demo

TASKS = [name for name in tasks.names(variants=True) if live.runs_in_page(tasks.get(name))]
HOSTILE = "<img src=x onerror=window.owned=1>"
WEIGHTS = "svg => [...svg.querySelectorAll('.cell')].map(cell => Number(cell.dataset.weight))"
DONE = "algoscope: from a change until shown"


SMALL = NetworkConfig(width=16)


def network_for(task: str, config: NetworkConfig = SMALL, seed: int = 3):
    return networks.build(task, config, key=jax.random.key(seed))


def compiled_for(task: str):
    return compile_program(programs.of_task(task, Role.REFERENCE)[0]).network


@pytest.fixture
def studio(visit, tmp_path):
    """Opens a page with the explorer alone, in which one draws."""

    def opened(data: dict, **screen):
        path = tmp_path / "page.html"
        write_studio(path, data)
        shown, troubles = visit(path.as_uri(), **screen)
        shown.context.set_offline(True)
        shown.click(".modes .own")
        settled(shown)
        return shown, troubles

    return opened


def settled(shown) -> None:
    """Waits until everybody has run on what was drawn."""
    shown.wait_for_function(
        "() => document.querySelector('.explorer').ariaBusy === 'false'"
        " && !document.querySelector('.find').textContent.startsWith('Stop')"
    )


def graph_text(shown) -> str:
    return shown.locator(".as-text textarea").evaluate("area => area.value")


def draw(shown, text: str) -> None:
    shown.locator(".as-text").evaluate("folded => folded.open = true")
    shown.fill(".as-text textarea", text)
    shown.click("text=Use this text")
    settled(shown)


def traced(task: str, text: str):
    """A drawn graph without weights, traced in Python."""
    nodes, source = int(text.split()[0]), re.search(r"source (\d+)", text)
    adjacency = np.zeros((nodes, nodes))
    for a, sign, b in re.findall(r"(\d+)([->])(\d+)", text):
        adjacency[int(a), int(b)] = 1
        if sign == "-":
            adjacency[int(b), int(a)] = 1
    problem = {"A": adjacency} | ({"s": np.array([int(source[1])])} if source else {})
    return trace_problems(tasks.get(task), nodes, [problem])


def table(shown) -> list[list[str]]:
    return shown.locator("table.variables tbody").evaluate(
        "body => [...body.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )


def step_of(shown) -> tuple[int, int]:
    first, last = re.findall(r"\d+", shown.inner_text(".step"))
    return int(first), int(last)


@pytest.fixture(scope="module")
def bfs():
    """The data of compiled BFS and a network that is not trained."""
    return explored("bfs", {"compiled bfs": compiled_for("bfs"), "mine": network_for("bfs")},
                    "compiled bfs")  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_drawn_and_run(studio, task):
    """In every family, with the compiled program where the library has one."""
    subjects = {"mine": network_for(task)}
    control = None
    if programs.of_task(task, Role.REFERENCE) and task != "bridges":
        control = "compiled"
        subjects = {control: compiled_for(task)} | subjects
    shown, troubles = studio(explored(task, subjects, control))
    families = shown.locator("[aria-label='family of graphs'] optgroup").first.locator("option")
    assert families.count() == 7
    shown.fill("[aria-label='nodes of a new graph']", "5")
    for family in families.all_inner_texts():
        shown.select_option("[aria-label='family of graphs']", family)
        shown.click("text=Draw it")
        settled(shown)
        assert graph_text(shown).startswith("5 nodes")
        assert shown.locator(".canvas .knot").count() == 5
        told = shown.locator(".differs").all_inner_texts()
        ties = family == "with ties"
        if control and not ties:
            assert told[0].startswith("✓ compiled does as the algorithm")
        assert told[-1].startswith(("✓ mine does as the algorithm", "First differs: "))
        assert shown.locator("canvas.hidden:visible").count() == len(subjects)
    shown.select_option("[aria-label='family of graphs']", "recorded 0")
    shown.click("text=Draw it")
    settled(shown)
    assert graph_text(shown).startswith("6 nodes")
    assert not troubles


def test_what_is_shown_of_a_drawn_graph_is_what_python_has(studio, bfs):
    """Attention, variables and where a subject first differs, step by step."""
    shown, troubles = studio(bfs)
    subjects = {"compiled bfs": compiled_for("bfs"), "mine": network_for("bfs")}
    for text in ("7 nodes, source 2: 0-1, 1-2, 2-3, 3-4, 4-5, 0-6", "5 nodes, source 0: 1-2, 3-3"):
        draw(shown, text)
        batch = traced("bfs", graph_text(shown))
        steps = max(1, int(batch.lengths[0]) - 1)
        recordings = [networks.run(network, batch) for network in subjects.values()]
        shown.locator(".explorer").focus()
        shown.keyboard.press("Home")
        for step in range(steps):
            assert step_of(shown) == (step + 1, steps)
            for side, recording in enumerate(recordings):
                weights = shown.locator("svg.matrix").nth(side).evaluate(WEIGHTS)
                truth = np.asarray(recording.attention)[0, step, 0]
                assert np.abs(np.reshape(weights, truth.shape) - truth).max() < 1e-3
            for node, row in enumerate(table(shown)):
                # The input s, then both variables of reference and sides.
                said = [batch.hints["reach_h"][0, min(step + 1, batch.time - 1), node]]
                said += [r.hints["reach_h"][0, step, node] for r in recordings]
                assert row[2:5] == ["●" if value else "·" for value in said]
                told = [r.hints["pi_h"][0, step, node] for r in recordings]
                assert row[6:8] == [str(int(value)) for value in told]
            shown.keyboard.press("ArrowRight")
        first = int(compare(subjects["mine"], batch).first_step[0])
        sentence = shown.locator(".differs").nth(1).inner_text()
        assert f"at step {first + 1} is" in sentence if first >= 0 else "step" not in sentence
        assert shown.locator(".differs").nth(0).inner_text().startswith("✓")
    assert not troubles


def spot(shown, node: int) -> tuple[float, float]:
    box = shown.locator(f".canvas [data-node='{node}'] .node").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_pointer_adds_joins_moves_and_deletes(studio, bfs):
    shown, troubles = studio(bfs)
    draw(shown, "3 nodes, source 0: 0-1")
    shown.locator(".canvas").evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
    corner = shown.locator(".canvas").bounding_box()
    shown.mouse.click(corner["x"] + corner["width"] - 14, corner["y"] + corner["height"] - 14)
    assert graph_text(shown) == "4 nodes, source 0: 0-1", "a click on the ground adds a node"
    shown.mouse.click(*spot(shown, 2))
    shown.mouse.click(*spot(shown, 3))
    assert graph_text(shown) == "4 nodes, source 0: 0-1, 2-3", "clicks on two nodes join them"
    x, y = spot(shown, 2)
    shown.mouse.move(x, y)
    shown.mouse.down()
    shown.mouse.move(x - 30, y + 5, steps=3)
    shown.mouse.up()
    assert spot(shown, 2) == pytest.approx((x - 30, y + 5), abs=1.5), "a drag moves a node"
    assert graph_text(shown) == "4 nodes, source 0: 0-1, 2-3"
    shown.mouse.click(*(sum(pair) / 2 for pair in zip(spot(shown, 0), spot(shown, 1), strict=True)))
    shown.click("text=Delete edge")
    assert graph_text(shown) == "4 nodes, source 0: 2-3"
    shown.mouse.click(*spot(shown, 1))
    shown.click("text=Make it the source")
    assert graph_text(shown) == "4 nodes, source 1: 2-3"
    shown.click("text=Delete node")
    assert graph_text(shown) == "3 nodes, source 0: 1-2", "nodes after it move up"
    for _ in range(3):
        shown.click(".undo")
    assert graph_text(shown) == "4 nodes, source 0: 0-1, 2-3"
    before = spot(shown, 2)
    shown.mouse.move(*before)
    shown.mouse.down()
    shown.mouse.move(before[0] - 30, before[1] - 20, steps=3)
    shown.locator(".canvas").dispatch_event("pointercancel")
    shown.mouse.up()
    assert spot(shown, 2) != pytest.approx(before, abs=1.5)
    shown.click(".undo")
    assert spot(shown, 2) == pytest.approx(before, abs=1.5), "a drag that is cut short is undone"
    settled(shown)
    assert not troubles


def test_a_keyboard_does_all_that_a_mouse_does(studio, bfs):
    shown, troubles = studio(bfs)
    draw(shown, "3 nodes, source 0: 0-1")
    shown.locator(".canvas [data-node='1']").focus()
    shown.keyboard.press("Enter")
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    assert graph_text(shown) == "3 nodes, source 0: 0-1, 1-2"
    shown.keyboard.press("s")
    assert graph_text(shown) == "3 nodes, source 2: 0-1, 1-2"
    before = spot(shown, 2)
    shown.keyboard.press("ArrowDown")
    assert spot(shown, 2) != before
    assert step_of(shown)[0] == 1, "arrows on a node move it, and not the time"
    assert "node 2, the source" in shown.evaluate("document.activeElement.ariaLabel")
    shown.keyboard.press("Delete")
    assert graph_text(shown) == "2 nodes, source 0: 0-1"
    shown.keyboard.press("Control+z")
    assert graph_text(shown) == "3 nodes, source 2: 0-1, 1-2"
    shown.select_option("[aria-label='selected node or edge']", label="edge 1 – 2")
    shown.locator("text=Delete edge").press("Enter")
    assert graph_text(shown) == "3 nodes, source 2: 0-1"
    shown.locator("text=Add node").press("Enter")
    assert graph_text(shown) == "4 nodes, source 2: 0-1"
    assert shown.locator(".editor .said[role=status]").inner_text() == "Node 3 added."
    settled(shown)
    assert not troubles


def focused(shown) -> str:
    return shown.evaluate(
        "() => document.activeElement.ariaLabel ?? document.activeElement.textContent"
    )


def test_the_focus_stays_where_one_works(studio):
    """Who has no mouse does one thing after the other, and does not begin at the top each time."""
    data = explored("dijkstra", {"compiled": compiled_for("dijkstra")}, "compiled")
    shown, troubles = studio(data)
    draw(shown, "4 nodes, source 0: 0-1 0.5, 1-2 0.5, 0-2 0.9")
    chosen = "selected node or edge"

    def press(name: str) -> None:
        shown.locator(f"button:text-is('{name}')").first.press("Enter")
        settled(shown)

    shown.select_option(f"[aria-label='{chosen}']", label="node 1")
    shown.select_option("[aria-label='the other node']", label="node 3")
    press("Join or part")
    assert focused(shown) == "Join or part"
    press("Join or part")
    assert graph_text(shown) == "4 nodes, source 0: 0-1 0.5, 0-2 0.9, 1-2 0.5"
    press("Make it the source")
    assert focused(shown) == chosen, "that button is gone"
    press("Delete node")
    assert focused(shown) == chosen
    assert shown.locator(f"[aria-label='{chosen}']").input_value() == "0", "and no other node"
    shown.select_option(f"[aria-label='{chosen}']", label="edge 0 – 1")
    shown.fill("[aria-label='weight']", "0.25")
    shown.keyboard.press("Tab")
    assert focused(shown) == "Delete edge", "one goes on where one was"
    assert graph_text(shown) == "3 nodes, source 0: 0-1 0.25"
    shown.locator("[aria-label='weight']").focus()
    shown.keyboard.press("Control+a")
    shown.keyboard.type("0.1")
    shown.evaluate("() => document.querySelector('[aria-label=\"one step on\"]').click()")
    assert shown.locator("[aria-label='weight']").input_value() == "0.1", "it is not written yet"
    assert focused(shown) == "weight"
    shown.locator(".hands summary").click()
    for name in ("head 1", "Pin", "Exchange", "Keep this graph as another run"):
        press(name)
        assert focused(shown).startswith(name)
    for _ in range(3):
        shown.locator(".hands .active button").first.press("Enter")
        settled(shown)
        if shown.locator(".hands .active button").count():
            assert focused(shown).startswith("Remove")
    assert focused(shown) == "Intervene by hand", "nothing is left to be removed"
    assert not troubles


def test_a_node_is_looked_at_without_a_mouse(studio, bfs):
    """What it reads and its state are there in words, on drawn graphs and on recorded ones."""
    shown, troubles = studio(bfs)
    draw(shown, "3 nodes, source 0: 0-1, 1-2")
    shown.select_option("[aria-label='node to look at']", label="node 1")
    words = shown.locator(".in-words").all_inner_texts()
    assert words[0].startswith("node 1 reads node 0 (1.00)\n")
    assert "its state, 16 numbers" in words[1]
    numbers = shown.locator(".numbers").nth(1).evaluate("list => list.textContent.split(' ')")
    assert len(numbers) == 16
    assert shown.locator(".variables tr.chosen td").first.inner_text() == "1"
    shown.click("text=Recorded problems")
    assert shown.locator(".in-words").first.inner_text().startswith("node 1 reads node ")
    assert shown.locator(".differs").all_inner_texts() == ["", ""], "that was of the drawn graph"
    shown.select_option("[aria-label='node to look at']", label="all nodes")
    assert shown.locator(".in-words").all_inner_texts() == ["", ""]
    assert not troubles


def test_weights_are_set(studio):
    data = explored("dijkstra", {"compiled": compiled_for("dijkstra")}, "compiled")
    shown, troubles = studio(data)
    draw(shown, "3 nodes, source 0: 0-1 0.5, 1-2 0.5, 0-2 0.9")
    last = shown.locator(".variables tbody tr").nth(2)
    shown.locator(".explorer").focus()
    shown.keyboard.press("End")
    assert "0.9" in last.inner_text()
    shown.select_option("[aria-label='selected node or edge']", label="edge 0 – 1")
    shown.fill("[aria-label='weight']", "0.25")
    shown.keyboard.press("Enter")
    settled(shown)
    shown.locator(".explorer").focus()
    shown.keyboard.press("End")
    assert "0.75" in last.inner_text(), "the path over node 1 is the shorter one"
    for refused in ("-1", "0", "1e-60", "1e99"):
        shown.fill("[aria-label='weight']", refused)
        shown.keyboard.press("Enter")
        told = f"weight: got {float(refused):.16g}, needed a number above 0"
        assert told in shown.inner_text(".said.fault").replace("e+", "e+")
    assert not troubles


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HOSTILE, "graph: got"),
        ("9999999999 nodes: ", "nodes: got 9999999999, needed a whole number from 1 to 24"),
        ("3 nodes, source 7: 0-1", "source: got 7"),
        ("3 nodes: 0-5", "edge: got 5"),
        ("3 nodes: 0-1 0.5, <b>", 'edge: got "<b>"'),
        ("3 nodes: 0-1 0", "weight: got 0, needed a number above 0"),
        ("3 nodes: 0-1 NaN", "weight: got NaN"),
        ("3 nodes: __proto__", "edge: got"),
    ],
)
def test_a_hostile_graph_is_refused_in_a_sentence(studio, bfs, text, sentence):
    shown, troubles = studio(bfs)
    before = graph_text(shown)
    shown.locator(".as-text").evaluate("folded => folded.open = true")
    shown.fill(".as-text textarea", text)
    shown.click("text=Use this text")
    assert sentence in shown.inner_text(".said.fault")
    shown.click("text=Add node")
    assert int(graph_text(shown).split()[0]) == int(before.split()[0]) + 1, "it goes on"
    assert shown.evaluate("window.owned === undefined")
    assert not troubles


def test_cycles_are_refused_where_the_algorithm_reads_none(studio):
    shown, _ = studio(explored("topological_sort", {"mine": network_for("topological_sort")}))
    draw(shown, "3 nodes: 0>1, 1>2")
    draw(shown, "3 nodes: 0>1, 1>2, 2>0")
    assert "got a cycle among the nodes 0, 1, 2" in shown.inner_text(".said.fault")
    shown.click(".undo")
    assert shown.inner_text(".editor .said") == "Undone."
    assert shown.locator(".said.fault").count() == 0


def test_every_edge_of_a_directed_graph_is_in_every_picture(studio):
    """Also those that lead to a lower number."""
    shown, troubles = studio(explored("dfs", {"mine": network_for("dfs")}))
    draw(shown, "4 nodes: 2>0, 0>1, 1>0, 3>2, 1>3")
    assert shown.locator(".canvas .link").count() == 5
    assert shown.locator(".side svg.graph line.edge").count() == 4, "0 and 1 are joined twice"
    shown.locator(".hands summary").click()
    shown.click("text=Keep this graph as another run")
    draw(shown, "4 nodes: 0>1")
    assert shown.locator(".side svg.graph line.edge").count() == 1
    shown.select_option("[aria-label='the other run']", label="kept graph 1")
    assert shown.locator("svg.preview line").count() == 4
    assert not troubles


def test_hostile_names_and_weights_leave_the_page_whole(studio, bfs):
    data = json.loads(json.dumps(bfs))
    network = data["live"]["networks"].pop("mine")
    data["live"]["networks"][HOSTILE] = network
    data["subjects"][1]["name"] = HOSTILE
    network["network"]["arrays"]["encoders.pos.weight"] = {"shape": [1, 16], "values": "%%%"}
    shown, troubles = studio(data)
    told = shown.locator(".side p").nth(1).inner_text()
    assert told.startswith("Cannot be run here, its weights are not readable")
    assert HOSTILE in shown.locator(".side select").nth(1).inner_text()
    assert shown.locator(".differs").nth(0).inner_text().startswith("✓ compiled bfs does")
    shown.click(".find")
    assert "Cannot be run here" in shown.locator(".panel > .said").inner_text()
    del network["network"]["config"]
    shown, troubles = studio(data)
    assert "Cannot be run here" in shown.locator(".side p").nth(1).inner_text()
    assert shown.evaluate("window.owned === undefined")
    assert not troubles


def test_whoever_lacks_a_part_is_named_and_the_others_run(studio, bfs):
    """Network and compiled program: one opens the page, pins a reading and searches as before."""
    data = json.loads(json.dumps(bfs))
    described = data["live"]["networks"]
    for name in [
        n for n in described["mine"]["network"]["arrays"] if n.startswith("decoders.pi_h")
    ]:
        del described["mine"]["network"]["arrays"][name]
    shown, troubles = studio(data)
    missing = "weights are not readable: decoders.pi_h"
    assert missing in shown.locator(".side p").nth(1).inner_text()
    shown.click(".find")
    settled(shown)
    assert missing in shown.locator(".panel > .said").inner_text()
    described |= json.loads(json.dumps({"mine": bfs["live"]["networks"]["mine"]}))
    del described["compiled bfs"]["network"]["arrays"]["processor.receiver.weight"]
    shown, more_troubles = studio(data)
    shown.locator(".hands summary").click()
    shown.click(".hands button:text-is('Pin')")
    settled(shown)
    assert "No compiled program runs in this page" in shown.inner_text(".effect")
    assert "not readable: processor.receiver.weight" in shown.locator(".side p").nth(0).inner_text()
    assert shown.locator(".differs").nth(1).inner_text()
    assert not troubles + more_troubles


def test_the_search_finds_a_graph_and_makes_it_smaller(studio, bfs):
    shown, troubles = studio(bfs)
    shown.click(".find")
    settled(shown)
    told = shown.locator(".panel > .said").inner_text()
    assert re.match(
        r"mine differs on this graph of \d+ nodes? and \d+ edges?; [\d,]+ graphs? tr", told
    )
    batch = traced("bfs", graph_text(shown))
    assert compare(network_for("bfs"), batch).wrong[0]
    settled(shown)
    differs = shown.locator(".differs").nth(1).inner_text()
    assert differs.startswith("First differs: ")
    step, last = step_of(shown)
    assert f"at step {step} is" in differs or ("in the answer" in differs and step == last)
    assert not troubles


def test_the_search_finds_nothing_against_the_compiled_program(studio):
    shown, troubles = studio(explored("bfs", {"compiled bfs": compiled_for("bfs")}, "compiled bfs"))
    shown.click(".find")
    said = "document.querySelector('.panel > .said').textContent"
    stop = "document.querySelector('.find').click()"
    shown.wait_for_function(f"() => / graphs tried …$/.test({said}) && ({stop}, true)")
    told = shown.locator(".panel > .said").inner_text()
    assert re.match(r"Stopped: [\d,]+ graphs? tried, and compiled bfs does as the algorithm", told)
    shown.click(".find")
    shown.wait_for_function(f"() => /^2,000 graphs tried, and .* on all of them/.test({said})")
    assert not troubles


def test_interventions_by_hand(studio, bfs):
    shown, troubles = studio(bfs)
    draw(shown, "5 nodes, source 0: 0-1, 1-2, 0-2, 2-3")
    shown.locator(".hands summary").click()
    plain = [row[3] for row in table(shown)]
    shown.click("[aria-label='head 1 of compiled bfs']")
    settled(shown)
    assert [row[3] for row in table(shown)] != plain, "without its head it reaches nobody"
    assert [row[2] for row in table(shown)] == plain, "the algorithm has no heads"
    assert "of these are as the algorithm has them" in shown.inner_text(".effect")
    head = shown.locator("[aria-label='head 1 of compiled bfs']")
    assert head.get_attribute("aria-pressed") == "false"
    shown.click("text=Remove")
    settled(shown)
    assert head.get_attribute("aria-pressed") == "true", "whichever way it came back"
    assert [row[3] for row in table(shown)] == plain
    shown.select_option("[aria-label='node whose reading is pinned']", "1")
    shown.select_option("[aria-label='node that it reads']", "3")
    shown.click(".hands button:text-is('Pin')")
    settled(shown)
    assert [row[2:4] for row in table(shown)][1] == ["·", "·"], "the algorithm would miss it, too"
    pinned = shown.locator("svg.matrix").first.locator("[data-receiver='1'][data-sender='3']")
    assert pinned.get_attribute("data-weight") == "1.0000"
    assert "goes on as the algorithm would" in shown.inner_text(".effect")
    shown.click("text=Remove")
    shown.click("text=Keep this graph as another run")
    draw(shown, "5 nodes, source 0: 0-1, 1-4, 2-3")
    unchanged = [row[2] for row in table(shown)]
    shown.select_option("[aria-label='the other run']", label="kept graph 1")
    shown.select_option("[aria-label='node whose state is exchanged']", "2")
    shown.click(".hands button:text-is('Exchange')")
    settled(shown)
    shown.locator(".explorer").focus()
    shown.keyboard.press("End")
    algorithm = [row[2] for row in table(shown)]
    assert unchanged[2] == "·"
    assert algorithm[2] == "●", "the other run had reached it"
    assert algorithm == [row[3] for row in table(shown)]
    assert "algorithm, changed" in shown.locator(".variables th").all_inner_texts()
    assert not troubles


def test_a_network_for_one_size_says_so(studio):
    config = NetworkConfig(width=16, attention_bias=6)
    shown, troubles = studio(explored("bfs", {"mine": network_for("bfs", config)}))
    assert "nodes: got 9, needed 6" in shown.locator(".side p").first.inner_text()
    shown.click(".find")
    settled(shown)
    assert "differs on this graph of 6 nodes" in shown.locator(".panel > .said").inner_text()
    draw(shown, "6 nodes, source 0: 0-1, 1-2")
    assert shown.locator(".differs").inner_text()
    assert not troubles


def test_states_of_two_runs_with_one_name_are_two(studio, bfs):
    """Recorded problems may be called alike."""
    data = json.loads(json.dumps(bfs))
    for sample in data["samples"]:
        sample["title"] = "alike"
    shown, troubles = studio(data)
    draw(shown, "6 nodes, source 0: 0-1, 1-2, 2-3, 3-4, 4-5")
    shown.locator(".hands summary").click()
    shown.select_option("[aria-label='node whose state is exchanged']", "5")
    states = []
    for donor in ("0", "1"):
        shown.select_option("[aria-label='the other run']", donor)
        shown.click(".hands button:text-is('Exchange')")
        settled(shown)
        shown.select_option("[aria-label='node to look at']", label="node 5")
        shown.locator(".explorer").focus()
        shown.keyboard.press("Home")
        shown.keyboard.press("ArrowRight")
        states.append(shown.locator(".numbers").nth(1).text_content())
        shown.select_option("[aria-label='node to look at']", label="all nodes")
        shown.click("text=Remove")
        settled(shown)
    assert states[0] != states[1]
    shown.click("text=Keep this graph as another run")
    draw(shown, "6 nodes, source 0: 0-1, 1-2, 2-3, 3-4")
    chosen = "[aria-label='the other run']"
    shown.select_option(chosen, label="kept graph 1")
    shown.click("text=Keep this graph as another run")
    draw(shown, "6 nodes, source 0: 0-1, 1-2")
    told = shown.locator(chosen).evaluate("select => select.selectedOptions[0].textContent")
    assert told == "kept graph 1", "another run in the list is not another choice"
    assert not troubles


def test_without_room_or_weights_it_is_shown_as_recorded():
    batch = tasks.sample("bfs", 5, 2, seed=0)
    network = network_for("bfs")
    shown = Shown(["a", "b"], batch, {"mine": networks.run(network, batch)})
    subjects = {"mine": network, "function": lambda batch: {}, "gone": live.Missing("it went away")}
    content = live.data(shown, subjects, {}, None, room=100)
    told = live.account(content)
    for reason in ("has no room left", "a function of Python's", "gone is shown as recorded only"):
        assert reason in told
    assert "1 network and the algorithm" in live.account(live.data(shown, subjects, {}, None))


def test_weights_are_rounded_only_where_no_decision_changes():
    """On fresh problems of every family: of the networks of the gallery BFS's, which has learnt its
    task, and not Dijkstra's, which has not."""
    networks_of = {
        task: networks.load(ROOT / "docs" / "gallery" / "networks" / f"{task}.safetensors")[0]
        for task in ("bfs", "dijkstra")
    }
    mine = networks_of["bfs"]
    arrays = {name: np.asarray(array) for name, array in networks.arrays(mine).items()}
    beyond = arrays["encoders.pos.weight"] + 1e6
    large = networks.with_arrays(mine, arrays | {"encoders.pos.weight": beyond})
    subjects = {"mine": mine, "large": large, "function": lambda batch: {}}
    names = rounding.that_may_be_rounded(subjects, "bfs", 0)
    assert names == ("mine",)
    assert not rounding.that_may_be_rounded({"d": networks_of["dijkstra"]}, "dijkstra", 0)
    batch = tasks.sample("bfs", 8, 2, seed=0)
    shown = Shown(["a"] * 2, batch, {"mine": networks.run(mine, batch)})
    content = live.data(shown, {"mine": mine, "large": large}, {}, None, names)
    precisions = {n: c["network"]["precision"] for n, c in content["networks"].items()}
    assert precisions == {"mine": "float16", "large": "float32"}
    assert "1 in float16" in live.account(content)


def _size_of_the_demo(shown, page_path, found) -> float:
    """Bytes of its page with as many networks as it has unless told otherwise: each brings its
    weights, if need be in float32, its recording, and less than a tenth of all that is drawn."""
    text = shown.locator("script[type='application/json']").first.text_content()
    recorded = max(len(json.dumps(subject)) for subject in json.loads(text)["subjects"])
    network = network_for("bfs", NetworkConfig(width=64))
    weights = live.characters(live.describe(network, "float32"))
    page = page_path.stat().st_size
    more = Demo.seeds - len(found.judgements)
    return page + more * (weights + recorded + (page - len(text)) / 10)


def test_the_report_has_a_studio(visit, page_path, found):
    """A report of a run: the size is stated, and everybody runs."""
    shown, troubles = visit(page_path.as_uri())
    shown.context.set_offline(True)
    assert re.search(
        r"3 networks and the algorithm run in this page, with \d\.\d MB",
        shown.inner_text("#explore"),
    )
    assert _size_of_the_demo(shown, page_path, found) < 4_000_000
    shown.click(".modes .own")
    settled(shown)
    for name in found.judgements:
        shown.locator(".side select").nth(1).select_option(label=f"{name} – {found.words[name]}")
        settled(shown)
        assert shown.locator(".differs").nth(1).inner_text()
    shown.click("text=Recorded problems")
    assert shown.locator(".step").inner_text().startswith("step 1")
    assert not troubles


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_studio_keeps_nobody_out(studio, bfs, axe, theme):
    shown, _ = studio(bfs, theme=theme)
    shown.select_option("[aria-label='selected node or edge']", label="node 0")
    assert obstacles(shown, axe) == []
    assert askew(shown) == {}


@pytest.mark.parametrize("font", list(FONTS)[:2])
def test_the_studio_never_scrolls_sideways(studio, bfs, font):
    shown, _ = studio(bfs, width=NARROWEST)
    shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert too_wide(shown, font) == []


def test_nothing_covers_what_is_read_on_a_low_screen(studio, bfs):
    """Such as that of a page at 400 % zoom; on others bar and controls stay in sight."""
    shown, _ = studio(bfs)
    for height, seen in ((900, True), (NARROWEST, False)):
        shown.set_viewport_size({"width": NARROWEST, "height": height})
        shown.locator(".side").nth(1).evaluate("side => side.scrollIntoView()")
        for bar in ("nav.bar", ".controls"):
            place = shown.locator(bar).bounding_box()
            assert (place["y"] + place["height"] > 0) is seen


def test_the_studio_on_paper(studio, bfs):
    shown, _ = studio(bfs)
    assert cut_on_paper(shown) == []


def test_a_table_of_many_variables_is_parted_on_paper(studio):
    """Nothing of it is cut, and it is one table again afterwards."""
    shown, troubles = studio(explored("dfs", {n: network_for("dfs") for n in ("mine", "other")}))
    cells = shown.locator(".variables tbody td").all_inner_texts()
    nodes = len(table(shown)) - 1
    assert cut_on_paper(shown) == []
    parts = shown.locator(".variables")
    assert parts.count() == 5, "nine variables of nodes, two beside each other"
    said = parts.locator("tbody td").all_inner_texts()
    assert len(said) == len(cells) + 4 * nodes, "each part names the nodes"
    assert set(said) == set(cells)
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.locator(".variables tbody td").all_inner_texts() == cells
    assert not troubles


def test_time_from_a_drawn_edge_to_the_picture(studio, capsys):
    """Printed, and not asserted: 16 nodes, a trained network's usual width."""
    subjects = {
        "compiled bfs": compiled_for("bfs"),
        "width 64": network_for("bfs", NetworkConfig(width=64)),
        "width 128": network_for("bfs", NetworkConfig(width=128)),
    }
    shown, troubles = studio(explored("bfs", subjects, "compiled bfs"))
    times = {}
    for name in list(subjects)[1:]:
        shown.locator(".side select").nth(1).select_option(label=f"{name} – undecided")
        draw(shown, "16 nodes, source 0: " + ", ".join(f"{k}-{k + 1}" for k in range(15)))
        shown.evaluate("performance.clearMeasures()")
        for a, b in ((0, 5), (2, 9), (1, 12), (3, 14), (0, 8)):
            shown.locator(f".canvas [data-node='{a}']").press("Enter")
            shown.locator(f".canvas [data-node='{b}']").press("Enter")
            shown.wait_for_timeout(100)
            settled(shown)
        # Every drawn edge is measured once it is painted.
        shown.wait_for_function(f"() => performance.getEntriesByName('{DONE}').length === 5")
        times[name] = shown.evaluate(
            f"performance.getEntriesByName('{DONE}').map(entry => entry.duration)"
        )
    with capsys.disabled():
        for name, measured in times.items():
            print(
                f"\n{name}: {np.median(measured):.0f} ms from a drawn edge to the picture "
                f"(16 nodes, median of {len(measured)}, longest {max(measured):.0f})"
            )
    assert not troubles
