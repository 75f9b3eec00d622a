"""Bodies under a Content-Encoding."""

from __future__ import annotations

import gzip
import importlib
import re
import zlib
from collections.abc import Callable
from typing import Any

from reenact.core.unpack import unpacked
from reenact.errors import TooLarge


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _library(name: str) -> Any:
    return importlib.import_module(name)  # a program that receives such a body has the library


_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": zlib.compress,
    "br": lambda data: _library("brotli").compress(data),
    "zstd": lambda data: _library("zstandard").ZstdCompressor().compress(data),
}


def clean_body(data: bytes, encoding: str, clean: Callable[[bytes], bytes]) -> bytes:
    """Return a body cleaned under its Content-Encoding, or as plain bytes if it does not unpack.

    Empty if it unpacks to more than the limit.
    """
    codings = [c for c in re.split(r"[\s,]+", encoding.strip().lower()) if c in _PACKERS]
    packed = data
    try:
        for coding in reversed(codings):
            data = unpacked(data, coding)
    except TooLarge:
        return b""
    except Exception:
        return clean(packed)
    cleaned = clean(data)
    if cleaned is data:
        return packed
    for coding in codings:
        cleaned = _PACKERS[coding](cleaned)
    return cleaned
