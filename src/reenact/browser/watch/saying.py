"""A browser's action in a few words: `Click button “Pay now”`, `Fill textbox “E-mail” with “ada@example.com”`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.browser.video import words


def headline(action: Mapping[str, Any], fingerprint: Mapping[str, Any] | None = None) -> str:
    """What an action does, on one line, as the video says it; an element is called by its role and name.

    Args:
        action: Its type and fields.
        fingerprint: What is known of the element that it found: `role`, `name`, `label`, `text`, `tag`.
    """
    element = _element(fingerprint or {})
    return words.action(action, {"selector": element} if element else None)


def _element(fingerprint: Mapping[str, Any]) -> str:
    name = next((words.plain(fingerprint[key], 60) for key in _NAMES if fingerprint.get(key)), "")
    role = str(fingerprint.get("role") or fingerprint.get("tag") or "")
    return f"{role} “{name}”".strip() if name else ""


_NAMES = ("name", "label", "text")
