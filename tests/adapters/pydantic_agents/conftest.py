from __future__ import annotations

import pytest

from tests.adapters.agent_fixtures import at_home, provider, tidied, unclosed

__all__ = ["at_home", "provider", "tidied"]

pytest.importorskip("pydantic_ai")


def pytest_collection_modifyitems(items):
    unclosed(items, "pydantic_agents")
