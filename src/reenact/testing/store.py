"""The conformance suite of stores of recordings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from reenact.core.model.event import FORMAT, RULES
from reenact.core.store.base import Store
from reenact.core.store.chain import chained
from reenact.errors import (
    AmbiguousRecording,
    CorruptRecording,
    FutureFormat,
    NotARecording,
    RecordingError,
    RecordingNotFound,
)

_LARGE = bytes(range(256)) * 100


class StoreConformance:
    """Subclass it as `Test…` in a test module; give it a new store and a way to write into it."""

    def store(self, tmp_path: Path) -> Store:
        """Return an empty store."""
        raise NotImplementedError

    def write(self, store: Any, id: str, events: bytes, blobs: Mapping[str, bytes]) -> None:
        """Write a recording as its process would: bytes of events, and blobs by sha256."""
        raise NotImplementedError

    def test_an_empty_store_has_nothing(self, tmp_path: Path) -> None:
        """It has no ids, and does not know any name."""
        store = self.store(tmp_path)
        assert store.ids() == []
        for ref in ("last", "abc", ""):
            _refused(store, ref, RecordingNotFound)

    def test_what_was_written_is_read(self, tmp_path: Path) -> None:
        """Calls, outcomes, streams and the header are read."""
        store = self._filled(tmp_path, "one")
        recording = store.load("one")
        assert (recording.id, recording.name, recording.status) == ("one", "test", "ok")
        assert [step.call.label for step in recording] == ["tool:ask", "tool:ask"]
        assert recording.step(1).output == {"answer": 1}
        assert recording.step(2).chunks == ["a", "b"]

    def test_blobs_come_back(self, tmp_path: Path) -> None:
        """Large values are stored beside the events; an error names a missing one."""
        store, digest = self.store(tmp_path), hashlib.sha256(_LARGE).hexdigest()
        value = {"event": "returned", "call": 1, "value": {"$blob": f"sha256:{digest}"}, "t": 1}
        self.write(store, "blobs", _lines(_header("blobs"), _called(1), value), {digest: _LARGE})
        assert store.load("blobs").step(1).output == _LARGE
        self.write(store, "lost", _lines(_header("lost"), _called(1), value), {})
        text = ""
        try:
            _ = store.load("lost").step(1).output
        except CorruptRecording as error:
            text = str(error)
        assert digest[:8] in text, "a missing blob was not named"

    def test_the_newest_comes_first(self, tmp_path: Path) -> None:
        """Recordings are listed in the order of writing, the newest first."""
        store = self._filled(tmp_path, "aaa", "ccc", "bbb")
        assert store.ids() == ["bbb", "ccc", "aaa"]
        assert store.load("last").id == "bbb"

    def test_a_prefix_will_do(self, tmp_path: Path) -> None:
        """An unambiguous prefix is enough; else the error names the candidates."""
        store = self._filled(tmp_path, "abc1", "abd2", "xyz")
        assert store.load("x").id == "xyz"
        assert store.load("abc").id == "abc1"
        text = _refused(store, "ab", AmbiguousRecording)
        assert "abc1" in text
        assert "abd2" in text
        assert "nothing" in _refused(store, "nothing", RecordingNotFound)

    def test_a_whole_id_wins_over_those_that_begin_with_it(self, tmp_path: Path) -> None:
        """A whole id is never ambiguous."""
        assert self._filled(tmp_path, "ab", "abc").load("ab").id == "ab"

    def test_removed_is_gone(self, tmp_path: Path) -> None:
        """Only the removed recording is gone."""
        store = self._filled(tmp_path, "one", "two")
        assert store.remove("one") == "one"
        assert store.ids() == ["two"]
        _refused(store, "one", RecordingNotFound)

    def test_a_run_that_was_cut_off_is_read(self, tmp_path: Path) -> None:
        """It is read without its seal and its torn last line, which is reported."""
        store, whole = self.store(tmp_path), _lines(_header("cut"), *_body())
        self.write(store, "cut", whole[:-20], {})
        recording = store.load("cut")
        assert recording.status == "unsealed"
        assert len(recording.torn) == 1
        assert recording.step(1).output == {"answer": 1}

    def test_damage_is_refused(self, tmp_path: Path) -> None:
        """Damage is refused with its place, a future format or another file with advice."""
        store, lines = self.store(tmp_path), _lines(_header("bad"), *_body()).split(b"\n")
        self.write(store, "bad", b"\n".join([lines[0], lines[1][:-9], *lines[2:]]), {})
        assert "line 2" in _refused(store, "bad", CorruptRecording)
        self.write(store, "future", _lines(_header("future") | {"format": FORMAT + 1}), {})
        assert "upgrade" in _refused(store, "future", FutureFormat)
        self.write(store, "stranger", b'{"hello": "world"}\n', {})
        _refused(store, "stranger", NotARecording)

    def _filled(self, tmp_path: Path, *ids: str) -> Store:
        store = self.store(tmp_path)
        for id in ids:
            self.write(store, id, _lines(_header(id), *_body()), {})
        return store


def _refused(store: Store, ref: str, kind: type[RecordingError]) -> str:
    try:
        store.load(ref)
    except kind as error:
        text = str(error)
        assert "\n" not in text, "one line says it"
        return text
    raise AssertionError(f"{ref!r} was not refused with {kind.__name__}")


def _lines(*lines: Mapping[str, Any]) -> bytes:
    return chained(orjson.dumps(dict(line)) for line in lines)


def _header(id: str) -> dict[str, Any]:
    return {"event": "opened", "format": FORMAT, "rules": RULES, "id": id, "name": "test", "salt": "00"}


def _called(number: int) -> dict[str, Any]:
    more = {"in": None, "at": "main", "kind": "tool", "name": "ask", "n": number - 1}
    return {"event": "called", "call": number, **more, "args": {"question": number}, "t": 0.1 * number}


def _body() -> list[dict[str, Any]]:
    return [
        _called(1),
        {"event": "returned", "call": 1, "value": {"answer": 1}, "t": 0.15},
        _called(2),
        {"event": "returned", "call": 2, "value": None, "stream": True, "t": 0.25},
        {"event": "chunk", "call": 2, "value": "a", "t": 0.26},
        {"event": "chunk", "call": 2, "value": "b", "t": 0.27},
        {"event": "ended", "call": 2, "t": 0.28},
        {"event": "sealed", "status": "ok", "t": 0.3},
    ]
