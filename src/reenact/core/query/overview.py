"""The texts that distinguish runs: script, first user message and outcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from reenact.core.dataclass import dataclass
from reenact.core.messages import Message, ModelCall
from reenact.core.model import storable
from reenact.core.model.event import Tree
from reenact.core.model.header import program_of
from reenact.core.model.log import Log
from reenact.core.model.plain import compact, plain
from reenact.core.patterns import lazy
from reenact.errors import ReenactError

LONGEST = 280
"""Maximum characters of a prompt and of an outcome."""

_SCRIPT = 512
_RUNNERS = {
    "pytest",
    "py.test",
    "__main__.py",
    "ipykernel_launcher",
    "ipykernel_launcher.py",
    "unittest",
    "reenact",
}
"""Programs that run other scripts: their own name does not identify the script."""

_HEADING = lazy(r"^#{1,6} ", re.MULTILINE)
_RESULT_TOOLS = lazy(r"final_(result|answer|output|response)|submit(_answer|_result)?$|done$|finish$|complet")
"""Tools by which a model gives its result instead of a text."""

_RESULT_TEXTS = ("answer", "final_answer", "response", "result", "output", "message", "text", "summary")


@dataclass(frozen=True, slots=True)
class Overview:
    """The texts of a run for lists, each on one line.

    Attributes:
        script: The file or module that ran, or empty.
        prompt: The first user message of the first chat that has one; of one with headings the first section. A
            browser script without such a chat has its file and goal instead: the task of its fallback or agent, or
            the first address that it opens. Otherwise empty.
        outcome: The run's error; otherwise its declared output, the model's last answer, or the last printed line.
    """

    script: str = ""
    prompt: str = ""
    outcome: str = ""


def overview(log: Log, calls: Sequence[ModelCall]) -> Overview:
    """Return the overview of a run.

    Args:
        log: The log of its first process.
        calls: Its model calls, in the order of their steps.
    """
    script = script_of(log.opened) or ""
    prompt = _prompt(calls) or _goal(log, script)
    return Overview(storable.storable(script, _SCRIPT), _short(prompt), _short(_outcome(log, calls)))


def script_of(header: Mapping[str, Any]) -> str | None:
    """Return the file or module name of a recording's script; None for a notebook or a test."""
    argv = program_of(header).get("argv")
    words = [str(one) for one in argv] if isinstance(argv, list) else []
    name = None
    for place, one in enumerate(words):
        if one == "-m" and place + 1 < len(words):
            name = words[place + 1]
            break
        if one.endswith(".py"):
            name = PurePath(one.replace("\\", "/")).name
            break
        if PurePath(one).name in _RUNNERS:
            return None
    return None if name is None or name in _RUNNERS else name


def _prompt(calls: Iterable[ModelCall]) -> str:
    for call in calls:
        if call.embedded is None:
            for message in call.messages:
                if message.role == "user" and message.text.strip():
                    return _first_section(message.text)
    return ""


def _goal(log: Log, script: str) -> str:
    """Return the file and goal of a browser script, or empty for another program."""
    task = address = ""
    browser = False
    for call in log.calls.values():
        if call.kind not in ("browser", "agent") and call.label != "heal:block":
            continue
        browser = True
        args = log.args(call)
        if said := _text_of(args, "task"):
            task = said
            break
        address = address or _text_of(args, "url")
    if not browser:
        return ""
    return ": ".join(filter(None, (script, task or (f"opens {address}" if address else ""))))


def _text_of(args: Mapping[str, Tree], name: str) -> str:
    value = plain(args.get(name))
    return value.strip() if isinstance(value, str) else ""


def _first_section(text: str) -> str:
    """Return the first section of a message that begins with a Markdown heading, or all."""
    title, _, rest = text.lstrip().partition("\n")
    if not _HEADING.match(title):
        return text
    after = _HEADING.search(rest)
    return (rest[: after.start()] if after else rest).strip() or text


def _outcome(log: Log, calls: Sequence[ModelCall]) -> str:
    sealed = log.sealed or {}
    if sealed.get("error"):
        return _error(sealed["error"])
    if sealed.get("status") == "error" and sealed.get("exit"):
        return f"exit status {sealed['exit']}"
    with suppress(ReenactError):
        if sealed.get("output") is not None:
            return compact(plain(log.filled(sealed["output"])))
    for call in reversed(calls):
        if call.embedded is None and (said := _answer(call)):
            return said
    printed = sealed.get("stdout")
    lines = str(printed.get("text") or "").rstrip() if isinstance(printed, dict) else ""
    return lines.rpartition("\n")[2]


def _error(tree: Tree) -> str:
    """Return an error's class and text, without the class's module."""
    if not isinstance(tree, dict):
        return str(tree)
    name, text = re.split(r"[.:]", str(tree.get("type") or ""))[-1], str(tree.get("text") or "")
    return f"{name}: {text}" if name and text else name or text


def _answer(call: ModelCall) -> str:
    if call.answer is None:
        return call.problem
    return call.answer.text.strip() or _asked(call.answer)


def _asked(answer: Message) -> str:
    """Return the tool calls of an answer without text: `cancel_order({"order_id":"A-1"})`.

    A call that carries the agent's result, as `final_result` does, is its text.
    """
    if len(answer.calls) == 1 and _RESULT_TOOLS.match(answer.calls[0].name):
        return _result(answer.calls[0].args) or compact(answer.calls[0].args)
    return ", ".join(f"{call.name}({compact(call.args)})" for call in answer.calls)


def _result(args: Any, depth: int = 2) -> str:
    """Return the text of a result by its usual names, also within members; or empty."""
    if not isinstance(args, dict):
        return ""
    for name in _RESULT_TEXTS:
        if isinstance(said := args.get(name), str) and said.strip():
            return said
    if depth == 0:
        return ""
    return next((said for one in args.values() if (said := _result(one, depth - 1))), "")


def _short(text: str) -> str:
    """Return a text on one line of at most `LONGEST` characters, all of which can be stored."""
    words = text.split(maxsplit=LONGEST)[:LONGEST]
    return storable.storable(" ".join(words), LONGEST)
