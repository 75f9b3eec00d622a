"""Waits of threads for sockets and pipes that other threads of the program write to.

Each result of a selector, and each read from a socket or pipe, has its turn among all other events: the reader goes on
after the writes before it, and does not see later ones. Its line is that of a wait with a time limit. A replay takes
the recorded turn first, and then waits until the recorded objects are ready.

Waits in libraries (a server's loop, a pool's watcher) have no turn; such a thread counts as resting.
"""

from __future__ import annotations

import select
import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any

from reenact.adapters.deadlines import Deadline, TooLate, deadline, pause, seconds_of
from reenact.adapters.hooks import patch
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import callers, early
from reenact.adapters.stdlib.descriptors import end_of
from reenact.core.boundary.running_loop import running_loop
from reenact.core.dataclass import dataclass

_READY = "threads:ready"
"""The source of the positions of the objects that were ready."""

_SOCKET = str(Path(selectors.__file__).with_name("socket.py"))
"""The file of sockets, which read for their caller."""

_MOMENT = 0.02
_MOST = 4096
_select = select.select
_poll: Any = getattr(select, "poll", None)


def install() -> None:
    """Patch selectors."""
    for name in ("SelectSelector", "_PollLikeSelector", "EpollSelector", "KqueueSelector"):
        kind = getattr(selectors, name, None)
        if kind is not None:
            patch(kind, "select", _of_selector, library="selectors")
    early.replace(select, "select", _of_lists)
    if hasattr(select, "poll"):
        early.replace(select, "poll", _Poll)


@contextmanager
def resting() -> Iterator[None]:
    """Count this thread as resting while the body runs."""
    scope = listening()
    if scope is None:
        yield
        return
    scope.run.turnstile.blocks()
    try:
        yield
    finally:
        scope.run.turnstile.unblocks()


def own_wait(
    what: str, limit: float | None, caller: FrameType | None, *, always: bool = False
) -> Deadline | None:
    """Return the wait if it is the program's own, or `always`; its scope is that of the thread."""
    while caller is not None and caller.f_code.co_filename == _SOCKET:
        caller = caller.f_back
    if caller is None:
        return None
    counts = (lambda _: True) if always else callers.program
    return deadline(what, seconds_of(limit), caller, counts)


# -- selectors -----------------------------------------------------------------------------------------------

_Event = tuple[int, int]
"""The position of a watched object among all, and its kind of event."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """The objects that a selector watches.

    Args:
        now: Waits for the given seconds; returns the events that came.
        value: Returns the event as the program gets it. Raises IndexError for an unknown position.
        answered: Returns True for an event of a command that a replay answers: nothing is ready for real.
    """

    now: Callable[[float | None], list[_Event]]
    value: Callable[[int, int], Any]
    answered: Callable[[int, int], bool]


def _of_selector(original: Callable[..., Any]) -> Callable[..., Any]:
    """`select` of selectors."""

    def select(selector: Any, timeout: float | None = None) -> Any:
        caller = _getframe(1)
        if _is_unheard(caller):
            return original(selector, timeout)
        found = _from_selector(original, selector, timeout, caller)
        return _rested(original, selector, timeout) if found is None else found

    return select


def leave_alone(selector: Any) -> None:
    """Restore the `select` of an event loop's selector: a loop's events have turns elsewhere."""
    real = getattr(getattr(type(selector), "select", None), "__wrapped__", None)
    if real is not None and isinstance(selector, selectors.BaseSelector):
        selector.select = real.__get__(selector)  # type: ignore[method-assign]


def _from_selector(
    original: Callable[..., Any], selector: Any, timeout: float | None, caller: FrameType
) -> list[Any] | None:
    keys = list(selector.get_map().values())
    places = {key.fd: place for place, key in enumerate(keys)}
    commands = {place: end for place, key in enumerate(keys) if (end := end_of(key.fd))}
    watched = _Watched(
        lambda seconds: [(places[key.fd], mask) for key, mask in original(selector, seconds)],
        lambda place, mask: (keys[place], mask),
        lambda place, _: place in commands and commands[place].answered,
    )
    return _awaited("select", timeout, watched, bool(commands), caller)


def _of_lists(
    reading: Any, writing: Any, exceptional: Any, timeout: float | None = None, /
) -> tuple[list[Any], list[Any], list[Any]]:
    if _is_unheard(_getframe(1)):
        return _select(reading, writing, exceptional, timeout)
    given = [list(part) for part in (reading, writing, exceptional)]
    split: tuple[list[Any], list[Any], list[Any]] = ([], [], [])

    def now(seconds: float | None) -> list[_Event]:
        found = enumerate(_select(given[0], given[1], given[2], seconds))
        return [(_place(given[number], item), number) for number, part in found for item in part]

    commands = {
        (place, number): end
        for number, part in enumerate(given)
        for place, item in enumerate(part)
        if (end := end_of(item))
    }
    watched = _Watched(
        now,
        lambda place, number: (number, given[number][place]),
        lambda *event: event in commands and commands[event].answered,
    )
    found = _awaited("select", timeout, watched, bool(commands), _getframe(1))
    if found is None:
        return _rested(_select, reading, writing, exceptional, timeout)  # type: ignore[no-any-return]
    for number, item in found:
        split[number].append(item)
    return split


class _Poll:
    """An object of `select.poll`: its waits for commands have their turn."""

    def __init__(self) -> None:
        self._real = _poll()
        self._numbers: dict[int, None] = {}

    def register(self, thing: Any, /, *events: int) -> None:
        """Watch a descriptor."""
        self._real.register(thing, *events)
        self._numbers[_number(thing)] = None

    def modify(self, thing: Any, events: int, /) -> None:
        """Watch a descriptor for other events."""
        self._real.modify(thing, events)

    def unregister(self, thing: Any, /) -> None:
        """Stop watching a descriptor."""
        self._real.unregister(thing)
        self._numbers.pop(_number(thing), None)

    def poll(self, timeout: float | None = None, /) -> list[tuple[int, int]]:
        """Wait for milliseconds, None: without end; return the descriptors with their events."""
        if _is_unheard(_getframe(1)):
            return self._real.poll(timeout)  # type: ignore[no-any-return]
        numbers = list(self._numbers)
        commands = {place: end for place, number in enumerate(numbers) if (end := end_of(number))}
        limit = None if timeout is None or timeout < 0 else timeout / 1000

        def now(seconds: float | None) -> list[_Event]:
            found = self._real.poll(None if seconds is None else seconds * 1000)
            return [(numbers.index(number), events) for number, events in found]

        watched = _Watched(
            now,
            lambda place, events: (numbers[place], events),
            lambda place, _: place in commands and commands[place].answered,
        )
        found = _awaited("poll", limit, watched, bool(commands), _getframe(1)) if commands else None
        return _rested(self._real.poll, timeout) if found is None else found


def _is_unheard(caller: FrameType) -> bool:
    """Return True for a wait without a line: outside of runs, or an event loop's own."""
    if listening() is None:
        return True
    in_loop = running_loop() is not None
    return in_loop and caller.f_globals.get("__name__", "").startswith("asyncio.")


def _rested(original: Callable[..., Any], *args: Any) -> Any:
    with nullcontext() if running_loop() is not None else resting():
        return original(*args)


def _awaited(
    what: str, limit: float | None, watched: _Watched, commands: bool, caller: FrameType
) -> list[Any] | None:
    """Wait in this thread's turn, and return the events as the program gets them.

    None for a wait without a line. Code in an event loop stops the loop while it waits for commands: it needs no turn.
    """
    if running_loop() is not None:
        scope = listening()
        if scope is None or not commands:
            return None
        text = scope.run.handler.draw(scope, _READY, lambda: _text(watched.now(limit)))
        return _values(watched, _parsed(text))
    limited = own_wait(what, limit, caller, always=commands)
    return None if limited is None else _ready(limited, limit, watched)


def _number(thing: Any) -> int:
    return thing if isinstance(thing, int) else int(thing.fileno())


def _place(items: list[Any], sought: Any) -> int:
    return next(place for place, item in enumerate(items) if item is sought)


def _ready(limited: Deadline, timeout: float | None, watched: _Watched) -> list[Any]:
    """Wait for events, in a replay for the recorded ones; return them as the program gets them."""
    scope, handler = limited.scope, limited.scope.run.handler
    met = limited.recorded()
    if met is None:
        with resting():
            found = watched.now(timeout)
        write = (lambda: handler.draw(scope, _READY, lambda: _text(found))) if found else None
        limited.over(bool(found), write)
        return [watched.value(*event) for event in found]
    if not met:
        return []
    wanted = _parsed(handler.draw(scope, _READY, str))
    real = {event for event in wanted if not watched.answered(*event)}

    def attempt(seconds: float) -> None:
        if not real <= set(watched.now(seconds)):
            # Other objects are ready, and would end the next attempt at once.
            pause(_MOMENT)
            raise TooLate

    if real:
        limited.until(attempt)
    return _values(watched, wanted)


def _values(watched: _Watched, events: list[_Event]) -> list[Any]:
    with suppress(IndexError):
        return [watched.value(*event) for event in events]
    return []


def _text(events: list[_Event]) -> str:
    return ",".join(f"{place}:{kind}" for place, kind in events)


def positions(text: Any, count: int) -> list[int]:
    """Read the positions in a list from the text of a recording; ignore all that are not in it."""
    words = text.split(",") if isinstance(text, str) else ()
    return [int(word) for word in words if is_number(word) and int(word) < count]


def is_number(word: str) -> bool:
    """Return True for a natural number of at most nine digits."""
    return word.isascii() and word.isdigit() and len(word) < 10


def _parsed(text: Any) -> list[_Event]:
    """Read events from the text of a recording; ignore all that are malformed."""
    found = []
    for word in text.split(",")[:_MOST] if isinstance(text, str) else ():
        place, _, kind = word.partition(":")
        if is_number(place) and is_number(kind):
            found.append((int(place), int(kind)))
    return found
