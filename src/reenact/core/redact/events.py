"""Events of a model's stream, each with a few characters: a secret may be spelled over many."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
from reenact.core.redact.pieces import Pieces
from reenact.core.redact.replace import Replacer

_TEXT = (
    rb'"(content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|input|refusal'
    rb'|completion|response|generated_text|transcript)"\s*:\s*"'
)
_BEGUN = lazy(_TEXT)
_INSIDE = lazy(rb'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+')
_DELTA = lazy(_TEXT + rb'((?:[^"\\]++|\\.)*+)"')
_MORE = lazy(rb'"(?:done|is_finished|finished)"\s*:\s*false')
INDEX = lazy(rb'"(?:index|output_index|content_index|item_id)"\s*:\s*("[^"]*"|\d+)')
_FIELD = lazy(rb"\s*(?:data|event|id|retry):")

_MOST_CHANNELS = 256
_MOST_HELD = 65536
_MOST_LOOKED = 1024  # bytes of an unfinished text that are looked at with each chunk
_FEW = 8
_NAME = 64  # bytes in which the name of a text stands

_Key = tuple[bytes, ...]
"""A channel: the field with the text, and the indices that stand in its events."""


def may_be_events(data: bytes) -> bool:
    """Return True if these bytes may be a part of the name of an event's first field."""
    begun = data.lstrip()
    return any(field.startswith(begun) for field in (b"data:", b"event:", b"id:", b"retry:"))


def is_events(data: bytes) -> bool:
    """Return True if a body with this beginning consists of events or of lines of JSON."""
    return data.lstrip()[:1] in {b"{", b":"} or _FIELD.match(data) is not None


@dataclass(slots=True)
class _StreamChannel:
    """The texts of one field, at one index."""

    pieces: Pieces
    event: bytes = b""  # the last one
    start: int = 0  # of the text in it
    end: int = 0


class _CutLine:
    """The beginning of a line whose end has not come yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.out = 0
        """The number of its bytes that were passed on."""
        self.whole = False
        """True if everything is passed on: its text is longer than any secret."""
        self._seen = 0
        self._text = -1
        """The beginning of a text that has not ended, or may not be passed on; -1 if there is none."""

    def add(self, part: bytes, passes: Callable[[bytes], bool] | None) -> bytes:
        """Add a part; return the bytes that may be passed on now.

        Args:
            part: The part.
            passes: Returns True for a text in which no secret begins or goes on; None if the line is no event.
        """
        self.data += part
        until = len(self.data) if passes is None or self.whole else self._until(passes)
        if until - self.out == 0 and len(self.data) - self.out > _MOST_HELD:
            self.whole, until = True, len(self.data)
        passed = bytes(self.data[self.out : until])
        self.out = until
        return passed

    def _until(self, passes: Callable[[bytes], bool]) -> int:
        """Return the number of bytes before the first text that may not be passed on."""
        while True:
            if self._text < 0:
                begun = _BEGUN.search(self.data, max(self._seen - _NAME, self.out - _NAME, 0))
                if begun is None or begun.end() <= self._seen:
                    self._seen = len(self.data)
                    return self._seen
                self._seen = self._text = begun.end()
            inside = _INSIDE.match(self.data, self._text, self._text + _MOST_LOOKED + 1)
            end = self._text if inside is None else inside.end()
            if end - self._text > _MOST_LOOKED:
                return max(self.out, self._text)
            text = _plain(bytes(self.data[self._text : end]))
            if text is None or not passes(text):
                return max(self.out, self._text)
            if self.data[end : end + 1] != b'"':
                return max(self.out, end)
            self._seen, self._text = end, -1


class Events:
    """Follows the texts over the events.

    The texts of each channel go through `Pieces` of their own. What those hold back appears in the channel's
    next event; and where none follows, in a copy of its last event, put before the event that ends it. Of an event that
    the chunks cut, a text in which a secret may begin or go on is left out until the event's end.
    """

    def __init__(self, replacer: Replacer) -> None:
        self._replacer = replacer
        self._channels: dict[_Key, _StreamChannel] = {}
        self._cut = _CutLine()
        self._begun = False
        self._event = b""  # the last "event:" line

    def chunk(self, data: bytes) -> bytes:
        out = []
        one = b"\n" not in data and b"\r" not in data
        for line in (data,) if one else data.splitlines(keepends=True):
            cut = self._cut
            begins = bytes(cut.data[:5] + line[:5])[:5]
            # An event's newline may come with the next chunk; but what ends in "}" may also be a part of a document.
            ready = line.endswith((b"\n", b"\r")) or (begins[:1] != b"{" and line.rstrip().endswith(b"}"))
            if not ready and b"event".startswith(begins) and self._pending:
                # What is held back may have to be written before it.
                cut.data += line
            elif not ready:
                out.append(cut.add(line, self._passes if self._may_be_event(begins) else None))
            else:
                self._cut = _CutLine()
                out.append(self._line(bytes(cut.data) + line, cut))
        return b"".join(out)

    def end(self) -> bytes:
        cut, self._cut = self._cut, _CutLine()
        held = self._line(bytes(cut.data), cut) if cut.out < len(cut.data) else b""
        return held + self._flush_all()

    @property
    def _pending(self) -> bool:
        return any(channel.pieces.pending for channel in self._channels.values())

    def _may_be_event(self, begins: bytes) -> bool:
        return begins == b"data:" or (self._begun and begins[:1] == b"{")

    def _passes(self, text: bytes) -> bool:
        """Return True if no secret begins or goes on in a text, of whatever channel it is."""
        channels = [*self._channels.values()]
        if len(channels) > _FEW:
            return False
        return all(each.passes(text) for each in (Pieces(self._replacer), *(one.pieces for one in channels)))

    def _flush_all(self) -> bytes:
        return b"".join(map(_flush, self._channels.values()))

    def _line(self, line: bytes, cut: _CutLine) -> bytes:
        """Return the rest of a complete line, a part of which is already written."""
        out = cut.out
        if line.startswith(b"event:"):
            # Of its end, `\r\n`, a part may come with the next chunk.
            ended = bool(self._event) and self._event.rstrip() != line.rstrip()
            self._event = line
            return (self._flush_all() if ended else b"") + line[out:]
        if not line.startswith(b"data:") and not self._is_one_of_many(line):
            return line[out:]
        index = tuple(INDEX.findall(line))
        pieces, at = [], out
        seen: set[_Key] = set()
        for delta in _DELTA.finditer(line):
            key = (delta[1], *index)
            if (delta.start(2) >= out or not cut.whole) and key not in seen:
                seen.add(key)
                pieces += [line[at : max(at, delta.start(2))], self._delta(key, line, delta, out)]
                at = max(out, delta.end(2))
        ended = not out and not (seen and self._event)
        before = self._flush_others(index, seen) if ended else b""
        while len(self._channels) > _MOST_CHANNELS:
            before = _flush(self._channels.pop(next(iter(self._channels)))) + before
        return before + b"".join(pieces) + line[at:]

    def _is_one_of_many(self, line: bytes) -> bool:
        """Return False for a first line of JSON that announces no further lines.

        It is a whole document: a text held back from it could not be put anywhere.
        """
        if not line.startswith(b"{"):
            return False
        first, self._begun = not self._begun, True
        return not first or _MORE.search(line) is not None

    def _delta(self, key: _Key, line: bytes, delta: re.Match[bytes], out: int) -> bytes:
        """Return the rest of a text, of which a part is written already, without secrets."""
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = _StreamChannel(Pieces(self._replacer))
        channel.event = self._event + line
        channel.start, channel.end = (len(self._event) + at for at in delta.span(2))
        written = delta[2][: max(0, out - delta.start(2))]
        begun, text = _plain(written), _plain(delta[2])
        if begun is None or text is None:
            return delta[2][len(written) :]
        # Fed as two pieces, as the written part has passed already.
        channel.pieces.feed(begun)
        rest = text[len(begun) :]
        given = channel.pieces.feed(rest)
        return delta[2][len(written) :] if given == rest else escaped(given)

    def _flush_others(self, index: _Key, seen: set[_Key]) -> bytes:
        """Return the text held back by those channels that have no text in this event."""
        return b"".join(
            _flush(channel)
            for key, channel in self._channels.items()
            if key not in seen and (not index or key[1:] == index)
        )


def _flush(channel: _StreamChannel) -> bytes:
    if not channel.pieces.pending:
        return b""
    event = channel.event
    last = event[: channel.start] + escaped(channel.pieces.end()) + event[channel.end :]
    return last if last.startswith(b"{") else last.rstrip(b"\r\n") + b"\n\n"


def _plain(data: bytes) -> bytes | None:
    """Return the text of a JSON string's inside, or None if it is not valid."""
    try:
        text: str = json.loads(b'"' + data + b'"')
        return text.encode()
    except (ValueError, UnicodeEncodeError):
        return None


def escaped(text: bytes) -> bytes:
    """Return a text as the inside of a JSON string."""
    return json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()
