"""The conformance suites of stores that receive uploads, and of blob stores."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from reenact.core.model.event import FORMAT, RULES
from reenact.core.store.base import BlobStore, Intake, Piece, Store
from reenact.core.store.chain import chained
from reenact.errors import CorruptRecording

_EVENTS = "events.jsonl"
_LINE = b'{"event":"noted","what":"hole","text":"x","t":1.0}\n'
_LARGE = bytes(range(256)) * 100


def _header(id: str) -> bytes:
    # Lines of the first format have no sums, so any line may follow.
    return b'{"event":"opened","format":1,"rules":%d,"id":"%s","pid":1}\n' % (RULES, id.encode())


class IntakeConformance:
    """Subclass it as `Test…` in a test module, and give it a new store with its intake."""

    def intake(self, tmp_path: Path) -> tuple[Intake, Store]:
        """Return the intake of an empty store, and the store."""
        raise NotImplementedError

    def test_lines_are_appended_in_order_and_read(self, tmp_path: Path) -> None:
        """The store has the bytes of each file as they were sent."""
        intake, store = self.intake(tmp_path)
        head = _header("one")
        assert _statuses(intake, ("one", 0, head), ("one", len(head), _LINE * 3)) == ["ok", "ok"]
        assert intake.lengths(["one", "two"]) == {"one": {_EVENTS: len(head) + 3 * len(_LINE)}}
        assert (store.find("one") / _EVENTS).read_bytes() == head + 3 * _LINE
        # The recording grows, and readers see it.
        assert _statuses(intake, ("one", len(head) + 3 * len(_LINE), _LINE)) == ["ok"]
        assert (store.find("one") / _EVENTS).read_bytes() == head + 4 * _LINE

    def test_what_comes_twice_is_there_once(self, tmp_path: Path) -> None:
        """A piece is repeated as a whole or in part, in one request or in several."""
        intake, store = self.intake(tmp_path)
        head = _header("one")
        for data in (head, head, head + _LINE, head + _LINE):
            (taken,) = intake.take([Piece("one", _EVENTS, 0, data)])
            assert taken.status == "ok"
        within = ("one", len(head), _LINE + _LINE)
        assert _statuses(intake, within, within) == ["ok", "ok"]
        assert (store.find("one") / _EVENTS).read_bytes() == head + 2 * _LINE

    def test_a_gap_and_other_bytes_are_said_and_change_nothing(self, tmp_path: Path) -> None:
        """The answer contains the present length."""
        intake, store = self.intake(tmp_path)
        head = _header("one")
        assert _statuses(intake, ("one", 5, _LINE)) == ["gap"]
        intake.take([Piece("one", _EVENTS, 0, head + _LINE)])
        (gap,) = intake.take([Piece("one", _EVENTS, 999, _LINE)])
        assert (gap.status, gap.length) == ("gap", len(head + _LINE))
        other = _LINE.replace(b"x", b"y")
        (differs,) = intake.take([Piece("one", _EVENTS, len(head), other + _LINE)])
        assert (differs.status, differs.length) == ("differs", len(head + _LINE))
        assert (store.find("one") / _EVENTS).read_bytes() == head + _LINE

    def test_what_is_no_recording_is_refused(self, tmp_path: Path) -> None:
        """A bad piece does not affect the others of its request."""
        intake, store = self.intake(tmp_path)
        bad = [
            Piece("..", _EVENTS, 0, _header("..")),
            Piece("a", "../x.jsonl", 0, _header("a")),
            Piece("a", _EVENTS, 0, _LINE),
            Piece("a", _EVENTS, 0, _header("b")),
            Piece("a", _EVENTS, 0, _header("a")[:-1]),
            Piece("a", _EVENTS, 0, _header("a") + b'{"event":"same","line":2}\n'),
            Piece("a", _EVENTS, 0, _header("a").replace(b'"format":1', b'"format":%d' % (FORMAT + 1))),
            Piece("a", f"sha256:{'0' * 64}", 0, b"another"),
            Piece("a", "events.2.jsonl", 0, _LINE),
        ]
        taken = intake.take([*bad, Piece("good", _EVENTS, 0, _header("good"))])
        assert [one.status for one in taken] == ["refused"] * 8 + ["gap", "ok"]
        assert all(one.detail for one in taken[:-1])
        assert store.ids() == ["good"]

    def test_files_of_other_processes_and_blobs_come_along(self, tmp_path: Path) -> None:
        """Each has its name; a blob belongs to one recording only."""
        intake, store = self.intake(tmp_path)
        address = f"sha256:{hashlib.sha256(_LARGE).hexdigest()}"
        call = b'{"event":"called","call":1,"in":null,"at":"main","kind":"tool","name":"a","n":0,"args":{},"t":0}\n'
        value = b'{"event":"returned","call":1,"value":{"$blob":"%s"},"t":1}\n' % address.encode()
        pieces = [
            Piece("one", address, 0, _LARGE),
            Piece("one", _EVENTS, 0, chained((_header("one") + call + value).splitlines())),
            Piece("one", "events.2.jsonl", 0, chained([_header("one")])),
            Piece("one", "session.1.jsonl", 0, _LINE),
            Piece("two", _EVENTS, 0, _header("two")),
        ]
        assert {one.status for one in intake.take(pieces)} == {"ok"}
        assert intake.has("one", address)
        assert not intake.has("two", address)
        assert store.load("one").step(1).output == _LARGE
        assert (store.find("one") / "session.1.jsonl").read_bytes() == _LINE
        assert set(intake.lengths(["one"])["one"]) == {_EVENTS, "events.2.jsonl", "session.1.jsonl"}

    def test_many_who_send_the_same_at_once_leave_it_once(self, tmp_path: Path) -> None:
        """Several clients send the same pieces, as after a time-out of a request that still runs."""
        intake, store = self.intake(tmp_path)
        data = _header("one") + 50 * _LINE
        cuts = [0, *(len(_header("one")) + number * 10 * len(_LINE) for number in range(6))]

        def send() -> None:
            for start, end in pairwise(cuts):
                intake.take([Piece("one", _EVENTS, start, data[start:end])])

        _at_once(send, 6)
        assert (store.find("one") / _EVENTS).read_bytes() == data

    def test_removed_is_gone_and_may_come_again(self, tmp_path: Path) -> None:
        """A removed recording may be sent again, also with other bytes."""
        intake, store = self.intake(tmp_path)
        intake.take([Piece("one", _EVENTS, 0, _header("one") + _LINE)])
        store.find("one")
        store.remove("one")
        assert intake.lengths(["one"]) == {}
        other = _header("one") + _LINE.replace(b"x", b"y")
        assert _statuses(intake, ("one", 0, other)) == ["ok"]
        assert (store.find("one") / _EVENTS).read_bytes() == other


class BlobStoreConformance:
    """Subclass it as `Test…` in a test module, and give it a fresh store of blobs."""

    def blobs(self, tmp_path: Path) -> BlobStore:
        """Return an empty store of blobs."""
        raise NotImplementedError

    def fetched(self, url: str) -> bytes:
        """Fetch an address without credentials."""
        raise NotImplementedError

    def test_what_was_put_comes_back(self, tmp_path: Path) -> None:
        """A blob is found by its hash; equal blobs are stored once, also from concurrent writers."""
        blobs, address = self.blobs(tmp_path), f"sha256:{hashlib.sha256(_LARGE).hexdigest()}"
        assert not blobs.has(address)
        _at_once(lambda: blobs.put(_LARGE), 4)
        assert blobs.put(_LARGE) == address
        assert blobs.put(b"") == f"sha256:{hashlib.sha256(b'').hexdigest()}"
        assert blobs.has(address)
        assert blobs.get(address) == _LARGE

    def test_what_is_not_there_is_named(self, tmp_path: Path) -> None:
        """An error names a blob that was never stored, or was removed."""
        blobs = self.blobs(tmp_path)
        address = blobs.put(b"for a while")
        for _ in range(2):
            blobs.remove(address)
        for unknown in (address, "sha256:../../etc/passwd"):
            text = ""
            try:
                blobs.get(unknown)
            except CorruptRecording as error:
                text = str(error)
            assert unknown[:15] in text, "a missing blob was not named"

    def test_who_has_the_address_fetches_it_for_a_while(self, tmp_path: Path) -> None:
        """This holds for stores that sign addresses."""
        blobs = self.blobs(tmp_path)
        url = blobs.url(blobs.put(_LARGE), 60)
        if url is not None:
            assert self.fetched(url) == _LARGE


def _statuses(intake: Intake, *pieces: tuple[str, int, bytes]) -> list[str]:
    return [one.status for one in intake.take([Piece(id, _EVENTS, at, data) for id, at, data in pieces])]


def _at_once(what: Callable[[], object], times: int) -> None:
    problems: list[BaseException] = []

    def run() -> None:
        try:
            what()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems
