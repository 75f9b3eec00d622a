"""What tests of programs with agents have in common: a folder of their own, a provider, and little left behind."""

from __future__ import annotations

import asyncio
import gc

import pytest

from tests.adapters.pydantic_agents.fake_provider import Provider


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Recordings go to the test's own folder."""
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True)
def tidy():
    """The programs leave their clients and the loop of `run_sync` to the end of the process, as small programs do."""
    yield
    loop = getattr(asyncio.get_event_loop_policy()._local, "_loop", None)
    if loop is not None and not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)
    gc.collect()


@pytest.fixture
def provider():
    """A model provider on loopback."""
    provider = Provider()
    yield provider
    provider.stop()


def unclosed(items, folder):
    """Let the tests of a folder leave sockets open."""
    for item in items:
        if item.path.parent.name == folder:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
