"""Name the memory that processes share without a recorded order."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from multiprocessing import context
from sys import _getframe
from types import FrameType, ModuleType
from typing import Any

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, unseen


def install(module: ModuleType) -> None:
    """Patch a module of `multiprocessing` that has just been imported."""
    name = module.__name__.rpartition(".")[2]
    if name == "shared_memory":
        _naming(module.SharedMemory, "__init__", lambda _: "multiprocessing.shared_memory")
    else:
        for kind in ("RawValue", "RawArray"):
            _naming(module, kind, lambda _: "memory of multiprocessing without a lock")


def _naming(owner: Any, name: str, what: Callable[[Any], str]) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def named(*args: Any, **options: Any) -> Any:
        scope = listening()
        caller: FrameType | None = _getframe(1)
        while caller is not None and caller.f_code.co_filename == context.__file__:
            caller = caller.f_back
        if scope is not None and not scope.run.replaying and callers.program(caller):
            unseen.shared(scope.run, what(args[0] if args else None))
        return original(*args, **options)

    setattr(owner, name, named)
