"""Random concurrent programs: gather, task groups, races, time-outs, cancellation, threads and pools, all of whose
tools take a random time, are asked with equal arguments, and leave their results in shared state that enters later
questions. Whatever order comes about while recording must come about again.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import random
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import reenact
from reenact.core import boundary

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


@reenact.tool(writes=False)
def pour(question: Any) -> Any:
    """A sync streaming tool."""
    for _ in range(3):
        time.sleep(random.random() * DELAY / 3)
        yield random.random()


@reenact.tool(writes=False)
async def drip(question: Any) -> Any:
    """A streaming tool."""
    for _ in range(3):
        await asyncio.sleep(random.random() * DELAY / 3)
        yield random.random()


def _answer() -> float:
    if random.random() < 0.1:
        raise LookupError(f"nothing found {random.randrange(10**6)}")
    return random.random()


CALLS = ("look", "fetch", "drip", "pour")

STYLES = {
    "mixed": ("look look fetch drip sleep", "gather group race first timeout threads pool to_thread"),
    "async": ("look look drip sleep", "gather group race first timeout"),
    "sync": ("fetch fetch pour sleep", "threads pool queue"),
    "loops": ("look fetch drip sleep", "gather timeout loops threads"),
    "wide": ("look drip sleep", ""),
}
"""What the programs of each style are made of: statements, and statements that hold blocks of statements."""


@dataclass
class Edit:
    """A deliberate change of the program at one of its calls: `argument`, `extra`, `missing` or `order`."""

    kind: str
    call: int


@dataclass
class Program:
    """A random program, the same for the same seed and style.

    `addresses` maps the number that each call has in the program's text to its address in the run.
    """

    seed: int
    edit: Edit | None = None
    style: str = "mixed"
    addresses: dict[int, str] = field(default_factory=dict)
    log: list[Any] = field(default_factory=list)
    story: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._shape = random.Random(self.seed)
        self._count = 0
        self.body = self._wide() if self.style == "wide" else self._block(depth=0)

    @property
    def calls(self) -> int:
        """How many calls the program's text has."""
        return self._count

    def run(self) -> list[Any]:
        """Run it; returns its whole shared state, in the order in which it came about."""
        self.log.clear()
        self.story.clear()
        if self.style == "sync":
            self._run_sync(self.body)
        else:
            asyncio.run(self._run(self.body))
        return [self.log, self.story]

    def behind(self, call: int) -> tuple[Any, list[Any]]:
        """That call, and the calls that stand behind it in its block (up to the first statement that is none)."""
        block = _holding(self.body, call)
        place = next(place for place, statement in enumerate(block) if statement[1:2] == (call,))
        behind = itertools.takewhile(lambda statement: statement[0] in CALLS, block[place + 1 :])
        return block[place], list(behind)

    def later(self, call: int) -> list[Any]:
        """The calls that the same task makes behind that one, those within time limits included."""
        found = _flow(self.body, call) or []
        return found[next(place for place, each in enumerate(found) if each[1] == call) + 1 :]

    # -- making the text -------------------------------------------------------------------------------------

    def _block(self, depth: int) -> list[Any]:
        return [self._statement(depth) for _ in range(self._shape.randint(2, 4))]

    def _statement(self, depth: int) -> Any:
        plain, nested = (words.split() for words in STYLES[self.style])
        kind = self._shape.choice(plain + (nested if depth < 2 else []))
        if kind in CALLS:
            return self._call(kind)
        if kind == "sleep":
            return ("sleep", self._shape.random() * DELAY)
        if kind in ("threads", "pool", "to_thread", "queue"):
            return (
                kind,
                [[self._call("fetch"), self._call("fetch")] for _ in range(self._shape.randint(2, 3))],
            )
        if kind == "timeout":
            return (kind, self._shape.random() * DELAY, [self._call("look")])
        return (kind, [self._block(depth + 1) for _ in range(self._shape.randint(2, 3))])

    def _wide(self) -> list[Any]:
        """Fifty at once, more than any pool or buffer is likely to be made for."""
        kinds = self._shape.sample(["gather", "group", "race", "first", "to_thread"], 2)
        body = [self._call("look")]
        for kind in kinds:
            inner = "fetch" if kind == "to_thread" else "look"
            body += [(kind, [[self._call(inner), self._call(inner)] for _ in range(50)]), self._call("look")]
        return body

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
            if statement[0] in CALLS and statement[1] == self.edit.call:
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

    def _compute(self, number: int) -> None:
        """Run code of some length, in which threads may change places."""
        for _ in range(zlib.crc32(f"{self.seed} {number}".encode()) % 20_000):
            pass

    def _got(self, number: int, value: Any) -> None:
        self._compute(number)
        # What enters the next question are the values alone. With the number of the call in it, one call that is left
        # out among equal ones would show first in others' questions, and only later where it is missing.
        self.log.append(value)
        self.story.append((number, value))
        self._compute(-number)

    async def _do_look(self, number: int, question: Any) -> None:
        self._asked("look", number)
        try:
            self._got(number, await look(self._question(question)))
        except LookupError as error:
            self._got(number, repr(error))

    async def _do_fetch(self, number: int, question: Any) -> None:
        self._fetch(number, question)

    def _fetch(self, number: int, question: Any) -> None:
        self._asked("fetch", number)
        try:
            self._got(number, fetch(self._question(question)))
        except LookupError as error:
            self._got(number, repr(error))

    async def _do_drip(self, number: int, question: Any) -> None:
        self._asked("drip", number)
        async for drop in drip(self._question(question)):
            self._got(number, drop)

    def _pour(self, number: int, question: Any) -> None:
        self._asked("pour", number)
        for drop in pour(self._question(question)):
            self._got(number, drop)

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

    async def _do_threads(self, blocks: list[Any]) -> None:
        self._threads(blocks)

    async def _do_pool(self, blocks: list[Any]) -> None:
        self._pool(blocks)

    async def _do_to_thread(self, blocks: list[Any]) -> None:
        await asyncio.gather(*(asyncio.to_thread(self._run_sync, block) for block in blocks))

    async def _do_loops(self, blocks: list[Any]) -> None:
        await asyncio.gather(*(asyncio.to_thread(self._run_loop, block) for block in blocks))

    # -- running it without a loop -----------------------------------------------------------------------------

    def _run_loop(self, block: list[Any]) -> None:
        asyncio.run(self._run(block))

    def _run_sync(self, block: list[Any]) -> None:
        for statement in self._edited(block):
            getattr(self, f"_{statement[0]}")(*statement[1:])

    def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def _threads(self, blocks: list[Any]) -> None:
        threads = [threading.Thread(target=self._run_sync, args=(block,)) for block in blocks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _pool(self, blocks: list[Any]) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._run_sync, blocks))

    def _queue(self, blocks: list[Any]) -> None:
        work: queue.Queue[Any] = queue.Queue()
        for block in blocks:
            work.put(block)

        def worker() -> None:
            while True:
                try:
                    block = work.get_nowait()
                except queue.Empty:
                    return
                self._run_sync(block)

        threads = [threading.Thread(target=worker) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _holding(block: list[Any], call: int) -> list[Any]:
    """The block of statements that a call stands in, or an empty one."""
    if any(statement[1:2] == (call,) for statement in block):
        return block
    for statement in block:
        for inner in _blocks(statement):
            if found := _holding(inner, call):
                return found
    return []


def _flow(block: list[Any], call: int) -> list[Any] | None:
    """The calls of the task that makes a call, in their order."""
    own: list[Any] = []
    for statement in block:
        own += statement[2] if statement[0] == "timeout" else [statement] if statement[0] in CALLS else []
    if any(each[1] == call for each in own):
        return own
    inner = (
        _flow(each, call) for statement in block if statement[0] != "timeout" for each in _blocks(statement)
    )
    return next((found for found in inner if found is not None), None)


def _blocks(statement: Any) -> list[Any]:
    if statement[0] == "timeout":
        return [statement[2]]
    return statement[1] if isinstance(statement[1], list) else []
