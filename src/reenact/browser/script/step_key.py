"""The key of a script's step: the same in every run of the script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reenact.browser.page.consequence import plain, where


def key_of(
    action: Mapping[str, Any],
    url: str,
    *,
    elements: Sequence[Mapping[str, Any]] = (),
    before: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the identity of a script's step: type, aim, the page's path and an ordinal.

    Args:
        action: The action, secrets as tokens.
        url: The page's address before the action.
        elements: The elements of the last observation, for an action that names an id.
        before: The session's earlier outcomes. The ordinal counts those of the script with the same key.
    """
    base = base_of(action, url, elements)
    count, here = 0, ""
    for outcome in before:
        same = (
            outcome.get("actor", "script") == "script" and base_of(outcome["action"], here, elements) == base
        )
        count += same
        here = outcome.get("url") or here
    return f"{base} #{count}"


def base_of(action: Mapping[str, Any], url: str, elements: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return the key without its ordinal."""
    path = plain(where(url))
    return f"{action.get('type')} {_aim(action, elements)} @{path}"


def _aim(action: Mapping[str, Any], elements: Sequence[Mapping[str, Any]]) -> str:
    selector, id = action.get("selector"), action.get("id")
    if isinstance(selector, Mapping):
        return " | ".join(f"{kind}={value}" for kind, value in selector.items() if value)
    if selector is not None:
        return " ".join(str(selector).split())
    if id is not None:
        one = next((one for one in elements if one["id"] == id), None)
        return f"id:{one['role']} {one['name']!r}" if one is not None else f"id:{id}"
    for field_name in ("url", "key", "tab_index"):
        if field_name in action:
            return str(action[field_name])
    value = action.get("value")
    return " ".join(sorted(value)) if isinstance(value, Mapping) else ""


def url_before(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Return the address at which the last of those steps began."""
    return next((str(one["url"]) for one in reversed(outcomes[:-1]) if one.get("url")), "")
