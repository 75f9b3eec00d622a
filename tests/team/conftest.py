"""A real Postgres and a real S3, started once; each test has a database and a bucket's folder of its own."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from reenact.team.location import TeamPlace
from reenact.team.store import TeamStore
from tests.soak.tables import Screen
from tests.team.servers import Postgres, Weed

NUMBERS = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _screen(request):
    """The figures of slow tests are seen."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        Screen.uncaptured = staticmethod(capture.global_and_fixture_disabled)


@contextmanager
def served():
    """A Postgres of its own, started."""
    server = Postgres()
    try:
        yield server
    finally:
        server.end()


@pytest.fixture(scope="session")
def postgres():
    with served() as server:
        yield server


@pytest.fixture
def database(postgres):
    """The address of an empty database."""
    return postgres.database(f"test_{next(NUMBERS)}")


@pytest.fixture
def place(database, tmp_path):
    return TeamPlace(database, f"file://{tmp_path}/objects", "default", tmp_path / "cache")


@pytest.fixture
def team(place):
    with TeamStore(place) as store:
        yield store


@contextmanager
def stored():
    """An S3 server of its own, started."""
    folder = Path(tempfile.mkdtemp(prefix="weed-"))
    server = Weed(folder)
    try:
        yield server.start()
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def weed():
    with stored() as server:
        yield server


@pytest.fixture
def s3(weed, monkeypatch):
    """The environment in which an S3 server is found, with a bucket `team`."""
    weed.start()
    for name, value in weed.environ.items():
        monkeypatch.setenv(name, value)
    return weed.environ
