"""A browser's action in a few words: `click button "Pay now"`, `fill textbox "E-mail" with "ada@example.com"`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.model.plain import compact

_VERBS = {
    "goto": "go to",
    "goto_new_tab": "open in a new tab",
    "close_tab": "close the tab",
    "switch_tab": "switch to tab",
    "go_back": "go back",
    "go_forward": "go forward",
    "press_key": "press",
    "scroll_up": "scroll up",
    "scroll_down": "scroll down",
    "fallback_fill": "type into",
    "select_dropdown_option": "select in",
    "upload_file": "upload to",
    "download_file": "download from",
    "form_fill": "fill the form",
    "evaluate_js": "run JavaScript",
    "completion": "finish",
    "help": "ask for help",
}
_OBJECTS = ("url", "tab_index", "key", "amount", "time_ms", "code", "answer", "reason", "instructions")
_UNITS = {"time_ms": " ms", "amount": " px"}
_WITH = ("value", "file_path")
_LONGEST = 160


def headline(action: Mapping[str, Any], fingerprint: Mapping[str, Any] | None = None) -> str:
    """What an action does, on one line.

    Args:
        action: Its type and fields.
        fingerprint: What is known of the element that it found: `role`, `name`, `tag`.
    """
    kind = str(action.get("type") or "action")
    words = [_VERBS.get(kind, kind.replace("_", " "))]
    target = _element(fingerprint or {}) or _given(action)
    words += [target] if target else []
    words += [f"{_short(action[key])}{_UNITS.get(key, '')}" for key in _OBJECTS if _there(action.get(key))]
    for key in _WITH:
        if _there(action.get(key)):
            words += ["with" if target else "", _quoted(action[key])]
    return " ".join(word for word in words if word)


def _element(fingerprint: Mapping[str, Any]) -> str:
    name = next((str(fingerprint[key]) for key in ("name", "label", "text") if fingerprint.get(key)), "")
    role = str(fingerprint.get("role") or (name and fingerprint.get("tag")) or "")
    return f"{role} {_quoted(name)}".strip() if name else ""


def _given(action: Mapping[str, Any]) -> str:
    """What the caller named the element by."""
    selector = action.get("selector")
    if isinstance(selector, Mapping):
        selector = next((value for value in selector.values() if value), "")
    return _short(selector or action.get("id") or "")


def _there(value: Any) -> bool:
    return value is not None and value != ""


def _quoted(value: Any) -> str:
    return f"“{_short(value)}”"


def _short(value: Any) -> str:
    text = " ".join(compact(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
