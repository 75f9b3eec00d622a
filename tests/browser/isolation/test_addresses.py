"""Which addresses a browser may open."""

from __future__ import annotations

import ipaddress

import pytest

from reenact.browser.isolation.addresses import Reach, RefusedAddressError, check_scheme, typed
from reenact.errors import UsageError

OPENED = [
    ("example.com", "https://example.com"),
    ("a.example:80/x", "https://a.example:80/x"),
    ("localhost:8080/x", "http://localhost:8080/x"),
    ("127.0.0.1:1", "http://127.0.0.1:1"),
    ("  http://a.example/ ", "http://a.example/"),
    ("ht\ttp://a.example", "http://a.example"),
    ("HTTP:a.example", "HTTP:a.example"),
    ("http:/\\a.example", "http:/\\a.example"),
    ("about:blank", "about:blank"),
    ("about:blank#x", "about:blank#x"),
    ("data:text/html,file:///etc/passwd", "data:text/html,file:///etc/passwd"),
    ("//etc/passwd", "https:////etc/passwd"),
    ("/etc/passwd", "https:///etc/passwd"),
    ("x:y", "https://x:y"),
]

REFUSED = [
    "file:///etc/passwd", "file:1/../etc/passwd", "file:/etc/passwd", "file:etc/passwd", "FILE:///etc/passwd",
    "fIlE:1", "file://localhost/etc/passwd", "file:\\\\\\etc\\passwd", "file:C|/x", "file:?q", "file:#f", "file:",
    " file:///etc/passwd", "\tfile:///etc/passwd", "fi\tle:///etc/passwd", "fi\nle:1/../etc", "\x00file:///etc/passwd",
    "\x1ffile:/x", "file\r:///etc/passwd", "file:8080", "file:65535/../../etc/passwd", "file:%2e%2e/etc",
    "view-source:file:///etc/passwd", "view-source:http://a.example", "view-source:1/..", "VIEW-SOURCE:data:,x",
    "chrome://version", "chrome:version", "chrome:1", "chrome-extension://x/", "chrome-untrusted://x",
    "devtools://devtools/bundled/inspector.html", "about:version", "about:about", "about:srcdocx", "about:1",
    "ABOUT:CONFIG", "filesystem:http://a.example/x", "filesystem:1", "javascript:alert(1)", "JavaScript:1",
    "java\nscript:alert(1)", "mailto:a@a.example", "intent://a.example#Intent;end", "ftp://a.example/",
    "ws://a.example", "wss://a.example", "jar:file:///x!/y".replace("jar:", "jar://"), "gopher://a.example",
    "ms-settings://x", "vbscript://x", "blob-x://y", "data+x://y", "http-x://y",
]  # fmt: skip

PRIVATE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "169.254.1.1",
    "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1",
    "2001:0:7f00:1::", "2001:db8::1", "2002:7f00:1::", "2002:808:808::", "3fff::1", "5f00::1", "fc00::1", "fd12::1",
    "fe80::1", "fec0::1", "ff02::1", "4000::1",
]  # fmt: skip

METADATA = [
    "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
    "fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254",
]  # fmt: skip


def check(reach, address, name=None, port=80):
    reach.check(name or address, ipaddress.ip_address(address), port)


@pytest.mark.parametrize(("given", "meant"), OPENED)
def test_what_a_person_types_is_an_address_of_the_web(given, meant):
    assert typed(given) == meant
    check_scheme(meant)


@pytest.mark.parametrize("given", REFUSED)
def test_an_address_of_another_scheme_is_refused_however_it_is_written(given):
    with pytest.raises(RefusedAddressError, match="addresses are not opened by a server"):
        check_scheme(typed(given))
    with pytest.raises(RefusedAddressError):
        check_scheme(given)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])
def test_public_addresses_are_opened(address):
    check(Reach(), address)


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_refused_unless_the_operator_names_them(address):
    with pytest.raises(RefusedAddressError, match="--browse-private"):
        check(Reach(), address)
    check(Reach(private=True), address)
    check(Reach.of(["wiki.internal"]), address, "WIKI.internal.")


@pytest.mark.parametrize("address", METADATA)
def test_metadata_services_are_refused_even_where_private_addresses_are_opened(address):
    for reach in (Reach(), Reach(private=True), Reach.of(["0.0.0.0/0", "::/0", "wiki.internal"])):
        with pytest.raises(RefusedAddressError, match="metadata service"):
            check(reach, address, "wiki.internal")
    with pytest.raises(RefusedAddressError, match="metadata service"):
        check(Reach(private=True), "8.8.8.8", "Metadata.Google.Internal.")


def test_an_operator_names_networks_addresses_and_machines():
    reach = Reach.of(["10.0.0.0/8", "192.168.1.7", "[fd12::1]", "Wiki.internal"])
    for address in ("10.2.3.4", "192.168.1.7", "fd12::1"):
        check(reach, address)
    check(reach, "192.168.9.9", "wiki.internal")
    for address in ("192.168.1.8", "fd12::2", "127.0.0.1"):
        with pytest.raises(RefusedAddressError):
            check(reach, address)
    for wrong in ("10.0.0.0/99", "http://wiki", "wiki:80", "10.0.0", "", "*"):
        with pytest.raises(UsageError, match="neither a network"):
            Reach.of([wrong])


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1"])
def test_the_server_itself_is_refused_even_on_loopback(address):
    reach = Reach(private=True, own=8090)
    with pytest.raises(RefusedAddressError, match="the server itself"):
        check(reach, address, port=8090)
    check(reach, address, port=8091)
