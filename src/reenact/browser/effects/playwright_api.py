"""The parts of Playwright's interface that the proxies of `session.page` treat differently."""

from __future__ import annotations

from typing import Any

from playwright import async_api

from reenact.errors import SessionError

DESCRIBES = {"Locator", "FrameLocator", "Keyboard", "Mouse", "Touchscreen", "Clock", "BrowserContext"}
"""Types whose methods and attributes send no request to the browser."""

LISTENS = {
    "expose_binding", "expose_function", "on", "once", "remove_listener", "route", "route_web_socket", "unroute",
}  # fmt: skip
"""Methods that would call the program from the browser's thread."""

ACTS = {
    "check", "clear", "click", "dblclick", "drag_and_drop", "drag_to", "fill", "go_back", "go_forward", "goto", "hover",
    "insert_text", "press", "press_sequentially", "reload", "select_option", "set_checked", "set_input_files", "tap",
    "type", "uncheck",
}  # fmt: skip
"""Methods that act on the page: marked in the footage."""

WRITES = {"fill", "insert_text", "press_sequentially", "type"}
"""Methods whose last argument is written into a field."""

DOING = frozenset({
    "add_init_script", "add_script_tag", "add_style_tag", "blur", "bring_to_front", "check", "clear", "click",
    "close", "dblclick", "dispatch_event", "down", "drag_and_drop", "drag_to", "evaluate", "fill", "focus", "go_back",
    "go_forward", "goto", "hover", "insert_text", "move", "press", "press_sequentially", "reload",
    "scroll_into_view_if_needed", "select_option", "select_text", "set_checked", "set_content",
    "set_extra_http_headers", "set_input_files", "set_viewport_size", "tap", "type", "uncheck", "up", "wait_for",
    "wait_for_function", "wait_for_load_state", "wait_for_selector", "wait_for_timeout", "wait_for_url", "wheel",
})  # fmt: skip
"""Methods of `session.page` that act or wait for an event; the others only read."""


def class_of(kind: str) -> type:
    """Return one of Playwright's classes. Raises SessionError."""
    found = getattr(async_api, kind, None)
    if found is None:
        raise SessionError(f"Playwright has no {kind}")
    return found  # type: ignore[no-any-return]


def return_type(function: Any) -> str:
    """Return the class name of the result of a method or property; empty if unknown."""
    return str(getattr(function, "__annotations__", {}).get("return", "")).strip("'\"").rpartition(".")[2]
