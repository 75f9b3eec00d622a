"""The programs that speak OpenAI's chat format, against a real language model on this machine."""

from __future__ import annotations

import pytest

from tests.conftest import Shell
from tests.frameworks.frameworks import FRAMEWORKS
from tests.frameworks.provider import Provider
from tests.local_model import local_model

CHAT = [known for known in FRAMEWORKS if known.wire == "chat" and known.version]

pytestmark = [pytest.mark.live, pytest.mark.thorough, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """All programs recorded, by one model that has ended since: {name: (terminal, output, recording)}."""
    found = {}
    services = Provider(patience=0)
    try:
        with local_model() as url:
            for framework in CHAT:
                shell = Shell(tmp_path_factory.mktemp(framework.name))
                shell.environ |= services.environ | {"OPENAI_BASE_URL": url}
                found[framework.name] = shell, *framework.record(shell)
    finally:
        services.stop()
    return found


@pytest.mark.parametrize("framework", CHAT, ids=lambda known: known.name)
def test_what_a_real_model_said_is_said_again_without_it(framework, recorded):
    shell, done, recording = recorded[framework.name]
    # What so small a model does is its own affair; that it was asked, streamed, and said something is not.
    asked = framework.models(recording)
    assert asked, done.err
    assert max(len(step.call.pieces) for step in asked) > 2
    assert len(done.out) > 20
    again = shell.replay()
    assert again.status == 0, again.err
    assert again.out == done.out
