"""Record and replay the signals that the program handles.

While recording, a handler does not run at any line: it waits until the main thread is in a call of the boundary, a
sleep, a wait or a quiet event loop. There it is a wake-up like any other, with a line of its own: `signal#0:SIGTERM`.
A replay sets no alarm and sends no signal: the handler runs in its recorded turn.

A thread that computes for longer than `_LIMIT` gets its signal all the same. A replay has no place for that one: it
is named while recording, and a replay diverges there.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, early
from reenact.adapters.stdlib.deliveries import Deliveries, handlers, loop_handlers, send
from reenact.adapters.stdlib.redeliveries import Redeliveries
from reenact.core.boundary import Run, current, draw
from reenact.core.store.writer import warn

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_set, _get = signal.signal, signal.getsignal
_real_pause: Any = getattr(signal, "pause", None)

_PLAIN = (f"{os.sep}asyncio{os.sep}unix_events.py", f"{os.sep}asyncio{os.sep}windows_events.py")
"""Code that sets handlers which do nothing: the loop hears of the signal by itself."""

_active: Deliveries | Redeliveries | None = None
"""The signals of the run in the main thread."""


def install() -> None:
    """Replace the functions that set handlers, send signals and set alarms, once."""
    if isinstance(signal.signal, staticmethod):
        return
    if send is None:
        # Windows has no signals to a thread.
        early.replace(signal, "signal", partial(_unrecorded, signal.signal))
        return
    early.replace(signal, "signal", _handle)
    early.replace(signal, "getsignal", _handler)
    early.replace(signal, "pause", _pause)
    for name in ("alarm", "setitimer"):
        early.replace(signal, name, partial(_timed, name, getattr(signal, name)))
    early.replace(signal, "raise_signal", partial(_to_itself, signal.raise_signal))
    early.replace(signal, "pthread_kill", _to_a_thread)
    early.replace(_thread, "interrupt_main", partial(_to_the_main_thread, _thread.interrupt_main))
    early.replace(os, "kill", partial(_to_a_process, os.kill))
    for name in ("sigwait", "sigwaitinfo", "sigtimedwait"):
        if hasattr(signal, name):
            early.replace(signal, name, partial(_awaited, name, getattr(signal, name)))


def install_in_loops(kind: Any) -> None:
    """Replace the methods that set handlers in a class of event loops."""
    if send is None:
        return
    for name, wrapper in (("add_signal_handler", _add), ("remove_signal_handler", _remove)):
        setattr(kind, name, _bound(wrapper, getattr(kind, name)))


def _bound(wrapper: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    def patched(loop: AbstractEventLoop, *args: Any) -> Any:
        return wrapper(original, loop, *args)

    return patched


def _forget() -> None:
    """Leave the signals of a forked process alone, until a run of its own begins there."""
    global _active
    _active = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def begin(run: Run) -> None:
    """Take the signals of a run that begins in the main thread."""
    global _active
    if _active is None and threading.current_thread() is threading.main_thread() and send is not None:
        _active = Redeliveries(run) if run.replaying else Deliveries(run)
        if _active.takes_interrupts and _get(signal.SIGINT) is signal.default_int_handler:
            handlers[signal.SIGINT] = signal.default_int_handler
            _set(signal.SIGINT, _came)


def end(run: Run) -> None:
    """Give the program's handlers back to the system."""
    global _active
    if _active is not None and _active.run is run:
        _active.end()
        # The program sends a process that it has started the recorded signals again, at any time.
        kept = isinstance(_active, Redeliveries) and _active.started
        _active = None
        for number, handler in [] if kept else list(handlers.items()):
            if _get(number) is _came and threading.current_thread() is threading.main_thread():
                _set(number, handler)
        handlers.clear()
        loop_handlers.clear()


def loop_begins(loop: AbstractEventLoop) -> None:
    """Note that a loop runs in this thread."""
    if _active is not None and threading.get_ident() == _active.main:
        _active.loop = loop
        _active.loop_begins(loop)


def loop_ends(loop: AbstractEventLoop) -> None:
    """Note that a loop has ended. Raises the exception of a handler that ended it."""
    if _active is not None and _active.loop is loop:
        _active.loop = None
        error, _active.thrown = _active.thrown, None
        if error is not None:
            raise error


# -- what the program calls ----------------------------------------------------------------------------------


def _mine(frame: FrameType) -> Deliveries | Redeliveries | None:
    """Return the signals of the run to which the calling code belongs."""
    if _active is None or frame.f_code.co_filename.startswith(callers.OURS):
        return None
    scope = listening()
    return _active if scope is not None and scope.run is _active.run else None


def _handle(number: Any, handler: Any, /) -> Any:
    frame = sys._getframe(1)
    if _mine(frame) is None or frame.f_code.co_filename.endswith(_PLAIN):
        return _set(number, handler)
    before = _handler(number)
    if callable(handler):
        _set(number, _came)
        handlers[int(number)] = handler
    else:
        _set(number, handler)
        handlers.pop(int(number), None)
    return before


def _handler(number: Any, /) -> Any:
    real = _get(number)
    return handlers.get(int(number), signal.SIG_DFL) if real is _came else real


def _timed(name: str, original: Callable[..., Any], *args: Any) -> Any:
    """Set an alarm; its answer, the rest of the one before, is recorded. A replay sets none."""
    frame = sys._getframe(1)
    mine, scope = _mine(frame), listening()
    if mine is None or scope is None:
        return original(*args)
    many = name == "setitimer"
    live = mine.live
    if callers.program(frame):
        for seconds in args[many:]:
            scope.run.times.add(scope.path, seconds)

    def ask() -> Any:
        answer = original(*args) if live else (0.0, 0.0) if many else 0
        return list(cast("Any", answer)) if many else answer

    answer = draw(f"signal:{name}", ask)
    return tuple(answer) if many else answer


def _to_itself(original: Callable[..., None], number: Any, /) -> None:
    mine = _mine(sys._getframe(1))
    if mine is None or not mine.sent(number, sys._getframe(1)):
        original(number)


def _to_a_thread(thread: int, number: Any, /) -> None:
    mine = _mine(sys._getframe(1))
    if mine is None or thread != mine.main or not mine.sent(number, sys._getframe(1)):
        send(thread, number)


def _to_the_main_thread(original: Callable[..., None], number: Any = signal.SIGINT, /) -> None:
    mine = _mine(sys._getframe(1))
    if mine is None or not mine.sent(number, sys._getframe(1)):
        original(number)


def _to_a_process(original: Callable[..., None], pid: int, number: Any, /) -> None:
    mine = _mine(sys._getframe(1))
    if mine is None or pid != os.getpid() or not mine.sent(number, sys._getframe(1)):
        original(pid, number)


def _pause() -> None:
    mine = _mine(sys._getframe(1))
    if mine is None:
        _real_pause()
    else:
        mine.pause()


def _awaited(name: str, original: Callable[..., Any], *args: Any) -> Any:
    mine = _mine(sys._getframe(1))
    if mine is not None:
        mine.unknown(f"the program waits in signal.{name}", sys._getframe(1))
    return original(*args)


def _unrecorded(original: Callable[..., Any], number: Any, handler: Any, /) -> Any:
    before = original(number, handler)
    scope, frame = current(), sys._getframe(1)
    asked_to_end = number in (signal.SIGINT, signal.SIGTERM)
    if (
        scope is not None
        and not scope.hidden
        and callable(handler)
        and not asked_to_end
        and callers.program(frame)
    ):
        name = signal.Signals(number).name
        text = f"the program handles {name} at {callers.place_of(frame)}: when it comes is not recorded"
        scope.run.handler.note("source", text)
        warn(text)
    return before


def _add(
    original: Callable[..., None], loop: AbstractEventLoop, number: int, callback: Any, *args: Any
) -> None:
    mine = _mine(sys._getframe(2))
    if mine is None:
        original(loop, number, callback, *args)
        return
    from asyncio import Handle

    loop_handlers[loop, int(number)] = Handle(callback, args, loop)
    if mine.live:
        original(loop, number, cast("Deliveries", mine).heard, loop, int(number))


def _remove(original: Callable[..., bool], loop: AbstractEventLoop, number: int) -> bool:
    known = loop_handlers.pop((loop, int(number)), None)
    if known is not None and _active is not None and not _active.live:
        return True
    return original(loop, number)


def _came(number: int, frame: FrameType | None) -> None:
    """Take a signal of the system, for any handler of the program's."""
    if _active is None:
        handler = handlers.get(number)
        if callable(handler):
            handler(number, frame)
    else:
        _active.came(number, frame)
