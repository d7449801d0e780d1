"""Where a run is made: versions, device, commit, and the programs compiled there before.

JAX is imported where it is asked, so that lists and queries of runs do not wait for it.
"""

import contextlib
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess

from algoscope import __version__

_VECTORS = {"AVX512": "avx512f", "AVX2": "avx2", "AVX": "avx", "SSE4_2": "sse4_2"}
"""XLA's names, the widest first, with Linux's."""
_PACKAGES = ("jax", "jaxlib", "equinox", "numpy", "numba", "safetensors")


def environment() -> dict:
    """Of a run that JAX computes."""
    import jax

    devices = jax.local_devices()
    return environment_on(devices[0].platform, devices[0].device_kind, len(devices))


def environment_on(
    platform_name: str, device: str, devices: int = 1, packages: tuple[str, ...] = _PACKAGES
) -> dict:
    return {
        "algoscope": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in packages},
        "platform": platform_name,
        "device": device,
        "devices": devices,
        "vectors": vector_instructions(),
    }


def vector_instructions() -> str:
    """The widest vector instructions that XLA may use on this CPU, in its own words. Sums are taken
    in their width, so the last bits of float32 depend on them, and on nothing else of the CPU that
    we know of (docs/explanation/reproducibility.md). Other machines are told by their name."""
    limit = re.search(r"--xla_cpu_max_isa=(\w+)", os.environ.get("XLA_FLAGS", ""))
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        flags = set()
    names = list(_VECTORS)
    widest = next((name for name in names if _VECTORS[name] in flags), platform.machine())
    if widest in names and limit and limit[1].upper() in names:
        return max(widest, limit[1].upper(), key=names.index)
    return widest


def device_name() -> str:
    """What JAX computes on, such as `cpu (2 cores)` or `2 × NVIDIA H200`."""
    import jax

    devices = jax.local_devices()
    if devices[0].platform == "cpu":
        return f"cpu ({os.cpu_count()} cores)"
    many = f"{len(devices)} × " if len(devices) > 1 else ""
    return f"{many}{devices[0].device_kind}"


def use_devices(count: int | None) -> None:
    """Has JAX make so many devices of the CPU, for where there is no other kind. Where it has
    started already, or is told by XLA_FLAGS, it keeps those it has."""
    import jax

    if count is not None:
        with contextlib.suppress(RuntimeError):
            jax.config.update("jax_num_cpu_devices", count)


def keep_compiled_programs() -> None:
    """Has JAX keep compiled programs across processes: a run that goes on starts at once."""
    import jax

    if jax.config.jax_compilation_cache_dir is None:  # pyright: ignore
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        jax.config.update("jax_compilation_cache_dir", str(cache / "algoscope" / "compiled"))


def _version(package: str) -> str | None:
    """None where it is not installed: without numba, problems are drawn in plain Python."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source, marked if files differ from it; None outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        described = subprocess.check_output(
            command, cwd=pathlib.Path(__file__).parent, stderr=subprocess.DEVNULL, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.strip()
