"""Sizes as people write them: `500MB`, `20 GB`, `1.5GiB`, `4096`."""

from __future__ import annotations

import re

import click

from reenact.verbs.marks import Cli

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?", re.IGNORECASE)
_UNITS = "kmgt"


def parsed(text: str) -> int | None:
    """Return a size in bytes, or None for another text."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    step = 1024 if found[3] else 1000
    power = _UNITS.index(found[2].lower()) + 1 if found[2] else 0
    return int(float(found[1]) * step**power)


def size(text: str) -> int:
    """Return a size in bytes. Raises BadParameter for an invalid one, or none at all."""
    if not (found := parsed(text)):
        raise click.BadParameter(f"{text!r} is no size: 500MB, 20GB, or a number of bytes")
    return found


SIZE = Cli(metavar="SIZE", parser=size)
"""The spelling of an option that is a size."""
