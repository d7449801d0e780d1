"""A Ray cluster on this machine: one node with several worker processes and, by its own account, a
GPU, on 127.0.0.1 alone and without a dashboard."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

_MEMORY = 80_000_000
"""Bytes of the object store: nothing but short texts goes through it."""
_PATIENCE = 120
_PROGRAM = [sys.executable, "-c", "from ray.scripts.scripts import main; main()"]


@contextlib.contextmanager
def ray(surroundings: dict[str, str], workers: int = 2) -> Iterator[str]:
    """Its address, as long as it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Of a short name: sockets are below.
    place = pathlib.Path(tempfile.mkdtemp(prefix="ray"))
    command = [
        *_PROGRAM, "start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}",
        f"--num-cpus={workers}", "--num-gpus=1", f"--object-store-memory={_MEMORY}",
        "--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={place}",
        "--include-log-monitor=false",
    ]  # fmt: skip
    with (place / "out").open("w") as log:
        process = subprocess.Popen(
            command, env=surroundings, stdout=log, stderr=log, start_new_session=True
        )
    try:
        until = time.monotonic() + _PATIENCE
        while "Ray runtime started" not in (place / "out").read_text():
            assert process.poll() is None, (place / "out").read_text()
            assert time.monotonic() < until, (place / "out").read_text()
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(place, ignore_errors=True)
