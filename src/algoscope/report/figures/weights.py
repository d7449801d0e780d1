"""The weights of the compiled program as pictures, with what rows and columns stand for."""

from algoscope import programs
from algoscope.markup import escape
from algoscope.programs import weight_pictures
from algoscope.programs.panels import panels
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn


def draw(program: str) -> list[Drawn]:
    drawn = []
    for name, all_panels in panels(programs.get(program)).items():
        used = [panel for panel in all_panels if panel.values.any()]
        unused = [panel.title for panel in all_panels if not panel.values.any()]
        if not used:
            continue
        with style.styled():
            figure = weight_pictures.figure("", used, style.FULL)
        zeros = f" All zero and not shown: {', '.join(unused)}." if unused else ""
        drawn.append(
            Drawn(
                f"weights-{name.replace('.', '-')}",
                figure,
                f"<strong>{name.replace('.', ' ')}</strong>: from rows to columns, blue positive, "
                "red negative, each matrix on its own scale; a row named 1 is the bias."
                + escape(zeros),
                f"Heat maps of the {len(used)} weight matrices of the {name}.",
                ["matrix", "row", "column", "value"],
                [
                    [panel.title, row or i, column or j, f"{panel.values[i, j]:.9g}"]
                    for panel in all_panels
                    for i, row in enumerate(panel.rows)
                    for j, column in enumerate(panel.columns)
                ],
            )
        )
    return drawn
