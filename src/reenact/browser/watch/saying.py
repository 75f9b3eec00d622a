"""Describe a browser action in a few words, as the video does: `Click button “Pay now”`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.browser.video import labels

_NAMES = ("name", "label", "text")


def headline(action: Mapping[str, Any], selectors: object = None, fingerprint: object = None) -> str:
    """Describe an action on one line; an element by its role and name if known.

    Args:
        action: Its type and fields.
        selectors: The durable ones of the element that it found.
        fingerprint: Further facts of it: `role`, `name`, `label`, `text`, `tag`, and `secret`.
    """
    known = fingerprint if isinstance(fingerprint, Mapping) else {}
    element = labels.element(selectors, "") or _element(known)
    return labels.action(action, element, hidden=bool(known.get("secret")))


def _element(known: Mapping[str, Any]) -> str:
    name = next((labels.plain(known[key], 60) for key in _NAMES if known.get(key)), "")
    return f"{known.get('role') or known.get('tag') or ''} “{name}”".strip() if name else ""
