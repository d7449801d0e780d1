"""A server for as long as a test lasts."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import uvicorn

from algoscope.report import server


@contextlib.contextmanager
def serving(app) -> Iterator[int]:
    """The port on which the application answers."""
    with socket.socket() as listening:
        listening.bind((server.HOST, 0))
        listening.listen(128)
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        made = uvicorn.Server(config)
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            made.should_exit = True
            thread.join()
