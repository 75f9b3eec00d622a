"""Fixtures that several suites share."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import certifi
import pytest
from _pytest.assertion import rewrite

import reenact
from reenact.adapters.stdlib import callers
from tests.chromium import headless
from tests.forked import forker, starter

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    pass  # environments of other versions of frameworks have none
else:
    # The speed of a busy machine says nothing about a property.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it leaves in the background so, and programs that tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = 300
"""Seconds that a command may take: far more than any does on a busy machine."""
RUNNER = "import sys; del sys.path[0]; from reenact.cli import main; sys.exit(main())"
"""As the installed command does, it finds no modules in the folder where it runs."""

BARE_PYTEST = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "reenact.testing.pytest,pytest_asyncio.plugin",
}
"""For a pytest that a test starts: what others' plugins import takes it two seconds."""


TEST_FILES: set[str] = set()
"""The files that tests were collected from."""


@dataclass
class Done:
    """A command that has run: its exit status, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def ours(self):
        """The lines of standard error that are Reenact's own."""
        return [line for line in self.err.splitlines() if line.startswith("reenact: ")]


class Shell:
    """A folder to run commands in, as from a terminal."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.home = folder / "home"
        self.environ = {
            k: v for k, v in os.environ.items() if not k.startswith(("REENACT", "PYTEST", "COV_"))
        }
        self.environ |= {"REENACT_HOME": str(self.home), "COLUMNS": "160", "PYTHONUTF8": "1", **BARE_PYTEST}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def command(self, *words):
        return [sys.executable, "-c", RUNNER, *map(str, words)]

    def run(self, *words, cwd=None, text=None, env=None):
        """Run `reenact` with these words."""
        folder, environ = cwd or self.folder, {**self.environ, **(env or {})}
        done = forker.run([str(word) for word in words], folder, environ, text or "", LONGEST)
        done = done or subprocess.run(
            self.command(*words),
            cwd=folder,
            env=environ,
            input=text or "",
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert "reenact/cli" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def plain(self, *words):
        """Run Python as without Reenact."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
        )

    def record(self, *words, **more):
        """Record a Python program; returns what it wrote, and its recording."""
        done = self.run("record", "--", sys.executable, *words, **more)
        return done, self.last()

    def last(self):
        return reenact.load("last", home=self.home)

    def replay(self, *words, **more):
        return self.run("replay", "last", *words, **more)


@pytest.fixture
def quick_switches():
    """Let threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def chromium():
    """A Chromium without Reenact's own session; each test makes contexts of its own."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=headless())
        yield browser
        browser.close()


def rewrite_a_share(config):
    """Let each worker rewrite the assertions of a part of the test files where that is not done yet.

    All workers import all files in the same order: each would rewrite most of them, which takes as long as the imports.
    """
    given = getattr(config, "workerinput", None)
    if given is None or sys.dont_write_bytecode:
        return
    state, places = config.stash[rewrite.assertstate_key], [Path(one.split("::")[0]) for one in config.args]
    files = sorted({file.resolve() for place in places for file in place.rglob("test_*.py")})
    for file in files[int(given["workerid"].removeprefix("gw")) :: given["workercount"]]:
        compiled = file.parent / "__pycache__" / (file.stem + rewrite.PYC_TAIL)
        if compiled.exists():
            continue
        with suppress(SyntaxError):  # the collection names it
            stat, code = rewrite._rewrite_test(file, config)
            compiled.parent.mkdir(exist_ok=True)
            rewrite._write_pyc(state, code, stat, compiled)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Let the garbage collector leave alone what is imported: half a gigabyte, which `tidy` would search at each test."""
    gc.disable()
    try:
        rewrite_a_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave a part of a `sampled` matrix in the short suite: first and last row, or each `every`th. The others become
    `thorough`.
    """
    TEST_FILES.update(str(item.path) for item in items)
    matrices: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("thorough"):
            matrices.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for rows in matrices.values():
        every = rows[0].get_closest_marker("sampled").kwargs.get("every", max(len(rows) - 1, 1))
        for number, row in enumerate(rows):
            if number % every:
                row.add_marker("thorough")


@pytest.fixture(scope="module", autouse=True)
def _program(request):
    """Let the program of a test be its own file and the helpers, as where that file is run alone.

    Each run looks at the global names of the program: those of all collected files would take most of its time.
    """
    callers.own()  # judges all anew
    callers._kinds.update(dict.fromkeys(TEST_FILES - {str(request.path)}, callers.LIBRARY))


@pytest.fixture(scope="module", autouse=True)
def _garbage_of_the_module():
    """Collect what a file's tests leave, and let the collector leave alone what then is there, as that at the start."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _one_certificate_authority(tmp_path_factory):
    """Let TLS trust one authority in the place of a hundred: to read those takes 50 ms of CPU for each client."""
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----")
    file = tmp_path_factory.mktemp("authority") / "one.pem"
    file.write_text(f"{first}{end}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(scope="session", autouse=True)
def _keys_of_the_tests_alone(tmp_path_factory):
    """Keep the keys of the tests' homes out of the developer's own configuration directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_wait_for_the_disk():
    """Let this process not wait until a file is on the disk: no test's folder need survive a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, lambda _: None, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_driver(tmp_path_factory):
    """Keep what Node compiles of the driver of browsers: each session starts one, and takes a fifth less for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NODE_COMPILE_CACHE", str(tmp_path_factory.mktemp("driver")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _forker_stops():
    yield
    forker.stop()
    starter.stop()


@pytest.fixture
def shell(tmp_path):
    """A terminal in an empty folder."""
    return Shell(tmp_path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A fresh folder for recordings, and the default of all verbs in this test."""
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    return str(tmp_path / "home")


@pytest.fixture
def tidy():
    """For programs that leave their clients and the loop of a `run_sync` to the end of the process, as small ones do."""
    with left_loop_closed():
        yield
    gc.collect()


@contextmanager
def left_loop_closed():
    """Close the event loop that the body leaves; one that was there before, as other tests of the session have it, stays."""
    before = _loop_of_this_thread()
    try:
        yield
    finally:
        left = _loop_of_this_thread()
        if left is not None and left is not before:
            left.close()
            _set_loop(before)


def _loop_of_this_thread():
    """Return the event loop that is set, and make none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return getattr(asyncio.get_event_loop_policy()._local, "_loop", None)


def _set_loop(loop):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop(loop)
