"""Providers, and benches that record a program against them and replay it with the provider gone."""

import gc

import pytest

from reenact.core.query.facts import RecordingFacts
from tests.adapters.http.conftest import Bench
from tests.providers import Provider
from tests.providers.realtime import Realtime


class Talks(Bench):
    """`Bench`, with the recording's model calls."""

    @property
    def calls(self):
        found = (facts.model_call for facts in RecordingFacts(self.recording))
        return [call for call in found if call is not None]

    @property
    def steps(self):
        return self.recording.steps


@pytest.fixture
def provider():
    provider = Provider()
    provider.requests = provider.paths
    yield provider
    provider.stop()
    gc.collect()


@pytest.fixture
def bench(provider, tmp_path, monkeypatch):
    return Talks(provider, tmp_path / "home", monkeypatch)


@pytest.fixture
def realtime(tmp_path, monkeypatch):
    server = Realtime()
    server.requests = []
    yield Talks(server, tmp_path / "home", monkeypatch)
    server.stop()


def pytest_collection_modifyitems(items):
    # The SDKs leave their clients to the end of the process, as small programs do.
    for item in items:
        if item.path.parent.name == "providers":
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
