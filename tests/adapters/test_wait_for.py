"""`asyncio.wait_for` starts a task in Python 3.11 only: addresses do not count it, and a replay takes the recorded way."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

import reenact
from reenact.adapters import wait_for
from reenact.core.record import program


@reenact.tool
async def ask(question: str) -> str:
    """Answer a little later."""
    await asyncio.sleep(0.001)
    return question.upper()


@reenact.tool
async def ask_slowly(question: str) -> str:
    """Answer too late."""
    await asyncio.sleep(60)
    return question


async def agent() -> list[str]:
    first = await asyncio.wait_for(ask("first"), 30)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(ask_slowly("second"), 0.001)
    both = await asyncio.gather(asyncio.wait_for(ask("third"), 30), asyncio.wait_for(ask("fourth"), 30))
    return [first, *both]


def test_a_call_under_a_time_limit_has_the_address_that_it_has_in_every_python(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording:
        recorded = asyncio.run(agent())
    assert [step.call.address for step in recording.load() if step.call.kind == "tool"] == [
        "main/tool:ask#0",
        "main/tool:ask_slowly#0",
        "main/wait_for.0/tool:ask#0",
        "main/wait_for.1/tool:ask#0",
    ]
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert asyncio.run(agent()) == recorded
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_recording_of_the_older_rules_keeps_its_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr("reenact.core.boundary.scope.RULES", 1)
        older.setattr("reenact.run.api.recording.RULES", 1)
        with reenact.record(home=tmp_path) as recording:
            asyncio.run(agent())
    header = orjson.loads(Path(recording.path, "events.jsonl").read_bytes().split(b"\n", 1)[0])
    assert header["rules"] == 1
    with reenact.replay(recording.id, home=tmp_path) as replay:
        asyncio.run(agent())
    assert replay.verdict.faithful, str(replay.verdict)


async def racing() -> list[str]:
    """Ask for what was begun so far: under a time limit at once, or a turn of the loop later."""
    begun: list[str] = []

    async def begin(name: str) -> str:
        begun.append(name)
        return await ask(f"{name} of {begun}")

    limited = asyncio.wait_for(begin("limited"), 30)
    return list(await asyncio.gather(limited, begin("plain")))


OTHER = ("3.12.1", wait_for._at_once) if sys.version_info < (3, 12) else ("3.11.9", wait_for._by_task)
"""A Python in which the coroutine begins otherwise, and its way."""


@pytest.fixture
def of_another_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    """A recording of another Python: its id, and what its program returned."""
    version, way = OTHER
    with reenact.record(home=tmp_path / "before"):
        """What the adapters replace in asyncio is replaced from here on."""
    with monkeypatch.context() as other:
        other.setattr(program.platform, "python_version", lambda: version)
        other.setattr(asyncio, "wait_for", way)
        with reenact.record(home=tmp_path) as recording:
            recorded = asyncio.run(racing())
    return recording.id, recorded


def test_a_replay_begins_a_coroutine_under_a_time_limit_as_the_recorded_python_did(
    of_another_python: tuple[str, list[str]], tmp_path: Path
) -> None:
    recording, recorded = of_another_python
    assert asyncio.run(racing()) != recorded
    with reenact.replay(recording, home=tmp_path) as replay:
        assert asyncio.run(racing()) == recorded
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_recording_that_names_no_python_is_replayed_in_the_way_of_this_one(
    of_another_python: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording, _ = of_another_python
    monkeypatch.setattr("reenact.run.replayer._VERSION", re.compile("no version"))
    with pytest.raises(reenact.DivergenceError), reenact.replay(recording, home=tmp_path):
        asyncio.run(racing())


@pytest.mark.parametrize("way", [wait_for._at_once, wait_for._by_task])
class TestEachWay:
    def test_gives_the_result(self, way: Any) -> None:
        assert asyncio.run(way(asyncio.sleep(0, "done"), 30)) == "done"

    def test_gives_the_result_of_a_future(self, way: Any) -> None:
        async def main() -> Any:
            return await way(asyncio.ensure_future(asyncio.sleep(0, "done")), 30)

        assert asyncio.run(main()) == "done"

    def test_gives_the_result_of_any_awaitable(self, way: Any) -> None:
        class Later:
            def __await__(self) -> Any:
                yield from asyncio.sleep(0).__await__()
                return "done"

        assert asyncio.run(way(Later(), 30)) == "done"

    def test_raises_the_error(self, way: Any) -> None:
        async def fails() -> None:
            raise LookupError("nothing")

        with pytest.raises(LookupError, match="nothing"):
            asyncio.run(way(fails(), 30))

    def test_raises_a_timeout_and_cancels_what_it_waited_for(self, way: Any) -> None:
        ended = []

        async def slow() -> None:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        with pytest.raises(TimeoutError):
            asyncio.run(way(slow(), 0.001))
        assert ended == ["cancelled"]

    def test_raises_an_error_that_comes_in_the_place_of_the_cancellation(self, way: Any) -> None:
        async def stubborn() -> str:
            try:
                await asyncio.sleep(600)
            except asyncio.CancelledError:
                raise LookupError("in the end") from None
            return "never"

        with pytest.raises(LookupError, match="in the end"):
            asyncio.run(way(stubborn(), 0.001))

    def test_is_cancelled_with_what_it_waits_for(self, way: Any) -> None:
        async def main() -> bool:
            inner = asyncio.ensure_future(asyncio.sleep(600))
            outer = asyncio.ensure_future(way(inner, 600))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            outer.cancel()
            with pytest.raises(asyncio.CancelledError):
                await outer
            return inner.cancelled()

        assert asyncio.run(main())
