"""An S3 server on this machine, in a process of its own, with an empty bucket."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import s3fs

BUCKET = "bucket"
_PATIENCE = 60
_PROGRAM = "from moto.server import main; main()"


@contextlib.contextmanager
def s3() -> Iterator[dict[str, str]]:
    """The settings of processes that use it, as long as it runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    settings = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    words = [sys.executable, "-c", _PROGRAM, "-H", "127.0.0.1", "-p", str(port)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(words, env=os.environ | settings, stdout=quiet, stderr=quiet)
    try:
        until = time.monotonic() + _PATIENCE
        while not _answers(address):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        urllib.request.urlopen(urllib.request.Request(f"{address}/{BUCKET}", method="PUT")).close()
        yield settings
    finally:
        process.terminate()
        process.wait()


def client(settings: dict[str, str]) -> s3fs.S3FileSystem:
    """One that remembers nothing of what it has seen."""
    return s3fs.S3FileSystem(
        key=settings["AWS_ACCESS_KEY_ID"],
        secret=settings["AWS_SECRET_ACCESS_KEY"],
        endpoint_url=settings["AWS_ENDPOINT_URL"],
        use_listings_cache=False,
    )


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address).close()
    except OSError:
        return False
    return True
