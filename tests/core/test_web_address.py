"""Addresses that Python refuses to split come from recordings and pages: they stop no command."""

from __future__ import annotations

import sqlite3

import pytest

import reenact
from reenact.analysis.interchange.exporters import otel
from reenact.browser.heal import expect, heal_record
from reenact.browser.page.writes import written
from reenact.cli import main
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.core.web_address import local_port, split_address

ADDRESSES = (
    "http://[x]/v1/chat/completions",
    "http://[::1",
    "https://[[secret:secret:5f8d4df7]]@host.test/a",
    "http://a]b/?q=1#f",
    "data://[x]/,hello",
    "http://h\u2100.test/v1/chat/completions",
    "//[",
)


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_that_is_none_is_all_path(url):
    parts = split_address(url + "?a=1#b")
    assert parts.hostname is None
    assert (parts.scheme, parts.netloc) == ("", "")
    assert parts.path.startswith(url[:4])


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_request_to_such_an_address_is_shown_and_exported(url, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path))
    body = b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}'
    with reenact.record("a", home=tmp_path) as run:
        asked = Effect("http", "POST h.test/v1/chat/completions", {"url": url, "headers": {}, "body": body})
        boundary.perform(asked, lambda: {"status": 503})
        boundary.perform(Effect("http", "GET h.test/", {"url": url}), lambda: {"status": 200})
    assert len(otel.spans_of(reenact.load(str(run.path)))) == 3
    for words in (["show", "last"], ["show", "last", "1"], ["list"], ["diagnose", "last"]):
        assert main(words) in {0, 1}
    capsys.readouterr()


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_page_with_such_an_address_stops_no_session(url):
    assert expect.matches(url, "/elsewhere") is False
    assert "token=x" not in heal_record._bare(f"{url}?token=x")
    assert written("GET", url, "http://a.test/", "", None)["method"] == "GET"


def test_a_database_of_such_an_address_is_refused_by_sqlite_itself(tmp_path):
    with reenact.record("a", home=tmp_path), pytest.raises(sqlite3.OperationalError):
        sqlite3.connect("file://[x]/a.db", uri=True)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"])
def test_a_port_of_this_machine_is_one_by_each_of_its_names(host):
    assert local_port(f"{host}:8123/ask") == 8123
    assert local_port(f"{host}:80") == 80


@pytest.mark.parametrize(
    "place",
    [
        "a.test/localhost:8123/",
        "a-localhost:8123/",
        "localhost:8123.a.test/",
        "localhost/8123",
        "localhost:123456/",
        "",
    ],
)
def test_another_machines_address_has_no_port_of_this_one(place):
    assert local_port(place) is None
