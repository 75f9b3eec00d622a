"""What is meant by an expectation, and which addresses are the expected ones."""

from __future__ import annotations

import re

import pytest

from reenact.browser.heal.expect import expected, matches
from reenact.errors import UsageError


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("https://shop.example/cart", "url"),
        ("about:blank", "url"),
        ("/cart", "url"),
        ("**/order/*", "url"),
        (re.compile(r"/order/\d+"), "url"),
        ("css=#done", "selector"),
        ("role=alert", "selector"),
        ("~Paid", "selector"),
        ("//h1", "selector"),
        ("#done", "selector"),
        (".done", "selector"),
        ('[data-test="done"]', "selector"),
        ('get_by_role("alert")', "selector"),
        ({"css": "#done", "text": "~Paid"}, "selector"),
        ("Thank you", "text"),
        ("Total: 5", "text"),
        ("#1 in sales", "text"),
        ("a=b", "text"),
        ("[1] of 3", "text"),
        ("...", "text"),
        (len, "function"),
    ],
)
def test_an_expectation_is_read_as_it_is_meant(given, kind):
    assert expected(given).kind == kind


@pytest.mark.parametrize("wrong", [3, "", "  ", {}, "css=", "~", ["Thank you"]])
def test_what_is_none_is_refused_in_one_line(wrong):
    with pytest.raises(UsageError, match=r"^expect=[^\n]*$"):
        expected(wrong)


@pytest.mark.parametrize(
    ("url", "value", "fits"),
    [
        ("https://x.de/cart", "https://x.de/cart", True),
        ("https://x.de/cart/?id=7#top", "https://x.de/cart", True),
        ("https://x.de/cart?id=7", "https://x.de/cart?id=7", True),
        ("https://x.de/cart?id=7", "https://x.de/cart?id=8", False),
        ("https://x.de/cart", "https://x.de/cart?id=8", False),
        ("https://x.de/cart#b", "https://x.de/cart#a", False),
        ("https://x.de/carts", "https://x.de/cart", False),
        ("https://evil.de/?https://x.de/cart", "https://x.de/cart", False),
        ("https://x.de/", "https://x.de", True),
        ("https://x.de/cart?a=1", "/cart", True),
        ("https://x.de/a/cart", "/cart", False),
        ("https://x.de/order/17", "/order/*", True),
        ("https://x.de/order/17/paid", "/order/*", False),
        ("https://x.de/order/17/paid", "**/paid", True),
        ("https://x.de/order/17", "https://x.de/**", True),
        ("https://x-de/order", "https://x.de/**", False),
        ("https://x.de/order/17", re.compile(r"/order/\d+$"), True),
        ("https://x.de/order/new", re.compile(r"/order/\d+$"), False),
    ],
)
def test_an_address_is_the_expected_one_or_not(url, value, fits):
    assert matches(url, value) is fits
