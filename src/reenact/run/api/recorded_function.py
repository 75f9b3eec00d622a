"""`recorded`: record each call of a function."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

from reenact.errors import UsageError
from reenact.run.api.recording import RecordingInProgress, record

P = ParamSpec("P")
T = TypeVar("T")

_marked: dict[str, Callable[..., Any]] = {}


@overload
def recorded(function: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def recorded(*, name: str = ..., tags: Iterable[str] = ...) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def recorded(function: Any = None, /, *, name: str = "", tags: Iterable[str] = ()) -> Any:
    """Record each call of a function (sync or async), with its result as the recording's output.

    Raises:
        UsageError: The function yields its results: they are made after the call.
    """
    if function is None:
        return functools.partial(recorded, name=name, tags=tags)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"@recorded: {function.__qualname__} yields its results after its call has ended; "
            "record the function that iterates over them"
        )
    title = name or function.__qualname__
    if "<locals>" not in function.__qualname__:
        _marked[_place(function)] = function
    signature = inspect.signature(function)

    def begun(args: Any, kwargs: Any) -> RecordingInProgress:
        recording = record(title, tags=tags)
        with contextlib.suppress(TypeError):
            # With invalid arguments, the call itself raises the error.
            recording.function = _called(function, signature.bind(*args, **kwargs))
        return recording

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def arecorded(*args: Any, **kwargs: Any) -> Any:
            async with begun(args, kwargs) as recording:
                recording.output = await function(*args, **kwargs)
                return recording.output

        return arecorded

    @functools.wraps(function)
    def srecorded(*args: Any, **kwargs: Any) -> Any:
        with begun(args, kwargs) as recording:
            recording.output = function(*args, **kwargs)
            return recording.output

    return srecorded


def marked(name: str) -> Callable[..., Any] | None:
    """Return the function that this program has marked with `@recorded`, or None.

    Its name is the module and qualified name (`shop:answer`). A recorded name finds no other object, since it may name
    any.
    """
    return _marked.get(name)


def bound(function: Callable[..., Any], args: Mapping[str, Any]) -> inspect.BoundArguments:
    """Return recorded arguments, which have names alone, as a function's signature takes them.

    A missing one is not noticed. Raises TypeError for an unknown one.
    """
    signature = inspect.signature(function)
    catch_all = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    known = {
        name: value for name, value in args.items() if name in signature.parameters and name != catch_all
    }
    rest = {name: value for name, value in args.items() if name not in known}
    if rest and catch_all is None:
        raise TypeError(f"has no argument {next(iter(rest))!r}")
    return inspect.BoundArguments(
        signature, OrderedDict({**known, **({catch_all: rest} if catch_all else {})})
    )


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


def _called(function: Any, given: inspect.BoundArguments) -> dict[str, Any]:
    """Return a call in a form to repeat it: the function's place, and its arguments by name."""
    kinds = {name: parameter.kind for name, parameter in given.signature.parameters.items()}
    args: dict[str, Any] = {}
    for name, value in given.arguments.items():
        if kinds[name] is inspect.Parameter.VAR_KEYWORD:
            args |= value
        else:
            args[name] = value
    return {"name": _place(function), "args": args}
