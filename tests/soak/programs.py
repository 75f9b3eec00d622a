"""Random concurrent programs: gather, task groups, races, time-outs, cancellation, threads and pools, all of whose
tools take a random time, are asked with equal arguments, and leave their results in shared state that enters later
questions. Whatever order comes about while recording must come about again."""

from __future__ import annotations

import asyncio
import random
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import reenact
from reenact import boundary

DELAY = 0.004


@reenact.tool
async def look(question: Any) -> float:
    """An async tool: a random delay, a random answer, and now and then an error."""
    await asyncio.sleep(random.random() * DELAY)
    return _answer()


@reenact.tool
def fetch(question: Any) -> float:
    """A sync tool."""
    time.sleep(random.random() * DELAY)
    return _answer()


@reenact.tool
async def drip(question: Any) -> Any:
    """A streaming tool."""
    for _ in range(3):
        await asyncio.sleep(random.random() * DELAY / 3)
        yield random.random()


def _answer() -> float:
    if random.random() < 0.1:
        raise LookupError(f"nothing found {random.randrange(10**6)}")
    return random.random()


@dataclass
class Edit:
    """A deliberate change of the program at one of its calls: `argument`, `extra`, `missing` or `order`."""

    kind: str
    call: int


@dataclass
class Program:
    """A random program, the same for the same seed.

    `addresses` maps the number that each call has in the program's text to its address in the run.
    """

    seed: int
    edit: Edit | None = None
    addresses: dict[int, str] = field(default_factory=dict)
    log: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shape = random.Random(self.seed)
        self._count = 0
        self.body = self._block(depth=0)

    @property
    def calls(self) -> int:
        """How many calls the program's text has."""
        return self._count

    def run(self) -> list[Any]:
        """Run it; returns its whole shared state, in the order in which it came about."""
        self.log.clear()
        asyncio.run(self._run(self.body))
        return list(self.log)

    # -- making the text -------------------------------------------------------------------------------------

    def _block(self, depth: int) -> list[Any]:
        return [self._statement(depth) for _ in range(self._shape.randint(2, 4))]

    def _statement(self, depth: int) -> Any:
        kinds = ["look", "look", "fetch", "drip", "sleep"]
        if depth < 2:
            kinds += ["gather", "group", "race", "first", "timeout", "threads", "pool", "to_thread"]
        kind = self._shape.choice(kinds)
        if kind in ("look", "fetch", "drip"):
            return self._call(kind)
        if kind == "sleep":
            return ("sleep", self._shape.random() * DELAY)
        if kind in ("threads", "pool", "to_thread"):
            return (kind, [[self._call("fetch"), self._call("fetch")] for _ in range(self._shape.randint(2, 3))])
        if kind == "timeout":
            return (kind, self._shape.random() * DELAY, [self._call("look")])
        return (kind, [self._block(depth + 1) for _ in range(self._shape.randint(2, 3))])

    def _call(self, kind: str) -> Any:
        self._count += 1
        return (kind, self._count, self._shape.choice(["same", "same", self._count]))

    # -- running it ------------------------------------------------------------------------------------------

    async def _run(self, block: list[Any]) -> None:
        for statement in self._edited(block):
            await getattr(self, f"_do_{statement[0]}")(*statement[1:])

    def _edited(self, block: list[Any]) -> list[Any]:
        if self.edit is None:
            return block
        for place, statement in enumerate(block):
            if statement[0] in ("look", "fetch", "drip") and statement[1] == self.edit.call:
                return self._apply(block, place, statement)
        return block

    def _apply(self, block: list[Any], place: int, statement: Any) -> list[Any]:
        kind, number, question = statement
        assert self.edit is not None
        if self.edit.kind == "missing":
            return block[:place] + block[place + 1 :]
        if self.edit.kind == "extra":
            return block[:place] + [(kind, 0, "a question that nobody asked")] + block[place:]
        if self.edit.kind == "argument":
            return block[:place] + [(kind, number, [question, "changed"])] + block[place + 1 :]
        return block[:place] + [block[place + 1], statement] + block[place + 2 :]

    def _asked(self, kind: str, number: int) -> None:
        scope = boundary.current()
        if scope is not None:
            self.addresses.setdefault(number, f"{scope.path}|{kind}|{scope._ordinals.get(f'tool:{kind}', 0)}")

    def _question(self, question: Any) -> Any:
        # The state so far is part of every other question: what came first decides what is asked next.
        return [question, zlib.crc32(repr(self.log).encode())] if question != "same" else question

    async def _do_look(self, number: int, question: Any) -> None:
        self._asked("look", number)
        try:
            self.log.append((number, await look(self._question(question))))
        except LookupError as error:
            self.log.append((number, repr(error)))

    async def _do_fetch(self, number: int, question: Any) -> None:
        self._fetch(number, question)

    def _fetch(self, number: int, question: Any) -> None:
        self._asked("fetch", number)
        try:
            self.log.append((number, fetch(self._question(question))))
        except LookupError as error:
            self.log.append((number, repr(error)))

    async def _do_drip(self, number: int, question: Any) -> None:
        self._asked("drip", number)
        async for drop in drip(self._question(question)):
            self.log.append((number, drop))

    async def _do_sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _do_gather(self, blocks: list[Any]) -> None:
        await asyncio.gather(*(self._run(block) for block in blocks))

    async def _do_group(self, blocks: list[Any]) -> None:
        async with asyncio.TaskGroup() as group:
            for block in blocks:
                group.create_task(self._run(block))

    async def _do_race(self, blocks: list[Any]) -> None:
        for place, finished in enumerate(asyncio.as_completed([self._run(block) for block in blocks])):
            await finished
            self.log.append(("finished", place))

    async def _do_first(self, blocks: list[Any]) -> None:
        tasks = [asyncio.ensure_future(self._run(block)) for block in blocks]
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self.log.append(("first", [tasks.index(task) for task in done]))
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _do_timeout(self, seconds: float, block: list[Any]) -> None:
        try:
            await asyncio.wait_for(self._run(block), seconds)
        except TimeoutError:
            self.log.append(("timeout", seconds))

    def _fetch_all(self, block: list[Any]) -> None:
        for _, number, question in self._edited(block):
            self._fetch(number, question)

    async def _do_threads(self, blocks: list[Any]) -> None:
        threads = [threading.Thread(target=self._fetch_all, args=(block,)) for block in blocks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    async def _do_pool(self, blocks: list[Any]) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._fetch_all, blocks))

    async def _do_to_thread(self, blocks: list[Any]) -> None:
        await asyncio.gather(*(asyncio.to_thread(self._fetch_all, block) for block in blocks))
