"""Choose the types of action that fit an element of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DOES = {
    "textbox": "fill", "searchbox": "fill", "spinbutton": "fill", "slider": "fill", "checkbox": "check",
    "radio": "check", "switch": "check", "combobox": "select_dropdown_option", "listbox": "select_dropdown_option",
}  # fmt: skip

ROLES = {
    "fill": ("textbox", "searchbox", "spinbutton", "combobox"),
    "fallback_fill": ("textbox", "searchbox", "spinbutton", "combobox"),
    "check": ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option"),
    "select_dropdown_option": ("combobox", "listbox"),
}
"""The roles that an action needs; other actions accept any."""


def actions_of(role: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types of action that fit an element, the usual one first.

    Args:
        role: Its role.
        facts: Facts from the page: `file`, `choice`, `expands`, `draggable`, and the events in `heard`.
    """
    heard = set(facts.get("heard") or ())
    usual = "upload_file" if facts.get("file") else _DOES.get(role, "click")
    if role == "combobox" and facts.get("typed"):
        usual = "fill"
    found = [usual]
    if facts.get("expands"):
        found = ["expand"] if facts["tag"] == "summary" else [*found, "expand"]
    pressed = bool(heard & {"mousedown", "pointerdown", "touchstart"})
    if facts.get("draggable") or "dragstart" in heard:
        # A draggable box that does not react to clicks is meant to be dragged.
        found = (
            ["drag"]
            if role == "generic" and not heard & {"click", "mouseup", "pointerup"}
            else [*found, "drag"]
        )
    elif pressed and not heard & {"click", "dblclick"} and usual == "click":
        found.append("drag")
    if "drop" in heard:
        found = ["drop"] if facts.get("only_drop") else [*found, "drop"]
    return tuple(found)
