"""What everybody reads, step by step: compiled and trained attention side by side over time."""

from collections.abc import Mapping

import numpy as np

from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.findings import Shown

_MOST_STEPS, _MOST_NETWORKS = 6, 3


def draw(
    shown: Shown,
    scores: Mapping[str, float],
    notes: Mapping[str, str],
    width: float = style.FULL,
    most_steps: int = _MOST_STEPS,
) -> Drawn:
    """On the first problem; of many networks the best, the worst and one in the middle by score.
    A network's note stands below its name; whoever has no score is a compiled program."""
    recordings = shown.recordings
    compiled = [name for name in recordings if name not in scores]
    ranked = sorted((name for name in recordings if name in scores), key=lambda name: -scores[name])
    picked = np.unique(np.linspace(0, len(ranked) - 1, _MOST_NETWORKS).round().astype(int))
    rows = [*compiled, *(ranked[index] for index in picked)]
    valid, nodes = recordings[rows[0]].valid[0], shown.batch.nodes
    steps = min(int(valid.sum()), most_steps)
    maps = {name: np.asarray(recordings[name].attention)[0, :steps].mean(1) for name in rows}
    choices = maps[compiled[0]].argmax(-1) if compiled else None
    with style.styled():
        beside = 1.1 if width > style.NARROW else 0.75
        size = min((width - beside) / steps, 1.9)
        figure = style.sheet(beside + size * steps, size * len(rows) + 0.4, pad=0.03)
        panels = figure.subplots(len(rows), steps, squeeze=False)
        for line, name in zip(panels, rows, strict=True):
            is_compiled = name in compiled
            for step, axes in enumerate(line):
                colour = style.REFERENCE if is_compiled else style.TRAINED
                axes.imshow(style.shaded(maps[name][step], colour), interpolation="none")
                style.bare(axes)
                if choices is not None and not is_compiled:
                    axes.scatter(
                        choices[step], range(nodes), s=(50 * size / nodes) ** 2, marker="s",
                        facecolor="none", edgecolor=style.REFERENCE, linewidth=0.7,
                    )  # fmt: skip
            run, seed = style.run_of(name), name.rpartition(", ")[2]
            if not run:
                seed = seed.replace("compiled ", "compiled\n")
            text = f"{style.label(run, 14)},\n{seed}" if run else seed
            note = "" if is_compiled else f"\n{notes[name]}"
            line[0].set_ylabel(text + note, color=style.INK, rotation=0, ha="right", va="center",
                               labelpad=6, fontsize=9 if width > style.NARROW else 7.5)  # fmt: skip
        for step, axes in enumerate(panels[0]):
            axes.set_title(f"step {step + 1}", loc="center", color=style.MUTED, fontsize=9)
    marks = (
        " Small blue squares mark what the compiled program reads: a network that runs it has its "
        "colour inside them."
        if choices is not None
        else ""
    )
    return Drawn(
        "attention",
        figure,
        f"Each map is one step on {shown.titles[0]}: rows are the nodes that read, columns the "
        f"nodes that are read; the stronger the colour, the more attention (mean of heads).{marks}",
        f"A grid of attention maps: {len(rows)} subjects by {steps} steps.",
        ["subject", "step", "receiver", "sender", "attention"],
        [
            [name, step + 1, receiver, sender, f"{value:.6g}"]
            for name, steps_read in maps.items()
            for (step, receiver, sender), value in np.ndenumerate(steps_read)
        ],
    )
