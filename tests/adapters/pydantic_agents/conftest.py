from __future__ import annotations

import pytest

from tests.adapters.agent_fixtures import home, provider, tidy, unclosed

__all__ = ["home", "provider", "tidy"]

pytest.importorskip("pydantic_ai")


def pytest_collection_modifyitems(items):
    unclosed(items, "pydantic_agents")
