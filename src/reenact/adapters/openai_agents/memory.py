"""Sessions: an agent's memory of earlier runs, in a database of the program's.

Reads are recorded. Writes are recorded and compared; a replay does not perform them, so it changes no database. A fork
would find the later writes of the recorded run there, so it goes on with a copy in memory, made of the reads and writes
before the step.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, cast
from weakref import WeakKeyDictionary

from reenact.adapters import hooks
from reenact.adapters.scopes import listening
from reenact.core.boundary import Run, aperform, entered
from reenact.core.model.event import Effect

METHODS = ("get_items", "add_items", "pop_item", "clear_session", "run_compaction")

_within: ContextVar[bool] = ContextVar("reenact_openai_agents_session", default=False)
"""True inside a session's own method: its inner calls are no effects."""

_learnt: set[type] = set()


def learn(kind: type) -> None:
    """Hook the methods of a session's class, and of the classes that it is made of, once."""
    for base in kind.__mro__:
        if base in _learnt or base is object:
            continue
        _learnt.add(base)
        for name in METHODS:
            method = base.__dict__.get(name)
            if iscoroutinefunction(method) and not getattr(method, "__isabstractmethod__", False):
                hooks.patch(base, name, partial(_hooked, name), library="a session")


def learn_all(root: Any) -> None:
    """Hook every existing class of sessions, and each new one when it is defined."""
    for kind in _below(root):
        learn(kind)
    own = root.__dict__.get("__init_subclass__")

    def __init_subclass__(cls: Any, **options: Any) -> None:  # noqa: N807
        if own is not None:
            own.__func__(cls, **options)
        else:
            super(root, cls).__init_subclass__(**options)
        learn(cls)

    root.__init_subclass__ = classmethod(cast("Any", __init_subclass__))


def hooked_init(original: Any) -> Any:
    """Hook `SQLiteSession.__init__`, which opens a file: a replay without a disk has none."""

    def __init__(self: Any, session_id: str, db_path: Any = ":memory:", *args: Any, **options: Any) -> None:  # noqa: N807
        if (scope := listening()) is None:
            original(self, session_id, db_path, *args, **options)
            return
        run = scope.run
        answered = (
            run.replaying
            and not run.forked
            and not run.handler.lets_live("memory", "memory:get_items")
            and not (run.scratch is not None and run.scratch(os.fspath(db_path)))
        )
        with entered(scope.inside(scope.path, call=scope.call, hidden=True)):
            original(self, session_id, ":memory:" if answered else db_path, *args, **options)
        self.db_path = db_path

    return __init__


def _below(kind: Any) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _hooked(name: str, original: Any) -> Any:
    async def method(self: Any, *args: Any, **options: Any) -> Any:
        if (scope := listening()) is None or _within.get():
            return await original(self, *args, **options)
        shadow = _shadow(scope.run, self) if scope.run.forked else None

        async def live() -> Any:
            if shadow is not None:
                return await shadow.answer(original, self, name, args, options)
            token = _within.set(True)
            try:
                return await original(self, *args, **options)
            finally:
                _within.reset(token)

        # The SDK's own sessions are leaves: the effect has all that their threads and HTTP requests do. A session of
        # the program's own may ask a model for a summary.
        leaf = type(self).__module__.partition(".")[0] == "agents"
        result = await aperform(Effect("memory", name, _question(self, name, args, options), leaf=leaf), live)
        if shadow is not None:
            shadow.follow(name, args, options, result)
        return result

    return method


def _question(session: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    asked: dict[str, Any] = {"session": _id(session)}
    if name == "get_items" and (limit := _first(args, options, "limit")) is not None:
        asked["limit"] = limit
    elif name == "add_items":
        asked["items"] = _first(args, options, "items")
    elif name == "run_compaction":
        asked["how"] = _first(args, options, "args")
    return asked


def _first(args: tuple[Any, ...], options: dict[str, Any], name: str) -> Any:
    return args[0] if args else options.get(name)


def _id(session: Any) -> str | None:
    try:
        return str(session.session_id)
    except Exception:
        # The session's service has not given the id yet.
        return None


# -- forks ---------------------------------------------------------------------------------------------------


class _Shadow:
    """A fork's copy of a session, which goes on from its state at the step.

    Attributes:
        items: Its items, as far as known; None while none are.
    """

    def __init__(self) -> None:
        self.items: list[Any] | None = None

    async def answer(
        self, original: Any, session: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Return the session's answer from its state in the fork."""
        if self.items is None and name in ("get_items", "pop_item", "add_items"):
            # The program did not use it before the step: take its real state.
            self.items = list(await _found(session, original if name == "get_items" else None))
        items = self.items or []
        if name == "get_items":
            limit = _first(args, options, "limit")
            return copy.deepcopy(items if limit is None else items[-limit:] if limit > 0 else [])
        if name == "pop_item":
            return copy.deepcopy(items[-1]) if items else None
        return None

    def follow(self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
        """Follow the session's content through a call, recorded or live."""
        if name == "get_items":
            limit = _first(args, options, "limit")
            if self.items is None or limit is None or len(result) < limit:
                self.items = copy.deepcopy(list(result))
        elif name == "add_items":
            self.items = [*(self.items or ()), *copy.deepcopy(list(_first(args, options, "items")))]
        elif name == "pop_item":
            self.items = (self.items or [])[:-1]
        elif name == "clear_session":
            self.items = []


async def _found(session: Any, get_items: Any) -> Any:
    token = _within.set(True)
    try:
        return await (session.get_items() if get_items is None else get_items(session))
    finally:
        _within.reset(token)


_shadows: WeakKeyDictionary[Run, dict[Any, _Shadow]] = WeakKeyDictionary()


def _shadow(run: Run, session: Any) -> _Shadow:
    """Return the copy of a session, the same for two objects of one session in one database."""
    place = str(getattr(session, "db_path", ""))
    key = id(session) if place == ":memory:" else (type(session), _id(session), place)
    return _shadows.setdefault(run, {}).setdefault(key, _Shadow())
