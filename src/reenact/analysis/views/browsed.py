"""The outcome of a browser step in a few lines; `reenact show ID STEP` has all of it."""

from __future__ import annotations

from typing import Any

from reenact.analysis.views.text import many
from reenact.analysis.views.values import pretty


def told(output: Any) -> list[tuple[str, str]]:
    """Return the lines, label and text, of an action's or observation's outcome, if it is one."""
    if not isinstance(output, dict):
        return []
    place = f"{output.get('title') or '(no title)'}  {output.get('url', '')}"
    if "actor" in output and "message" in output:
        who = "" if output["actor"] == "script" else f" ({output['actor']})"
        # A failed one is told as its step's error.
        lines = [("did", f"{output['message']}{who}")] if output.get("error") is None else []
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
        return [("gave", pretty(output["value"]))]
    return []


def sentences(output: Any) -> str:
    """Return the outcome of a browser step as lines of text, or nothing if it is none."""
    return "\n".join(text if label == "did" else f"{label} {text}" for label, text in told(output))


def _healed(heal: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of a heal: the failed step, the rung that helped, and the verification."""
    done = "mended by" if heal.get("healed") else "not mended by"
    place = f"  {heal.get('file')}:{heal.get('line')}" if heal.get("file") else ""
    lines = [("step", f"{heal.get('action')} {heal['old'] or ''}".rstrip() + place)]
    if heal.get("error"):
        lines.append(("failed", str(heal["error"])))
    new = next(iter(heal["new"].values()), "") if isinstance(heal["new"], dict) else heal["new"]
    lines.append((done, f"{heal['rung']}{f': {new}' if new else ''}"))
    return [*lines, ("verified", str(heal["verified_by"] or "no"))]
