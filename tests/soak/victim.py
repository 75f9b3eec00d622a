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
from collections.abc import Callable
from typing import Any

import reenact

_lock = threading.Lock()


Received = Callable[[str, Any], object]
"""Takes each outcome: the place in the program that received it, and the value."""


def side_file(path: str) -> Received:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda place, value: os.write(file, json.dumps([place, value]).encode() + b"\n")


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


async def agent(received: Received, url: str) -> None:
    """Rounds of everything at once, for good."""
    for number in range(10**6):
        await asyncio.gather(*(_task(received, f"{number}.{child}", url) for child in range(3)))
        threads = [
            threading.Thread(target=_thread, args=(received, f"{number}.t{child}")) for child in range(2)
        ]
        for thread in threads:
            thread.start()
        await asyncio.gather(*(asyncio.to_thread(thread.join) for thread in threads))


async def _task(received: Received, name: str, url: str) -> None:
    received(f"{name} think", await think("why?"))
    async for drop in drip("more"):
        received(f"{name} drip", drop)
    received(f"{name} think again", await think(name))
    if url and name.endswith(".0"):
        await _request(received, name, url)


async def _request(received: Received, name: str, url: str) -> None:
    import httpx

    async with httpx.AsyncClient() as client, client.stream("POST", f"{url}/sse?n=3&delay=0.001") as response:
        received(f"{name} head", response.status_code)
        async for chunk in response.aiter_bytes():
            received(f"{name} chunk", chunk.decode())


def _thread(received: Received, name: str) -> None:
    for number in range(3):
        received(f"{name}.{number} fetch", fetch("same")[-12:])
    received(f"{name} load", load(name).hex()[:32])


def run(received: Received, url: str) -> None:
    asyncio.run(agent(received, url))


if __name__ == "__main__":
    path, address = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    # Opened before the recording, so that it is no file of the run.
    diary = side_file(path)
    with reenact.record("victim"):
        print("ready", flush=True)
        run(diary, address)
