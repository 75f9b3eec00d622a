"""Bodies under a Content-Encoding."""

from __future__ import annotations

import gzip
import importlib
import re
import zlib
from collections.abc import Callable
from typing import Any


def _inflate(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return zlib.decompress(data, -zlib.MAX_WBITS)  # many servers send "deflate" without its header


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _library(name: str) -> Any:
    return importlib.import_module(name)  # whoever gets such a body has the library to read it


_CODINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.decompress, _gzip),
    "x-gzip": (gzip.decompress, _gzip),
    "deflate": (_inflate, zlib.compress),
    "br": (lambda data: _library("brotli").decompress(data), lambda data: _library("brotli").compress(data)),
    "zstd": (
        lambda data: _library("zstandard").ZstdDecompressor().decompressobj().decompress(data),
        lambda data: _library("zstandard").ZstdCompressor().compress(data),
    ),
}


def clean_body(data: bytes, encoding: str, clean: Callable[[bytes], bytes]) -> bytes:
    """The body, cleaned under its Content-Encoding; as plain bytes where it does not unpack."""
    codings = [_CODINGS[c] for c in re.split(r"[\s,]+", encoding.strip().lower()) if c in _CODINGS]
    packed = data
    try:
        for unpack, _ in reversed(codings):
            data = unpack(data)
    except Exception:
        return clean(packed)
    cleaned = clean(data)
    if cleaned is data:
        return packed
    for _, pack in codings:
        cleaned = pack(cleaned)
    return cleaned
