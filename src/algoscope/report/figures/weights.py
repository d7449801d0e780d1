"""The weights of the compiled program as pictures, with what rows and columns stand for."""

from algoscope import programs
from algoscope.programs import drawing
from algoscope.programs.panels import panels
from algoscope.report.figures.style import Drawn, styled


def draw(program: str) -> list[Drawn]:
    pictures = panels(programs.get(program))
    drawn = []
    for name, of_picture in pictures.items():
        with styled():
            figure = drawing.figure("", of_picture)
        drawn.append(
            Drawn(
                f"weights-{name.replace('.', '-')}",
                figure,
                f"<strong>{name.replace('.', ' ')}</strong>: from rows to columns, blue positive, "
                "red negative, each matrix on its own scale; a row named 1 is the bias.",
                f"Heat maps of the {len(of_picture)} weight matrices of the {name}.",
                ["matrix", "row", "column", "value"],
                [
                    [panel.title, row or i, column or j, f"{panel.values[i, j]:.9g}"]
                    for panel in of_picture
                    for i, row in enumerate(panel.rows)
                    for j, column in enumerate(panel.columns)
                ],
            )
        )
    return drawn
