"""Sizes as people write them."""

import click
import pytest

from reenact.cli import sizes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4096", 4096),
        ("500MB", 500_000_000),
        ("20 GB", 20_000_000_000),
        ("1.5GiB", 3 << 29),
        ("9007199254740993", 2**53 + 1),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_a_size_is_exact(text, wanted):
    assert sizes.size(text) == wanted


@pytest.mark.parametrize("text", ["", "soon", "-1", "0", "1e9", "9223372036854775808", "9" * 400])
def test_any_other_text_is_refused(text):
    with pytest.raises(click.BadParameter, match="is no size"):
        sizes.size(text)
