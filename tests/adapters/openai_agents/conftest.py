from __future__ import annotations

import pytest

from tests.adapters.agent_fixtures import at_home, provider, tidied, unclosed

__all__ = ["at_home", "provider", "tidied"]

agents = pytest.importorskip("agents")


@pytest.fixture(autouse=True, scope="session")
def _silent():
    # What the SDK reports to its maker is a test of its own.
    agents.set_tracing_disabled(True)
    yield
    agents.set_tracing_disabled(False)


def pytest_collection_modifyitems(items):
    unclosed(items, "openai_agents")
