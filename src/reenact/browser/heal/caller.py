"""Find the caller's place in a script, and run coroutines from a program without a loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from reenact.browser.effects.calls import in_a_loop
from reenact.browser.heal.mend import ScriptPlace

if TYPE_CHECKING:
    from reenact.browser.session.session import Session

T = TypeVar("T")


def place() -> ScriptPlace | None:
    """Return the caller's place: the first frame outside of Reenact."""
    frame = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != "reenact" and not module.startswith("reenact."):
            return ScriptPlace(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)
        frame = frame.f_back
    return None


def here(session: Session, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await a coroutine in the session's recording, from a program without a running loop."""
    if not in_a_loop():
        return asyncio.run(make())
    # In a notebook, this cell blocks the running loop, so a thread runs the coroutine.
    outcome: list[T] = []
    broken: list[BaseException] = []

    def heal() -> None:
        try:
            outcome.append(asyncio.run(make()))
        except BaseException as error:
            broken.append(error)

    thread = threading.Thread(target=heal, name="heal", daemon=True)
    with session.core.recording.inside():
        thread.start()
        thread.join()
    if broken:
        raise broken[0]
    return outcome[0]
