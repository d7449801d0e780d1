"""Makes the pictures in docs/pictures from what Algoscope computes.

    make demo && python docs/make_pictures.py runs/demo

The trace and the attention are of the railway of docs/tutorial.md, the speed is that of
results/training/h200.jsonl, the page is the report of the run. Needs Chromium and networkx.
"""

import io
import json
import pathlib
import shutil
import sys

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from algoscope import networks, programs, runs, tasks
from algoscope.programs.compiler import compile_program

DOCS = pathlib.Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
STATIONS = {
    "Basel": (1.3, 4.0),
    "Bern": (1.0, 1.5),
    "Chur": (4.4, 1.9),
    "Genève": (0.2, 0.2),
    "Lugano": (3.7, 0.2),
    "Luzern": (2.5, 1.7),
    "Olten": (1.7, 2.7),
    "Zürich": (3.4, 3.5),
}
"""Where to draw each station."""
LINES = [
    ("Basel", "Olten"),
    ("Basel", "Zürich"),
    ("Olten", "Bern"),
    ("Olten", "Luzern"),
    ("Olten", "Zürich"),
    ("Bern", "Genève"),
    ("Zürich", "Luzern"),
    ("Zürich", "Chur"),
    ("Luzern", "Lugano"),
]
BLUE, ORANGE, GREY, PALE = "#2a6fbb", "#d9772b", "#8a8f98", "#dfe3e8"
SHORTCUT_SEED = 1
"""The seed of the run whose attention is shown beside the compiled network's."""


def railway() -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(STATIONS)
    graph.add_edges_from(LINES)
    return graph


def draw_trace(path: pathlib.Path) -> None:
    """The railway after each step of BFS: who is reached, and from where."""
    trace = tasks.run("bfs", railway(), source="Basel")
    reached, parents = trace.named("reach_h"), trace.named("pi_h")
    figure, axes = plt.subplots(1, len(reached), figsize=(11, 2.9), layout="constrained")
    for step, panel in enumerate(axes):
        tree = [(parents[step][node], node) for node in reached[step] if node != "Basel"]
        new = reached[step] - (reached[step - 1] if step else set())
        panel.set_title("start" if step == 0 else f"step {step}")
        _draw_railway(panel, tree, reached[step], new)
    _save(figure, path)


def _draw_railway(panel: Axes, tree: list, reached: set, new: set) -> None:
    for line in LINES:
        panel.plot(*zip(*(STATIONS[end] for end in line), strict=True), color=PALE, lw=2, zorder=1)
    for parent, node in tree:
        panel.annotate(
            "",
            xy=STATIONS[node],
            xytext=STATIONS[parent],
            arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 2, "shrinkA": 7, "shrinkB": 7},
            zorder=2,
        )
    for name, (x, y) in STATIONS.items():
        colour = ORANGE if name in new else BLUE if name in reached else "white"
        panel.scatter(x, y, s=110, color=colour, edgecolors=GREY, zorder=3)
        left = name in ("Basel", "Olten", "Bern", "Genève")
        panel.text(
            x + (-0.3 if left else 0.3),
            y,
            name,
            ha="right" if left else "left",
            va="center",
            fontsize=9,
        )
    panel.set(xlim=(-1.6, 6.0), ylim=(-0.3, 4.4))
    panel.axis("off")


def draw_attention(run: runs.Run, path: pathlib.Path) -> None:
    """Who reads whom on the railway, step by step: a compiled network and a trained one. Frames
    are round what BFS has to read in a step: the parent of each station that it reaches."""
    batch = tasks.run("bfs", railway(), source="Basel")
    reached, parents = batch.hints["reach_h"][0], batch.hints["pi_h"][0]
    subjects = {
        "compiled\n(bfs_locked)": compile_program(programs.get("bfs_locked")).network,
        f"trained\n(seed {SHORTCUT_SEED})": run.ensemble([SHORTCUT_SEED])[0],
    }
    steps = int(batch.lengths[0]) - 1
    figure, axes = plt.subplots(2, steps, figsize=(8.6, 6.1), layout="constrained", sharey=True)
    for row, (name, network) in zip(axes, subjects.items(), strict=True):
        recording = networks.run(network, batch)
        attention = np.asarray(recording.attention)[0].mean(1)
        right = networks.score(recording, batch)["score"]
        for step, panel in enumerate(row):
            panel.imshow(attention[step], cmap="Blues", vmin=0, vmax=1)
            panel.set_xticks(range(len(STATIONS)), list(STATIONS), rotation=90, fontsize=8)
            panel.set_yticks(range(len(STATIONS)), list(STATIONS), fontsize=8)
            panel.set_xticks(np.arange(-0.5, len(STATIONS)), minor=True)
            panel.set_yticks(np.arange(-0.5, len(STATIONS)), minor=True)
            panel.grid(which="minor", color="white", lw=1)
            panel.tick_params(which="both", length=0)
            panel.set_title(f"step {step + 1}", fontsize=10)
            for station in np.flatnonzero(reached[step + 1] > reached[step]):
                corner = parents[step + 1, station] - 0.5, station - 0.5
                panel.add_patch(
                    Rectangle(corner, 1, 1, fill=False, edgecolor=ORANGE, lw=2.5, zorder=5)
                )
        row[0].set_ylabel(f"{name}\nanswer {right:.0%} right", fontsize=10)
    figure.supxlabel("each row: one station's attention to the others", fontsize=9)
    _save(figure, path)


def draw_speed(path: pathlib.Path) -> None:
    """Training steps of all seeds together, by how many seeds share one H200."""
    lines = (DOCS.parent / "results" / "training" / "h200.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    growth = [record for record in records if "--seeds 1 8 32 128 512" in record["command"]]
    seeds = [str(record["seeds"]) for record in growth]
    ours = [record["seed-steps per second"] for record in growth]
    theirs = [1000 / record["dm-clrs, ms per step"] for record in growth]
    figure, panel = plt.subplots(figsize=(7.2, 3.1), layout="constrained")
    panel.bar(seeds, ours, color=BLUE, width=0.62)
    panel.plot(seeds, theirs, color=ORANGE, lw=2, marker="o")
    for place, value in enumerate(ours):
        panel.text(place, value + 250, f"{round(value, -1):,.0f}", ha="center", fontsize=9)
    panel.set(xlabel="seeds trained at once", ylabel="training steps per second, all seeds")
    panel.set_ylim(0, 19_000)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(
        handles=[
            Patch(color=BLUE, label="Algoscope"),
            plt.Line2D([], [], color=ORANGE, marker="o", label="dm-clrs, one seed at a time"),
        ],
        frameon=False,
        loc="upper left",
    )
    _save(figure, path)


def _save(figure: plt.Figure, path: pathlib.Path) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=170, facecolor="white")
    plt.close(figure)
    _write_small(Image.open(buffer).convert("RGB"), path)


def _write_small(picture: Image.Image, path: pathlib.Path, colours: int = 128) -> None:
    method = Image.Quantize.MEDIANCUT
    picture.quantize(colours, method=method, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def photograph(report: pathlib.Path, path: pathlib.Path, width: int = 1010) -> None:
    """The page's verdict in light and its explorer in dark, side by side."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        parts = []
        for theme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": width, "height": 1180},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            page.goto(report.resolve().as_uri())
            if theme == "dark":
                _show_explorer(page)
            page.wait_for_timeout(300)
            parts.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
        browser.close()
    both = Image.new("RGB", (2 * width, parts[0].height))
    for number, part in enumerate(parts):
        both.paste(part, (number * width, 0))
    _write_small(both, path, colours=224)


def _show_explorer(page: Page) -> None:
    page.locator("select.problem").select_option("3")
    page.locator(".explorer").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.getElementById('explore').scrollIntoView()")


def main(folder: pathlib.Path) -> None:
    run = runs.open(folder)
    draw_trace(PICTURES / "trace.png")
    draw_attention(run, PICTURES / "attention.png")
    draw_speed(PICTURES / "training-speed.png")
    photograph(folder / "report.html", PICTURES / "report.png")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
