"""Capacity: what something needs is estimated before memory is taken for it."""

import os
import pathlib
import resource

_MEMINFO, _STATUS = pathlib.Path("/proc/meminfo"), pathlib.Path("/proc/self/status")
_GROUP = pathlib.Path("/sys/fs/cgroup")
_MOST = 10**30
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


class CapacityError(ValueError):
    """What needs more memory than there is, how much, and what to do."""


def check(what: str, octets: float, advice: str, free: float | None = None) -> None:
    """Refuses what needs more bytes than are free: in the main memory, if not said otherwise."""
    free = available() if free is None else free
    if octets > free:
        raise CapacityError(
            f"{what}: needs about {readable(octets)} of memory, and {readable(free)} are free; "
            f"{advice}"
        )


def check_limits(octets: int) -> None:
    """Refuses to begin where the process may take less than this: compilers and BLAS end a process
    that gets no memory, or wait for ever, instead of saying so."""
    for kind, name in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY and limit < octets:
            raise CapacityError(
                f"ulimit {name}: got {readable(limit)} for this process, needed at least "
                f"{readable(octets)}; set ulimit {name} {octets // 1000}, or unlimited"
            )


def available() -> int:
    """Bytes that this process can still take."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    free = [_lines(_MEMINFO).get("MemAvailable", whole)]
    limit, used = (_number(_GROUP / name) for name in ("memory.max", "memory.current"))
    if limit is not None:
        free.append(limit - (used or 0))
    for kind, name in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY:
            free.append(limit - _lines(_STATUS).get(name, 0))
    return max(0, min(free))


def _lines(path: pathlib.Path) -> dict[str, int]:
    """Bytes by name, of a file of the system whose lines are `name: number kB`."""
    if not path.exists():
        return {}
    words = (line.split() for line in path.read_text().splitlines())
    return {each[0].rstrip(":"): int(each[1]) * 1024 for each in words if each[-1:] == ["kB"]}


def readable(octets: float) -> str:
    """As 3.2 GB."""
    octets = min(octets, _MOST)
    for unit in _UNITS[:-1]:
        if octets < 1000:
            return f"{octets:.3g} {unit}"
        octets /= 1000
    return f"{octets:,.0f} {_UNITS[-1]}"


def _number(path: pathlib.Path) -> int | None:
    """What a file of the system says, None if it says that there is no limit."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
