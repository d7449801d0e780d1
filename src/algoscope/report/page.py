"""The report of one or several runs, or of a user's own models: the question and the verdict first,
then the evidence."""

import pathlib
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence

from algoscope import falsify, progress, tasks
from algoscope.falsify import Subject
from algoscope.files import make_room, place, write_bytes
from algoscope.markup import escape
from algoscope.networks import Network
from algoscope.programs.compiler import Compiled
from algoscope.report import explorer, html, verdicts
from algoscope.report.chapter import Chapter, Source
from algoscope.report.examine import findings, findings_of, members_of
from algoscope.report.figures import style
from algoscope.report.findings import Findings
from algoscope.report.html import Section
from algoscope.report.live import Missing
from algoscope.report.sections import explorer_data_id, sections
from algoscope.runs import Run, RunError
from algoscope.tasks import Task


def report(
    runs: Sequence[Run],
    out: pathlib.Path | None = None,
    *,
    problem_seed: int = 0,
    problems: int | None = None,
    remeasure: bool = False,
    inline: Collection[int] | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> pathlib.Path:
    """Examines the runs as far as that is not done (see `findings`), and writes their page, with
    the figures in a folder beside it. The networks of the seeds `inline` run in the page; if not
    given, all for which there is room. Returns the path of the page: report.html in the folder of a
    single run."""
    if not runs:
        raise RunError("report: got no run, needed at least one")
    for run in runs:
        run.need_networks()
    origins = _told_apart([run.path for run in runs])
    known = {seed for run in runs for seed in run.seeds_with_weights}
    if unknown := set(inline or ()) - known:
        got, needed = (", ".join(map(str, sorted(seeds))) for seeds in (unknown, known))
        raise RunError(f"inline: got {got}, needed seeds that have weights: {needed}")
    if out is None and len(runs) == 1:
        path, folder = runs[0].path / "report.html", runs[0].path / "figures"
    else:
        path = out or runs[0].path.parent / f"report-{'-'.join(run.name for run in runs)}.html"
        folder = path.with_name(f"{path.stem}-figures")
    make_room(path)
    names = list(dict.fromkeys(task for run in runs for task in run.tasks))

    def examined(run: Run, task: str) -> Findings:
        return findings(
            run,
            task,
            problem_seed=problem_seed,
            problems=problems,
            remeasure=remeasure,
            report=report,
        )

    chapters = [
        Chapter(
            f"{task}-" if len(names) > 1 else "",
            sources=[
                Source(origin, examined(run, task), _runnable(run, task, inline), run)
                for origin, run in zip(origins, runs, strict=True)
                if task in run.tasks
            ],
        )
        for task in names
    ]
    return _write(chapters, path, folder, report)


def _told_apart(paths: Sequence[pathlib.Path]) -> list[str]:
    """Their names, with as many of the folders above them as it takes to tell one from another."""
    whole = [path.resolve().parts for path in paths]
    twice = [path for path, parts in zip(paths, whole, strict=True) if whole.count(parts) > 1]
    if twice:
        raise RunError(f"report: got {twice[0]} twice, needed it once")
    depth = 1
    while len({parts[-depth:] for parts in whole}) < len(whole):
        depth += 1
    return ["/".join(parts[-depth:]) for parts in whole]


def _runnable(
    run: Run, task: str, inline: Collection[int] | None
) -> Mapping[str, Network | Missing]:
    """Networks by name; of seeds that are left out, that they are."""
    members = members_of(run, task)
    if inline is None:
        return members
    seeds = dict(zip(members, run.seeds_with_weights, strict=True))
    left_out = Missing("it is not among those that --inline names")
    return {n: network if seeds[n] in inline else left_out for n, network in members.items()}


def report_own(
    files: Mapping[pathlib.Path, Subject | Compiled],
    task: Task | str,
    out: pathlib.Path | None = None,
    *,
    problem_seed: int = 0,
    problems: int = falsify.PROBLEMS,
    report: Callable[[str], None] = lambda text: None,
) -> tuple[pathlib.Path, Findings]:
    """Judges subjects that are of no run, such as a user's own models, by the file that defines
    each, and writes their page: NAME-TASK.html beside the first file. Returns the path of the page,
    and what is on it."""
    first, task = next(iter(files)), tasks.get(task).name
    path = out or first.with_name(f"{first.stem}-{task}.html")
    make_room(path)
    subjects = dict(zip(_told_apart([*files]), files.values(), strict=True))
    found = findings_of(subjects, task, problem_seed=problem_seed, problems=problems, report=report)
    name = shlex.join(map(str, files))
    folder = path.with_name(f"{path.stem}-figures")
    networks = {n: s.network if isinstance(s, Compiled) else s for n, s in subjects.items()}
    chapter = Chapter(sources=[Source(name, found, networks)])
    return _write([chapter], path, folder, report), found


def _write(
    chapters: Sequence[Chapter],
    path: pathlib.Path,
    folder: pathlib.Path,
    report: Callable[[str], None],
) -> pathlib.Path:
    report(f"drawing into {folder}")
    with progress.job("drawing"):
        write_bytes(path, _render(chapters, folder).encode())
    return path


def _render(chapters: Sequence[Chapter], folder: pathlib.Path) -> str:
    """The page; its figures go into the folder, which replaces what was there."""
    body = [section for chapter in chapters for section in sections(chapter)]
    drawn = [figure for chapter in chapters for figure in chapter.drawn]

    def fill(into: pathlib.Path) -> None:
        into.mkdir()
        for figure in drawn:
            style.save(figure, into)

    place(folder, fill)
    files = (
        f"<footer><p>Every figure is in <code>{escape(folder.name)}/</code> beside this page, as "
        "SVG, PDF and PNG, with its numbers as CSV: "
        f"{escape(', '.join(figure.name for figure in drawn))}.</p></footer>"
    )
    explored = {
        explorer_data_id(chapter): explorer.data(chapter.findings.shown, chapter.findings.words)
        | {"live": chapter.live}
        for chapter in chapters
    }
    all_findings = [chapter.findings for chapter in chapters]
    return html.page(
        "; ".join(verdicts.headline(f.task, f.judgements) for f in all_findings),
        [*body, Section("files", "", files)],
        styles=("page.css", "studio.css"),
        scripts=("page.js", *explorer.SCRIPTS),
        data=explored,
    )
