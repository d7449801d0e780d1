"""The report of one or several runs: the question and the verdict first, then the evidence."""

import pathlib
from collections.abc import Callable, Sequence

from algoscope.files import explained, place, write_bytes
from algoscope.markup import escape
from algoscope.report import explorer, html, verdicts
from algoscope.report.chapter import Chapter, Source
from algoscope.report.examine import findings
from algoscope.report.figures import style
from algoscope.report.figures.style import Drawn
from algoscope.report.html import Section
from algoscope.report.sections import Board, explorer_data_id, sections
from algoscope.runs import Run, RunError


def report(
    runs: Sequence[Run],
    out: pathlib.Path | None = None,
    *,
    problem_seed: int = 0,
    remeasure: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> pathlib.Path:
    """Examines the runs as far as that is not done, and writes their page, with the figures in a
    folder beside it. Returns the path of the page: report.html in the folder of a single run."""
    if not runs:
        raise RunError("report: got no run, needed at least one")
    path = out or _usual_place(runs)
    names = list(dict.fromkeys(task for run in runs for task in run.tasks))
    chapters = []
    for task in names:
        sources = [
            Source(
                run,
                findings(run, task, problem_seed=problem_seed, remeasure=remeasure, report=report),
            )
            for run in runs
            if task in run.tasks
        ]
        chapters.append(Chapter(task, sources, f"{task}-" if len(names) > 1 else ""))
    folder = path.parent / ("figures" if out is None and len(runs) == 1 else f"{path.stem}-figures")
    report(f"drawing into {folder}")
    text = render(chapters, folder)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode())
    return path


def _usual_place(runs: Sequence[Run]) -> pathlib.Path:
    if len(runs) == 1:
        return runs[0].path / "report.html"
    return runs[0].path.parent / f"report-{'-'.join(run.name for run in runs)}.html"


def render(chapters: Sequence[Chapter], folder: pathlib.Path) -> str:
    """The page; its figures go into the folder, which replaces what was there."""
    boards = [Board(chapter) for chapter in chapters]
    body = [section for board in boards for section in sections(board.chapter, board)]
    drawn = [figure for board in boards for figure in board.drawn]
    body.append(Section("files", "", _files(folder, drawn)))

    def fill(into: pathlib.Path) -> None:
        into.mkdir()
        for figure in drawn:
            style.save(figure, into)

    with explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    place(folder, fill)
    data = {explorer_data_id(c): explorer.data(c.shown, c.words) for c in chapters}
    title = "; ".join(verdicts.headline(c.task, c.judgements) for c in chapters)
    return html.page(title, body, scripts=("page.js", "explorer.js"), data=data)


def _files(folder: pathlib.Path, drawn: Sequence[Drawn]) -> str:
    names = ", ".join(figure.name for figure in drawn)
    return (
        "<footer><p>Every figure is in "
        f"<code>{escape(folder.name)}/</code> beside this page, as SVG, PDF and PNG, with its "
        f"numbers as CSV: {escape(names)}.</p></footer>"
    )
