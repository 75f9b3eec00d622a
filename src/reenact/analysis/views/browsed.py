"""The outcome of a browser step in a few lines; `reenact show ID STEP` has all of it."""

from __future__ import annotations

from typing import Any

from reenact.analysis.views.text import many
from reenact.analysis.views.values import pretty

KINDS = ("browser", "heal", "agent")
"""The kinds of effects that have such outcomes."""

_ADDRESS = 120
"""The maximum length of an address in a sentence; `data:text/html,…` contains a page."""


def told(output: Any) -> list[tuple[str, str]]:
    """Return the lines, label and text, of an action's or observation's outcome, if it is one."""
    if not isinstance(output, dict):
        return []
    place = f"{output.get('title') or '(no title)'}  {short_address(output.get('url', ''))}"
    if "actor" in output and "message" in output:
        who = "" if output["actor"] == "script" else f" ({output['actor']})"
        # The failure of an action is shown as its step's error.
        message = shortened(str(output["message"]), output.get("url"))
        lines = [("did", f"{message}{who}")] if message and output.get("error") is None else []
        data = output.get("data")
        if data is not None and data != output["message"]:
            lines.append(("data", data if isinstance(data, str) else repr(data)))
        return [*lines, ("at", place)] if output.get("url") else lines
    if "tree" in output and "elements" in output:
        return [
            ("saw", f"{place}, {many(len(output['elements']), 'element')} to act on"),
            ("tree", str(output["tree"])),
        ]
    if output.keys() >= {"key", "rung", "old", "new", "verified_by"}:
        return _healed(output)
    if output.keys() == {"value", "url", "tab"}:
        if output["value"] is None and output["url"]:
            return [("at", short_address(output["url"]))]
        return [("gave", pretty(output["value"]))]
    if output.keys() == {"agent_id", "at"}:
        return [("did", "the agent began")]
    if output.keys() >= {"browser", "viewport", "headless"}:
        return [("did", _started(output))]
    return []


def short_address(url: Any) -> str:
    """Return an address for a line of text: the beginning of a long one."""
    text = str(url)
    return text if len(text) <= _ADDRESS else f"{text[:_ADDRESS]}…"


def shortened(text: str, url: Any) -> str:
    """Return a text in which the given address is short."""
    return text.replace(str(url), short_address(url)) if url else text


def _started(output: dict[str, Any]) -> str:
    """Return the sentence of a browser that was started."""
    viewport = output["viewport"]
    size = f", {viewport[0]} × {viewport[1]}" if isinstance(viewport, list) and len(viewport) == 2 else ""
    return f"started {output['browser']}{size}{', without a window' if output['headless'] is True else ''}"


def sentences(output: Any) -> str:
    """Return the outcome of a browser step as lines of text, or nothing if it is none."""
    return "\n".join(text if label == "did" else f"{label} {text}" for label, text in told(output))


def _healed(heal: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of a heal: the failed step, the rung that helped, and the verification."""
    done = "mended by" if heal.get("healed") else "tried"
    place = f"  {heal.get('file')}:{heal.get('line')}" if heal.get("file") else ""
    lines = [("step", f"{heal.get('action')} {heal['old'] or ''}".rstrip() + place)]
    if heal.get("error"):
        lines.append(("failed", str(heal["error"])))
    new = next(iter(heal["new"].values()), "") if isinstance(heal["new"], dict) else heal["new"]
    lines.append((done, f"{heal['rung']}{f': {new}' if new else ''}"))
    return [*lines, ("verified", str(heal["verified_by"] or "no"))]
