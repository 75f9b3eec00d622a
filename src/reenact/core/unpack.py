"""Unpack data within limits: bytes are counted after decompression, while they are read.

A limit is the smaller of a fixed number of bytes and a multiple of the packed size. Small data may unpack to
`FREE` bytes whatever its ratio, so that a short text of blanks is no bomb.
"""

from __future__ import annotations

import importlib
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, Self

from reenact.core.patterns import lazy
from reenact.errors import CorruptRecording, TooLarge

if TYPE_CHECKING:
    import zipfile

RATIO = 100
"""Bytes unpacked for each packed byte, at most. Recorded text has between 3 and 30."""

FREE = 64 << 20
"""Bytes that anything may unpack to, whatever its ratio."""

CODINGS = ("gzip", "x-gzip", "deflate", "br", "zstd")
"""The codings of a Content-Encoding that can be unpacked."""

_MOST_CODINGS = 4

BODY = 1 << 30
"""Bytes of one unpacked HTTP body that are recorded."""

_DIRECTORY = 32 << 20
"""Bytes of a zip file's list of members: a third of a million of them."""

_METHODS = (0, 8, 93)  # stored, deflated, and Zstandard, which Python reads from 3.14 on
_BLOCK = 1 << 20
_SLICE = 256
_DEVICE = lazy(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def capacity(packed: int, limit: int) -> int:
    """Return how many bytes `packed` bytes may unpack to."""
    return min(limit, max(FREE, packed * RATIO))


def too_large(what: str, capacity: int) -> TooLarge:
    """Return the error for data that unpacks to more than `capacity` bytes."""
    size = f"{capacity >> 20} MB" if capacity >> 20 else f"{capacity} bytes"
    return TooLarge(f"{what} unpacks to more than {size}, its limit here")


# -- zip files ---------------------------------------------------------------------------------------------------


class Archive:
    """A zip file, read within limits.

    Args:
        file: The file, or its path.
        name: Its name in messages.
        limit: Bytes that all reads together may give.

    Raises:
        TooLarge: It has too many members.
        CorruptRecording: A member's name leads out of the archive, appears twice, or belongs to a link or device.
        zipfile.BadZipFile: It is damaged, as for all methods.
    """

    def __init__(self, file: Path | IO[bytes], name: str, limit: int) -> None:
        self._name = name
        opened: IO[bytes] = file.open("rb") if isinstance(file, Path) else file
        self._mine = opened if isinstance(file, Path) else None
        try:
            packed = _checked_size(opened, name)
            self._left = self._capacity = capacity(packed, limit)
            import zipfile  # noqa: PLC0415 - few commands read one

            self._zip = zipfile.ZipFile(opened)
            _check_members(self._zip.infolist(), name)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was given as a path."""
        if self._mine is not None:
            self._mine.close()

    @property
    def names(self) -> list[str]:
        """The members' names, folders left out."""
        return [info.filename for info in self._zip.infolist() if not info.is_dir()]

    def size(self, member: str) -> int:
        """Return the size that the archive gives for a member. Reading may give more, or less."""
        return self._zip.getinfo(member).file_size

    def blocks(self, member: str) -> Iterator[bytes]:
        """Yield a member's bytes in blocks. Raises TooLarge, KeyError, and what zipfile raises."""
        with self._zip.open(member) as source:
            while block := source.read(min(_BLOCK, self._left + 1)):
                self._left -= len(block)
                if self._left < 0:
                    raise too_large(self._name, self._capacity)
                yield block

    def read(self, member: str, limit: int | None = None) -> bytes:
        """Return a member's bytes. Raises TooLarge, KeyError, and what zipfile raises."""
        found = bytearray()
        for block in self.blocks(member):
            found += block
            if limit is not None and len(found) > limit:
                raise too_large(f"{self._name}: {member}", limit)
        return bytes(found)


def _checked_size(file: IO[bytes], name: str) -> int:
    """Return the file's size. Refuse a list of members that would fill the memory."""
    import zipfile  # noqa: PLC0415 - as above

    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # the only way to read it alone
    if end is not None and end[5] > _DIRECTORY:
        raise TooLarge(f"{name} lists more than {_DIRECTORY >> 20} MB of members, the limit here")
    size = file.seek(0, 2)
    file.seek(0)
    return size


def _check_members(members: list[zipfile.ZipInfo], name: str) -> None:
    seen = set()
    for info in members:
        problem = _problem(info)
        if not problem and info.filename.casefold() in seen:
            problem = "appears twice"
        if problem:
            raise CorruptRecording(f"{name}: the member {info.orig_filename[:80]!r} {problem}")
        seen.add(info.filename.casefold())


def _problem(info: zipfile.ZipInfo) -> str:
    given = info.orig_filename
    parts = given.removesuffix("/").split("/")
    if "\0" in given or "\\" in given or ":" in given or any(part in {"", ".", ".."} for part in parts):
        return "has a path outside of the archive"
    if len(given) > 1024 or any(len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts):
        return "has a name that is too long"
    if any(_DEVICE.fullmatch(part) for part in parts) or not given.isprintable():
        return "has the name of a device, or one that cannot be printed"
    mode = info.external_attr >> 16
    if info.create_system == 3 and stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "is a link or a device"
    if info.compress_type not in _METHODS:
        return f"has an unsupported compression ({info.compress_type})"
    return ""


# -- HTTP bodies -------------------------------------------------------------------------------------------------


class _Step(Protocol):
    def __call__(self, data: bytes, most: int, /) -> bytes:
        """Unpack more data. May stop after `most` bytes; the caller refuses a longer output."""


def codings(encoding: str) -> list[str]:
    """Return the known codings of a Content-Encoding, in the order in which they were applied.

    Unknown ones are left out, as libraries for HTTP do.
    """
    given = (coding.strip() for coding in encoding.lower().split(","))
    return [coding for coding in given if coding in CODINGS]


@lru_cache
def can_unpack(coding: str) -> bool:
    """Return True if a coding can be unpacked with the installed libraries."""
    try:
        _step(coding)
    except LookupError:
        return coding == "identity"
    return True


class Unpacker:
    """Unpacks one body under a Content-Encoding, piece by piece.

    Args:
        encoding: `gzip`, `deflate`, `br` or `zstd`, or several of them with commas between.
        limit: Bytes that all of it may unpack to, in each coding.

    Raises:
        LookupError: No coding is known, there are too many, or the library of one is not installed.
    """

    def __init__(self, encoding: str, limit: int = BODY) -> None:
        found = codings(encoding)
        if not 1 <= len(found) <= _MOST_CODINGS:
            raise LookupError(encoding)
        made = [_step(coding) for coding in reversed(found)]
        self._steps = [step for step, _ in made]
        self._ends = [end for _, end in made]
        self._encoding = encoding
        self._limit = limit
        self._packed = 0
        self._unpacked = [0] * len(found)

    def at_end(self) -> bool:
        """Return True if the body may end here: each coding has come to its end, or has none."""
        return all(end() for end in self._ends)

    def decode(self, data: bytes) -> bytes:
        """Return a piece's part of the unpacked body. Raises TooLarge or the library's error."""
        self._packed += len(data)
        most = capacity(self._packed, self._limit)
        for number, step in enumerate(self._steps):
            if not data:
                break
            data = step(data, most - self._unpacked[number])
            self._unpacked[number] += len(data)
            if self._unpacked[number] > most:
                raise too_large(f"a {self._encoding[:80]} body", most)
        return data


def unpacked(data: bytes, encoding: str) -> bytes:
    """Return a whole body, unpacked. Raises LookupError, TooLarge or the library's error."""
    return Unpacker(encoding, BODY).decode(data)


class _Zlib:
    """Decode gzip with any number of members, and deflate with or without its header."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inner = zlib.decompressobj(bits)
        self._fresh = True

    def __call__(self, data: bytes, most: int) -> bytes:
        try:
            found = self._inner.decompress(data, most + 1)
        except zlib.error:
            if not self._fresh or self._bits != zlib.MAX_WBITS:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            found = self._inner.decompress(data, most + 1)
        self._fresh = False
        if not self._ended():
            return found
        # The rest after a member is copied. The slices are small, so that many small members cost linear time.
        rest, joined = self._next(), bytearray(found)
        for at in range(0, len(rest), _SLICE):
            piece = rest[at : at + _SLICE]
            while piece and len(joined) <= most:
                joined += self._inner.decompress(piece, most + 1 - len(joined))
                piece = self._next() if self._ended() else b""
        return bytes(joined)

    def at_end(self) -> bool:
        """Return True at the end of a member."""
        return bool(self._inner.eof)

    def _ended(self) -> bool:
        return bool(self._inner.eof and self._inner.unused_data and self._bits > zlib.MAX_WBITS)

    def _next(self) -> bytes:
        """Begin the next member; return what is left for it."""
        rest, self._inner = self._inner.unused_data, zlib.decompressobj(self._bits)
        return rest


def _sliced(step: Callable[[bytes], bytes]) -> _Step:
    """Feed a decoder without a limit in small pieces, so that each output stays small."""

    def fed(data: bytes, most: int) -> bytes:
        found = bytearray()
        for at in range(0, len(data), _SLICE):
            found += step(data[at : at + _SLICE])
            if len(found) > most:
                break
        return bytes(found)

    return fed


def _step(encoding: str) -> tuple[_Step, Callable[[], bool]]:
    """Return the decoder of a coding, and a function that tells if the data has ended."""
    if encoding in ("gzip", "x-gzip", "deflate"):
        coded = _Zlib(zlib.MAX_WBITS | (0 if encoding == "deflate" else 16))
        return coded, coded.at_end
    if encoding == "br":
        for brotli in optional("brotli", "brotlicffi"):
            decoder = brotli.Decompressor()
            return _brotli(decoder), getattr(decoder, "is_finished", lambda: True)
    if encoding == "zstd":
        for zstd in optional(ZSTD, "backports.zstd"):
            return _zstd(zstd.ZstdDecompressor())
        for zstandard in optional("zstandard"):
            frame = zstandard.ZstdDecompressor().decompressobj()
            return _sliced(frame.decompress), partial(getattr, frame, "eof", True)
    raise LookupError(encoding)


def _zstd(inner: Any) -> tuple[_Step, Callable[[], bool]]:
    return lambda data, most: bytes(inner.decompress(data, most + 1)), lambda: bool(inner.eof)


def _brotli(inner: Any) -> _Step:
    step = inner.process if hasattr(inner, "process") else inner.decompress
    if not hasattr(inner, "can_accept_more_data"):
        return _sliced(step)
    # Since 1.2 it has a limit.
    return lambda data, most: bytes(step(data, output_buffer_limit=most + 1))


ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
"""The module that unpacks Zstandard: Python's own where it has one."""


def optional(*names: str) -> Iterator[Any]:
    """Yield those of these optional modules that are installed."""
    for name in names:
        try:
            yield importlib.import_module(name)
        except ImportError:
            continue
