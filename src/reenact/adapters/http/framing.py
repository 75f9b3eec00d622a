"""Take HTTP/1.1 bodies of `http.client` out of their framing, and frame them again.

`http.client` and urllib3 read a response from a file. While recording, that file is a `ResponseTee`, which records the
body as it is read; in a replay, it is a `Served`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from reenact.adapters.http import coding, exchange
from reenact.core.boundary import Call

_BODILESS = (204, 304)


class Unframed:
    """Takes a body out of its framing: chunked, of a given length, or up to the end."""

    def __init__(self, *, chunked: bool, length: int | None) -> None:
        self._chunked = chunked
        self._left = 0 if chunked else length
        self._line = b""
        self._state = "size" if chunked else "data"
        self._done = not chunked and length == 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the parts of the body in these bytes of the response."""
        if not self._chunked:
            if self._left is not None:
                self._left -= len(data)
                self._done = self._left <= 0
            return [data] if data else []
        found = []
        while data and not self._done:
            if self._state == "data":
                assert self._left is not None
                part, data = data[: self._left], data[self._left :]
                self._left -= len(part)
                found.append(part)
                if not self._left:
                    self._state = "end"
            else:
                data = self._framing(data)
        return found

    def _framing(self, data: bytes) -> bytes:
        line, newline, data = data.partition(b"\n")
        self._line += line + newline
        if not newline:
            return data
        line, self._line = self._line.strip(), b""
        if self._state == "size":
            try:
                self._left = int(line.split(b";")[0], 16)
            except ValueError:
                # The reader will raise the error: there is no body.
                self._done = True
                return b""
            self._state = "data" if self._left else "trailer"
        elif self._state == "end":
            self._state = "size"
        elif not line:
            self._done = True
        return data

    def is_done(self) -> bool:
        """True if the body has ended."""
        return self._done

    def at_trailer(self) -> bool:
        """True if only a trailer can follow."""
        return self._state == "trailer"

    def close(self) -> None:
        """Take no more: the end of the body is reported."""
        self._done = True

    def cut_off(self) -> exchange.Truncated | None:
        """Return the error for an end of the file here; None if the body may end so."""
        if self._chunked or (self._left is not None and self._left > 0):
            return exchange.Truncated(self._left or 0)
        return None


class ResponseTee:
    """The file of a live response, which records all that is read from it."""

    def __init__(self, fp: Any, call: Call, body: Unframed) -> None:
        self._fp = fp
        self._call = call
        self._body = body

    def read(self, amount: int | None = -1) -> bytes:
        wanted = -1 if amount is None else amount
        data: bytes = self._read(lambda: self._fp.read(wanted))
        self._saw(data, end=wanted < 0 or len(data) < wanted)
        return data

    def read1(self, amount: int = -1) -> bytes:
        data: bytes = self._read(lambda: self._fp.read1(amount))
        self._saw(data, end=not data and amount != 0)
        return data

    def readinto(self, buffer: Any) -> int:
        count: int = self._read(lambda: self._fp.readinto(buffer))
        self._saw(bytes(memoryview(buffer)[:count]), end=count < len(buffer))
        return count

    def readline(self, limit: int = -1) -> bytes:
        data: bytes = self._read(lambda: self._fp.readline(limit))
        self._saw(data, end=not data and limit != 0)
        return data

    def close(self) -> None:
        self._call.close()
        self._fp.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fp, name)

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as error:
            self._call.over(error)
            raise

    def _saw(self, data: bytes, *, end: bool) -> None:
        if self._body.is_done():
            return
        for part in self._body.feed(data):
            self._call.chunk(part)
        wire = coding.coding_of(self._call)
        # A decoder that finds the body incomplete reads no trailer.
        done = self._body.is_done() or (self._body.at_trailer() and wire.incomplete())
        broken = None if done else self._body.cut_off()
        if broken is None and (done or end):
            for mark in wire.mark():
                self._call.chunk(mark)
            self._body.close()
            self._call.over()
        elif end:
            self._call.over(broken)


class Served(io.RawIOBase):
    """The file of a recorded response: status line, headers and the framed body."""

    def __init__(self, call: Call, head: Any, method: str) -> None:
        super().__init__()
        self._call = call
        self._wire = _wire(call, head, method)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._wire, None)
            if part is None:
                return 0
            self._rest = part
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        if not self._rest and self._at_end():
            # A reader that knows the length does not read on: the end has its turn nevertheless.
            self._rest = next(self._wire, b"")
        return count

    def _at_end(self) -> bool:
        answer = self._call.answer
        return (
            answer is not None
            and answer.end == "ended"
            and 0 < len(answer.pieces) == self._call.recorded.served
        )


class StandIn:
    """Replaces a socket: a replay has none."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file

    def makefile(self, *_args: Any, **_options: Any) -> io.BufferedReader:
        return io.BufferedReader(self._file)

    def settimeout(self, timeout: float | None) -> None: ...

    def shutdown(self, how: int) -> None: ...

    def close(self) -> None: ...


def is_chunked(head: Any) -> bool:
    """Return True if a recorded head announces a chunked body."""
    return any(
        key.lower() == "transfer-encoding" and value.lower() == "chunked" for key, value in head["headers"]
    )


def length_again(call: Call, head: Any) -> int | None:
    """Return the length of a body in this replay, which compression or redaction may change.

    None if it is unknown, or does not matter.
    """
    answer = call.answer
    if answer is None or is_chunked(head):
        return None
    wire = coding.Coding()
    wire.load(head)
    length = sum(len(wire.load(piece.value)) for piece in answer.pieces) + len(wire.finish())
    if answer.end == "ended":
        return length
    if isinstance(answer.end, exchange.Truncated):
        return length + answer.end.left
    return length + 1 if head.get("decoded") else None


def _wire(call: Call, head: Any, method: str) -> Iterator[bytes]:
    lines = [f"{head['version']} {head['status']} {head['reason'] or ''}".rstrip()]
    lines += [f"{key}: {' '.join(value.splitlines())}" for key, value in head["headers"]]
    yield ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    if method == "HEAD" or head["status"] in _BODILESS:
        return
    chunked, answer = is_chunked(head), call.answer
    assert answer is not None
    cut_off = answer.end if isinstance(answer.end, exchange.Truncated) else None
    last = len(answer.pieces) - 1
    try:
        for index, part in enumerate(exchange.served(call)):
            if not chunked:
                yield part
            elif cut_off is not None and cut_off.left and index == last:
                yield b"%x\r\n%b" % (len(part) + cut_off.left, part)
            elif part:
                yield b"%x\r\n%b\r\n" % (len(part), part)
    except exchange.Truncated:
        return
    if chunked:
        yield b"0\r\n\r\n"
