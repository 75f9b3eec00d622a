"""Objects of a `multiprocessing.Manager`: used in a replay in the recorded order.

Their server runs in a replay, too. It performs one use of an object at a time. A recording of the server has a line
where a process or thread uses an object after another one. In a replay, each use waits for its turn, so it finds the
recorded state of the object. Uses that wait (`get`, `acquire`, `wait`, `join`) are counted when they are over. The
process that uses an object records the end of each use and a digest of its arguments: other arguments are a divergence.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from functools import partial
from multiprocessing.reduction import ForkingPickler
from sys import _getframe
from time import monotonic
from types import ModuleType
from typing import Any

from reenact.adapters.deadlines import UNLIMITED, deadline
from reenact.adapters.hooks import patch
from reenact.adapters.lock_names import name_of_lock
from reenact.adapters.locks import unit_of
from reenact.adapters.mailbox import SHARED
from reenact.adapters.message_digest import digest
from reenact.adapters.process_activity import StandStill
from reenact.adapters.readiness import resting
from reenact.adapters.scopes import listening
from reenact.adapters.stdlib import early, unseen
from reenact.core.boundary import Scope

_GIVEN = "_reenact"
"""The argument with an object's name, or the scope that uses it, in requests to the server."""
_MARK = "~"
"""Part of the server's identifiers of objects with a recorded order."""
_LOOK = 0.05
_DEEPEST = 20
_PLAIN = (str, bytes, int, float, bool, type(None))

_KNOWN = (
    "Array", "BoundedSemaphore", "Event", "JoinableQueue", "Lock", "Namespace", "Queue", "RLock", "Semaphore", "Value",
    "dict", "list", "set",
)  # fmt: skip
"""The kinds of objects whose waiting methods are known."""
_makers: list[Any] = []
"""The functions and classes that make objects of these kinds."""


def install(module: ModuleType) -> None:
    """Patch `multiprocessing.managers`, which has just been imported."""
    for owner, name, wrapper in (
        (module.BaseManager, "start", _start),
        (module.BaseManager, "_create", _create),
        (module.BaseProxy, "_callmethod", _call),
        (module.Server, "create", _created),
    ):
        patch(owner, name, partial(_around, wrapper), library="multiprocessing.managers")
    registry = module.SyncManager._registry
    for kind, (maker, *rest) in registry.items():
        # The module was imported with the plain locks: a spawned server looks them up by name, and finds others.
        registry[kind] = (early.stand_in(maker), *rest)
    _makers.extend(registry[kind][0] for kind in _KNOWN if kind in registry)
    found = module.Server.fallback_mapping
    module.Server.fallback_mapping = {name: partial(_fallback, function) for name, function in found.items()}


def _around(wrapper: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    def patched(*args: Any, **options: Any) -> Any:
        return wrapper(original, *args, **options)

    return patched


# -- the program ---------------------------------------------------------------------------------------------


def _start(original: Callable[..., None], manager: Any, *args: Any, **options: Any) -> None:
    """`BaseManager.start`: note if the server joins the run."""
    scope = listening()
    manager._reenact = os.name != "nt" and scope is not None and scope.run.family is not None
    original(manager, *args, **options)


def _create(original: Callable[..., Any], manager: Any, typeid: str, /, *args: Any, **options: Any) -> Any:
    """`BaseManager._create`: name an object, or note that it has no recorded order."""
    scope = listening()
    if scope is None:
        return original(manager, typeid, *args, **options)
    maker = manager._registry[typeid][0]
    if any(maker is each for each in _makers) and getattr(manager, "_reenact", False):
        options[_GIVEN] = name_of_lock(scope, f"shared {typeid}")
    elif not scope.run.replaying:
        unseen.shared(scope.run, f"{typeid} objects of multiprocessing.{type(manager).__name__}")
    return original(manager, typeid, *args, **options)


def _call(
    original: Callable[..., Any],
    proxy: Any,
    methodname: str,
    args: tuple[Any, ...] = (),
    kwds: dict[str, Any] | None = None,
) -> Any:
    """`BaseProxy._callmethod`: use an object of the server."""
    given = dict(kwds or {})
    scope = listening()
    if _MARK not in proxy._id or scope is None or proxy._owned_by_manager:
        return original(proxy, methodname, args, given)
    limited = deadline("shared object", UNLIMITED, _getframe(2), _any)
    assert limited is not None
    run, use = scope.run, _use(methodname, args, given)
    call = partial(original, proxy, methodname, args, {**given, _GIVEN: unit_of(scope).path})
    if limited.due() is None:
        try:
            with resting():
                return call()
        finally:
            limited.over(met=True, write=lambda: run.handler.draw(scope, SHARED, lambda: use))
    recorded = run.handler.draw(scope, SHARED, str)
    if recorded != use:
        what = (
            methodname
            if recorded.partition(" ")[0] == methodname
            else f"{recorded.partition(' ')[0]}, not {methodname},"
        )
        raise run.handler.refuse(
            scope.path, f"{what} of an object of a manager was given something else when it was recorded"
        )
    run.turnstile.live_begins()
    try:
        return call()
    finally:
        run.turnstile.live_ends()
        limited.recorded()


def _any(_: Any) -> bool:
    return True


def _use(methodname: str, args: tuple[Any, ...], given: dict[str, Any]) -> str:
    """Return the name of a use: its method, with a digest of plain arguments."""
    if not _is_plain((args, given), 0):
        return methodname
    return f"{methodname} {digest(bytes(ForkingPickler.dumps((args, given))))}"


def _is_plain(value: Any, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    if type(value) is dict:
        return all(type(key) in _PLAIN and _is_plain(each, depth + 1) for key, each in value.items())
    return type(value) in _PLAIN or (
        type(value) in (list, tuple) and all(_is_plain(each, depth + 1) for each in value)
    )


# -- the server ----------------------------------------------------------------------------------------------


def _created(
    original: Callable[..., Any], server: Any, c: Any, typeid: str, /, *args: Any, **given: Any
) -> Any:
    """`Server.create`: wrap a named object, so that its uses have an order."""
    name = given.pop(_GIVEN, None)
    ident, exposed = original(server, c, typeid, *args, **given)
    if name is None:
        return ident, exposed
    marked = f"{ident}{_MARK}{name}"
    with server.mutex:
        real, names, made = server.id_to_obj.pop(ident)
        server.id_to_obj[marked] = SharedObject(real, name, names), names, made
        server.id_to_refcount[marked] = server.id_to_refcount.pop(ident)
    return marked, exposed


def _fallback(
    original: Callable[..., Any], server: Any, conn: Any, ident: str, thing: Any, **given: Any
) -> Any:
    """One of `Server.fallback_mapping`: return an object's value or its text."""
    if not isinstance(thing, SharedObject):
        return original(server, conn, ident, thing)
    return thing._reenact_do(partial(original, server, conn, ident, thing._reenact_real), **given)


class SharedObject:
    """An object of a server, with one use at a time; in a replay, in the recorded order.

    Args:
        real: The object.
        name: Its name in the recording.
        methods: The methods that programs may call.
    """

    def __init__(self, real: Any, name: str, methods: set[str]) -> None:
        self._reenact_real = real
        self._reenact_name = name
        self._reenact_waits = _waits_of(real)
        self._reenact_changed = threading.Condition()
        self._reenact_count = 0
        self._reenact_last: str | None = None
        # The server finds all methods here, also special ones (`__getattribute__` of a namespace).
        self.__dict__.update(
            {each: partial(self._reenact_do, getattr(real, each)) for each in methods if hasattr(real, each)}
        )

    def _reenact_do(self, method: Callable[..., Any], *args: Any, **given: Any) -> Any:
        path = given.pop(_GIVEN, None)
        scope = listening()
        wait = self._reenact_waits.get(getattr(method, "__name__", ""))
        use = None if wait is None else wait(self._reenact_real, *args, **given)
        if use is None:
            use = _ObjectUse(partial(method, *args, **given), 0.0)
        with resting(), self._reenact_changed:
            if scope is not None and path is not None:
                self._reenact_await_turn(scope, path)
            try:
                return self._reenact_until_over(scope, use)
            finally:
                if scope is not None and path is not None:
                    self._reenact_used(scope, path)
                self._reenact_changed.notify_all()

    def _reenact_until_over(self, scope: Scope | None, use: _ObjectUse) -> Any:
        until = None if use.limit is None else monotonic() + use.limit
        replaying = scope is not None and scope.run.replaying and not scope.run.handler.gone_live
        still = StandStill(joined=True)
        while True:
            met, value = use.attempt()
            if met or use.limit == 0.0 or (replaying and until is not None):
                # In its turn, a use finds the recorded state: it need not wait for its limit.
                return use.ended(met, value)
            left = _LOOK if until is None else min(until - monotonic(), _LOOK)
            if left <= 0:
                return use.ended(False, value)
            self._reenact_changed.wait(left)
            if replaying and scope is not None:
                self._reenact_look(
                    scope, still, "a use of an object of a manager waits for what does not come"
                )

    def _reenact_await_turn(self, scope: Scope, path: str) -> None:
        run = scope.run
        if not run.replaying or run.family is None:
            return
        still = StandStill(joined=True)
        while taker := run.family.taker(self._reenact_name, self._reenact_count + 1):
            if taker[0] == path or run.handler.gone_live:
                return
            self._reenact_changed.wait(_LOOK)
            text = f"an object of a manager was used by {taker[0]} before {path} when it was recorded"
            self._reenact_look(scope, still, text)

    def _reenact_look(self, scope: Scope, still: StandStill, text: str) -> None:
        handler = scope.run.handler
        if handler.poison is not None:
            raise handler.poison
        if still.found():
            raise handler.refuse(scope.run.root.path, f"{text}, and no process of the run is at work")

    def _reenact_used(self, scope: Scope, path: str) -> None:
        self._reenact_count += 1
        if self._reenact_last != path:
            self._reenact_last = path
            scope.run.handler.locked(Scope(path, scope.run), self._reenact_name, self._reenact_count)


class _ObjectUse:
    """One use of an object.

    Args:
        what: Tries the use without waiting: returns False, or raises `queue.Empty` or `queue.Full`, if it has to wait.
        limit: The seconds that it may wait; None: without end.
        result: The result once the use was possible; without it, that of `what`.
    """

    def __init__(self, what: Callable[[], Any], limit: float | None, *result: Any) -> None:
        self._what = what
        self.limit = limit
        self._result = result

    def attempt(self) -> tuple[bool, Any]:
        """Try the use. Return True with its result if it was possible, else False with the error."""
        try:
            value = self._what()
        except (queue.Empty, queue.Full) as error:
            return False, error
        return self.limit == 0.0 or value is not False, value

    def ended(self, met: bool, value: Any) -> Any:
        """Return the result of the last attempt, or raise its error."""
        if isinstance(value, (queue.Empty, queue.Full)) and not met:
            raise value
        return self._result[0] if self._result and met else value


def _seconds(block: Any, timeout: float | None) -> float | None:
    if not block:
        return 0.0
    return None if timeout is None or timeout < 0 else float(timeout)


def _get(box: Any, block: bool = True, timeout: float | None = None) -> _ObjectUse | None:
    return None if _is_wrong(timeout) else _ObjectUse(partial(box.get, False), _seconds(block, timeout))


def _put(box: Any, item: Any, block: bool = True, timeout: float | None = None) -> _ObjectUse | None:
    return None if _is_wrong(timeout) else _ObjectUse(partial(box.put, item, False), _seconds(block, timeout))


def _is_wrong(timeout: float | None) -> bool:
    """Return True for a limit that queues refuse."""
    return timeout is not None and timeout < 0


def _join(box: Any) -> _ObjectUse:
    return _ObjectUse(lambda: not box.unfinished_tasks, None, None)


def _acquire(lock: Any, blocking: bool = True, timeout: float | None = None) -> _ObjectUse:
    return _ObjectUse(partial(lock.acquire, False), _seconds(blocking, timeout))


def _wait(event: Any, timeout: float | None = None) -> _ObjectUse:
    return _ObjectUse(event.is_set, None if timeout is None else max(float(timeout), 0.0))


def _waits_of(real: Any) -> dict[str, Callable[..., _ObjectUse | None]]:
    """Return the methods of an object that wait."""
    if isinstance(real, queue.Queue):
        return {"get": _get, "put": _put, "join": _join}
    if isinstance(real, threading.Event):
        return {"wait": _wait}
    return {"acquire": _acquire} if hasattr(real, "acquire") else {}
