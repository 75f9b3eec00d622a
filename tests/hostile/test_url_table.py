"""Thousands of strange addresses: none that a server allows is another to Chromium than it is to the server.

The table is generated: schemes, separators, bodies, what stands before and inside them. A real Chromium parses each with
`new URL`, and its word counts.
"""

from __future__ import annotations

import ipaddress
import itertools
import random

import pytest
from playwright.sync_api import sync_playwright

from reenact.browser.isolation.addresses import (
    BLANK,
    PUBLIC,
    SCHEMES,
    Reach,
    RefusedAddressError,
    check_scheme,
    typed,
)
from tests.chromium import CHROMIUM, headless

PARSED = """
    texts => texts.map(text => {
        try { const url = new URL(text); return [url.protocol, url.hostname, url.href]; } catch { return null; }
    })
"""

WORDS = [
    "file", "FILE", "fIlE", "fi\u0131le", "\uff46ile", "chrome", "chrome-untrusted", "chrome-extension", "devtools",
    "javascript", "JavaScript", "view-source", "about", "data", "blob", "filesystem", "ftp", "ws", "http", "https", "hTTp",
    "intent", "mailto", "x", "file+http", "http.file", "http-file", "1file", "",
]  # fmt: skip
SEPARATORS = [
    ":", ":/", "://", ":///", "::", ":\\", ":\\\\", ":/\\", ":\\/", ":1/../", ":80/", ":8080", ":0", ":@", ": ", ":?", ":#",
    ":\t//", ":\n/", ":/\r/", ":\x00//", "%3a//", "%3A", "\uff1a//", "\u2236//", ":\u2044\u2044", ":%2f%2f", ":.", ":~/", "",
]  # fmt: skip
BODIES = [
    "/etc/passwd", "etc/passwd", "../etc/passwd", "localhost/etc/passwd", "127.0.0.1:9/x", "user:pass@127.0.0.1/", "version",
    "blank", "blank/../version", "srcdoc#x", "text/html,x", "file:///etc/passwd", "http://a.example/", "//a.example",
    "a.example@file:/etc", "", "%2e%2e/%65tc",
]  # fmt: skip
BEFORE = [
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\x00",
    "\x01\x1f",
    "\ufeff",
    "\xa0",
    "\u200b",
    "view-source:",
    "blob:",
    "a.example/",
    "\\",
]
INSIDE = ["", "\t", "\n", "\r", "\x00", " ", "\u00ad", "\u200d"]
MANY = 12_000


def table():
    """The table, always the same: each word with each separator, then a sample of all combinations."""
    rows = [(word, separator, BODIES[0], "", "") for word in WORDS for separator in SEPARATORS]
    rows += [
        (word, separator, body, "", "")
        for word in ("file", "chrome", "about")
        for separator in SEPARATORS
        for body in BODIES
    ]
    every = list(itertools.product(WORDS, SEPARATORS, BODIES, BEFORE, INSIDE))
    rows += random.Random(17).sample(every, MANY)
    return sorted(
        {
            f"{before}{word[:2]}{inside}{word[2:]}{separator}{body}"
            for word, separator, body, before, inside in rows
        }
    )


@pytest.fixture(scope="module")
def parsed():
    """A function that gives what Chromium says of texts: protocol, host and address of each, or None."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=headless(), args=["--no-sandbox"])
        page = browser.new_page()

        def ask(texts):
            found = []
            for start in range(0, len(texts), 2000):
                found += page.evaluate(PARSED, texts[start : start + 2000])
            return found

        yield ask
        browser.close()


def allowed(text):
    """The address that a server hands to its browser for a text, or None where it refuses."""
    address = typed(text)
    try:
        check_scheme(address)
    except RefusedAddressError:
        return None
    return address


def test_no_address_that_is_allowed_has_another_scheme_in_the_browser(parsed):
    texts = table()
    opened = [address for address in map(allowed, texts) if address is not None]
    said = dict(zip(opened, parsed(opened), strict=True))
    wrong = [
        (address, found)
        for address, found in said.items()
        if found is not None
        and found[0].rstrip(":") not in SCHEMES
        and found[2].partition("?")[0].partition("#")[0] not in BLANK
    ]
    assert wrong == []
    # The table is worth something only if both answers are frequent in it.
    assert len(texts) > MANY * 3 // 4
    assert len(opened) > 500
    assert len(texts) - len(opened) > 500
    assert sum(found is not None for found in said.values()) > 500


@pytest.mark.thorough
def test_what_the_browser_would_open_as_a_file_is_refused_as_it_is_written(parsed):
    texts = table()
    bad = [
        text
        for text, found in zip(texts, parsed(texts), strict=True)
        if found is not None and found[0] in {"file:", "chrome:", "devtools:", "view-source:", "filesystem:"}
    ]
    assert len(bad) > 300
    opened = [address for address in map(allowed, bad) if address is not None]
    # A host and a port may follow `https://` where a person types no scheme; never the file.
    assert all(found is None or found[0] in {"http:", "https:"} for found in parsed(opened))


FORBIDDEN = [
    "127.0.0.1",
    "127.8.4.2",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.1.1",
    "172.31.255.255",
    "100.64.0.1",
    "0.0.0.0",
]


def hosts(address):
    """Ways to write an IPv4 address as a host."""
    parts = [int(part) for part in address.split(".")]
    number = int(ipaddress.IPv4Address(address))
    dots = [".", "\u3002", "\uff0e", "\uff61", "%2e", "%E3%80%82"]
    for dot in dots:
        yield dot.join(map(str, parts))
        yield dot.join(map(str, parts)) + dot
    for form in (
        hex,
        lambda n: f"0X{n:X}",
        lambda n: f"0{n:o}",
        lambda n: f"000{n:o}",
        lambda n: f"0x{n:08x}",
    ):
        yield ".".join(map(form, parts))
        yield form(number)
        yield f"{form(parts[0])}.{number & 0xFFFFFF}"
        yield f"{parts[0]}.{form(parts[1])}.{form(number & 0xFFFF)}"
    yield str(number)
    yield "".join(chr(0xFF10 + int(char)) if char.isdigit() else char for char in address)
    yield "".join(f"%{ord(char):02x}" for char in address)
    yield "".join(chr(0x2460 + int(char) - 1) if char in "123456789" else char for char in address)
    yield f"\u00ad{address}"
    yield address.replace(".", ".\u200b")
    for user in ("a.example", "a.example:80", "a.example%40", "[::1]", "a@b"):
        yield f"{user}@{address}"
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    for prefix in (
        "::ffff:",
        "::",
        "64:ff9b::",
        "::ffff:0:",
        "64:ff9b:1::",
        "2001:db8::5efe:",
        "0:0:0:0:0:ffff:",
    ):
        yield f"[{prefix}{high}:{low}]"
        yield f"[{prefix}{address}]"
    yield f"[2002:{high}:{low}::]"
    yield f"[2001:0:0:0:0:0:{number >> 16 ^ 0xFFFF:x}:{number & 0xFFFF ^ 0xFFFF:x}]"
    yield f"[fe80::1%25{address}]"


@pytest.mark.thorough
def test_no_way_to_write_a_forbidden_machine_is_another_address_to_the_proxy(parsed):
    """The proxy gets the host as Chromium has read it: where that is an address, it is refused."""
    asked = [
        f"http{secure}:{slashes}{host}{port}{path}"
        for address in FORBIDDEN
        for host in hosts(address)
        for secure, slashes, port, path in (
            ("", "//", "", "/"), ("s", "//", ":81", "/x"), ("", "/", "", ""), ("", "\\\\", ":80", "\\"), ("", "", "", "?a"),
            ("", "////", "", "/"), ("", "//a.example@", "", "/"), ("", "//a.example:80@", ":8", "/#@b.example"),
        )
    ]  # fmt: skip
    wrong, addresses = [], 0
    for text, found in zip(asked, parsed(asked), strict=True):
        if found is None:
            continue
        name = found[1].strip("[]")
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            # A name: the resolver's answer is looked at when it is there. None of these may pass for one that is named.
            assert "a.example" not in name, (text, found)
            continue
        addresses += 1
        for reach in (PUBLIC, Reach.of(["a.example", "b.example", "203.0.113.0/24"])):
            try:
                reach.check(found[1], address, 80)
            except RefusedAddressError:
                continue
            wrong.append((text, found))
    assert wrong == []
    assert addresses > len(asked) // 2


def test_no_way_to_write_a_metadata_service_is_opened_where_private_machines_are(parsed):
    open_ = Reach(private=True, networks=(ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")))
    asked = [f"http://{host}/" for host in hosts("169.254.169.254")]
    wrong, addresses = [], 0
    for text, found in zip(asked, parsed(asked), strict=True):
        try:
            address = ipaddress.ip_address(found[1].strip("[]")) if found is not None else None
        except ValueError:
            continue
        if address is not None:
            addresses += 1
            try:
                open_.check(found[1], address, 80)
            except RefusedAddressError:
                continue
            wrong.append((text, found))
    assert wrong == []
    assert addresses > 50
