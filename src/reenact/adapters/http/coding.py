"""Record compressed bodies decompressed: a search for secrets cannot read gzip.

For each chunk, the bytes that it adds to the decompressed body are recorded. In a replay they are compressed again and
flushed, so that the library's own decoder runs, and gives the program the same bytes for each chunk. The compressed
bytes differ from those that the server sent.

A compressed body that was cut short, though its framing was whole, is marked by an empty raw chunk at its end: a
replay does not complete it, so that the library finds it incomplete again.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol

from reenact.core import unpack
from reenact.core.boundary import Call
from reenact.core.store.writer import warn
from reenact.core.unpack import ZSTD, optional
from reenact.errors import TooLarge

_BY_LIBRARIES = ("gzip", "deflate", "br", "zstd")


class _CutOff(bytes):
    __slots__ = ()


CUT_OFF = _CutOff()
"""The chunk after the last one of a compressed body that was cut short."""


class _Encoder(Protocol):
    def encode(self, data: bytes) -> bytes: ...

    def finish(self) -> bytes: ...


class Coding:
    """The wire of an exchange: heads are marked `decoded` if chunks are recorded decompressed.

    Args:
        decodes: False where the library hands over bytes that it has decompressed already.
    """

    def __init__(self, *, decodes: bool = True) -> None:
        self._decodes = decodes
        self._decoder: unpack.Unpacker | None = None
        self._encoder: _Encoder | None = None
        self._begun = False
        self._fed = False
        self._broken = False
        self._over = False

    def dump(self, value: Any, /) -> Any:
        """Return the recordable form of a head or a chunk."""
        if not isinstance(value, bytes):
            return self._dump_head(value)
        if value is CUT_OFF:
            return {"raw": b""}
        if self._over:
            return b""
        if self._broken:
            return {"raw": value}
        if self._decoder is None:
            return value
        self._fed |= bool(value)
        try:
            return self._decoder.decode(value)
        except TooLarge as error:
            # The compressed bytes are not kept: they were not searched for secrets.
            warn(f"{error}: the rest of it is not recorded")
            self._over = True
            return b""
        except Exception:
            # The library will raise the same error; in a replay it gets the same bytes.
            self._broken = True
            return {"raw": value}

    def load(self, value: Any, /) -> Any:
        """Rebuild the head or chunk."""
        if isinstance(value, bytes):
            self._begun = True
            return value if self._encoder is None else self._encoder.encode(value)
        if "raw" in value:
            # What follows was no body of that encoding, and has no end of one.
            encoder, self._encoder = self._encoder, None
            if not value["raw"] and encoder is not None:
                # Cut short: the end without its last byte decodes to nothing more, and is incomplete.
                return encoder.finish()[:-1]
            return value["raw"]
        encoding = value.get("decoded", "")
        self._encoder = None if self._given_plain(encoding) else _encoder(encoding)
        return value

    def incomplete(self) -> bool:
        """Return True if the compressed data has not come to its end, so far as it was recorded."""
        readable = not (self._over or self._broken)
        return readable and self._decoder is not None and not self._decoder.at_end()

    def mark(self) -> list[bytes]:
        """Return the mark of a body that ends here and was cut short; nothing for another one."""
        return [CUT_OFF] if self._fed and self.incomplete() else []

    def marked(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield a live body's parts, and the mark if it was cut short."""
        yield from parts
        yield from self.mark()

    async def amarked(self, parts: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """`marked` for an awaited body."""
        async for part in parts:
            yield part
        for part in self.mark():
            yield part

    def finish(self) -> bytes:
        """Return the end of the compressed body, after its last chunk; nothing if it had none."""
        encoder, self._encoder = self._encoder, None
        return encoder.finish() if encoder is not None and self._begun else b""

    def _given_plain(self, encoding: str) -> bool:
        """Return True if the library has decompressed such a body itself.

        None does with several codings, or with an old name.
        """
        return not self._decodes and encoding in _BY_LIBRARIES

    def _dump_head(self, head: Any) -> Any:
        encoding = encoding_of(head["headers"])
        if not encoding:
            return head
        if self._given_plain(encoding):
            return {**head, "decoded": encoding}
        self._decoder = _decoder(encoding)
        return {**head, "decoded": encoding} if self._decoder is not None else head


def coding_of(call: Call) -> Coding:
    """Return the wire of an HTTP exchange."""
    assert isinstance(call.wire, Coding)
    return call.wire


def encoding_of(headers: list[list[str]]) -> str:
    """Return the content encoding of a recorded head, empty without one."""
    found = ",".join(value for key, value in headers if key.lower() == "content-encoding").strip().lower()
    return "" if found == "identity" else found


def decoded(data: bytes, encoding: str) -> bytes:
    """Return a whole body decompressed; unchanged if that fails."""
    decoder = _decoder(encoding.strip().lower())
    if decoder is None:
        return data
    try:
        return decoder.decode(data)
    except Exception:
        return data


class _Deflating:
    def __init__(self, bits: int) -> None:
        self._inner = zlib.compressobj(1, zlib.DEFLATED, bits)

    def encode(self, data: bytes) -> bytes:
        return self._inner.compress(data) + self._inner.flush(zlib.Z_SYNC_FLUSH) if data else b""

    def finish(self) -> bytes:
        return self._inner.flush(zlib.Z_FINISH)


class _Functions:
    """An encoder made of a library's functions."""

    def __init__(
        self,
        step: Callable[[bytes], bytes],
        finish: Callable[[], bytes] = bytes,
        flush: Callable[[], bytes] = bytes,
    ) -> None:
        self._step, self._flush, self.finish = step, flush, finish

    def encode(self, data: bytes) -> bytes:
        return self._step(data) + self._flush() if data else b""


def _decoder(encoding: str) -> unpack.Unpacker | None:
    try:
        return unpack.Unpacker(encoding)
    except LookupError:
        # An unknown encoding: recorded as it comes. The library that asked for it can read it.
        return None


class _Codings:
    """Several encoders, each of which takes the bytes of the one before."""

    def __init__(self, encoders: list[_Encoder]) -> None:
        self._encoders = encoders

    def encode(self, data: bytes) -> bytes:
        for encoder in self._encoders:
            data = encoder.encode(data)
        return data

    def finish(self) -> bytes:
        data = b""
        for encoder in self._encoders:
            data = encoder.encode(data) + encoder.finish()
        return data


def _encoder(encoding: str) -> _Encoder | None:
    given = unpack.codings(encoding) or [encoding]
    encoders = [encoder for coding in given if (encoder := _encoder_of(coding)) is not None]
    return encoders[0] if len(encoders) == 1 else _Codings(encoders) if encoders else None


def _encoder_of(encoding: str) -> _Encoder | None:
    if encoding in ("gzip", "x-gzip"):
        return _Deflating(zlib.MAX_WBITS | 16)
    if encoding == "deflate":
        return _Deflating(zlib.MAX_WBITS)
    if encoding == "br":
        for brotli in optional("brotli", "brotlicffi"):
            br = brotli.Compressor(quality=1)
            return _Functions(br.process if hasattr(br, "process") else br.compress, br.finish, br.flush)
    if encoding == "zstd":
        for zstd in optional(ZSTD, "backports.zstd"):
            inner = zstd.ZstdCompressor(level=1)
            return _Functions(inner.compress, inner.flush, partial(inner.flush, mode=inner.FLUSH_BLOCK))
        for zstandard in optional("zstandard"):
            obj = zstandard.ZstdCompressor(level=1).compressobj()
            return _Functions(obj.compress, obj.flush, partial(obj.flush, zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    if encoding:
        raise ImportError(
            f"a {encoding} body was recorded decompressed, and the library for {encoding} is gone"
        )
    return None
