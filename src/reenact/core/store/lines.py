"""Read the lines of a recording's files: the one place that checks them.

Each line's sum must fit (see `chain`), and each must be a valid event (see `model.schema`). Later readers may rely on
the members' types.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from reenact.core.model import schema, session_schema
from reenact.core.model.event import FORMAT, Event
from reenact.core.model.references import References
from reenact.core.store import chain
from reenact.errors import CorruptRecording, FutureFormat, NotARecording


def read_events(data: bytes, where: str, torn: list[str], *, of: str = "") -> Iterator[Event]:
    """Yield the events of one process's file.

    A torn last line is left out and reported in `torn`.

    Args:
        data: The file's bytes, the parent's lines of a fork put in.
        where: The file's name, for messages.
        torn: Gets a sentence if the last line is left out.
        of: The id of the recording that the file must belong to; empty for any.

    Raises NotARecording, FutureFormat, or CorruptRecording naming the line.
    """
    reader = Reader(where, of)
    lines = data.split(b"\n")
    last = lines.pop()
    for line in lines:
        event = reader.take(line)
        if event is not None:
            yield event
    if last:
        # A kill in the middle of a write: all lines before it are complete.
        if reader.fits(last):
            event = reader.take(last)
            if event is not None:
                yield event
        else:
            torn.append(f"the last line was torn ({len(last)} bytes) and is left out")


class Reader:
    """Check the lines of one process's file, one after the other.

    Args:
        where: The file's name, for messages.
        of: The id of the recording that the file must belong to (from format 2 on); empty for any.
    """

    _first, _last = "opened", "sealed"

    def __init__(self, where: str, of: str = "") -> None:
        self._where = where
        self._of = of
        self._number = 0
        self._sum = chain.FIRST
        self._chained = True
        self._ended = False
        self._references = References()

    def take(self, line: bytes) -> Event | None:
        """Return the event of the next line, without its newline.

        None for an empty line of format 1.

        Raises NotARecording or FutureFormat for an invalid first line, else CorruptRecording.
        """
        self._number += 1
        data = event_of(line)
        if self._number == 1:
            self._begin(line, data)
        elif not line and not self._chained:
            return None
        before, signed = self._sum, ""
        try:
            if self._chained:
                self._sum = _checked(before, line)
            if data is None:
                raise schema.Unfit("it is no event")
            kind = data["event"]
            if len(line) > 2 * schema.DEEPEST and schema.too_deep(line, data):
                raise schema.Unfit(f"it is nested more than {schema.DEEPEST} levels deep")
            if kind == self._first or self._ended:
                self._check_place(kind)
            if self._chained:
                if kind == "sealed":
                    signed = _signed(before, line, data)
                data.pop("sum", None)
            self._check_members(kind, data)
            if kind == self._last:
                self._ended = True
        except schema.Unfit as problem:
            raise CorruptRecording(
                f"{self._where}, line {self._number}: damaged: {problem}; {self._remedy()}"
            ) from None
        return Event(kind, data, self._number, signed)

    def fits(self, line: bytes) -> bool:
        """Return True if a last line without a newline is complete."""
        if event_of(line) is None:
            return False
        if self._number == 0 or not self._chained:
            return True
        return chain.stated(line) == chain.sum_of(self._sum, line[: -chain.LENGTH])

    def _remedy(self) -> str:
        """Return the commands that keep the whole lines.

        An exported file (`NAME:events.jsonl`) is unpacked first.
        """
        file, inside, _ = self._where.rpartition(":")
        if not inside or Path(self._where).exists():
            return (
                f"`reenact export {shlex.quote(str(Path(self._where).parent))} --salvage` keeps what is whole"
            )
        return f"`unzip {shlex.quote(file)} -d unpacked`, then `reenact export unpacked --salvage` keeps what is whole"

    def _begin(self, header: bytes, data: dict[str, Any] | None) -> None:
        if data is None:
            raise NotARecording(
                f"{self._where} is no recording: its first line is no event; `reenact import` reads other formats"
            )
        version = data.get("format")
        if data.get("event") != self._first or type(version) is not int:
            raise NotARecording(
                f"{self._where} is no recording: it does not begin with a header; "
                "`reenact import` reads other formats"
            )
        if version > FORMAT:
            raise FutureFormat(
                f"{self._where} is in format {version}, and this Reenact reads up to {FORMAT}: "
                "upgrade with `pip install -U reenact`"
            )
        # A header of format 1 with a sum had its number changed.
        self._chained = version >= chain.CHAINED or chain.stated(header) is not None

    def _check_place(self, kind: str) -> None:
        if kind == self._first and self._number > 1:
            raise schema.Unfit("a header stands in the first line alone")
        if self._ended and self._chained:
            raise schema.Unfit(f"it stands after the last line, `{self._last}`")

    def _check_members(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "same":
            raise schema.Unfit("it shares this line with its parent, which is not here")
        schema.check(data)
        if kind == "opened" and self._of and self._chained and data.get("id") != self._of:
            raise schema.Unfit(f"its file belongs to recording {data.get('id')}, and not to {self._of}")
        self._references.check(data)


class SessionReader(Reader):
    """Checks the lines of a browser session's file. `browser.footage` reads their content."""

    _first, _last = "session", ""

    def _check_members(self, kind: str, data: dict[str, Any]) -> None:
        session_schema.check(data)


def _checked(before: bytes, line: bytes) -> bytes:
    """Return a line's sum, from that of the line before it.

    Raises Unfit if the line states another.
    """
    check = chain.sum_of(before, line[: -chain.LENGTH])
    if not line.endswith(chain.tail(check)):
        if chain.stated(line) is None:
            raise schema.Unfit("it is cut off, or has no sum")
        raise schema.Unfit("it was changed, or a line before it was removed, doubled or moved")
    return check


def _signed(before: bytes, line: bytes, data: Mapping[str, Any]) -> str:
    """Return the digest that a seal's signature covers."""
    covered = chain.unsigned(line[: -chain.LENGTH], data.get("signed"))
    if covered is None:
        raise schema.Unfit("`signed` is not its last member")
    return chain.sum_of(before, covered).decode()


def event_of(line: bytes) -> dict[str, Any] | None:
    """Return a line's members, or None if it is no event."""
    try:
        data = orjson.loads(line)
    except ValueError:
        return None
    return data if type(data) is dict and type(data.get("event")) is str else None
