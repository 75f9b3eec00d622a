"""A session that several tests share, and pages that are whole in their address."""

from __future__ import annotations

from urllib.parse import quote

import pytest

import reenact
from reenact.browser import executable
from reenact.errors import SessionError
from tests.browser.conftest import Shared

SHOP = """<title>Shop</title>
<h1>Tea shop</h1>
<label>Item <select id=item><option>green<option>black</select></label>
<label>Name <input id=name></label>
<label>Password <input id=pw type=password></label>
<button onclick="document.querySelector('#said').textContent =
  `sold ${item.value} to ${name_.value} (${pw.value.length})`">Buy</button>
<p id=said>nothing sold</p>
<script>const name_ = document.querySelector('#name')</script>"""


def page(html):
    """An address that holds the page itself."""
    return "data:text/html," + quote(html)


@pytest.fixture(scope="session")
def browser_here():
    """Skips with a word where no browser is."""
    try:
        executable.find(None)
    except SessionError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def shared_session(browser_here, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REENACT_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("REENACT_MODEL", raising=False)
        shared = Shared(reenact.Client().Session)
        yield shared
        shared.stop()


@pytest.fixture
def session(shared_session):
    """A session, shared by a module; its own recording is what the tests look into."""
    return shared_session()


@pytest.fixture
def shop(session):
    """The session, with the shop open afresh."""
    session.execute(type="goto", url=page(SHOP))
    return session
