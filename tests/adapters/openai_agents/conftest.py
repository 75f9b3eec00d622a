from __future__ import annotations

import asyncio
import gc

import pytest

pytest.importorskip("agents")

from agents import set_tracing_disabled

from tests.adapters.pydantic_agents.fake_provider import Provider


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True, scope="session")
def _silent():
    # What the SDK reports to its maker is a test of its own.
    set_tracing_disabled(True)
    # The SDK's classes are half a million objects; `_tidy` need not look at them.
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _tidy():
    # `run_sync` leaves its loop, and the programs their clients, to the end of the process.
    yield
    loop = getattr(asyncio.get_event_loop_policy()._local, "_loop", None)
    if loop is not None and not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)
    gc.collect()


@pytest.fixture
def provider():
    provider = Provider()
    yield provider
    provider.stop()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "openai_agents":
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
