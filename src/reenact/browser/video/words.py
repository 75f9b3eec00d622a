"""What a viewer reads of an action: one short line of plain text, without what is secret in it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

LONGEST = 200
"""Characters of a text that a caption may have; it is cut further where its place is narrow."""

HIDDEN = "•••••"
"""What stands in the place of a secret."""

_TOKEN = re.compile(r"\[\[secret:[^\]]*\]\]")
_SECRET_FIELD = re.compile(r"passw|pin$|secret|token|otp|one_time|mfa|cc_|card|cvv|cvc", re.IGNORECASE)

_VERBS = {
    "click": "Click",
    "fill": "Fill",
    "fallback_fill": "Type into",
    "check": "Tick",
    "select_dropdown_option": "Select in",
    "upload_file": "Upload to",
    "download_file": "Download by",
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


def plain(text: object, limit: int = LONGEST) -> str:
    """Any text on one line: no control characters, nothing that turns its direction, no secret, and not too long."""
    # A page may be a megabyte of text; what is looked at is a little more than what is shown.
    joined = " ".join(str(text)[: limit * 4].split())
    shown = "".join(one for one in joined if unicodedata.category(one)[0] != "C")
    shown = _TOKEN.sub(HIDDEN, shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def action(
    fields: Mapping[str, Any], target: Mapping[str, Any] | None = None, *, hidden: bool = False
) -> str:
    """An action in words: `Fill #name with “Ada”`.

    Args:
        fields: The action: its `type` and fields.
        target: What it was done to, as the footage has it.
        hidden: Whether the value that it fills is secret.
    """
    kind = str(fields.get("type", "action"))
    hidden = hidden or bool(_SECRET_FIELD.search(_object(kind, fields, target or {})))
    verb = _VERBS.get(kind, kind.replace("_", " ").capitalize())
    if kind == "check" and fields.get("value") is False:
        verb = "Untick"
    parts = [verb, _object(kind, fields, target or {}), _value(kind, fields, hidden=hidden)]
    return plain(" ".join(part for part in parts if part))


def clock(seconds: float) -> str:
    """A time as a viewer reads it: `0:07`, `1:02:03`."""
    whole = max(int(seconds), 0)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def size(count: float) -> str:
    """A number of bytes as a viewer reads it."""
    place = min(max(int(math.log(max(count, 1), 1000)), 0), 3)
    shown = count / 1000**place
    digits = 1 if place and shown < 10 else 0
    return f"{shown:.{digits}f} {('B', 'kB', 'MB', 'GB')[place]}"


def _object(kind: str, fields: Mapping[str, Any], target: Mapping[str, Any]) -> str:
    if kind in {"goto", "goto_new_tab"}:
        return plain(fields.get("url", ""))
    if kind == "switch_tab":
        return str(fields.get("tab_index", ""))
    if kind == "press_key":
        return plain(fields.get("key", ""))
    if kind == "wait":
        return f"{_number(fields.get('time_ms')) / 1000:g} s"
    selector = target.get("selector") or fields.get("selector") or fields.get("id") or ""
    if isinstance(selector, Mapping):
        selector = next(iter(selector.values()), "")
    return plain(selector, 90)


def _value(kind: str, fields: Mapping[str, Any], *, hidden: bool) -> str:
    if kind in {"fill", "fallback_fill", "select_dropdown_option"} and "value" in fields:
        joint = "as" if kind == "select_dropdown_option" else "with"
        return f"{joint} {HIDDEN if hidden else '“' + plain(fields['value'], 60) + '”'}"
    if kind == "form_fill" and isinstance(fields.get("value"), Mapping):
        return ", ".join(
            f"{plain(name, 30)} {HIDDEN if hidden or _SECRET_FIELD.search(str(name)) else '“' + plain(text, 30) + '”'}"
            for name, text in fields["value"].items()
        )
    if kind == "upload_file":
        return f"the file {plain(fields.get('file_path', ''), 80)}"
    if kind in {"scroll_up", "scroll_down"}:
        return f"by {fields['amount']} pixels" if fields.get("amount") else ""
    said = {"evaluate_js": "code", "scrape": "instructions", "help": "reason", "completion": "answer"}.get(
        kind
    )
    return f": {plain(fields[said])}" if said and fields.get(said) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
