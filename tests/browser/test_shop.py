"""A shop's checkout, by a script: ordered, recorded, and no secret kept."""

from __future__ import annotations

import pytest

from reenact import Client
from tests.browser import others


@pytest.mark.thorough
def test_a_book_is_ordered_and_the_password_is_nowhere_on_the_disk(tmp_path, monkeypatch):
    home, folder = tmp_path / "home", tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("REENACT_HOME", str(home))
    password = "Sup3r-secret-9"
    with others.shop(folder) as shop, Client().Session(headless=True) as session:
        for action in others.checkout(shop, "ada@example.com", password):
            session.execute(**action)
        assert "confirmation" in session.observe().metadata.title
    written = [path for path in home.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if password.encode() in path.read_bytes()]
