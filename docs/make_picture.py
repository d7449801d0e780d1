"""Draws docs/picture.svg: a BFS problem step by step, and what a network attends to meanwhile.

python docs/make_picture.py
"""

import math
import pathlib

import jax
import numpy as np

from algoscope import networks, tasks

PANEL, GAP, RADIUS, CELL = 210, 24, 13, 15
INK, FAINT, REACHED, EDGE = "#334155", "#cbd5e1", "#0f766e", "#d97706"


def circle(n: int, left: float, top: float) -> np.ndarray:
    """Places of n nodes on a circle: [n, 2]."""
    angles = 2 * math.pi * np.arange(n) / n - math.pi / 2
    centre = np.array([left + PANEL / 2, top + PANEL / 2])
    return centre + (PANEL / 2 - 22) * np.stack([np.cos(angles), np.sin(angles)], -1)


def line(a: np.ndarray, b: np.ndarray, color: str, width: float) -> str:
    return (
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" '
        f'stroke="{color}" stroke-width="{width}"/>'
    )


def graph(A: np.ndarray, reach: np.ndarray, pi: np.ndarray, left: float, top: float) -> list[str]:
    places = circle(len(A), left, top)
    parts = [
        line(places[i], places[j], FAINT, 1.2) for i in range(len(A)) for j in range(i) if A[i, j]
    ]
    parts += [line(places[i], places[p], EDGE, 3.5) for i, p in enumerate(pi) if p != i]
    for i, (x, y) in enumerate(places):
        fill, text = (REACHED, "white") if reach[i] else ("white", INK)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" fill="{fill}" stroke="{INK}"/>'
            f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" fill="{text}">{i}</text>'
        )
    return parts


def matrix(attention: np.ndarray, left: float, top: float) -> list[str]:
    left += (PANEL - CELL * len(attention)) / 2
    return [
        f'<rect x="{left + CELL * j:.1f}" y="{top + CELL * i:.1f}" width="{CELL - 1}" '
        f'height="{CELL - 1}" fill="{REACHED}" fill-opacity="{0.04 + 0.96 * a:.2f}"/>'
        for i, row in enumerate(attention)
        for j, a in enumerate(row)
    ]


def main() -> None:
    batch = tasks.sample("bfs", size=9, count=1, seed=21, p=0.5)
    network = networks.build(batch.task, networks.NetworkConfig(), key=jax.random.key(0))
    attention = np.asarray(networks.run(network, batch).attention)[0, :, 0]
    steps = int(batch.lengths[0])
    height = PANEL + CELL * 9 + 90
    parts = []
    for step in range(steps):
        left = GAP + step * (PANEL + GAP)
        parts.append(f'<text x="{left + PANEL / 2}" y="22" text-anchor="middle">step {step}</text>')
        parts += graph(
            batch.inputs["A"][0],
            batch.hints["reach_h"][0, step],
            batch.hints["pi_h"][0, step],
            left,
            30,
        )
        if step < len(attention):
            parts += matrix(attention[step], left, PANEL + 60)
    parts.append(
        f'<text x="{GAP}" y="{PANEL + 50}">above, the algorithm; below, what an untrained GATv2 '
        "attends to (receiver by sender)</text>"
    )
    width = GAP + steps * (PANEL + GAP)
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}">'
        f'<rect width="{width}" height="{height}" fill="white"/>' + "".join(parts) + "</svg>\n"
    )
    pathlib.Path(__file__).with_name("picture.svg").write_text(picture)


if __name__ == "__main__":
    main()
