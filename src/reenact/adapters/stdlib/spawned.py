"""Commands that `os.spawn*` and `os.posix_spawn` start, on Linux.

A Python that can join the run is none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from inspect import BoundArguments
from typing import Any

from reenact.adapters.hooks import wrap
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import file_uses, popen, process_numbers
from reenact.adapters.stdlib.command import Acts, ProgramStart
from reenact.core.boundary import perform

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
    return _started(given, lambda: wrapped(*args, **kwargs))


def _given(path: Any, argv: Any, env: Any) -> BoundArguments | None:
    """Return the start as the arguments of `Popen`; None for one that is not answered."""
    more = {"executable": path} if env is None else {"executable": path, "env": env}
    given = popen.bound((list(argv),), more)
    recorded = listening() is not None and given is not None and popen.records(given, sys._getframe(2))
    return given if recorded else None


def _started(given: BoundArguments, start: Callable[[], int]) -> int:
    """Start a command, or take the recorded start; return the number of its process."""
    scope = listening()
    assert scope is not None
    acts = Acts(ProgramStart.of(given.arguments), scope)

    def live() -> dict[str, Any]:
        file_uses.command_begins()
        acts.real = True
        return acts.command.answer({"pid": start()})

    answer = perform(acts.command.effect(), live, begun=file_uses.command_asked)
    if not acts.real:
        acts.command.answered(answer)
    number: int = answer["pid"]
    process_numbers.add(number, acts)
    return number
