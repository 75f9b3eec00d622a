"""A tool's arguments are named as Python's own signature names them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from reenact.run.api.effects import _binder


def _plain(order: str, count: int = 1, *, fast: bool = False) -> None: ...


def _keyword(*, order: str, count: int = 2) -> None: ...


def _positional(order: str, /, count: int = 3) -> None: ...


def _many(order: str, *more: str, **others: int) -> None: ...


def _nothing() -> None: ...


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    (("a",), {}),
    (("a", 2), {}),
    (("a", 2, 3), {}),
    (("a", 2, 3, 4), {}),
    (("a",), {"fast": True}),
    (("a",), {"order": "b"}),
    (("a",), {"unknown": 1}),
    ((), {"fast": True, "count": 5, "order": "a"}),
    ((), {"count": 5}),
    ((), {"order": "a", "unknown": 1}),
]


@pytest.mark.parametrize("function", [_plain, _keyword, _positional, _many, _nothing])
@pytest.mark.parametrize(("args", "kwargs"), CALLS)
def test_arguments_are_named_as_by_the_signature(
    function: Callable[..., None], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        expected = None
    else:
        bound.apply_defaults()
        expected = bound.arguments

    named = _binder(signature)(args, kwargs)

    assert named == expected
    assert list(named or ()) == list(expected or ())
