from __future__ import annotations

import pytest

pytest.importorskip("mcp")

from tests.adapters.mcp.shop import OLDER, Web


@pytest.fixture(scope="session")
def web():
    """A shop that is asked over HTTP."""
    web = Web()
    yield web
    web.stop()


@pytest.fixture(scope="session")
def unmet(web):
    """One that needs no greeting."""
    if not OLDER:
        yield web
        return
    unmet = Web(stateless=True)
    yield unmet
    unmet.stop()


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
