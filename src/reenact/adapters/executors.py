"""Futures and pools of threads: callbacks of jobs, and waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future
from functools import partial
from sys import _getframe
from types import ModuleType
from typing import Any

from reenact.adapters import callbacks, ordered, thread_pools
from reenact.adapters.concurrency import replace
from reenact.adapters.deadlines import Deadline, TooLate, deadline, not_ours
from reenact.adapters.readiness import positions
from reenact.adapters.stdlib import early
from reenact.adapters.waits import asked

_DONE = "threads:done"
"""The source of the positions of the futures that were done."""

_wait, _as_completed = futures.wait, futures.as_completed


def install(_module: ModuleType) -> None:
    """Patch futures and pools of threads, once: `concurrent.futures` has been imported."""
    if getattr(Future.__init__, "_reenact", False):
        return
    replace(Future, "__init__", ordered.future)
    replace(Future, "__hash__", ordered.hash_of)
    replace(Future, "add_done_callback", callbacks.added)
    replace(Future, "result", partial(_of_future, "result"))
    replace(Future, "exception", partial(_of_future, "exception"))
    replace(Future, "done", partial(asked, "done", bool))
    early.replace(futures, "wait", _wait_for_all)
    early.replace(futures, "as_completed", _in_order_of_ends)
    thread_pools.install(replace)


def _of_future(what: str, original: Callable[..., Any], future: Any, timeout: float | None = None) -> Any:
    """`Future.result` and `Future.exception`."""
    limited = deadline(what, timeout, _getframe(2), not_ours, given=True)
    if limited is None:
        return original(future, timeout)

    def attempt(seconds: float) -> Any:
        try:
            return original(future, seconds)
        except TimeoutError as error:
            if error is future._exception:
                # The job raised it, not the wait.
                raise
            raise TooLate from None

    try:
        return limited.answer(attempt)
    except TooLate:
        future._reenact_late = True
        raise futures.TimeoutError from None


def _wait_for_all(
    fs: Iterable[Any], timeout: float | None = None, return_when: str = futures.ALL_COMPLETED
) -> Any:
    """`concurrent.futures.wait`."""
    limited = deadline("futures", timeout, _getframe(1), not_ours, given=True)
    if limited is None:
        return _wait(fs, timeout, return_when)
    given = list(fs)
    handler, scope = limited.scope.run.handler, limited.scope
    if limited.recorded() is None:
        found = _wait(given, timeout, return_when)
        places = ",".join(str(place) for place, future in enumerate(given) if future in found.done)
        limited.over(met=True, write=lambda: handler.draw(scope, _DONE, lambda: places))
        ended = found.done
    else:
        places = handler.draw(scope, _DONE, str)
        ended = {given[place] for place in positions(places, len(given))}
        limited.until(partial(_all_ended, ended))
    left = set(given) - ended
    for future in left:
        future._reenact_late = True
    return futures._base.DoneAndNotDoneFutures(ended, left)


def _in_order_of_ends(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    """`concurrent.futures.as_completed`."""
    limited = deadline("as_completed", timeout, _getframe(1), not_ours, given=True)
    return _as_completed(fs, timeout) if limited is None else _ends(limited, list(dict.fromkeys(fs)))


def _ends(limited: Deadline, given: list[Any]) -> Iterator[Any]:
    scope, handler = limited.scope, limited.scope.run.handler
    places = {future: place for place, future in enumerate(given)}
    left = dict.fromkeys(given)
    live: Iterator[Any] | None = None
    while left:
        step = Deadline(scope, f"{limited.name}.{len(given) - len(left)}", limited.limit)
        met = None if live is not None else step.recorded()
        future: Any = None
        if met is None:
            live = live or _as_completed(list(left), limited.limit)
            try:
                future = next(live)
            except TimeoutError:
                step.over(met=False)
            else:
                place = str(places[future])
                step.over(met=True, write=partial(handler.draw, scope, _DONE, partial(str, place)))
        elif met:
            future = given[next(iter(positions(handler.draw(scope, _DONE, str), len(given))), 0)]
            step.until(partial(_all_ended, {future}))
        if future is None:
            for each in left:
                each._reenact_late = True
            raise futures.TimeoutError(f"{len(left)} (of {len(given)}) futures unfinished")
        left.pop(future, None)
        yield future


def _all_ended(futures: Iterable[Any], seconds: float) -> None:
    if _wait(futures, seconds).not_done:
        raise TooLate
