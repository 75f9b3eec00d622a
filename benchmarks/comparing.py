"""`reenact diff` of two long runs: from the start of the command to its last line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.material import KB, text
from benchmarks.plan import Plan
from benchmarks.report import Section
from benchmarks.workers import Broken

_STEPS = 1000
_HOW = (
    "Two runs of {steps:,} steps, model and tool calls in turn, each answer 10 KB; the whole command, from starting "
    "Python to its last line, {rounds} times; judged by CPU, of which it uses one core. "
    "*Growing*: each model call sends the whole chat, 10 MB in the last one; "
    "*short*: only what is new. The second run has two turns less and other words in three answers; or other words in "
    "every one; or hardly a word in common with the first."
)
_COMMAND = [sys.executable, "-c", "import sys; from reenact.cli import main; sys.exit(main())", "diff"]

Words = Callable[[int, str], str]


def measure(plan: Plan) -> Section:
    """On a terminal, as a page, as JSON."""
    steps, rounds = (100, 2) if plan.quick else (_STEPS, 5)
    section = Section("9. Comparing two runs", _HOW.format(steps=steps, rounds=rounds))
    with TemporaryDirectory() as folder:
        for name, growing, words, left in _CASES:
            plan.tell(f"comparing: {name}")
            paths = [Path(folder) / f"{name}-{side}" for side in "ab"]
            _write(paths[0], steps, growing=growing, words=_as_they_are, left=())
            _write(paths[1], steps, growing=growing, words=words, left=left)
            for how, options in (("", []), (", page", ["--html", f"{folder}/page.html"])):
                wall, cpu = _times([*map(str, paths), *options], rounds)
                found = f"{median(wall):.2f} ({min(wall):.2f}) s, {median(cpu):.2f} ({min(cpu):.2f}) s of CPU"
                section.figure(f"{name}{how}", "< 2 s of CPU", found, median(cpu) < 2)
    return section


def _times(arguments: list[str], rounds: int) -> tuple[list[float], list[float]]:
    wall, cpu = [], []
    for _ in range(rounds):
        before, began = os.times(), time.perf_counter()
        done = subprocess.run([*_COMMAND, *arguments], capture_output=True, text=True, check=False)
        wall.append(time.perf_counter() - began)
        after = os.times()
        cpu.append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
        if done.returncode != 1:
            raise Broken(f"reenact diff ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return wall, cpu


# -- the runs ------------------------------------------------------------------------------------------------


def _as_they_are(number: int, told: str) -> str:
    return told


def _here_and_there(number: int, told: str) -> str:
    return told.replace(" the ", " that ", 3) if number in {50, 200, 333} else told


def _everywhere(number: int, told: str) -> str:
    return told.replace(" the ", " that ").replace(" asks ", " asked ")


def _backwards(number: int, told: str) -> str:
    return f"Z{number} " + " ".join(f"{word[::-1]}q" for word in told.split(" "))


_CASES: list[tuple[str, bool, Words, tuple[int, ...]]] = [
    ("short, a few differences", False, _here_and_there, (100, 300)),
    ("growing, a few differences", True, _here_and_there, (100, 300)),
    ("short, other words everywhere", False, _everywhere, ()),
    ("growing, other words everywhere", True, _everywhere, ()),
    ("short, hardly a word in common", False, _backwards, ()),
]


def _write(folder: Path, steps: int, *, growing: bool, words: Words, left: tuple[int, ...]) -> None:
    """A recording, written by docs/format.md: recording 5 GB of chats would take most of the time."""
    folder.mkdir(parents=True)
    with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
        for line in _lines(steps, growing=growing, words=words, left=left):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


def _lines(steps: int, *, growing: bool, words: Words, left: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    yield {
        "event": "opened", "format": 1, "rules": 1, "id": "long", "name": "long", "tags": [], "started": "",
        "entry": "block", "process": "main", "program": None, "t": 0.0,
    }  # fmt: skip
    start = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Go on."}]
    messages: Any = start
    call = 0
    for turn in range(steps // 2):
        if turn in left:
            continue
        call += 1
        asks = [{"id": f"call_{turn}", "function": {"name": "look", "arguments": f'{{"q": {turn}}}'}}]
        answer = {"role": "assistant", "content": words(turn, text(10 * KB, turn)), "tool_calls": asks}
        usage = {"prompt_tokens": 2500, "completion_tokens": 2500}
        value = {"choices": [{"message": answer}], "usage": usage}
        yield from _call(call, ("model", "gpt-4o"), call // 2, {"messages": messages}, value)
        came = words(turn + steps, text(10 * KB, turn + steps))
        new = [answer, {"role": "tool", "tool_call_id": f"call_{turn}", "content": came}]
        sent = 2 + 2 * (call // 2)
        messages = {"$items": [call, sent, 0], "new": new} if growing else [*start, *new]
        call += 1
        yield from _call(call, ("tool", "look"), call // 2 - 1, {"q": turn}, came)
    yield {"event": "sealed", "status": "ok", "t": float(call)}


def _call(
    number: int, label: tuple[str, str], ordinal: int, args: dict[str, Any], value: Any
) -> Iterator[dict[str, Any]]:
    called = {"kind": label[0], "name": label[1], "n": ordinal, "args": args, "at": "main", "in": None}
    yield {"event": "called", "call": number, **called, "t": number - 0.9}
    yield {"event": "returned", "call": number, "value": value, "t": number - 0.1}
