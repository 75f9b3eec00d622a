"""The ids that LangChain and LangGraph generate, the same again in a replay.

They identify messages (`lc_run--…`), checkpoints and interrupts, so a program's output, and the objects that it removes
or resumes by id, depend on them. Runs and messages get ids that are derived, in each scope, from one that is recorded
there. Each id of a checkpoint is recorded, since savers sort checkpoints by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from reenact.adapters.scopes import listening
from reenact.core.boundary import Run, Scope, draw

_firsts: WeakKeyDictionary[Run, dict[tuple[str, str], UUID]] = WeakKeyDictionary()


def name_runs(manager: Any) -> None:
    """Derive the ids of runs in `langchain_core.callbacks.manager`."""
    put(manager, "uuid7", _run_id)


class _Named:
    """Replaces `uuid` in a module that makes messages' ids by `uuid.uuid4()`."""

    def __init__(self, original: Any) -> None:
        self._original = original
        self.uuid4 = message_id(original.uuid4)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def name_messages(module: Any) -> None:
    """Derive the ids of messages in `langgraph.graph.message`."""
    put(module, "uuid", _Named)


def put(module: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
    """Replace a function in the module that calls it, once.

    Without that name in the module, do nothing: then only its ids differ between runs.
    """
    original = getattr(module, name, None)
    if original is None or getattr(original, "_reenact", False):
        return
    hooked = wrapper(original)
    hooked._reenact = True
    setattr(module, name, hooked)


def _run_id(original: Any) -> Any:
    def uuid7(*args: Any) -> UUID:
        if (scope := listening()) is None or args:
            found: UUID = original(*args)
            return found
        # These ids ascend, as those of `uuid7` do.
        return UUID(int=_first(scope, "run", original).int + scope.count("%id"))

    return uuid7


def message_id(original: Any) -> Any:
    """Replace `uuid4`, for a message without an id."""

    def uuid4() -> UUID:
        if (scope := listening()) is None:
            found: UUID = original()
            return found
        text = f"{_first(scope, 'message', original)} {scope.count('%id')}"
        return UUID(bytes=hashlib.blake2b(text.encode(), digest_size=16).digest(), version=4)

    return uuid4


def checkpoint_id(original: Any) -> Any:
    """Replace `uuid6` by one whose ids are recorded, and the same in a replay."""

    def uuid6(*args: Any, **options: Any) -> UUID:
        return UUID(draw("entropy:langgraph:checkpoint", lambda: str(original(*args, **options))))

    return uuid6


def _first(scope: Scope, what: str, make: Callable[[], UUID]) -> UUID:
    firsts = _firsts.setdefault(scope.run, {})
    known = firsts.get((scope.path, what))
    if known is None:
        found: str = draw(f"entropy:langchain:{what}", lambda: str(make()))
        known = firsts[scope.path, what] = UUID(found)
    return known
