"""Commands that `os.spawn*` and `os.posix_spawn` start, on Linux.

A Python that can join the run is none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from inspect import BoundArguments
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import file_uses, popen, process_numbers
from reenact.adapters.stdlib.command import Acts, ProgramStart
from reenact.core.boundary import perform
from reenact.core.model.event import OPTIONS

assert sys.platform == "linux"


def install() -> None:
    """Hook the starts, once. The functions of `os.spawn*` share one."""
    wrap(os, "_spawnvef", _spawn)
    wrap(os, "posix_spawn", _posix_spawn)
    wrap(os, "posix_spawnp", _posix_spawn)


def _spawn(wrapped: Callable[..., int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    mode, file, argv, env, *_ = args
    given = _given(file, argv, env)
    if given is None:
        return wrapped(*args, **kwargs)
    if mode != os.P_WAIT:
        return _started(given, lambda: wrapped(*args, **kwargs))
    return popen.waited_for(given, lambda: wrapped(*args, **kwargs))


def _posix_spawn(
    wrapped: Callable[..., int], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int:
    path, argv, env, *_ = args
    shares = any(action[0] == os.POSIX_SPAWN_DUP2 for action in kwargs.get("file_actions") or ())
    given = None if shares else _given(path, argv, env)
    if given is None:
        return wrapped(*args, **kwargs)
    return _started(given, lambda: wrapped(*args, **kwargs), _options(kwargs))


def _options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `posix_spawn` in a form that is the same in each run."""
    scope = listening()
    if scope is None or scope.run.rules < OPTIONS:
        return {}
    found = {name: value for name, value in kwargs.items() if value is not None and value is not False}
    if found.get("file_actions"):
        found["file_actions"] = [[*map(_plain, action)] for action in found["file_actions"]]
    return {
        name: sorted(map(int, value)) if name.startswith("setsig") else value for name, value in found.items()
    }


def _plain(part: Any) -> Any:
    return os.fsdecode(part) if isinstance(part, (bytes, os.PathLike)) else part


def _given(path: Any, argv: Any, env: Any) -> BoundArguments | None:
    """Return the start as the arguments of `Popen`; None for one that is not answered."""
    more = {"executable": path} if env is None else {"executable": path, "env": env}
    given = popen.bound((list(argv),), more)
    recorded = listening() is not None and given is not None and popen.records(given, sys._getframe(2))
    return given if recorded else None


def _started(
    given: BoundArguments, start: Callable[[], int], options: Mapping[str, Any] | None = None
) -> int:
    """Start a command, or take the recorded start; return the number of its process."""
    scope = listening()
    assert scope is not None
    acts = Acts(ProgramStart.of(given.arguments, streams=False), scope)

    def live() -> dict[str, Any]:
        file_uses.command_begins()
        acts.real = True
        return acts.command.answer({"pid": start()})

    answer = perform(acts.command.effect(**(options or {})), live, begun=file_uses.command_asked)
    if not acts.real:
        acts.command.answered(answer)
    number: int = answer["pid"]
    process_numbers.add(number, acts)
    return number
