"""A program that is another one but for a few lines: its file says only what differs.

    # task: task_scheduling
    # role: wrong
    # like: task_scheduling

    - late = above(t + 1, next.input.d)
    + late = above(t, next.input.d)

Lines with `-` stand once in the other program, one after the other; those with `+` stand there
instead. An empty line ends a change. A reader sees what makes the program another one, and whoever
mends the other mends both.
"""

from algoscope.programs.faults import Fault

_OUT, _IN = "-", "+"


def changed(text: str, base: str) -> tuple[str, list[Fault]]:
    """The base with the text's changes and under the text's comments, and what is wrong with
    them."""
    lines, faults = _without_head(base.splitlines()), []
    for number, out, into in _changes(text, faults):
        found = _places(lines, out)
        if len(found) != 1:
            said = " / ".join(out) or "nothing"
            faults.append(
                Fault(number, 1, f"needed lines that stand there once, got {len(found)}: {said}")
            )
            continue
        (start,) = found
        marks = [f"# instead of: {line.strip()}" for line in out if line not in into]
        lines[start : start + len(out)] = [*marks, *into]
    head = [line for line in text.splitlines() if line.startswith("#")]
    return "\n".join([*head, "", *lines]) + "\n", faults


def _without_head(lines: list[str]) -> list[str]:
    """Without the comments and empty lines that a file begins with."""
    start = next((k for k, line in enumerate(lines) if line and line[0] != "#"), len(lines))
    return lines[start:]


def _changes(text: str, faults: list[Fault]) -> list[tuple[int, list[str], list[str]]]:
    """Where a change is stated, the lines that go and those that come."""
    changes: list[tuple[int, list[str], list[str]]] = []
    ended = True
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        mark, rest = line[:1], line[1:].removeprefix(" ")
        if mark not in ("", _OUT, _IN):
            faults.append(Fault(number, 1, f"needed a line that begins with - or +, got {line!r}"))
        elif mark == _OUT and ended:
            changes.append((number, [rest], []))
        elif mark == _OUT:
            changes[-1][1].append(rest)
        elif mark == _IN and changes:
            changes[-1][2].append(rest)
        elif mark == _IN:
            faults.append(Fault(number, 1, "needed a line with - before it"))
        ended = mark != _OUT
    return changes


def _places(lines: list[str], passage: list[str]) -> list[int]:
    """The numbers of the lines at which the passage stands, whatever its indent and comments."""
    said = [_bare(line) for line in lines]
    wanted = [_bare(line) for line in passage]
    return [k for k in range(len(lines)) if wanted and said[k : k + len(wanted)] == wanted]


def _bare(line: str) -> str:
    return line.partition("#")[0].strip()
