"""Describe an action for a viewer in one short line of plain text without secrets."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from reenact.core.redact import says_secret

LONGEST = 200
"""Most characters of a caption; it is cut further if its place is narrow."""

HIDDEN = "•••••"
"""The text instead of a secret."""

_TOKEN = re.compile(r"\[\[secret:[^\]]*\]\]")
_ROLE = re.compile(r'role=(\w+)\[name="((?:[^"\\]|\\.)*)"[^\]]*\]$')
_NORMAL = re.compile(
    r'get_by_(role|label|placeholder|text|title|alt_text)\("((?:[^"\\]|\\.)*)"'
    r'(?:, name="((?:[^"\\]|\\.)*)")?[^")]*\)(?:\.(?:first|last|nth\(\d+\)))?$'
)
_AROUND = re.compile(r'get_by_role\("(\w+)", name="((?:[^"\\]|\\.)*)"(?:, exact=True)?\)\.$')
"""The element around the one that a locator selects, such as the row of a button."""

_LOCATOR = re.compile(r'(?:page\.)?locator\("((?:[^"\\]|\\.)*)"\)')

_VERBS = {
    "click": "Click",
    "fill": "Fill",
    "fallback_fill": "Type into",
    "check": "Tick",
    "select_dropdown_option": "Select",
    "upload_file": "Upload to",
    "download_file": "Download by",
    "drag": "Drag",
    "drop": "Drop on",
    "expand": "Open",
    "goto": "Go to",
    "goto_new_tab": "Open in a new tab",
    "close_tab": "Close the tab",
    "go_back": "Go back",
    "go_forward": "Go forward",
    "reload": "Reload",
    "switch_tab": "Switch to tab",
    "wait": "Wait",
    "press_key": "Press",
    "scroll_up": "Scroll up",
    "scroll_down": "Scroll down",
    "form_fill": "Fill the form",
    "evaluate_js": "Run JavaScript",
    "scrape": "Scrape",
    "help": "Ask for help",
    "completion": "Complete",
}


_CALLS = {
    "check": "check",
    "click": "click",
    "dblclick": "double-click",
    "fill": "fill",
    "go_back": "go_back",
    "go_forward": "go_forward",
    "goto": "goto",
    "hover": "hover",
    "press": "press",
    "reload": "reload",
    "select_option": "select_dropdown_option",
    "tap": "tap",
    "type": "fallback_fill",
    "uncheck": "check",
}
"""Playwright's calls that act, and the equal actions."""


def plain(text: object, limit: int = LONGEST) -> str:
    """Return a text on one line, shortened, without control characters and secrets.

    Characters that change the direction of text are removed, too.
    """
    # A page may contain a megabyte of text: only a little more than the shown part is read.
    joined = " ".join(str(text)[: limit * 4].split())
    shown = "".join(one for one in joined if unicodedata.category(one)[0] != "C")
    shown = _TOKEN.sub(HIDDEN, shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def action(fields: Mapping[str, Any], element: str = "", *, hidden: bool = False) -> str:
    """Describe an action: `Fill textbox “Name” with “Ada”`.

    Args:
        fields: The action: its `type` and fields.
        element: The element in words, if these are better than the action's selector.
        hidden: True if the value that it fills is secret.
    """
    fields = _as_action(fields)
    kind = str(fields.get("type", "action"))
    thing = _object(kind, fields, element)
    hidden = hidden or says_secret(thing)
    # A call such as `page.title` has the name that the program calls.
    verb = _VERBS.get(kind, kind if "." in kind else kind.replace("_", " ").capitalize())
    if kind == "check" and fields.get("value") is False:
        verb = "Untick"
    if kind == "expand" and fields.get("value") is False:
        verb = "Close"
    if kind == "drop" and fields.get("file_path"):
        verb = "Drop the file"
    value = _value(kind, fields, hidden=hidden)
    parts = [verb, value, "in", thing] if kind == "select_dropdown_option" else [verb, thing, value]
    if kind == "drop" and value:
        parts = [verb, value, thing]
    said = " ".join(part for part in parts if part)
    return plain(f"{said.removesuffix(f' {value}')}{value}" if value.startswith(":") else said)


def _as_action(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a call of `session.page` to the equal action; return others unchanged."""
    name = str(fields.get("type", "")).removeprefix("page.")
    args = fields.get("args")
    given = list(args) if isinstance(args, (list, tuple)) else []
    if name not in _CALLS or name == fields.get("type"):
        return fields
    if name == "goto":
        return {"type": "goto", "url": given[0] if given else ""}
    on = str(fields.get("on") or "").removeprefix("page.").replace("'", '"')
    found = on or (str(given.pop(0)) if given else "")
    value = {"check": True, "uncheck": False}.get(name, given[0] if given else "")
    return {"type": _CALLS[name], "selector": element(None, found), "value": value}


def element(selectors: object, selector: object) -> str:
    """Describe an element: its role and name, its label or text, or else its selector."""
    known = selectors if isinstance(selectors, Mapping) else {}
    role = _ROLE.search(str(known.get("role", "")))
    if role:
        return f"{role[1]} “{plain(_unquoted(role[2]), 60)}”"
    text = known.get("text")
    if isinstance(text, str) and text.startswith("~"):
        return f"“{plain(text[1:], 60)}”"
    found = str(_first(selector))
    locator = str(known.get("playwright", found))
    normal = _NORMAL.search(locator)
    if normal:
        by, what, name = normal[1], _unquoted(normal[2]), _unquoted(normal[3] or "")
        said = f"{what} “{plain(name, 60)}”" if name else what if by == "role" else f"“{plain(what, 60)}”"
        around = _AROUND.search(locator, 0, normal.start())
        return f"{said} in {around[1]} “{plain(_unquoted(around[2]), 60)}”" if around else said
    plainly = _LOCATOR.fullmatch(found)
    return plain(_unquoted(plainly[1]) if plainly else found, 90)


def clock(seconds: float) -> str:
    """Format a time for a viewer: `0:07`, `1:02:03`."""
    whole = max(int(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def size(count: float) -> str:
    """Format a number of bytes for a viewer."""
    place = min(max(int(math.log(max(count, 1), 1000)), 0), 3)
    shown = count / 1000**place
    digits = 1 if place and shown < 10 else 0
    return f"{shown:.{digits}f} {('B', 'kB', 'MB', 'GB')[place]}"


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"')


def _first(selector: object) -> object:
    """Return the first of several selectors."""
    return next(iter(selector.values()), "") if isinstance(selector, Mapping) else selector or ""


def _object(kind: str, fields: Mapping[str, Any], element: str) -> str:
    if kind in {"goto", "goto_new_tab"}:
        return plain(fields.get("url", ""))
    if kind == "switch_tab":
        return str(fields.get("tab_index", ""))
    if kind == "press_key":
        return plain(fields.get("key", ""))
    if kind == "wait":
        return f"{_number(fields.get('time_ms')) / 1000:g} s"
    return element or plain(_first(fields.get("selector") or fields.get("id")), 90)


def _quoted(text: object, limit: int, *, hidden: bool) -> str:
    # An empty text hides nothing.
    return HIDDEN if hidden and text != "" else f"“{plain(text, limit)}”"


def _value(kind: str, fields: Mapping[str, Any], *, hidden: bool) -> str:
    if kind in {"fill", "fallback_fill", "press", "select_dropdown_option"} and "value" in fields:
        value = _quoted(fields["value"], 60, hidden=hidden)
        return value if kind == "select_dropdown_option" else f"with {value}"
    if kind == "form_fill" and isinstance(fields.get("value"), Mapping):
        return ", ".join(
            f"{plain(name, 30)} {_quoted(text, 30, hidden=hidden or says_secret(str(name)))}"
            for name, text in fields["value"].items()
        )
    if kind == "upload_file":
        return f"the file {plain(fields.get('file_path', ''), 80)}"
    if kind == "drop" and fields.get("file_path"):
        return f"{plain(fields['file_path'], 80)} on"
    if kind == "drag" and isinstance(fields.get("by"), (list, tuple)):
        return f"by {', '.join(plain(one, 8) for one in fields['by'][:2])} pixels"
    if kind in {"scroll_up", "scroll_down"}:
        return f"by {fields['amount']} pixels" if fields.get("amount") else ""
    said = {"evaluate_js": "code", "scrape": "instructions", "help": "reason", "completion": "answer"}.get(
        kind
    )
    return f": {plain(fields[said])}" if said and fields.get(said) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
