from __future__ import annotations

import pytest

from tests.adapters.agent_fixtures import at_home, provider, unclosed

__all__ = ["at_home", "provider"]

pytest.importorskip("langgraph")


def pytest_collection_modifyitems(items):
    unclosed(items, "langchain")
    for item in items:
        if item.path.parent.name == "langchain":
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
