"""Run the functions of `eyes.js` with elements that Playwright has found.

The functions are loaded once into each document, as a value that only Playwright has: the page cannot see it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

from playwright.async_api import ElementHandle, Error, Frame, JSHandle, Locator

from reenact.browser.page.sources import eyes

_loaded: WeakKeyDictionary[Frame, ReferenceType[JSHandle]] = WeakKeyDictionary()
"""The functions in the current document of each frame.

Playwright keeps them as long as the document exists.
"""

_NOT_ONE = "reenact: not one element"


async def of_element(
    element: Locator | ElementHandle,
    call: str,
    argument: Any = None,
    *,
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> Any:
    """Evaluate `call` (JavaScript with `eyes`, `guards`, `el` and `argument`) with one element.

    Raises Playwright's Error if the element does not exist within `timeout` (milliseconds).
    """
    return (await in_document(element, call, argument, timeout=timeout))[0]


async def in_document(
    element: Locator | ElementHandle,
    call: str,
    argument: Any = None,
    *,
    timeout: float = 1000,  # noqa: ASYNC109 - as Playwright says it
) -> tuple[Any, JSHandle]:
    """Evaluate as `of_element` does; return also the functions of the element's document."""
    if isinstance(element, Locator):
        if len(element.page.frames) == 1:
            found = await _at_once(element, call, argument)
            if found[0] != _NOT_ONE:
                return found
        handle = await element.element_handle(timeout=timeout)
        try:
            return await in_document(handle, call, argument)
        finally:
            await handle.dispose()
    frame = await element.owner_frame()
    if frame is None:
        raise Error("the element is in no frame")
    code = f"(el, [{{ eyes, guards }}, argument]) => {call}"
    return await _with_functions(frame, lambda functions: element.evaluate(code, [functions, argument]))


async def of_elements(locator: Locator, call: str, argument: Any = None) -> list[Any]:
    """Evaluate `call` with each element of a locator. Raises Playwright's Error."""
    code = f"(found, argument) => {{ const eyes = {eyes()}; return found.map((el) => {call}); }}"
    told: list[Any] = await locator.evaluate_all(code, argument)
    return told


async def _at_once(locator: Locator, call: str, argument: Any) -> tuple[Any, JSHandle]:
    """Evaluate with the only element that a locator finds now, in one request to the browser."""
    code = (
        f"(found, [{{ eyes, guards }}, argument, none]) => {{ if (found.length !== 1) return none;"
        f" const el = found[0]; return {call}; }}"
    )
    return await _with_functions(
        locator.page.main_frame,
        lambda functions: locator.evaluate_all(code, [functions, argument, _NOT_ONE]),
    )


async def _with_functions(frame: Frame, ask: Callable[[JSHandle], Awaitable[Any]]) -> tuple[Any, JSHandle]:
    """Ask with the functions of a frame's document; load them if it has none yet."""
    known = _loaded.get(frame, _none)()
    if known is not None:
        with suppress(Error):  # the functions belong to an earlier document
            return await ask(known), known
    functions = await frame.evaluate_handle(_functions())
    _loaded[frame] = ref(functions)
    return await ask(functions), functions


def _none() -> None:
    """Stand for a dead reference, of a frame without functions."""


@cache
def _functions() -> str:
    text = files("reenact.browser.page").joinpath("guard.js").read_text(encoding="utf-8")
    guards = text[text.index("(eyes)") :].strip()
    return f"() => {{ const eyes = {eyes()}; return {{ eyes, guards: ({guards})(eyes) }}; }}"
