"""Whether a server is ready: each thing by its name, and never longer than one may wait."""

from __future__ import annotations

import asyncio
import threading

from reenact.server.operations.checks import Checks, ready, room, writable


def raises():
    raise RuntimeError("postgresql://user:password@host")


async def test_each_thing_is_told_by_its_name_and_what_it_raises_by_nobody():
    found = await Checks({"store": raises, "disk": lambda: "", "home": lambda: "cannot be written to"}).ask()
    assert found == {"store": "does not answer", "disk": "ok", "home": "cannot be written to"}
    assert not ready(found)
    assert ready(await Checks({"disk": lambda: ""}).ask())


async def test_what_hangs_is_a_no_and_is_asked_once_until_it_comes_back():
    go, asked = threading.Event(), []

    def hangs():
        asked.append(1)
        go.wait(300)
        return ""

    checks = Checks({"store": hangs, "disk": lambda: ""}, patience=0.05, lasts=0)
    for _ in range(3):
        assert await checks.ask() == {"store": "does not answer", "disk": "ok"}
    assert asked == [1]
    go.set()
    async with asyncio.timeout(60):
        while (await checks.ask())["store"] != "ok":
            pass


async def test_who_asks_often_is_given_the_same_answer():
    asked = []
    checks = Checks({"disk": lambda: asked.append(1) or ""}, lasts=60)
    assert [await checks.ask() for _ in range(5)] == [{"disk": "ok"}] * 5
    assert asked == [1]


def test_a_disk_without_room_and_a_folder_that_is_not_ours(tmp_path):
    assert room(tmp_path / "not" / "there")() == ""
    assert room(tmp_path, least=1 << 62)().startswith("less than ")
    assert writable(tmp_path / "not" / "there")() == ""
