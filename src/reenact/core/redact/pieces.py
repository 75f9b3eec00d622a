"""A text that arrives in pieces, each to be written at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.core.patterns import compiled, lazy
from reenact.core.redact.replace import Replacer, merged
from reenact.core.redact.shapes import SHAPES
from reenact.core.redact.text import FoundSecret, boundary, name_behind
from reenact.core.redact.work import Work

_CONTEXT = 256  # how much of what was written is kept to recognise what follows
_MOST_HELD = 65536
_LITTLE = 1024  # bytes left out that are looked at again with each piece
_SPARE = 20480  # looks that a text may cost beyond those that each piece has
_A_PIECE = 16
_BLOCK = 65536
_RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+="
_BEGINNINGS = {
    s.prefix[:n].encode(): s.strict for s in SHAPES if not s.shown for n in range(2, len(s.prefix) + 1)
}
_LONGEST = max(map(len, _BEGINNINGS))
_OPEN_PASSWORD = lazy(rb"://[^\s/:@\"'\\?#<>]*+:([^\s/\"'\\?#<>]*+)\Z")
_OPEN_VALUE_BEHIND = lazy(
    rb"(?P<value>[^\s&\"'\\=:]{1,40})[ \t]{0,4}[:=][ \t]?(?P<name>[\w.\-]{1,80})(?P<before>.?)", re.DOTALL
)


class Pieces:
    """One text: what `feed` returns may be written at once, and `end` gives the rest.

    Where a piece ends within what may be a secret, that part is left out, and nothing else. The next piece
    decides: the token is written where the secret ends, or, if it was none, the text that was left out.
    """

    def __init__(self, replacer: Replacer) -> None:
        self.json = False
        self._replacer = replacer
        self._written = b""  # the end of what was passed on, as it was before redaction
        self._held = b""
        self._waiting: list[bytes] = []  # what has arrived since, while that is too little to be looked at
        self._size = 0  # of that
        self._least = 0  # how much of it is enough
        self._spare = _SPARE  # looks
        self._skip: re.Pattern[bytes] | None = None

    @property
    def pending(self) -> bool:
        """Return True if some text is held back."""
        return bool(self._held or self._waiting)

    def passes(self, data: bytes) -> bool:
        """Return True if a piece would be passed on as it is. It is not fed."""
        if self.pending or self._skip is not None or self._least:
            return False
        buffer, done = self._written + data, len(self._written)
        hits = self._replacer.hits(buffer, json_=self.json, work=Work(len(buffer)))
        return all(hit.end <= done for hit in hits) and self._open(buffer, hits) >= len(buffer)

    def feed(self, data: bytes) -> bytes:
        if self._skip is not None:
            found = self._skip.search(data)
            if found is None:
                return b""
            data, self._skip = data[found.start() :], None
        if not data:
            return b""
        if self._least:
            self._waiting.append(data)
            self._size += len(data)
            if self._size < self._least:
                return b""
            data = self._arrived()
        return self._feed(data)

    def _feed(self, data: bytes) -> bytes:
        buffer, done = self._written + self._held + data, len(self._written)
        hits = self._hits(buffer, len(buffer) - len(data))
        hold = self._open(buffer, hits)
        for hit in reversed(hits):
            hold = hit.start if hit.start < hold < hit.end else hold
        hold = max(done, hold)
        out = self._replacer.cover(buffer, hits, json_=self.json, start=done, end=hold)
        if len(buffer) - hold > _MOST_HELD:  # no secret is so long, but a value under a secret name may be
            quoted = bool(hits) and hits[-1].end == len(buffer)
            self._skip = compiled(rb"[\"']" if quoted else rb"[\s\"'&]")
            self._written, self._held = b"", b""
            self._least = self._enough()
            return out + self._replacer.token(buffer[hold:].decode("utf-8", "replace")).encode()
        self._written, self._held = buffer[max(0, hold - _CONTEXT) : hold], buffer[hold:]
        if self._held and any(hit.end == hold for hit in hits):
            # The held text follows a secret: its token is the context, or both would run into one secret.
            self._written = out[-_CONTEXT:]
        self._least = self._enough()
        return out

    def end(self, last: bytes = b"") -> bytes:
        if not self.pending and not last:
            return b""
        last = self._arrived() + last
        buffer, done = self._written + self._held + last, len(self._written)
        hits = self._hits(buffer, len(buffer) - len(last))
        self._written, self._held = b"", b""
        return self._replacer.cover(buffer, hits, json_=self.json, start=done)

    def _arrived(self) -> bytes:
        data = b"".join(self._waiting)
        self._waiting, self._size = [], 0
        return data

    def _enough(self) -> int:
        """Return the bytes that must arrive before the next look.

        So all looks together take linear time: a long held text must grow by a quarter, and a dense text comes in
        blocks.
        """
        if self._spare < 0:
            return _BLOCK
        return len(self._held) // 4 if len(self._held) > _LITTLE else 0

    def _hits(self, buffer: bytes, seam: int) -> list[FoundSecret]:
        """Return the secrets of the buffer, those at the seam of two pieces included.

        Two secrets that follow each other in two pieces run together, and neither would be found any more.
        """
        hits = self._look(buffer)
        across = any(hit.start < seam < hit.end for hit in hits)
        if seam == len(buffer) or not (self._held or across):
            return hits
        before = self._look(buffer[:seam])
        after = [h._replace(start=h.start + seam, end=h.end + seam) for h in self._look(buffer[seam:])]
        if before and after and before[-1].end == seam == after[0].start:
            hits = [h for h in hits if not h.start < seam < h.end]
        return merged(buffer, [*hits, *before, *after])

    def _look(self, buffer: bytes) -> list[FoundSecret]:
        work = Work(len(buffer), least=max(0, self._spare))
        before = work.left
        hits = self._replacer.hits(buffer, json_=self.json, work=work)
        # A text that was too dense has more left than it began with.
        self._spare = (
            -1 if work.left > before else min(_SPARE, int(self._spare + _A_PIECE + work.left - before))
        )
        return hits

    def _open(self, buffer: bytes, hits: list[FoundSecret]) -> int:
        """Return the start of an unfinished secret at the buffer's end, or that end."""
        end = len(buffer)
        # Only a known value can go on across a quote.
        first = end if buffer.endswith(b'"}') and not hits else self._open_in_text(buffer, hits)
        return min([first, *self._open_known(buffer)])

    def _open_in_text(self, buffer: bytes, hits: list[FoundSecret]) -> int:
        end = len(buffer)
        found = [end, *_open_shapes(buffer)]
        if hits and hits[-1].end == end and not hits[-1].whole:
            found.append(hits[-1].start)
        value = _OPEN_VALUE_BEHIND.match(buffer[-200:][::-1])
        if value and self._replacer.names.kind(name_behind(value)):
            found.append(end - len(value["value"]))
        scheme = buffer.rfind(b"://", -600)
        password = _OPEN_PASSWORD.match(buffer, scheme) if scheme >= 0 else None
        if password:
            found.append(password.start(1))
        pem = buffer.rfind(b"-----BEGIN", -48)
        if pem >= 0 and b"-----" not in buffer[pem + 10 :]:
            found.append(pem)
        return min(found)

    def _open_known(self, buffer: bytes) -> Iterator[int]:
        for known in self._replacer.known:
            for first, spellings in known.by_first.items():
                at = buffer.find(first, max(0, len(buffer) - len(spellings[0]) + 1))
                while at >= 0:
                    if any(spelling.startswith(buffer[at:]) for spelling in spellings):
                        yield at
                        break
                    at = buffer.find(first, at + 1)


def _open_shapes(buffer: bytes) -> Iterator[int]:
    end = len(buffer)
    run = end - len(buffer[-4096:]) + len(buffer[-4096:].rstrip(_RUN))
    if buffer[max(0, run - 7) : run].rstrip(b" \t").lower().endswith((b"bearer", b"basic")):
        yield run
    if run == end:
        return
    for shape in SHAPES:
        prefix = shape.prefix.encode()
        at = buffer.find(prefix, run)
        while at >= 0:
            if boundary(buffer, at, strict=shape.strict) and shape.unfinished.fullmatch(buffer, at):
                yield at + shape.shown
                break
            at = buffer.find(prefix, at + 1)
    for length in range(2, min(_LONGEST, end - run) + 1):
        strict = _BEGINNINGS.get(buffer[end - length :])
        if strict is not None and boundary(buffer, end - length, strict=strict):
            yield end - length
