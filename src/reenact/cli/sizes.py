"""Sizes as people write them: `500MB`, `20 GB`, `1.5GiB`, `4096`."""

from __future__ import annotations

import re
from decimal import Decimal

import click

from reenact.verbs.marks import Cli

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_UNITS = "kmgt"

LARGEST = 2**63 - 1
"""The largest number that files, disks and databases count to."""


def parsed(text: str) -> int | None:
    """Return a size in bytes, or None for another text or one beyond `LARGEST`."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    step = 1024 if found[3] else 1000
    power = _UNITS.index(found[2].lower()) + 1 if found[2] else 0
    count = Decimal(found[1]) * step**power
    return int(count) if count <= LARGEST else None


def size(text: str) -> int:
    """Return a size in bytes. Raises BadParameter for an invalid one, or none at all."""
    if not (found := parsed(text)):
        raise click.BadParameter(f"{text!r} is no size: 500MB, 20GB, or a number of bytes")
    return found


SIZE = Cli(metavar="SIZE", parser=size)
"""The spelling of an option that is a size."""
