"""Which browser is started, and what is said where there is none."""

from __future__ import annotations

import pytest

from reenact.browser import executable
from reenact.errors import SessionError


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without any browser, and a folder for some."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in executable.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def program(folder, name):
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_one_that_is_named_is_taken(bare):
    mine = program(bare, "mine")
    program(bare, "chromium")
    assert executable.find(mine) == executable.find("mine") == mine


def test_a_name_that_leads_nowhere_is_an_error_and_no_other_is_taken(bare, monkeypatch):
    program(bare, "chromium")
    monkeypatch.setenv("REENACT_BROWSER", "/no/such")
    with pytest.raises(SessionError, match="REENACT_BROWSER='/no/such': there is no such program"):
        executable.find()


def test_the_environment_comes_before_playwrights_own_and_that_before_the_systems(bare, monkeypatch):
    system, own, mine = (program(bare, name) for name in ("chromium", "playwrights", "mine"))
    assert executable.find(own="/not/downloaded") == system
    assert executable.find(own=own) == own
    monkeypatch.setenv("CHROME_PATH", mine)
    assert executable.find(own=own) == mine


def test_without_any_it_says_both_ways_to_get_one(bare, monkeypatch):
    monkeypatch.setattr(executable.sys, "platform", "linux")
    with pytest.raises(SessionError) as caught:
        executable.find(own="/not/downloaded")
    assert "playwright install chromium" in str(caught.value)
    assert "apt-get install chromium" in str(caught.value)
    assert "\n" not in str(caught.value)
