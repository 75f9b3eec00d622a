"""Events of a model's stream, each with a few characters: a secret may be spelled over many."""

from __future__ import annotations

import json
import re

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
from reenact.core.redact.pieces import Pieces
from reenact.core.redact.replace import Replacer

_TEXT = (
    rb'"(content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|input|refusal'
    rb'|completion|response|generated_text|transcript)"\s*:\s*"'
)
_BEGUN = lazy(_TEXT)
_DELTA = lazy(_TEXT + rb'((?:[^"\\]++|\\.)*+)"')
_MORE = lazy(rb'"(?:done|is_finished|finished)"\s*:\s*false')
INDEX = lazy(rb'"(?:index|output_index|content_index|item_id)"\s*:\s*("[^"]*"|\d+)')
_FIELD = lazy(rb"\s*(?:data|event|id|retry):")

_MOST_CHANNELS = 256
_MOST_HELD = 65536
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
        self.parts: list[bytes] = []
        self.head = b""
        self.size = self.out = 0
        """The number of its bytes, and that of those which were passed on."""
        self._holds = False
        self._end = b""

    def add(self, part: bytes, *, one_of_many: bool) -> bytes:
        """Add a part; return what may be passed on: the bytes before the first text."""
        self.parts.append(part)
        self.size += len(part)
        self.head = (self.head + part)[:5]
        if not self._holds and (self.head == b"data:" or (one_of_many and self.head[:1] == b"{")):
            near = self._end + part
            if begun := _BEGUN.search(near):
                self._holds = True
                passed = begun.end() - len(self._end)
                self.out += passed
                return part[:passed]
            self._end = near[-_NAME:]
        if not self._holds:
            self.out = self.size
            return part
        if self.size - self.out > _MOST_HELD:
            # A picture, or another text that no secret is as long as.
            held, self.out = b"".join(self.parts)[self.out :], self.size
            return held
        return b""


class Events:
    """Follows the texts over the events.

    The texts of each channel go through `Pieces` of their own. What those hold back appears in the channel's
    next event; and where none follows, in a copy of its last event, put before the event that ends it. Of an event that
    the chunks cut, the part from its first text on is left out until the next chunk.
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
            begins = (cut.head or line)[:1]
            # An event's newline may come with the next chunk; but what ends in "}" may also be a part of a document.
            ready = line.endswith((b"\n", b"\r")) or (begins != b"{" and line.rstrip().endswith(b"}"))
            if not ready:
                out.append(cut.add(line, one_of_many=self._begun))
                continue
            self._cut = _CutLine()
            out.append(self._line(b"".join(cut.parts) + line, cut.out))
        return b"".join(out)

    def end(self) -> bytes:
        cut, self._cut = self._cut, _CutLine()
        held = b"".join(cut.parts) if cut.out < cut.size else b""
        return (self._line(held, cut.out) if held else b"") + self._flush_all()

    def _flush_all(self) -> bytes:
        return b"".join(map(_flush, self._channels.values()))

    def _line(self, line: bytes, out: int) -> bytes:
        """A complete line, of which `out` bytes are written already."""
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
            if delta.start(2) >= out and key not in seen:
                seen.add(key)
                pieces += [line[at : delta.start(2)], self._delta(key, line, delta)]
                at = delta.end(2)
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

    def _delta(self, key: _Key, line: bytes, delta: re.Match[bytes]) -> bytes:
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = _StreamChannel(Pieces(self._replacer))
        channel.event = self._event + line
        channel.start, channel.end = (len(self._event) + at for at in delta.span(2))
        try:
            text = json.loads(b'"' + delta[2] + b'"').encode()
        except (ValueError, UnicodeEncodeError):
            return delta[2]
        given = channel.pieces.feed(text)
        return delta[2] if given == text else escaped(given)

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


def escaped(text: bytes) -> bytes:
    """Return a text as the inside of a JSON string."""
    return json.dumps(text.decode("utf-8", "replace"), ensure_ascii=False)[1:-1].encode()
