from __future__ import annotations

import pytest

from tests.adapters.agent_fixtures import unclosed


@pytest.fixture(autouse=True)
def _tidy(tidy):
    pass


def pytest_collection_modifyitems(items):
    unclosed(items, "fork")
