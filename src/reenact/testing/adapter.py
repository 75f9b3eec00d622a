"""The conformance suite of adapters, for any library."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any, ClassVar

from reenact.core import boundary
from reenact.core.model.divergence import Verdict
from reenact.core.query.recorded_run import RecordedRun
from reenact.errors import Departure, DivergenceError, Halt
from reenact.run.api.recording import record
from reenact.run.api.replaying import replay

Program = Callable[[], Any]


class World:
    """A stand-in for the outside world that never repeats an answer, and counts its calls.

    Attributes:
        asked: The number of calls.
        sent: The number of chunks sent.
    """

    PARTS = 4

    def __init__(self) -> None:
        self.asked = 0
        self.sent = 0
        self._lock = threading.Lock()

    def answer(self, question: Any) -> str:
        """Return an answer at once."""
        with self._lock:
            self.asked += 1
            return f"{question}: answer {self.asked}"

    def fail(self, question: Any) -> str:
        """Raise an error."""
        raise LookupError(self.answer(question))

    def chunks(self, question: Any) -> Iterator[str]:
        """Yield an answer in parts."""
        whole = self.answer(question)
        for part in range(self.PARTS):
            self.sent += 1
            yield f"{whole}, part {part}"

    async def achunks(self, question: Any) -> AsyncIterator[str]:
        """Yield an answer in parts, with a pause between them."""
        whole = self.answer(question)
        for part in range(self.PARTS):
            await asyncio.sleep(0.001)
            self.sent += 1
            yield f"{whole}, part {part}"

    async def never(self, question: Any) -> str:
        """Take too long for an answer."""
        self.answer(question)
        await asyncio.sleep(60)
        raise AssertionError("no call was given up")


class AdapterConformance:
    """Subclass it as `Test…` in a test module. A hook that returns None is not supported.

    Each hook may be a plain function or `async def`; `stream` may be an iterator or an async one.

    Attributes:
        label: The effect's `kind:name`, as in `live=[...]`; with a `*` at its end, a prefix.
    """

    label: ClassVar[str] = "tool:*"

    # -- to be filled in -------------------------------------------------------------------------------------

    def call(self, question: str) -> Any:
        """Ask the world through the adapter. The world must give a different answer each time."""
        raise NotImplementedError

    def touched(self) -> int:
        """Return the number of calls to the world so far."""
        raise NotImplementedError

    def fail(self, question: str) -> Any:
        """Call the world so that it answers with an error."""
        return None

    def stream(self, question: str) -> Any:
        """Ask for an answer in at least three chunks: an iterator or async iterator over them."""
        return None

    def sent(self) -> int | None:
        """Return the number of stream chunks sent so far, or None if unknown."""
        return None

    def slow(self, question: str) -> Any:
        """Call the world so that it does not answer within a second, in an `async` library."""
        return None

    # -- values ----------------------------------------------------------------------------------------------

    def test_what_was_recorded_is_replayed_without_touching_the_world(self, tmp_path: Path) -> None:
        """The replay returns the same answers, and does not ask the world."""
        first, recording = self._record(tmp_path, self._questions)
        touched = self.touched()
        second, verdict = self._replay(recording, self._questions)
        assert second == first, f"replayed {second!r}, recorded {first!r}"
        assert verdict.faithful, str(verdict)
        assert verdict.served >= 3, str(verdict)
        assert self.touched() == touched, "a real call was made in a replay"

    def test_each_call_is_one_step_of_that_label(self, tmp_path: Path) -> None:
        """The recording labels each call as the adapter promises."""
        _, recording = self._record(tmp_path, self._questions)
        stem = self.label.removesuffix("*")
        found = [s.call.label for s in recording if s.call.within is None]
        assert len(found) == 3, found
        assert all(name.startswith(stem) for name in found), found

    def test_nothing_happens_where_nobody_records(self, tmp_path: Path) -> None:
        """Without a recording, the library works as without the adapter, and writes no file."""
        before = self.touched()
        first, second = self._call("a"), self._call("a")
        assert first != second, "the real calls of this suite must give a different answer each time"
        assert self.touched() == before + 2
        assert not list(tmp_path.iterdir())

    def test_equal_calls_get_each_its_own_answer(self, tmp_path: Path) -> None:
        """The calls are made one after the other, and concurrently."""
        for program in (lambda: [self._call("same") for _ in range(3)], lambda: self._together(["same"] * 5)):
            first, recording = self._record(tmp_path, program)
            second, verdict = self._replay(recording, program)
            assert len({repr(item) for item in first}) == len(first)
            assert second == first, f"replayed {second!r}, recorded {first!r}"
            assert verdict.faithful, str(verdict)

    def test_an_error_comes_back_as_it_was(self, tmp_path: Path) -> None:
        """The error has the same type and text, at the same call; code that catches it goes on."""
        if not self._has(self.fail):
            return

        def program() -> list[Any]:
            try:
                self._resolve(self.fail, "bad")
            except Exception as error:
                return [type(error), str(error), self._call("after")]
            raise AssertionError("`fail` did not fail")

        first, recording = self._record(tmp_path, program)
        touched = self.touched()
        second, verdict = self._replay(recording, program)
        assert second == first, f"replayed {second!r}, recorded {first!r}"
        assert verdict.faithful, str(verdict)
        assert self.touched() == touched

    # -- departures ------------------------------------------------------------------------------------------

    def test_a_changed_question_is_a_departure(self, tmp_path: Path) -> None:
        """The departure is CHANGED, at its step, with the difference, or EXTRA.

        EXTRA is for adapters that include the question in the name.
        """
        _, recording = self._record(tmp_path, lambda: [self._call("a"), self._call("b")])
        touched = self.touched()
        found = self._departure(recording, lambda: [self._call("a"), self._call("X")])
        assert found.kind in (Departure.CHANGED, Departure.EXTRA), str(found)
        assert found.step == 2, str(found)
        assert self.touched() == touched, "a real call was made in a replay"

    def test_a_departure_passes_code_that_catches_exceptions(self, tmp_path: Path) -> None:
        """Frameworks catch `Exception`, and libraries retry on it: neither may swallow a departure."""
        _, recording = self._record(tmp_path, lambda: self._call("a"))
        caught: list[BaseException] = []

        def program() -> None:
            try:
                self._call("X")
            except Exception as error:
                caught.append(error)
            except Halt:
                raise
            caught.append(AssertionError("the call was answered"))

        self._departure(recording, program)
        assert not caught, f"swallowed as {caught!r}"

    def test_a_call_that_is_left_out_is_missing(self, tmp_path: Path) -> None:
        """The departure names the missing call."""
        _, recording = self._record(tmp_path, self._questions)
        found = self._departure(recording, lambda: self._call("a"))
        assert (found.kind, found.step) == (Departure.MISSING, 2), str(found)

    def test_let_through_it_runs_for_real(self, tmp_path: Path) -> None:
        """`live=[...]` asks the world again, and the verdict says so."""
        _, recording = self._record(tmp_path, lambda: self._call("a"))
        label = recording.step(1).call.label
        touched = self.touched()
        _, verdict = self._replay(recording, lambda: self._call("a"), live=[label])
        assert self.touched() == touched + 1
        assert verdict.live == {label: 1}, str(verdict)
        assert not verdict.faithful

    # -- streams ---------------------------------------------------------------------------------------------

    def test_a_stream_comes_back_chunk_by_chunk(self, tmp_path: Path) -> None:
        """The replay gives the same chunks, not one joined value."""
        if not self._has(self.stream):
            return
        first, recording = self._record(tmp_path, lambda: self._chunks("a"))
        touched = self.touched()
        second, verdict = self._replay(recording, lambda: self._chunks("a"))
        assert len(first) >= 3, "`stream` must give at least three chunks"
        assert second == first, f"replayed {second!r}, recorded {first!r}"
        assert verdict.faithful, str(verdict)
        assert self.touched() == touched

    def test_the_first_chunk_is_not_held_back(self, tmp_path: Path) -> None:
        """The recorder passes each chunk on as it comes, without collecting the stream first."""
        if not self._has(self.stream) or self.sent() is None:
            return
        before = self.sent() or 0
        sent: list[int] = []
        chunks, _ = self._record(
            tmp_path, lambda: self._chunks("a", lambda: sent.append((self.sent() or 0) - before))
        )
        assert sent[0] < len(chunks), f"{sent[0]} chunks were sent before the program got the first"

    def test_a_stream_that_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        """The replay gives the same beginning; reading beyond the recorded chunks is a departure."""
        if not self._has(self.stream):
            return
        first, recording = self._record(tmp_path, lambda: self._chunks("a", most=2))
        second, verdict = self._replay(recording, lambda: self._chunks("a", most=2))
        assert second == first, f"replayed {second!r}, recorded {first!r}"
        assert verdict.faithful, str(verdict)

    # -- cancellation and scopes -----------------------------------------------------------------------------

    def test_a_cancelled_call_is_cancelled_again(self, tmp_path: Path) -> None:
        """A time-out that occurred while recording occurs in the replay, and takes no time there."""
        if not self._has(self.slow):
            return

        async def program() -> list[Any]:
            try:
                await asyncio.wait_for(_awaited(self.slow("slow")), 0.2)
            except TimeoutError:
                return ["timed out", await _awaited(self.call("after"))]
            raise AssertionError("`slow` was not slow")

        first, recording = self._record(tmp_path, program)
        touched, began = self.touched(), time.monotonic()
        second, verdict = self._replay(recording, program)
        assert second == first
        assert verdict.faithful, str(verdict)
        assert self.touched() == touched
        assert time.monotonic() - began < 5, "the replay waited for a time-out"

    def test_no_scope_is_left_behind(self, tmp_path: Path) -> None:
        """After a call, an error, and an abandoned stream, the scope is the same as before."""

        def program() -> None:
            scope = boundary.current()
            self._call("a")
            assert boundary.current() is scope
            if self._has(self.fail):
                try:
                    self._resolve(self.fail, "bad")
                except Exception:
                    assert boundary.current() is scope
            if self._has(self.stream):
                self._chunks("s", most=1)
                assert boundary.current() is scope

        _, recording = self._record(tmp_path, program)
        assert boundary.current() is None
        _, verdict = self._replay(recording, program)
        assert verdict.faithful, str(verdict)
        assert boundary.current() is None

    # -- within ----------------------------------------------------------------------------------------------

    def _questions(self) -> list[Any]:
        return [self._call("a"), self._call("b"), self._call("a")]

    def _call(self, question: str) -> Any:
        return self._resolve(self.call, question)

    def _resolve(self, hook: Callable[[str], Any], question: str) -> Any:
        """Return a hook's answer; run it in an event loop if it needs one."""
        if inspect.iscoroutinefunction(hook):
            return asyncio.run(hook(question))
        return hook(question)

    def _has(self, hook: Callable[[str], Any]) -> bool:
        return getattr(hook, "__func__", None) is not getattr(AdapterConformance, hook.__name__)

    def _together(self, questions: list[str]) -> list[Any]:
        if inspect.iscoroutinefunction(self.call):

            async def gathered() -> list[Any]:
                return list(await asyncio.gather(*(self.call(question) for question in questions)))

            return asyncio.run(gathered())
        with ThreadPoolExecutor(len(questions)) as pool:
            return list(pool.map(self.call, questions))

    def _chunks(
        self, question: str, seen: Callable[[], None] = lambda: None, most: int = 1 << 30
    ) -> list[Any]:
        if inspect.isasyncgenfunction(self.stream):
            return asyncio.run(_acollected(self.stream(question), seen, most))
        chunks = self.stream(question)
        if hasattr(chunks, "__anext__"):

            async def collected() -> list[Any]:
                return await _acollected(self.stream(question), seen, most)

            return asyncio.run(collected())
        return _collected(chunks, seen, most)

    def _record(self, home: Path, program: Program) -> tuple[Any, RecordedRun]:
        with record("conformance", home=home / "home") as recording:
            result = asyncio.run(program()) if inspect.iscoroutinefunction(program) else program()
        return result, recording.load()

    def _replay(self, recording: RecordedRun, program: Program, **options: Any) -> tuple[Any, Verdict]:
        # The body of a tool represents the world here, so it must not run in a replay.
        with replay(recording, tools="answer", **options) as replaying:
            result = asyncio.run(program()) if inspect.iscoroutinefunction(program) else program()
        return result, replaying.verdict

    def _departure(self, recording: RecordedRun, program: Program) -> Any:
        try:
            self._replay(recording, program)
        except DivergenceError as error:
            return error.divergence
        raise AssertionError("the replay was called faithful")


async def _awaited(answer: Any) -> Any:
    return await answer if isinstance(answer, Awaitable) else answer


def _collected(chunks: Any, seen: Callable[[], None], most: int) -> list[Any]:
    taken = []
    with closing(chunks):
        for chunk in chunks:
            seen()
            taken.append(chunk)
            if len(taken) >= most:
                break
    return taken


async def _acollected(chunks: Any, seen: Callable[[], None], most: int) -> list[Any]:
    taken = []
    async with aclosing(chunks):
        async for chunk in chunks:
            seen()
            taken.append(chunk)
            if len(taken) >= most:
                break
    return taken
