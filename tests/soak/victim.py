"""A small agent that is killed while it is recorded, and writes down each outcome that it has received:

    python -m tests.soak.victim <side file> [url]

Tasks, threads, streams and, with a url, HTTP, without end. One side-file line an outcome, unbuffered, written after
the outcome was received: what stands there the program has had.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
from typing import Any

import reenact

_lock = threading.Lock()


class Diary:
    """The outcomes received: for each, the place in the program that received it, and the value."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def received(self, place: str, value: Any) -> None:
        os.write(self._file, json.dumps([place, value]).encode() + b"\n")


@reenact.tool
async def think(question: str) -> float:
    await asyncio.sleep(random.random() * 0.002)
    return random.random()


@reenact.tool
def fetch(question: str) -> str:
    return "x" * random.choice([10, 100, 20000]) + str(random.random())


@reenact.tool(writes=False)
async def drip(question: str) -> Any:
    for _ in range(5):
        await asyncio.sleep(random.random() * 0.001)
        yield random.random()


@reenact.tool
def load(question: str) -> bytes:
    return random.randbytes(40_000)


async def agent(diary: Diary, url: str) -> None:
    """Rounds of everything at once, for good."""
    for number in range(10**6):
        await asyncio.gather(*(_task(diary, f"{number}.{child}", url) for child in range(3)))
        threads = [threading.Thread(target=_thread, args=(diary, f"{number}.t{child}")) for child in range(2)]
        for thread in threads:
            thread.start()
        await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in threads))


async def _task(diary: Diary, name: str, url: str) -> None:
    diary.received(f"{name} think", await think("why?"))
    async for drop in drip("more"):
        diary.received(f"{name} drip", drop)
    diary.received(f"{name} think again", await think(name))
    if url and name.endswith(".0"):
        await _request(diary, name, url)


async def _request(diary: Diary, name: str, url: str) -> None:
    import httpx

    async with httpx.AsyncClient() as client, client.stream("POST", f"{url}/sse?n=3&delay=0.001") as response:
        diary.received(f"{name} head", response.status_code)
        async for chunk in response.aiter_bytes():
            diary.received(f"{name} chunk", chunk.decode())


def _thread(diary: Diary, name: str) -> None:
    for number in range(3):
        diary.received(f"{name}.{number} fetch", fetch("same")[-12:])
    diary.received(f"{name} load", load(name).hex()[:32])


def run(side: str, url: str) -> None:
    asyncio.run(agent(Diary(side), url))


if __name__ == "__main__":
    path, address = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with reenact.record("victim"):
        print("ready", flush=True)
        run(path, address)
