"""The new lines of a recording's files are sent once, and none of a file that was written again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reenact.core.store.writer import Writer
from reenact.errors import CorruptRecording
from reenact.team.ship.tail import Tail


def without(secret: bytes, by: bytes) -> Callable[[Sequence[bytes]], Sequence[bytes]]:
    def change(lines: Sequence[bytes]) -> Sequence[bytes]:
        return [line.replace(secret, by) if secret in line else line for line in lines]

    return change


def test_lines_that_follow_a_rewritten_beginning_are_not_sent(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "one" / "events.jsonl")
    writer.append(b'{"event":"opened","id":"one"}')
    writer.append(b'{"event":"noted","text":"hunter2"}')
    tail = Tail(writer.path, 0)
    data, count = tail.new(sealed=True)
    tail.advance(len(data), count)
    writer.append(b'{"event":"noted","text":"next"}')
    assert b"next" in tail.new(sealed=True)[0]
    writer.rewrite(without(b"hunter2", b"[[secret:secret:00000000]]"))
    with pytest.raises(CorruptRecording, match="without a secret after its beginning was sent"):
        tail.new(sealed=True)


def test_a_file_that_was_rewritten_before_it_was_sent_is_sent_whole(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "one" / "events.jsonl")
    writer.append(b'{"event":"opened","id":"one"}')
    writer.append(b'{"event":"noted","text":"hunter2"}')
    tail = Tail(writer.path, 0)
    writer.rewrite(without(b"hunter2", b"[[secret:secret:00000000]]"))
    assert tail.new(sealed=True)[0] == writer.path.read_bytes()
