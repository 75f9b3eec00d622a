"""The program of an MCP server over stdio, whose changes a replay names without running it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Any

import orjson

from reenact.core.boundary import Scope, entered
from reenact.core.model.event import POOLS

_SOURCE = "mcp:server"
_LARGEST = 1 << 22
"""Bytes of a file above which its size stands for its content."""


def name_changes(scope: Scope, server: Any) -> None:
    """Record the command and the files of a server; in a replay, name what differs.

    Args:
        scope: The scope of the session.
        server: The SDK's `StdioServerParameters`.
    """
    command, words = getattr(server, "command", None), getattr(server, "args", None)
    if not isinstance(command, str) or not isinstance(words, list) or scope.run.rules < POOLS:
        return
    with entered(None):
        now = _described(command, words, getattr(server, "cwd", None))
    recorded: Any = scope.run.handler.draw(scope, _SOURCE, lambda: orjson.dumps(now).decode())
    if scope.run.replaying and not scope.run.handler.gone_live and isinstance(recorded, str):
        for text in _differences(recorded, now):
            scope.run.handler.remark(text)


def _described(command: str, words: Sequence[str], folder: Any) -> dict[str, Any]:
    """Return the command without its folders, and a digest of each file that it names."""
    base, files = Path(folder or os.curdir), {}
    for place, word in enumerate(words):
        names = [word]
        if place and words[place - 1] == "-m":
            module = Path(*word.split("."))
            names = [f"{module}.py", f"{module / '__main__'}.py", f"{module / '__init__'}.py"]
        for name in names:
            with suppress(OSError, ValueError):
                if (base / name).is_file():
                    files[PurePath(name).name] = _digest(base / name)
    name = PurePath(command).name
    shown = [word if not PurePath(word).is_absolute() else PurePath(word).name for word in words]
    return {"command": ["python" if name.startswith("python") else name, *shown], "files": files}


def _digest(path: Path) -> str:
    size = path.stat().st_size
    return f"{size} bytes" if size > _LARGEST else blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _differences(recorded: str, now: dict[str, Any]) -> list[str]:
    try:
        then = orjson.loads(recorded)
        command, files = list(then["command"]), dict(then["files"])
    except (ValueError, TypeError, KeyError):
        return []  # a recording of another maker
    if not _alike(command, now["command"]):
        then, new = " ".join(map(str, command)), " ".join(now["command"])
        return [f"the command of an MCP server is {new}, and was {then}: its answers are the recorded ones"]
    return [
        f"{name}, the program of an MCP server, has changed: its answers are the recorded ones"
        for name, digest in now["files"].items()
        if files.get(name) != digest
    ]


def _alike(then: Any, now: list[str]) -> bool:
    """Return True for the same words; a recorded word may have a secret's token."""
    return (
        isinstance(then, list)
        and len(then) == len(now)
        and all(word == new or "[secret" in str(word) for word, new in zip(then, now, strict=True))
    )
