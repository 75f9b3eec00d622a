"""What tests of programs with agents have in common: a folder of their own, a provider, and little left behind."""

from __future__ import annotations

import pytest

from tests.adapters.pydantic_agents.fake_provider import Provider


@pytest.fixture(autouse=True)
def at_home(home):
    """Recordings go to the test's own folder."""


@pytest.fixture(autouse=True)
def tidied(tidy):
    """Each test's programs leave nothing to the next."""


@pytest.fixture
def provider():
    """A model provider on loopback."""
    provider = Provider()
    yield provider
    provider.stop()


def unclosed(items, folder):
    """Let the tests of a folder leave sockets open."""
    for item in items:
        if item.path.parent.name == folder:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
