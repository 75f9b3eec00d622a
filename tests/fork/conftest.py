from __future__ import annotations

import asyncio
import gc

import pytest


@pytest.fixture(autouse=True)
def _tidy():
    # The programs leave their clients and the loop of `run_sync` to the end of the process, as small programs do.
    yield
    loop = getattr(asyncio.get_event_loop_policy()._local, "_loop", None)
    if loop is not None and not loop.is_running():
        loop.close()
        asyncio.set_event_loop(None)
    gc.collect()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "fork":
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
