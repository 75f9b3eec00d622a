"""`asyncio.wait_for` starts a task in Python 3.11 only: addresses do not count it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

import reenact


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
