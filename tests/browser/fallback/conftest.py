"""A session that several tests share, on a small shop."""

from __future__ import annotations

import pytest

import reenact
from tests.browser.agent.conftest import SHOP, browser_here, page
from tests.browser.agent.scripted import Scripted

__all__ = ["browser_here"]


@pytest.fixture(scope="module")
def session(browser_here, tmp_path_factory):
    """A session, shared by a module; its own recording is what the tests look into."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REENACT_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("REENACT_MODEL", raising=False)
        with reenact.Client().Session() as running:
            yield running


@pytest.fixture
def shop(session):
    """The session, with the shop open afresh."""
    session.execute(type="goto", url=page(SHOP))
    return session


@pytest.fixture
def fallback():
    """Makes a block whose agent asks a scripted model: `block, model = fallback(session, click("button"), done())`."""

    def made(session, *answers, task="Buy green tea", **options):
        model = Scripted(*answers)
        options.setdefault("reasoning_model", model.model)
        return reenact.Client().AgentFallback(session, task=task, **options), model

    return made
