"""Shows the slow suites' progress while they run."""

from __future__ import annotations

import pytest

from tests.soak.tables import Screen


@pytest.fixture(scope="session", autouse=True)
def _screen(request):
    capture = request.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        Screen.uncaptured = staticmethod(capture.global_and_fixture_disabled)
