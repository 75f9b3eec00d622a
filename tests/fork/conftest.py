from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _tidy(tidy):
    pass


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "fork":
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
