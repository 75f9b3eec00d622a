from __future__ import annotations

import pytest

from tests.adapters.pydantic_agents.fake_provider import Provider

pytest.importorskip("langgraph")


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))


@pytest.fixture
def provider():
    provider = Provider()
    yield provider
    provider.stop()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "langchain":
            # Clients are left to the end of the process, as small programs do.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
