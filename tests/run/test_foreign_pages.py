"""A request of a page elsewhere is told from one of a program, and from one of a page of this machine."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from reenact.run.foreign_pages import from_foreign_page, has_public_name


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "HTTP://evil.example:4318"},
        {"origin": "http://203.0.113.7"},
        {"origin": "http://localhost.evil.example"},
        {"origin": "http://127.0.0.1@evil.example"},
        {"origin": "http://["},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_page_elsewhere_is_recognised(headers):
    assert from_foreign_page(Headers(headers))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:8080"},
        {"origin": "http://[::1]:8080"},
        {"origin": "vscode-webview://1a2b"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_program_and_a_page_of_this_machine_are_none(headers):
    assert not from_foreign_page(Headers(headers))


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "evil.example."]
)
def test_a_name_that_a_page_can_have_is_recognised(host):
    assert has_public_name(Headers({"host": host}))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:4318",
        "[::1]:4318",
        "localhost",
        "localhost:1",
        "box",
        "host.docker.internal:4318",
        "box.local",
    ],
)
def test_an_address_and_a_name_within_a_network_are_none(host):
    assert not has_public_name(Headers({"host": host}))
