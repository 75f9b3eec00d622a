"""`tool`, `effect` and `span`: boundaries and names of the user's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, overload

from reenact.adapters import sources
from reenact.core import boundary
from reenact.core.model.event import TOOL, Effect, Substitute
from reenact.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


@overload
def tool(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def tool(
    *, name: str = ..., kind: str = ..., writes: bool | None = ..., fixed: Any = ..., simulated: Any = ...
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def tool(
    function: Any = None,
    /,
    *,
    name: str = "",
    kind: str = "tool",
    writes: bool | None = None,
    fixed: Any = ...,
    simulated: Callable[..., Any] | None = None,
) -> Any:
    """Make a function an effect: sync or async, plain or a generator.

    Its arguments are matched, its result is recorded. `writes=True` says that it changes something outside of the
    program (a refund, an e-mail), `writes=False` that it only reads: a fork runs only the latter without a question.
    A live call in a fork or a replay gets the value `fixed`, or that of the function `simulated`, which is called with
    the tool's arguments by name, in place of a run.
    """
    if function is None:
        return functools.partial(tool, name=name, kind=kind, writes=writes, fixed=fixed, simulated=simulated)
    if fixed is not ... and simulated is not None:
        raise UsageError("a tool is either fixed=… or simulated=…, not both")
    if writes is not None:
        with suppress(AttributeError):
            # Frameworks that wrap the function find the declaration there.
            setattr(function, sources.DECLARED, writes)
    title = name or function.__name__
    signature = inspect.signature(function)
    streams = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)

    substitute = None
    if fixed is not ...:
        substitute = Substitute("fixed", fixed, streams)
    elif simulated is not None:
        substitute = Substitute("simulated", simulated, streams)
    if substitute is not None:
        with suppress(AttributeError):
            setattr(function, sources.SUBSTITUTE, substitute)

    bind = _binder(signature)
    # The object of a method is not part of the question.
    bare = next(iter(signature.parameters), "") in ("self", "cls")

    source_of = sources.ToolSource(function)

    def effect_of(args: Any, kwargs: Any) -> Effect:
        source = source_of() if kind == TOOL else None
        bound = bind(args, kwargs)
        if bound is None:
            bound = {"args": args, "kwargs": kwargs}
        elif bare:
            bound.pop(next(iter(bound)))
        return Effect(kind, title, bound, source=source, writes=writes, substitute=substitute)

    return functools.wraps(function)(_shell(function, effect_of))


def _binder(signature: inspect.Signature) -> Callable[[Any, Any], dict[str, Any] | None]:
    """Return a function that names a call's arguments, and returns None if they do not fit.

    Defaults are included: a changed default changes the question.
    """
    parameters = signature.parameters.values()
    names = [each.name for each in parameters]
    by_place = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    plain = all(each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) for each in parameters)
    defaults = {each.name: each.default for each in parameters if each.default is not each.empty}

    def at_once(args: Any, kwargs: Any) -> dict[str, Any] | None:
        if not kwargs and len(args) == len(names) == len(by_place):
            return dict(zip(names, args, strict=True))
        given = dict(zip(by_place, args, strict=False))
        if len(args) > len(by_place) or not given.keys().isdisjoint(kwargs):
            return None
        bound = {**defaults, **given, **kwargs}
        if len(bound) != len(names):
            return None
        try:
            return {name: bound[name] for name in names}
        except KeyError:
            return None

    def of_any_kind(args: Any, kwargs: Any) -> dict[str, Any] | None:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError:
            return None
        given.apply_defaults()
        return dict(given.arguments)

    # For the usual kinds of parameters, the same result four times as fast.
    return at_once if plain else of_any_kind


def _shell(function: Any, effect_of: Callable[[Any, Any], Effect]) -> Any:
    def live(args: Any, kwargs: Any) -> Any:
        return functools.partial(function, *args, **kwargs)

    if inspect.isasyncgenfunction(function):
        return lambda *args, **kwargs: boundary.astream(effect_of(args, kwargs), live(args, kwargs))
    if inspect.isgeneratorfunction(function):
        return lambda *args, **kwargs: boundary.stream(effect_of(args, kwargs), live(args, kwargs))
    if inspect.iscoroutinefunction(function):

        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            if boundary.current() is None:
                return await function(*args, **kwargs)
            return await boundary.aperform(effect_of(args, kwargs), live(args, kwargs))

        return asynchronous

    def synchronous(*args: Any, **kwargs: Any) -> Any:
        if boundary.current() is None:
            return function(*args, **kwargs)
        return boundary.perform(effect_of(args, kwargs), live(args, kwargs))

    return synchronous


class effect:  # noqa: N801 - read as a verb: `reenact.effect("db", "orders").perform(...)`
    """An effect of your own code: its arguments, and the methods to perform it.

        rows = reenact.effect("db", "orders", sql=sql).perform(lambda: connection.execute(sql).fetchall())

    Args:
        kind: The family, a word of your own.
        name: The name within its kind.
        args: All values that the answer depends on.
    """

    def __init__(self, kind: str, name: str, /, **args: Any) -> None:
        self._effect = Effect(kind, name, args)

    def perform(self, live: Callable[[], T], *, writes: bool | None = None) -> T:
        """The answer: `live()`, or in a replay the recorded one. `writes` is as for `tool`."""
        return boundary.perform(self._asked(writes), live)

    async def aperform(self, live: Callable[[], Any], *, writes: bool | None = None) -> Any:
        """`perform` for an async answer."""
        return await boundary.aperform(self._asked(writes), live)

    def stream(self, live: Callable[[], Any], *, writes: bool | None = None) -> Any:
        """The chunks of `live()`, an iterator or async iterator, or the recorded ones."""
        asked = self._asked(writes)
        if inspect.isasyncgenfunction(live) or inspect.iscoroutinefunction(live):
            return boundary.astream(asked, live)
        return boundary.stream(asked, live)

    def _asked(self, writes: bool | None) -> Effect:
        return self._effect if writes is None else replace(self._effect, writes=writes)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Name a part of the program; its effects keep their addresses when other code changes."""
    with boundary.span(name):
        yield
