"""Events of a model's stream, each with a few characters: a secret may be spelled over many."""

from __future__ import annotations

import json
import re

from reenact.core.dataclass import dataclass
from reenact.core.patterns import lazy
from reenact.core.redact.pieces import Pieces
from reenact.core.redact.replace import Replacer

_DELTA = lazy(
    rb'"(content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|input|refusal'
    rb'|completion|response|generated_text|transcript)"\s*:\s*"((?:[^"\\]++|\\.)*+)"'
)
_MORE = lazy(rb'"(?:done|is_finished|finished)"\s*:\s*false')
INDEX = lazy(rb'"(?:index|output_index|content_index|item_id)"\s*:\s*("[^"]*"|\d+)')
_FIELD = lazy(rb"\s*(?:data|event|id|retry):")

_MOST_CHANNELS = 256

_Key = tuple[bytes, ...]
"""A channel: the field with the text, and the indices that stand in its events."""


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


class Events:
    """Follows the texts over the events.

    The texts of each channel go through `Pieces` of their own. What those hold back appears in the channel's
    next event; and where none follows, in a copy of its last event, put before the event that ends it.
    """

    def __init__(self, replacer: Replacer) -> None:
        self._replacer = replacer
        self._channels: dict[_Key, _StreamChannel] = {}
        self._parts: list[bytes] = []  # the beginning of a line that the chunks cut; it is out already
        self._begun = False
        self._event = b""  # the last "event:" line

    def chunk(self, data: bytes) -> bytes:
        out = []
        one = b"\n" not in data and b"\r" not in data
        for line in (data,) if one else data.splitlines(keepends=True):
            begins = self._parts[0][:1] if self._parts else line[:1]
            # An event's newline may come with the next chunk; but what ends in "}" may also be a part of a document.
            ready = line.endswith((b"\n", b"\r")) or (begins != b"{" and line.rstrip().endswith(b"}"))
            if not ready:
                self._parts.append(line)
                out.append(line)
                continue
            part = b"".join(self._parts)
            self._parts = []
            out.append(self._line(part + line, len(part)))
        return b"".join(out)

    def end(self) -> bytes:
        return b"".join(map(_flush, self._channels.values()))

    def _line(self, line: bytes, out: int) -> bytes:
        """A complete line, of which `out` bytes are written already."""
        if line.startswith(b"event:"):
            ended = self._event not in {b"", line}
            self._event = line
            return (self.end() if ended else b"") + line[out:]
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
